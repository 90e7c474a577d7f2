// The parts of running streams in Postgres. statements.ts says what makes each statement safe.

import { partsAtOnce } from "../../stored-parts.ts";
import { isHeld, isLive, nowIn } from "./fragments.ts";

/** The names of these statements. */
export type PartStatement = "addParts" | "readParts";

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function partStatements(schema: string): Readonly<Record<PartStatement, string>> {
  const now = nowIn(schema);
  return {
    // Safe: locked first, so that no part is added while another statement ends the claim. The commit does not wait for
    // the disk: a part that a crash of the database loses comes with the record of its stream.
    addParts: `
    with task as (
      select task.id, task.epoch from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2 and ${isHeld("task", now)}
      for share
    ),
    added as (
      insert into ${schema}.task_parts (task_id, epoch, key, n, record)
      select task.id, task.epoch, part.key, part.n, part.record
      from task, unnest($3::text[], $4::integer[], $5::text[]) as part (key, n, record)
      on conflict do nothing
    )
    select exists (select from task) as is_done, set_config('synchronous_commit', 'off', true)`,

    // Safe: only reads, all of it in one snapshot.
    readParts: `
    select
      task.epoch, task.log_length, part.n, part.key, part.record,
      task.revision
        + case when ${isLive("task")} and task.expires_at <= ${now} then 1 else 0 end as revision
    from ${schema}.tasks as task
      left join ${schema}.task_parts as part
        on part.task_id = task.id and part.epoch = task.epoch
          and part.n > case when task.epoch = $2 then $3 else -1 end
    where task.id = $1
    order by part.n
    limit ${partsAtOnce}`,
  };
}
