// The parts of running streams in Postgres. statements.ts says what makes each statement safe.

import { partsAtOnce } from "../../stored-parts.ts";
import { isHeld, isLive, nowIn } from "./fragments.ts";

/** The names of these statements. */
export type PartStatement = "addParts" | "readParts";

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function partStatements(schema: string): Readonly<Record<PartStatement, string>> {
  const now = nowIn(schema);
  return {
    // Safe: locked first, so that no part is added while another statement ends the claim, and in the order of ids, as
    // `renew` does it. The commit does not wait for the disk: a part that a crash of the database loses comes with the
    // record of its stream.
    addParts: `
    with task as (
      select task.id, task.epoch
      from ${schema}.tasks as task
        join unnest($1::text[], $2::integer[]) as ref (id, epoch)
          on ref.id = task.id and ref.epoch = task.epoch
      where ${isHeld("task", now)}
      order by task.id
      for share of task
    ),
    added as (
      insert into ${schema}.task_parts (task_id, epoch, key, n, record)
      select task.id, task.epoch, part.key, part.n, part.record
      from task
        join unnest($3::text[], $4::integer[], $5::text[], $6::integer[], $7::text[])
          as part (id, epoch, key, n, record)
          on part.id = task.id and part.epoch = task.epoch
      on conflict do nothing
    )
    select task.id, task.epoch, set_config('synchronous_commit', 'off', true) from task`,

    // Safe: only reads, all of it in one snapshot.
    readParts: `
    select
      place.place::integer, task.epoch, task.log_length, part.n, part.key, part.record,
      task.revision
        + case when ${isLive("task")} and task.expires_at <= ${now} then 1 else 0 end as revision
    from unnest($1::text[], $2::integer[], $3::integer[])
        with ordinality as place (id, epoch, n, place)
      join ${schema}.tasks as task on task.id = place.id
      left join lateral (
        select part.n, part.key, part.record
        from ${schema}.task_parts as part
        where part.task_id = task.id and part.epoch = task.epoch
          and part.n > case when task.epoch = place.epoch then place.n else -1 end
        order by part.n
        limit ${partsAtOnce}
      ) as part on true
    order by place.place, part.n`,
  };
}
