// What a worker does with a task in Postgres, under its claim. statements.ts says what makes each statement safe.

import { endedRun, isHeld, isLive, isOpenAt, isUndoing } from "./fragments.ts";
import { members, nowIn, record, recordIf } from "./fragments.ts";
import { taskColumnNames } from "../columns.ts";

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

  /** What has arrived for a task and is not used up. */
  const unread = `(
          select coalesce(jsonb_agg(arrival.value order by arrival.place), '[]')
          from jsonb_array_elements(task.inbox) with ordinality as arrival (value, place)
          where arrival.value ->> 'id' <> all (given.taken)
        )`;

  /** Whether the trigger of migration 8 has nothing to do: the task waits for one thing, and waited for nothing. */
  const isFirstWait = `task.waits = '[]' and jsonb_array_length(open.waits) = 1
          and open.waits -> 0 ->> 'kind' <> 'timer'`;

  /** Whether the task is due again at once, has used nothing up and brings no records. */
  const isFruitless = `coalesce(open.at <= ${now}, false) and cardinality(given.taken) = 0
            and given.records is null`;

  /** What a member has that may bring records, with the place of the first one. */
  const addition = "at integer, records text[], bytes bigint";

  /** For a row that gets the records of its member, if there are any. */
  const withRecords = `
      log_length = task.log_length + coalesce(cardinality(given.records), 0),
      log_bytes = task.log_bytes + coalesce(given.bytes, 0),`;

  /** Whether the records of a member, if there are any, come after the last one of the log. */
  const isNext = "(given.at is null or task.log_length = given.at)";

  /** An update of the rows of tasks that is named `moved`, the records that it brings, and what both come to. */
  const andLog = (update: string, more: string): string => `,
    moved as (${update}
      returning given.n, given.id as task_id, given.epoch as held, given.at as place, given.records${more},
        ${recordIf("given.shows", "task")}
    ),
    written as (
      insert into ${schema}.log (task_id, seq, record, epoch, at)
      select moved.task_id, moved.place + entry.place - 1, entry.value, moved.held, ${now}
      from moved, unnest(moved.records) with ordinality as entry (value, place)
    )`;

  const shownTask = taskColumnNames.map((name) => `moved.${name}`).join(", ");

  /** For `park` and `publish`, which differ only in what happens to the worker: more columns, their values, and more. */
  const waiting = (columns: string, values: string, more: string): string => `
    update ${schema}.tasks as task set
      revision = task.revision + 1,
      updated_at = ${now},
      asked = task.asked || given.asked${more},
      (inbox, waits, status, wait_group, wait_since${columns}) = (
        select
          unread.inbox,
          open.waits,
          case when open.asks then 'input_required' else 'working' end,
          case when ${isFirstWait} then coalesce(open.waits -> 0 ->> 'group', '')
            else task.wait_group end,
          case when ${isFirstWait} then ${now} else task.wait_since end${values}
        from (
          select
            coalesce(jsonb_agg(arrival.value order by arrival.place), '[]') as inbox,
            coalesce(array_agg(arrival.value ->> 'key'), '{}') as keys
          from jsonb_array_elements(task.inbox) with ordinality as arrival (value, place)
          where arrival.value ->> 'id' <> all (given.taken)
        ) as unread
        cross join lateral (
          select
            coalesce(jsonb_agg(case when wait.value ? 'needs' then wait.value || coalesce((
              select jsonb_build_object('decisions', before.value -> 'decisions')
              from jsonb_array_elements(task.waits) as before (value)
              where before.value ->> 'wire' = wait.value ->> 'wire' and before.value ? 'decisions'
              limit 1
            ), '{}') else wait.value end order by wait.place), '[]') as waits,
            coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks,
            case when count(*) < jsonb_array_length(given.waits) then ${now}
              else ceil(min((wait.value ->> 'dueAt')::numeric))::bigint end as at
          from jsonb_array_elements(given.waits) with ordinality as wait (value, place)
          where wait.value ->> 'kind' = 'timer' or wait.value ->> 'key' <> all (unread.keys)
        ) as open
      )
    from given
    where task.id = given.id and task.epoch = given.epoch and ${isHeld("task", now)}`;

  const waitingMember =
    "id text, epoch integer, waits jsonb, asked jsonb, taken text[], shows boolean";
  const isDue = `task.worker is null and task.due_at <= ${now} as is_due`;

  /** Whether the worker keeps the task that it finishes, in order to undo its steps. */
  const undoes = "given.keeps and task.undos > 0";

  const finishedHow = "case when given.status = 'cancelled' then 'cancelled' else 'finished' end";

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

    // Safe: one row, one update. Parts that are added while it waits for the row stay until the claim ends: readers pass over
    // a stream that is recorded.
    append: `
    with ${members(`id text, epoch integer, at integer, records text[], bytes bigint, taken text[],
        returned jsonb, undos integer, streamed text, ms integer, tries integer, expired text`)},
    appended as (
      update ${schema}.tasks as task set
        inbox = given.returned || ${unread},
        log_length = task.log_length + cardinality(given.records),
        log_bytes = task.log_bytes + given.bytes,
        undos = coalesce(given.undos, task.undos),
        fruitless = 0,
        cause = null
      from given
      where task.id = given.id and task.epoch = given.epoch and ${isHeld("task", now)}
        and task.log_length = given.at
        and (given.expired is null or not exists (
          select from jsonb_array_elements(${unread}) as arrival (value)
          where arrival.value ->> 'key' = given.expired
            and coalesce((arrival.value ->> 'at')::numeric < (arrival.value ->> 'dueAt')::numeric, true)
        ))
      returning given.*
    ),
    written as (
      insert into ${schema}.log (task_id, seq, record, epoch, at, ms, tries)
      select task.id, task.at + entry.place - 1, entry.value, task.epoch, ${now},
        case when entry.place = cardinality(task.records) then task.ms end,
        case when entry.place = cardinality(task.records) then task.tries end
      from appended as task, unnest(task.records) with ordinality as entry (value, place)
    ),
    streamed as (
      delete from ${schema}.task_parts as part using appended as task
      where task.streamed is not null and part.key = task.streamed
        -- The index of that table has the collation of the database.
        and part.task_id = task.id collate "default"
    )
    select appended.n from appended`,

    // Safe: one row, one update. An answer either comes before and is in the inbox, or comes after and makes the task due.
    park: `
    with ${members(`${waitingMember}, ${addition}`)}${andLog(
      `${waiting(
        ", due_at, fruitless, cause",
        `,
          open.at,
          case when ${isFruitless} then task.fruitless else 0 end,
          case when ${isFruitless} then task.cause end`,
        `,${withRecords}
      runs = ${endedRun("task", now, "'parked'")},
      worker = null`,
      )}
      and ${isNext}`,
      `, ${isDue}`,
    )}
    select moved.n, moved.is_due, ${shownTask} from moved`,

    // Safe: for the same reason as `park`.
    publish: `
    with ${members(waitingMember)}${waiting("", "", "")}
    returning given.n, ${isDue},
      ${recordIf("given.shows", "task")}`,

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

    // Safe: one row, one update.
    finish: `
    with ${members(`id text, epoch integer, status text, result text, message text, keep_ms bigint,
        keeps boolean, shows boolean, ${addition}`)}${andLog(
      `
    update ${schema}.tasks as task set
      status = given.status,
      result = given.result,
      status_message = given.message,
      revision = task.revision + 1,
      updated_at = ${now},
      undos = case when ${undoes} then task.undos else 0 end,
      runs = case when ${undoes} then task.runs else ${endedRun("task", now, finishedHow)} end,
      worker = case when ${undoes} then task.worker end,
      due_at = case when ${undoes} then task.due_at end,
      fruitless = case when ${undoes} then 1 when given.records is null then task.fruitless else 0 end,
      cause = case when ${undoes} or given.records is not null then null else task.cause end,${withRecords}
      waits = '[]',
      inbox = '[]',
      expires_at = greatest(task.expires_at, ${now} + given.keep_ms)
    from given
    where task.id = given.id and task.epoch = given.epoch and ${isHeld("task", now)}
      and ${isNext}`,
      "",
    )}
    select moved.n, ${shownTask} from moved`,

    // Safe: locked first. The newest row shows whether the same progress was written before, even if that attempt was still
    // under way when this one began.
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
