// What rounds keep in Postgres: spilled states, and which replica runs which round. statements.ts says what makes each
// statement safe.

import { nowIn } from "./fragments.ts";

/** The names of these statements. */
export type RoundStatement =
  | (
      | "spill"
      | "spilled"
      | "countSpilled"
      | "claimRound"
      | "readRound"
      | "renewRound"
      | "endRound"
      | "releaseRound"
    )
  | ("appendToRound" | "fill");

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function roundStatements(schema: string): Readonly<Record<RoundStatement, string>> {
  const now = nowIn(schema);

  const ofHolder = (change: string): string => `
    update ${schema}.rounds as round set ${change}
    where round.call_id = $1 and round.epoch = $2 and round.response is null
    returning round.call_id`;

  return {
    // Safe: one row.
    spill: `
    insert into ${schema}.spills (id, state, expires_at, principal)
    values ($1, $2, ${now} + $3::bigint, $4)
    on conflict (id) do update set
      state = excluded.state,
      expires_at = excluded.expires_at,
      principal = excluded.principal`,

    // Safe: reads one row.
    spilled: `
    select spill.state, spill.answer from ${schema}.spills as spill
    where spill.id = $1 and spill.expires_at > ${now}`,

    // Safe: one row, one update. Of two at the same moment, the second waits for the first and finds its answer.
    fill: `
    update ${schema}.spills as spill set answer = $2
    where spill.id = $1 and spill.answer is null and spill.expires_at > ${now}
    returning spill.id`,

    // Safe: counts.
    countSpilled: `
    select count(*)::integer as count from ${schema}.spills as spill
    where spill.principal = $1 and starts_with(spill.id, $2) and spill.expires_at > ${now}`,

    // Safe: of two claims at the same moment, one inserts. The other waits for it and checks the row that it made.
    claimRound: `
    insert into ${schema}.rounds as round (
      call_id, round, answers, epoch, lease_until, log, response, expires_at, principal
    )
    values ($1, $2, $3, 1, ${now} + $4::bigint, '{}', null, ${now} + $5::bigint, $6)
    on conflict (call_id) do update set
      round = excluded.round,
      answers = excluded.answers,
      epoch = round.epoch + 1,
      lease_until = excluded.lease_until,
      log = case when round.round < excluded.round then '{}' else round.log end,
      response = null,
      expires_at = greatest(round.expires_at, excluded.expires_at),
      principal = excluded.principal
    where round.round < excluded.round
      or (
        round.round = excluded.round
        and round.answers = excluded.answers
        and round.response is null
        and round.lease_until <= ${now}
      )
    returning round.epoch, to_json(round.log) as log`,

    // Safe: reads one row, after a claim was refused.
    readRound: `
    select round.round, round.answers, round.response
    from ${schema}.rounds as round where round.call_id = $1`,

    // Safe: one row, one update. So are the next two.
    renewRound: ofHolder(`lease_until = ${now} + $3::bigint`),
    endRound: ofHolder("response = $3"),
    releaseRound: ofHolder(`lease_until = ${now}`),

    // Safe: locked first.
    appendToRound: `
    with round as (
      select round.* from ${schema}.rounds as round
      where round.call_id = $1 and round.epoch = $2
      for update
    ),
    appended as (
      update ${schema}.rounds as target set log = round.log || $4::text
      from round
      where target.call_id = round.call_id
        and round.response is null
        and cardinality(round.log) = $3
      returning target.call_id
    )
    select
      exists (select from appended)
        or exists (select from round where cardinality(round.log) = $3 + 1)
        as is_done`,
  };
}
