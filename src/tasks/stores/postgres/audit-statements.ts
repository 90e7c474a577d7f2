// The audit in Postgres. statements.ts says what makes each statement safe.

import { nowIn } from "./fragments.ts";

/** The names of these statements. */
export type AuditStatement =
  | ("auditTail" | "auditAppend")
  | ("auditChain" | "auditAfter" | "auditSweep");

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function auditStatements(schema: string): Readonly<Record<AuditStatement, string>> {
  const columns = "chain, n, id, app, at, record";
  return {
    // Safe: only reads.
    auditTail: `
    select last.n, last.record, array(
      select known.id from ${schema}.audit as known where known.chain = $1 and known.id = any($2::text[])
    ) as known
    from ${schema}.audit as last where last.chain = $1 order by last.n desc limit 1`,

    // Safe: if two statements add to one chain, both want the same next number. The second one waits for the first, finds
    // the number taken, and adds nothing.
    auditAppend: `
    with added as (
      select $2::integer + one.place::integer as n, one.id, one.app, one.record
      from unnest($3::text[], $4::text[], $5::text[]) with ordinality as one (id, app, record, place)
    ),
    head as (
      insert into ${schema}.audit (chain, n, id, app, at, record)
      select $1, added.n, added.id, added.app, ${nowIn(schema)}, added.record from added
      where added.n = $2::integer + 1
        and $2::integer = (select coalesce(max(n), 0) from ${schema}.audit where chain = $1)
        and not exists (select 1 from ${schema}.audit where chain = $1 and id = any($3::text[]))
      on conflict do nothing
      returning at
    ),
    rest as (
      insert into ${schema}.audit (chain, n, id, app, at, record)
      select $1, added.n, added.id, added.app, head.at, added.record
      from added cross join head where added.n > $2::integer + 1
    )
    select 1 as is_done from head`,

    // Safe: only reads.
    auditChain: `select ${columns} from ${schema}.audit where chain = $1 order by n`,

    // Safe: only reads.
    auditAfter: `
    select ${columns} from ${schema}.audit
    where (at, chain, n) > ($1::bigint, $2::text collate "C", $3::integer)
    order by at, chain, n limit $4`,

    // Safe: a chain that gets a record in between loses its beginning, but not before its last record was that old.
    auditSweep: `
    with old as (
      select first.chain from ${schema}.audit as first
      where first.n = 1 and first.at <= ${nowIn(schema)} - $1::bigint and not exists (
        select 1 from ${schema}.audit as later
        where later.chain = first.chain and later.at > ${nowIn(schema)} - $1::bigint
      )
      order by first.at limit $2
    )
    delete from ${schema}.audit as gone using old where gone.chain = old.chain
    returning gone.chain, gone.n`,
  };
}
