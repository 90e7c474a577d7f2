// What operators read in Postgres. Each statement takes as long with 100,000 tasks as with 1,000: it visits the kinds that
// there are (a tool and a status, or a tool and a group), and reads one page of each from an index. All of them only read.

import { listedColumnNames } from "../columns.ts";
import { isLive, isUndoing, nowIn } from "./fragments.ts";

/** The names of these statements. */
export type ReaderStatement =
  | ("findAll" | "findOwn" | "findKind" | "findStuck")
  | ("waiting" | "waitsOf" | "history" | "runs");

/** Whether someone asks for waits of this kind. */
const isKind = (group: string): string =>
  `($1::text[] is null or ${group} = any ($1::text[])) and ($2::text is null or kind.tool = $2)`;

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function readerStatements(schema: string): Readonly<Record<ReaderStatement, string>> {
  const columns = listedColumnNames.map((name) => `task.${name}`).join(", ");
  const newest = "order by task.created_at desc, task.id desc";
  const page = `(task.created_at, task.id) < ($1::bigint, $2) ${newest} limit $3`;
  const isWanted = `($3::text is null or task.status = $3) and ($4::text is null or task.tool = $4)
          and ($5::text is null or task.principal = $5)`;
  const wait =
    "wait.task_id, wait.wire, wait.key, wait.kind, wait.tool, wait.group_name, wait.since";
  /** The same, of a task that waits for one thing only. */
  const oneWait = `task.id as task_id, task.waits -> 0 ->> 'wire' collate "C" as wire,
        task.waits -> 0 ->> 'key' as key, task.waits -> 0 ->> 'kind' as kind, task.tool,
        task.wait_group as group_name, task.wait_since as since`;

  return {
    findAll: `
    select ${columns} from ${schema}.tasks as task where task.rest is null and ${page}`,

    findOwn: `
    select ${columns} from ${schema}.tasks as task
    where task.rest is null and task.principal = $4
      and ($5::text is null or task.status = $5) and ($6::text is null or task.tool = $6)
      and ${page}`,

    // The lower bound is not written as an equality, because then the planner takes an index in which other kinds lie
    // between the tasks of this one.
    findKind: `
    with recursive tools as (
      (
        select task.tool from ${schema}.tasks as task
        where task.rest is null and $5::text is null order by task.tool limit 1
      )
      union all
      select next.tool from tools cross join lateral (
        select task.tool from ${schema}.tasks as task
        where task.rest is null and task.tool > tools.tool order by task.tool limit 1
      ) as next
    ),
    kinds as (
      select named.tool collate "C" as tool, status.name collate "C" as name
      from (select $5::text as tool where $5::text is not null union all select tool from tools) as named,
        unnest(case when $4::text is null
          then array['working', 'input_required', 'completed', 'failed', 'cancelled']
          else array[$4::text] end) as status (name)
    )
    select ${columns} from kinds cross join lateral (
      select ${columns} from ${schema}.tasks as task
      where task.rest is null and (task.tool, task.status) >= (kinds.tool, kinds.name)
        and (task.tool, task.status, task.created_at, task.id) < (kinds.tool, kinds.name, $1::bigint, $2)
      order by task.tool desc, task.status desc, task.created_at desc, task.id desc limit $3
    ) as task
    ${newest} limit $3`,

    findStuck: `
    select ${columns} from (
      (
        select ${columns} from ${schema}.tasks as task
        where task.due_at <= ${nowIn(schema)} - $1::bigint
          and (${isLive("task")} or ${isUndoing("task")}) and ${isWanted}
        order by task.due_at, task.id limit $2
      )
      union
      (
        select ${columns} from ${schema}.tasks as task
        where task.retried and task.fruitless > 1 and task.due_at is not null and ${isWanted}
        order by task.due_at, task.id limit $2
      )
    ) as task
    order by task.due_at, task.id limit $2`,

    waiting: `
    with recursive one_kinds as (
      (
        select task.tool, task.wait_group from ${schema}.tasks as task
        where task.wait_since is not null order by task.tool, task.wait_group limit 1
      )
      union all
      select next.tool, next.wait_group from one_kinds cross join lateral (
        select task.tool, task.wait_group from ${schema}.tasks as task
        where task.wait_since is not null
          and (task.tool, task.wait_group) > (one_kinds.tool, one_kinds.wait_group)
        order by task.tool, task.wait_group limit 1
      ) as next
    ),
    many_kinds as (
      (
        select wait.tool, wait.group_name from ${schema}.task_waits as wait
        order by wait.tool, wait.group_name limit 1
      )
      union all
      select next.tool, next.group_name from many_kinds cross join lateral (
        select wait.tool, wait.group_name from ${schema}.task_waits as wait
        where (wait.tool, wait.group_name) > (many_kinds.tool, many_kinds.group_name)
        order by wait.tool, wait.group_name limit 1
      ) as next
    )
    select ${wait} from (
      select ${wait} from one_kinds as kind cross join lateral (
        select ${oneWait} from ${schema}.tasks as task
        where task.wait_since is not null
          and task.tool = kind.tool and task.wait_group = kind.wait_group
          and (task.wait_since, task.id) >= ($3::bigint, $4)
          and (task.wait_since, task.id, task.waits -> 0 ->> 'wire') > ($3::bigint, $4, $5)
        order by task.wait_since, task.id limit $6
      ) as wait
      where ${isKind("kind.wait_group")}
      union all
      select ${wait} from many_kinds as kind cross join lateral (
        select ${wait} from ${schema}.task_waits as wait
        where wait.tool = kind.tool and wait.group_name = kind.group_name
          and (wait.since, wait.task_id, wait.wire) > ($3::bigint, $4, $5)
        order by wait.since, wait.task_id, wait.wire limit $6
      ) as wait
      where ${isKind("kind.group_name")}
    ) as wait
    order by wait.since, wait.task_id, wait.wire limit $6`,

    waitsOf: `
    select ${wait} from (
      select ${oneWait} from ${schema}.tasks as task
      where task.id = $1 and task.wait_since is not null
      union all
      select ${wait} from ${schema}.task_waits as wait where wait.task_id = $1
    ) as wait
    where (wait.since, wait.wire) > ($2::bigint, $3)
    order by wait.since, wait.wire limit $4`,

    history: `
    select entry.seq, entry.record, entry.epoch, entry.at, entry.ms, entry.tries
    from ${schema}.log as entry
    where entry.task_id = $1 and entry.seq >= $2 order by entry.seq limit $3`,

    runs: `
    select batch.runs, null as created_at, null as epoch, null as worker, null as began_at
    from ${schema}.task_runs as batch where batch.task_id = $1
    union all
    select task.runs, task.created_at, task.epoch, task.worker, task.claimed_at
    from ${schema}.tasks as task where task.id = $1`,
  };
}
