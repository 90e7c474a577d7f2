// What a worker does with a task in Postgres, under its claim. statements.ts says what makes each statement safe.

import { endedRun, isHeld, isLive, isLiveAt, isOpenAt, isUndoing } from "./fragments.ts";
import { nowIn, record } from "./fragments.ts";

/** The names of these statements. */
export type WorkerStatement =
  | "claim"
  | "renew"
  | "append"
  | "park"
  | "publish"
  | "release"
  | "report"
  | "finish"
  | "undo"
  | "leave"
  | "workers";

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function workerStatements(schema: string): Readonly<Record<WorkerStatement, string>> {
  const now = nowIn(schema);

  /** Whether the trigger of migration 8 has nothing to do: the task waits for one thing, and waited for nothing. */
  const isFirstWait = `task.waits = '[]' and jsonb_array_length(open.waits) = 1
        and open.waits -> 0 ->> 'kind' <> 'timer'`;

  /** For `park` and `publish`, which differ only in what happens to the worker. */
  const waiting = (more: string): string => `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2 and ${isHeld("task", now)}
      for update
    ),
    unread as (
      select
        coalesce(jsonb_agg(arrival.value order by arrival.place), '[]') as inbox,
        coalesce(array_agg(arrival.value ->> 'key'), '{}') as keys
      from task, jsonb_array_elements(task.inbox) with ordinality as arrival (value, place)
      where arrival.value ->> 'id' <> all ($5::text[])
    ),
    open as (
      select
        coalesce(jsonb_agg(case when wait.value ? 'needs' then wait.value || coalesce((
          select jsonb_build_object('decisions', before.value -> 'decisions')
          from jsonb_array_elements(task.waits) as before (value)
          where before.value ->> 'wire' = wait.value ->> 'wire' and before.value ? 'decisions'
          limit 1
        ), '{}') else wait.value end order by wait.place), '[]') as waits,
        coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks,
        ceil(min((wait.value ->> 'dueAt')::numeric))::bigint as due_at
      from task, unread, jsonb_array_elements($3::jsonb) with ordinality as wait (value, place)
      where wait.value ->> 'kind' = 'timer' or wait.value ->> 'key' <> all (unread.keys)
    ),
    due as (
      select case
        when jsonb_array_length(open.waits) < jsonb_array_length($3::jsonb) then ${now}
        else open.due_at
      end as at
      from open
    )
    update ${schema}.tasks as target set
      revision = task.revision + 1,
      updated_at = ${now},
      status = case when open.asks then 'input_required' else 'working' end,
      waits = open.waits,
      wait_group = case when ${isFirstWait} then coalesce(open.waits -> 0 ->> 'group', '')
        else task.wait_group end,
      wait_since = case when ${isFirstWait} then ${now} else task.wait_since end,
      asked = task.asked || $4::jsonb,
      inbox = unread.inbox${more}
    from task, unread, open, due
    where target.id = task.id
    returning target.id, target.worker is null and target.due_at <= ${now} as is_due`;

  /** Whether the task is due again at once and has used nothing up. */
  const isFruitless = `coalesce(due.at <= ${now}, false) and cardinality($5::text[]) = 0`;

  /** Whether the worker keeps the task that it finishes, in order to undo its steps. */
  const undoes = "$7::boolean and task.undos > 0";

  const finishedHow = "case when $3 = 'cancelled' then 'cancelled' else 'finished' end";

  return {
    // Safe: locked first. Other claims at the same moment skip the locked rows. The log is as old as the start of the
    // statement, so `PostgresStore.claim` reads it again if the previous worker has added to it since.
    claim: `
    with wanted as materialized (
      select task.id, task.worker, task.due_at from ${schema}.tasks as task
      where task.due_at <= ${now} and (task.expires_at > ${now} or ${isUndoing("task")})
        and task.tool = any ($2::text[])
      order by task.due_at, task.id
      limit $3
      for update skip locked
    ),
    claimed as (
      update ${schema}.tasks as target set
        worker = $1,
        claimed_at = ${now},
        epoch = target.epoch + 1,
        due_at = ${now} + $4::bigint,
        fruitless = target.fruitless + 1,
        retried = target.fruitless > 0
      from wanted
      where target.id = wanted.id
      returning target.*, wanted.worker as before, wanted.due_at as was_due_at
    ),
    other as (
      select task.due_at from ${schema}.tasks as task
      where task.due_at is not null
        and (task.expires_at > ${now} or ${isUndoing("task")})
        and task.tool = any ($2::text[])
        and task.id <> all (array(select wanted.id from wanted))
      order by task.due_at
      limit 1
    ),
    clock as (
      select
        ${now} as now,
        least(
          (select other.due_at from other),
          (select ${now} + $4::bigint from wanted limit 1)
        ) as next_due_at
    )
    select
      clock.now, clock.next_due_at, claimed.before, ${record("claimed")},
      (
        select coalesce(json_agg(entry.record order by entry.seq), '[]')
        from ${schema}.log as entry where entry.task_id = claimed.id
      ) as log
    from clock left join claimed on true
    order by claimed.was_due_at, claimed.id`,

    // Safe: locked first, always in the same order, so that two renewals cannot wait for one another.
    renew: `
    with seen as (
      insert into ${schema}.workers (id, seen_at) values ($1, ${now})
      on conflict (id) do update set seen_at = excluded.seen_at
    ),
    held as (
      select task.id
      from ${schema}.tasks as task
        join unnest($2::text[], $3::integer[]) as ref (id, epoch)
          on ref.id = task.id and ref.epoch = task.epoch
      where ${isOpenAt("task", now)} and task.worker is not null
      order by task.id
      for update of task
    ),
    renewed as (
      update ${schema}.tasks as target set due_at = ${now} + $4::bigint
      from held
      where target.id = held.id
      returning target.id, target.inbox,
        ${isUndoing("target")} as is_undoing
    )
    select clock.now, renewed.id, renewed.inbox, renewed.is_undoing
    from (select ${now} as now) as clock left join renewed on true`,

    // Safe: locked first. The newest row shows whether the same append was written before, even if that attempt was
    // still under way when this one began. Parts that are added while it waits for the row stay until the claim ends:
    // readers pass over a stream that is recorded.
    append: `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2 and ${isLiveAt("task", now)}
      for update
    ),
    unread as (
      select coalesce(jsonb_agg(arrival.value order by arrival.place), '[]') as inbox
      from task, jsonb_array_elements(task.inbox) with ordinality as arrival (value, place)
      where arrival.value ->> 'id' <> all ($6::text[])
    ),
    appended as (
      update ${schema}.tasks as target set
        inbox = $7::jsonb || unread.inbox,
        log_length = task.log_length + cardinality($4::text[]),
        log_bytes = task.log_bytes + $5::bigint,
        undos = coalesce($8::integer, task.undos),
        fruitless = 0,
        cause = null
      from task, unread
      where target.id = task.id
        and task.worker is not null
        and task.log_length = $3
        and ($12::text is null or not exists (
          select from jsonb_array_elements(unread.inbox) as arrival (value)
          where arrival.value ->> 'key' = $12
            and coalesce((arrival.value ->> 'at')::numeric < (arrival.value ->> 'dueAt')::numeric, true)
        ))
      returning target.id
    ),
    written as (
      insert into ${schema}.log (task_id, seq, record, epoch, at, ms, tries)
      select appended.id, $3 + entry.place - 1, entry.value, $2, ${now},
        case when entry.place = cardinality($4::text[]) then $10::integer end,
        case when entry.place = cardinality($4::text[]) then $11::integer end
      from appended, unnest($4::text[]) with ordinality as entry (value, place)
    ),
    streamed as (
      delete from ${schema}.task_parts as part
      where $9::text is not null and part.task_id = $1 and part.key = $9
        and exists (select from appended)
    )
    select
      exists (select from appended)
        or exists (
          select from task
          where cardinality($4::text[]) > 0 and task.log_length = $3 + cardinality($4::text[])
        ) as is_done`,

    // Safe: locked first. An answer either comes before and is in the inbox, or comes after and makes the task due.
    park: waiting(`,
      runs = ${endedRun("task", now, "'parked'")},
      worker = null,
      due_at = due.at,
      fruitless = case when ${isFruitless} then task.fruitless else 0 end,
      cause = case when ${isFruitless} then task.cause end`),

    // Safe: for the same reason as `park`.
    publish: waiting(""),

    // Safe: one row, one update.
    release: `
    update ${schema}.tasks as task set
      worker = null,
      due_at = ${now} + $3::bigint,
      fruitless = greatest(0, task.fruitless - case when $4::boolean then 0 else 1 end),
      cause = coalesce($5, task.cause)
    where task.id = $1 and task.epoch = $2 and ${isOpenAt("task", now)} and task.worker is not null
    returning task.id, task.due_at <= ${now} as is_due`,

    // Safe: one row, one update.
    report: `
    update ${schema}.tasks as task set
      revision = task.revision + 1,
      updated_at = ${now},
      status_message = $3
    where task.id = $1 and task.epoch = $2 and ${isHeld("task", now)}
    returning task.id`,

    // Safe: locked first, so an earlier attempt is seen, as with `append`.
    finish: `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2
      for update
    ),
    finished as (
      update ${schema}.tasks as target set
        status = $3,
        result = $4,
        status_message = $5,
        revision = task.revision + 1,
        updated_at = ${now},
        undos = case when ${undoes} then task.undos else 0 end,
        runs = case when ${undoes} then task.runs else ${endedRun("task", now, finishedHow)} end,
        worker = case when ${undoes} then task.worker end,
        due_at = case when ${undoes} then task.due_at end,
        fruitless = case when ${undoes} then 1 else task.fruitless end,
        cause = case when ${undoes} then null else task.cause end,
        waits = '[]',
        inbox = '[]',
        expires_at = greatest(task.expires_at, ${now} + $6::bigint)
      from task
      where target.id = task.id and ${isHeld("task", now)}
      returning target.id
    )
    select
      exists (select from finished) as is_finished,
      exists (select from task where task.status = $3 and task.rest is null) as was_finished`,

    // Safe: locked first, so an earlier attempt is seen, as with `append`.
    undo: `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2 and not (${isLive("task")})
      for update
    ),
    undone as (
      update ${schema}.tasks as target set
        log_length = task.log_length + cardinality($4::text[]),
        log_bytes = task.log_bytes + $5::bigint,
        undos = $6,
        cause = null,
        fruitless = case when $6 > 0 then 1 else 0 end,
        worker = case when $6 > 0 then task.worker end,
        due_at = case when $6 > 0 then task.due_at end,
        expires_at = case when $6 > 0 then task.expires_at
          else greatest(task.expires_at, ${now} + $7::bigint) end
      from task
      where target.id = task.id
        and task.undos > 0
        and task.worker is not null
        and task.log_length = $3
        and not (task.undos = $6 and cardinality($4::text[]) = 0)
      returning target.id
    ),
    written as (
      insert into ${schema}.log (task_id, seq, record, epoch, at)
      select undone.id, $3 + entry.place - 1, entry.value, $2, ${now}
      from undone, unnest($4::text[]) with ordinality as entry (value, place)
    )
    select
      exists (select from undone)
        or exists (
          select from task
          where task.log_length = $3 + cardinality($4::text[]) and task.undos = $6
        ) as is_done`,

    // Safe: one row.
    leave: `
    delete from ${schema}.workers where id = $1`,

    // Safe: it reads only.
    workers: `
    select clock.now, worker.id, worker.seen_at
    from (select ${now} as now) as clock left join ${schema}.workers as worker on true`,
  };
}
