// What anyone may do with a task in Postgres: create, read, list, answer and cancel it. statements.ts says what makes each
// statement safe.

import { insertList, isLive, isLiveAt, isOpenAt, keptForUndo } from "./fragments.ts";
import { members, nowIn, record } from "./fragments.ts";

/** The names of these statements. */
export type ClientStatement =
  | ("create" | "read" | "readByCall" | "readLog" | "listOwn" | "listAll" | "answer" | "cancel")
  | ("requeue" | "revisions" | "noteRead");

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function clientStatements(schema: string): Readonly<Record<ClientStatement, string>> {
  const now = nowIn(schema);

  const made = insertList({
    id: "task.id",
    call_id: "task.call_id",
    tool: "task.tool",
    principal: "task.principal",
    input: "task.input",
    inbox: "task.inbox",
    log_length: "cardinality(task.log)",
    log_bytes: "task.log_bytes",
    worker: "task.worker",
    epoch: "task.epoch",
    fruitless: "task.epoch",
    due_at: `${now} + task.lease_ms`,
    created_at: now,
    claimed_at: `case when task.worker is not null then ${now} end`,
    updated_at: now,
    expires_at: `${now} + task.ttl_ms`,
    status: "coalesce(task.status, 'working')",
    result: "task.result",
    revision: "1",
    waits: "'[]'",
    asked: "'{}'",
    unread: "1",
    undos: "task.undos",
  });

  const kept = keptForUndo("task", now);

  /** Whether the trigger of migration 8 has nothing to do. */
  const wasLastWait = "open.waits = '[]' and jsonb_array_length(target.waits) = 1";

  const list = (whose: string): string => `
    select ${record("task")} from ${schema}.tasks as task
    where task.rest is null and ${whose}
      and (task.expires_at > ${now} or not ${isLive("task")}) and (task.created_at, task.id) < ($2::bigint, $3)
    order by task.created_at desc, task.id desc
    limit $4`;

  return {
    // Safe: the unique index on call_id admits one of two inserts. The other one waits for it and inserts nothing. The
    // count is as old as the start of the statement, which `TaskStore.create` allows.
    create: `
    with ${members(`id text, call_id text, tool text, principal text, input text, inbox jsonb, log text[],
        log_bytes bigint, worker text, epoch integer, lease_ms bigint, ttl_ms bigint, most bigint,
        undos integer, status text, result text`)},
    live as materialized (
      select caller.principal, few.number
      from (
        select given.principal, max(given.most) as most
        from given where given.most is not null
        group by given.principal
      ) as caller
      cross join lateral (
        select count(*) as number from (
          select from ${schema}.tasks as task
          where task.principal = caller.principal and ${isLive("task")}
          limit caller.most
        ) as each
      ) as few
    ),
    task as materialized (
      select given.*, given.most is null or live.number < given.most as fits
      from given left join live on live.principal = given.principal
    ),
    made as (
      insert into ${schema}.tasks (${made.columns})
      select ${made.values}
      from task
      where task.fits
      order by task.call_id
      on conflict do nothing
      returning *
    ),
    logged as (
      insert into ${schema}.log (task_id, seq, record, epoch, at)
      select made.id, entry.place - 1, entry.value, 0, ${now}
      from made join task on task.id = made.id,
        unnest(task.log) with ordinality as entry (value, place)
    )
    select task.n, task.fits, ${record("made")}
    from task left join made on made.id = task.id`,

    // Safe: reads only.
    read: `
    with ${members("id text")}
    select given.n, ${record("task")}, ${now} as now
    from given join ${schema}.tasks as task on task.id = given.id`,

    // Safe: reads one row.
    readByCall: `
    select ${record("task")}, ${now} as now from ${schema}.tasks as task where task.call_id = $1`,

    // Safe: an append adds all of its records in one transaction.
    readLog: `
    select coalesce(json_agg(entry.record order by entry.seq), '[]') as log
    from ${schema}.log as entry where entry.task_id = $1 and entry.seq >= $2`,

    // Safe: only reads. There are two statements, because each uses its own index.
    listOwn: list("task.principal = $1"),
    listAll: list("$1::text is null"),

    // Safe: locked first, always in the same order, so that two groups cannot wait for one another. The log is as old as
    // the start of the statement, as with `claim`.
    answer: `
    with ${members("id text, answers jsonb, claimer text, lease_ms bigint")},
    task as materialized (
      select task.id, task.waits, task.asked, given.n, given.answers, given.lease_ms,
        case when task.worker is null then given.claimer end as claimer
      from given join ${schema}.tasks as task on task.id = given.id
      where ${isLiveAt("task", now)}
      order by task.id
      for update of task
    )
    update ${schema}.tasks as target set
      revision = target.revision + 1,
      updated_at = ${now},
      status = case when open.asks then 'input_required' else 'working' end,
      waits = open.waits,
      wait_group = case when ${wasLastWait} then null else target.wait_group end,
      wait_since = case when ${wasLastWait} then null else target.wait_since end,
      asked = target.asked || coalesce(accepted.early, '{}'),
      inbox = target.inbox || accepted.inbox,
      due_at = case when task.claimer is not null then ${now} + task.lease_ms
        when target.worker is null then ${now} else target.due_at end,
      worker = coalesce(task.claimer, target.worker),
      claimed_at = case when task.claimer is null then target.claimed_at else ${now} end,
      epoch = target.epoch + case when task.claimer is null then 0 else 1 end,
      fruitless = target.fruitless + case when task.claimer is null then 0 else 1 end,
      retried = case when task.claimer is null then target.retried else target.fruitless > 0 end
    from task
    cross join lateral (
      select
        jsonb_agg(each.arrival order by each.is_early, each.place) as inbox,
        jsonb_agg(each.wire order by each.is_early, each.place) as wires,
        jsonb_object_agg(each.arrival ->> 'key', 1) filter (where each.is_early) as early
      from (
        select
          false as is_early,
          wait.place,
          answer.value ->> 'wire' as wire,
          jsonb_strip_nulls(jsonb_build_object(
            'id', answer.value ->> 'wire',
            'key', wait.value -> 'key',
            'digest', coalesce(wait.value ->> 'digest', ''),
            'value', answer.value -> 'value',
            'at', ${now},
            'dueAt', wait.value -> 'dueAt'
          )) as arrival
        from jsonb_array_elements(task.waits) with ordinality as wait (value, place)
          cross join lateral (
            select given.value
            from jsonb_array_elements(task.answers) with ordinality as given (value, place)
            where given.value ->> 'wire' = wait.value ->> 'wire'
            order by given.place desc
            limit 1
          ) as answer
        where wait.value ->> 'kind' <> 'timer'
        union all
        select true, early.* from (
          select distinct on (given.value -> 'early' ->> 'key')
            given.place,
            given.value ->> 'wire',
            jsonb_build_object(
              'id', given.value ->> 'wire',
              'key', given.value -> 'early' -> 'key',
              'digest', given.value -> 'early' -> 'digest',
              'value', given.value -> 'value',
              'at', ${now}
            )
          from jsonb_array_elements(task.answers) with ordinality as given (value, place)
          where given.value -> 'early' is not null
            and not task.asked ? (given.value -> 'early' ->> 'key')
          order by given.value -> 'early' ->> 'key', given.place
        ) as early
      ) as each
    ) as accepted
    cross join lateral (
      select
        coalesce(jsonb_agg(wait.value order by wait.place), '[]') as waits,
        coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks
      from jsonb_array_elements(task.waits) with ordinality as wait (value, place)
      where wait.value ->> 'kind' = 'timer' or not coalesce(accepted.wires ? (wait.value ->> 'wire'), false)
    ) as open
    where target.id = task.id and accepted.wires is not null
    returning task.n, ${record("target")}, ${now} as now, accepted.wires as accepted,
      case when task.claimer is not null then (
        select coalesce(json_agg(entry.record order by entry.seq), '[]')
        from ${schema}.log as entry where entry.task_id = target.id
      ) end as log`,

    // Safe: one row, one update.
    cancel: `
    update ${schema}.tasks as task set
      status = 'cancelled',
      epoch = ${kept.epoch},
      revision = task.revision + 1,
      updated_at = ${now},
      worker = ${kept.worker},
      due_at = ${kept.due_at},
      fruitless = ${kept.fruitless},
      cause = ${kept.cause},
      waits = '[]',
      inbox = '[]',
      status_message = null,
      expires_at = greatest(task.expires_at, ${now} + $2::bigint)
    where task.id = $1 and ${isLiveAt("task", now)}
    returning ${record("task")}`,

    // Safe: one row, one update.
    requeue: `
    update ${schema}.tasks as task set
      status = case when ${isOpenAt("task", now)} then task.status else 'working' end,
      revision = case when ${isOpenAt("task", now)} then task.revision else task.revision + 1 end,
      updated_at = case when ${isOpenAt("task", now)} then task.updated_at else ${now} end,
      result = case when ${isOpenAt("task", now)} then task.result end,
      status_message = case when ${isOpenAt("task", now)} then task.status_message end,
      epoch = task.epoch + 1,
      worker = null,
      due_at = ${now},
      fruitless = 0,
      cause = null,
      expires_at = greatest(task.expires_at, ${now} + $3::bigint)
    where task.id = $1 and (
      (task.status = 'failed' and task.rest is null and task.fruitless > $2 and task.undos = 0)
      or (${isOpenAt("task", now)} and (
        task.due_at <= ${now}
        or (task.worker is null and task.due_at is not null
          and (task.fruitless > 0 or task.cause is not null))
      ))
    )
    returning ${record("task")}`,

    // Safe: locked first, always in the same order, so that it cannot wait for a group that waits for it.
    noteRead: `
    with known as materialized (
      select task.id from ${schema}.tasks as task
      where task.id = any ($1::text[]) and task.unread = 1
      order by task.id
      for update
    )
    update ${schema}.tasks as task set unread = 0 from known where task.id = known.id`,

    // Safe: only reads.
    revisions: `
    select
      task.id,
      task.revision
        + case when ${isLive("task")} and task.expires_at <= ${now} then 1 else 0 end as revision
    from ${schema}.tasks as task
    where task.id = any ($1::text[])
      and ($2::text is null or (task.principal = $2 and task.rest is distinct from 'removed'))`,
  };
}
