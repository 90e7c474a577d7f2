// The upkeep of the tables in Postgres: sweeping what has expired, and counting tasks for operators. A sweep skips rows
// that others are using. statements.ts says what makes each statement safe.

import { recordBytes } from "../../store.ts";
import { isLive, keptForUndo, nowIn } from "./fragments.ts";

/** The size of what is sealed in a task. Postgres knows the length of a large text without reading it. */
const taskBytes = (of: string): string =>
  `(${of}.log_bytes + octet_length(${of}.input) + coalesce(octet_length(${of}.result), 0)
      + coalesce(octet_length(${of}.status_message), 0)
      + octet_length(${of}.waits::text) + octet_length(${of}.inbox::text))`;

/** The size of what is sealed in a round. */
const roundBytes = (of: string): string =>
  `(pg_column_size(${of}.log) + coalesce(octet_length(${of}.response), 0))`;

/** The names of these statements. */
export type UpkeepStatement =
  | "forget"
  | ("expired" | "abandoned" | "ended")
  | "layToRest"
  | ("expiredSpills" | "expiredRounds" | "forgetSpills" | "forgetRounds")
  | "forgetWorkers"
  | ("usage" | "countEnded" | "figures");

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function upkeepStatements(schema: string): Readonly<Record<UpkeepStatement, string>> {
  const now = nowIn(schema);
  const kept = keptForUndo("task", now);

  /** The steps of an ended task are undone, or undoing them has taken too long. */
  const isSettled = `(task.undos = 0 or task.updated_at <= ${now} - $2::bigint)`;
  /** Whether a task whose time is up keeps its contents, because its steps have to be undone. */
  const isUndone = `${isLive("task")} and task.undos > 0`;
  const unlessUndone = (column: string, empty: string) =>
    `case when ${isUndone} then task.${column} else ${empty} end`;

  return {
    // Safe: locked first. Nothing else ever happens to a task without contents.
    forget: `
    delete from ${schema}.tasks where id in (
      select task.id from ${schema}.tasks as task
      where task.expires_at <= ${now} and task.rest is not null and ${isSettled}
      order by task.expires_at
      limit $1
      for update skip locked
    )
    returning id`,

    // Safe: this is the first of two statements in one transaction, and its locks last until the end of it.
    expired: `
    select task.id, ${taskBytes("task")} as bytes from ${schema}.tasks as task
    where task.expires_at <= ${now} and task.rest is null and (${isLive("task")} or ${isSettled})
    order by task.expires_at
    limit $1
    for update skip locked`,

    // Safe: like the statement before. The conditions are those of `isAbandoned` in moves.ts.
    abandoned: `
    select task.id, ${taskBytes("task")} as bytes from ${schema}.tasks as task
    where task.unread = 1
      and task.status = 'input_required'
      and task.created_at <= ${now} - $2::bigint
      and task.updated_at <= ${now} - $2::bigint
      and task.worker is null
      and task.due_at is null
      and not exists (
        select from jsonb_array_elements(task.waits) as wait (value)
        where wait.value ->> 'kind' <> 'question'
      )
    order by task.created_at
    limit $1
    for update skip locked`,

    // Safe: like the one before.
    ended: `
    select task.id, ${taskBytes("task")} as bytes from ${schema}.tasks as task
    where task.principal = $1 and task.rest is null and not ${isLive("task")} and task.undos = 0
    order by task.created_at, task.id
    limit $2
    for update skip locked`,

    // Safe: this is the second one. It sees everything that was added to the logs before the rows were locked.
    layToRest: `
    with emptied as (
      delete from ${schema}.log as entry using ${schema}.tasks as task
      where entry.task_id = any ($1::text[]) and task.id = entry.task_id and not (${isUndone})
    )
    update ${schema}.tasks as task set
      revision = task.revision + case when ${isLive("task")} then 1 else 0 end,
      updated_at = case
        when ${isLive("task")} then least(${now}, task.expires_at)
        else task.updated_at
      end,
      status = case when ${isLive("task")} then 'failed' else task.status end,
      rest = case when ${isLive("task")} then 'expired' else 'removed' end,
      epoch = case when ${isUndone} then ${kept.epoch} else task.epoch + 1 end,
      worker = case when ${isUndone} then ${kept.worker} end,
      due_at = case when ${isUndone} then ${kept.due_at} end,
      fruitless = case when ${isUndone} then ${kept.fruitless} else task.fruitless end,
      waits = '[]',
      inbox = '[]',
      asked = ${unlessUndone("asked", "'{}'")},
      log_length = ${unlessUndone("log_length", "0")},
      log_bytes = ${unlessUndone("log_bytes", "0")},
      undos = ${unlessUndone("undos", "0")},
      cause = null,
      input = ${unlessUndone("input", "''")},
      status_message = null,
      result = null,
      expires_at = ${now} + $2::bigint
    where task.id = any ($1::text[])
    returning task.id, task.rest`,

    // Safe: only reads, and what is deleted is checked again. So is the next one.
    expiredSpills: `
    select spill.id, octet_length(spill.state) + coalesce(octet_length(spill.answer), 0) as bytes
    from ${schema}.spills as spill
    where spill.expires_at <= ${now}
    order by spill.expires_at
    limit $1`,

    expiredRounds: `
    select round.call_id as id, ${roundBytes("round")} as bytes from ${schema}.rounds as round
    where round.expires_at <= ${now}
    order by round.expires_at
    limit $1`,

    // Safe: locked first. A state that is being written again at this moment is skipped.
    forgetSpills: `
    delete from ${schema}.spills where id in (
      select spill.id from ${schema}.spills as spill
      where spill.id = any ($1::text[]) and spill.expires_at <= ${now}
      for update skip locked
    )
    returning id`,

    // Safe: locked first, so a round that is being claimed again is skipped or checked again.
    forgetRounds: `
    delete from ${schema}.rounds where call_id in (
      select round.call_id from ${schema}.rounds as round
      where round.call_id = any ($1::text[]) and round.expires_at <= ${now}
      for update skip locked
    )
    returning call_id`,

    // Safe: a worker that is alive after all comes back with its next renewal.
    forgetWorkers: `
    delete from ${schema}.workers where id in (
      select worker.id from ${schema}.workers as worker
      where worker.seen_at <= ${now} - 86400000
      for update skip locked
    )`,

    // Safe: only reads.
    usage: `
    select
      tasks.live,
      tasks.number - tasks.live as ended,
      tasks.bytes + parts.bytes + spills.bytes + rounds.bytes as bytes
    from
      (
        select
          count(*) as number,
          count(*) filter (where ${isLive("task")}) as live,
          coalesce(sum(${recordBytes} + ${taskBytes("task")}), 0) as bytes
        from ${schema}.tasks as task
        where task.principal = $1 and task.rest is null
      ) as tasks,
      (
        select coalesce(sum(octet_length(part.record)), 0) as bytes
        from ${schema}.task_parts as part join ${schema}.tasks as task on task.id = part.task_id
        where task.principal = $1 and task.rest is null
      ) as parts,
      (
        select coalesce(sum(
          ${recordBytes} + octet_length(spill.state) + coalesce(octet_length(spill.answer), 0)
        ), 0) as bytes
        from ${schema}.spills as spill where spill.principal = $1
      ) as spills,
      (
        select coalesce(sum(${recordBytes} + ${roundBytes("round")}), 0) as bytes
        from ${schema}.rounds as round where round.principal = $1
      ) as rounds`,

    // Safe: only reads. The status of an ended task is in no index, so the live ones are subtracted. They all have their
    // contents.
    countEnded: `
    select
      (
        select count(*) from ${schema}.tasks as task
        where task.principal = $1 and task.rest is null
      ) - (
        select count(*) from ${schema}.tasks as task
        where task.principal = $1 and ${isLive("task")}
      ) as ended`,

    // Safe: only reads.
    figures: `
    select
      ${now} as now,
      count(*) as live,
      count(task.worker) as held,
      count(*) filter (
        where task.worker is null and (task.due_at is null or task.due_at > ${now})
      ) as parked,
      count(*) filter (where task.status = 'input_required') as input_required,
      count(*) filter (where task.due_at <= ${now}) as due,
      min(task.due_at) filter (where task.due_at <= ${now}) as oldest_due_at,
      (select max(worker.seen_at) from ${schema}.workers as worker) as worker_seen_at,
      (
        select count(*) from ${schema}.tasks as ended
        where ended.undos > 0 and not ${isLive("ended")}
      ) as undoing
    from ${schema}.tasks as task
    where ${isLive("task")}`,
  };
}
