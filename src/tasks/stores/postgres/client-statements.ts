// What anyone may do with a task in Postgres: create, read, list, answer and cancel it. statements.ts says what makes each
// statement safe.

import { insertList, isLive, isLiveAt, isOpenAt, keptForUndo, nowIn, record } from "./fragments.ts";

/** The names of these statements. */
export type ClientStatement =
  | ("create" | "read" | "readByCall" | "readLog" | "listOwn" | "listAll" | "answer" | "cancel")
  | ("requeue" | "revisions" | "noteRead");

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function clientStatements(schema: string): Readonly<Record<ClientStatement, string>> {
  const now = nowIn(schema);

  const made = insertList({
    id: "$1",
    call_id: "$2",
    tool: "$3",
    principal: "$4",
    input: "$5",
    inbox: "$6::jsonb",
    log_length: "$7",
    log_bytes: "$8",
    worker: "$9",
    epoch: "$10",
    fruitless: "$10",
    due_at: `${now} + $11::bigint`,
    created_at: now,
    claimed_at: `case when $9::text is not null then ${now} end`,
    updated_at: now,
    expires_at: `${now} + $12::bigint`,
    status: "coalesce($16, 'working')",
    result: "$17",
    revision: "1",
    waits: "'[]'",
    asked: "'{}'",
    unread: "1",
    undos: "$15",
  });

  const kept = keptForUndo("task", now);

  /** Whether the trigger of migration 8 has nothing to do. */
  const wasLastWait = "open.waits = '[]' and jsonb_array_length(task.waits) = 1";

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
    with live as (
      select count(*) as number from (
        select from ${schema}.tasks as task
        where $14::bigint is not null and task.principal = $4 and ${isLive("task")}
        limit $14
      ) as few
    ),
    made as (
      insert into ${schema}.tasks (${made.columns})
      select ${made.values}
      from live
      where $14::bigint is null or live.number < $14
      on conflict do nothing
      returning *
    ),
    logged as (
      insert into ${schema}.log (task_id, seq, record, epoch, at)
      select made.id, entry.place - 1, entry.value, 0, ${now}
      from made, unnest($13::text[]) with ordinality as entry (value, place)
    )
    select $14::bigint is null or live.number < $14 as fits, ${record("made")}
    from live left join made on true`,

    // Safe: reads one row.
    read: `
    select ${record("task")}, ${now} as now from ${schema}.tasks as task where task.id = $1`,

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

    // Safe: locked first.
    answer: `
    with task as (
      select task.* from ${schema}.tasks as task where task.id = $1 for update
    ),
    given as (
      select
        answer.value ->> 'wire' as wire,
        answer.value -> 'value' as value,
        answer.value -> 'early' as early,
        answer.place
      from jsonb_array_elements($2::jsonb) with ordinality as answer (value, place)
    ),
    asked as (
      select
        wait.place,
        given.wire,
        jsonb_strip_nulls(jsonb_build_object(
          'id', given.wire,
          'key', wait.value -> 'key',
          'digest', coalesce(wait.value ->> 'digest', ''),
          'value', given.value,
          'at', ${now},
          'dueAt', wait.value -> 'dueAt'
        )) as arrival
      from task
        cross join jsonb_array_elements(task.waits) with ordinality as wait (value, place)
        cross join lateral (
          select * from given
          where given.wire = wait.value ->> 'wire'
          order by given.place desc
          limit 1
        ) as given
      where ${isLiveAt("task", now)} and wait.value ->> 'kind' <> 'timer'
    ),
    early as (
      select distinct on (given.early ->> 'key')
        given.place,
        given.wire,
        jsonb_build_object(
          'id', given.wire,
          'key', given.early -> 'key',
          'digest', given.early -> 'digest',
          'value', given.value,
          'at', ${now}
        ) as arrival
      from task, given
      where ${isLiveAt("task", now)}
        and given.early is not null
        and not task.asked ? (given.early ->> 'key')
      order by given.early ->> 'key', given.place
    ),
    accepted as (
      select
        jsonb_agg(each.arrival order by each.is_early, each.place) as inbox,
        json_agg(each.wire order by each.is_early, each.place) as wires
      from (
        select false as is_early, asked.* from asked
        union all
        select true, early.* from early
      ) as each
    ),
    open as (
      select
        coalesce(jsonb_agg(wait.value order by wait.place), '[]') as waits,
        coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks
      from task, jsonb_array_elements(task.waits) with ordinality as wait (value, place)
      where not exists (select from asked where asked.wire = wait.value ->> 'wire')
    ),
    answered as (
      update ${schema}.tasks as target set
        revision = task.revision + 1,
        updated_at = ${now},
        status = case when open.asks then 'input_required' else 'working' end,
        waits = open.waits,
        wait_group = case when ${wasLastWait} then null else task.wait_group end,
        wait_since = case when ${wasLastWait} then null else task.wait_since end,
        asked = task.asked || coalesce(
          (select jsonb_object_agg(early.arrival ->> 'key', 1) from early), '{}'
        ),
        inbox = task.inbox || accepted.inbox,
        due_at = case when task.worker is null then ${now} else task.due_at end
      from task, accepted, open
      where target.id = task.id and accepted.inbox is not null
      returning target.*
    )
    select ${record("answered")}, ${now} as now, accepted.wires as accepted
    from answered, accepted
    union all
    select ${record("task")}, ${now}, '[]'
    from task
    where not exists (select from answered)`,

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

    // Safe: one row, one update, for each of them.
    noteRead: `
    update ${schema}.tasks as task set unread = 0
    where task.id = any ($1::text[]) and task.unread = 1`,

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
