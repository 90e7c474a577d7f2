// What a decision about an approval does to a task in Postgres. statements.ts says what makes each statement safe.

import { isLiveAt, nowIn, record } from "./fragments.ts";

/** The names of these statements. */
export type ApprovalStatement = "decide";

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function approvalStatements(schema: string): Readonly<Record<ApprovalStatement, string>> {
  const now = nowIn(schema);
  // The statement may have waited for the row, while its worker saw that the time limit had passed.
  const afterLock = `${now} + floor(extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)`;

  return {
    // Safe: locked first.
    decide: `
    with task as (
      select task.* from ${schema}.tasks as task where task.id = $1 for update
    ),
    wait as (
      select wait.value, wait.place, coalesce(wait.value -> 'decisions', '[]') as decisions
      from task cross join jsonb_array_elements(task.waits) with ordinality as wait (value, place)
      where ${isLiveAt("task", now)}
        and wait.value ->> 'wire' = $2
        and wait.value ? 'needs'
        and coalesce((wait.value ->> 'dueAt')::numeric - 1 > ${afterLock}, true)
      limit 1
    ),
    given as (
      select
        wait.place,
        wait.value,
        wait.decisions || jsonb_build_array($3::jsonb || jsonb_build_object('at', ${now})) as decisions
      from wait
      where not exists (
        select from jsonb_array_elements(wait.decisions) as earlier (value)
        where earlier.value ->> 'who' = $3::jsonb ->> 'who'
      )
    ),
    fate as (
      select
        given.*,
        not ($3::jsonb ->> 'approves')::boolean
          or jsonb_array_length(given.decisions) >= (given.value ->> 'needs')::integer as is_over
      from given
    ),
    open as (
      select
        coalesce(jsonb_agg(
          case when wait.place = fate.place
            then wait.value || jsonb_build_object('decisions', fate.decisions)
            else wait.value end
          order by wait.place
        ), '[]') as waits,
        coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks
      from task, fate, jsonb_array_elements(task.waits) with ordinality as wait (value, place)
      where wait.place <> fate.place or not fate.is_over
    ),
    decided as (
      update ${schema}.tasks as target set
        waits = open.waits,
        revision = task.revision + fate.is_over::integer,
        updated_at = case when fate.is_over then ${now} else task.updated_at end,
        status = case when open.asks then 'input_required' else 'working' end,
        inbox = case when fate.is_over then task.inbox || jsonb_strip_nulls(jsonb_build_object(
          'id', $2::text,
          'key', fate.value -> 'key',
          'digest', coalesce(fate.value ->> 'digest', ''),
          'value', '',
          'at', ${now},
          'dueAt', fate.value -> 'dueAt',
          'decisions', fate.decisions
        )) else task.inbox end,
        due_at = case when fate.is_over and task.worker is null then ${now} else task.due_at end
      from task, fate, open
      where target.id = task.id
      returning target.*
    )
    select ${record("decided")}, ${now} as now,
      case when fate.is_over then 'completed' else 'counted' end as kind, fate.decisions
    from decided, fate
    union all
    select ${record("task")}, ${now},
      case when wait.place is null then 'closed' else 'repeated' end,
      coalesce(wait.decisions, '[]')
    from task left join wait on true
    where not exists (select from decided)`,
  };
}
