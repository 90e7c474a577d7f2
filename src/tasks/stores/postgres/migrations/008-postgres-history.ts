// Migration 8 of Postgres: what operators see. Records say when and in which run they were written, runs say who held a task,
// and what waits for people can be found. Runs and waits are in the row of the task, which a statement writes anyway, because
// a row of another table costs many times as much. The frequent statements write them themselves. A trigger does it for the
// others and for replicas of an earlier version, so that the history is complete. Only what a row should not hold is elsewhere:
// every tenth run moves the runs before it to `task_runs`, and a task that waits for several things has rows in `task_waits`.

import type { Migration } from "../../migration-policy.ts";
import { mostRuns } from "../../../task-runs.ts";

const isLive = (row: string): string => `${row}.status in ('working', 'input_required')`;

/** The same decision as `endedRun` in task-runs.ts. */
const release = `case when new.cause is not null and new.cause is distinct from old.cause
      then 'failed' else 'released' end`;

/** Whether a run ends, and the statement has not noted it itself. */
const isNewlyEnded = `old.worker is not null and new.runs = old.runs
    and (new.worker is distinct from old.worker or new.epoch <> old.epoch)`;

/** The rows of what a task waits for people to do. */
const waitsOf = (task: string, since: string): string => `
      select ${task}.id, wait.value ->> 'wire', wait.value ->> 'key', wait.value ->> 'kind',
        coalesce(wait.value ->> 'group', ''), ${task}.tool, ${since}
      from jsonb_array_elements(${task}.waits) as wait (value)
      where wait.value ->> 'kind' <> 'timer'`;

/** The columns and tables behind the console. */
export const postgresHistory: Migration<(schema: string) => string> = {
  number: 8,
  isBreaking: false,
  sql: (schema) => `
alter table ${schema}.log
  add column if not exists epoch integer,
  add column if not exists at bigint,
  add column if not exists ms integer,
  add column if not exists tries integer;

-- The column retried says that fruitless is above 1. An index on fruitless would change with every run.
alter table ${schema}.tasks
  add column if not exists claimed_at bigint,
  add column if not exists runs jsonb not null default '[]',
  add column if not exists retried boolean not null default false,
  add column if not exists wait_group text collate "C",
  add column if not exists wait_since bigint;
create index if not exists tasks_found on ${schema}.tasks (tool, status, created_at, id)
  where rest is null;
create index if not exists tasks_retried on ${schema}.tasks (due_at, id)
  where retried and due_at is not null;
create index if not exists tasks_waiting on ${schema}.tasks (tool, wait_group, wait_since, id)
  where wait_since is not null;

create table if not exists ${schema}.task_runs (
  task_id text collate "C" not null,
  epoch   integer not null,
  runs    jsonb not null,
  primary key (task_id, epoch)
);
create table if not exists ${schema}.task_waits (
  task_id    text collate "C" not null,
  wire       text collate "C" not null,
  key        text not null,
  kind       text collate "C" not null,
  group_name text collate "C" not null,
  tool       text collate "C" not null,
  since      bigint not null,
  primary key (task_id, wire)
);
create index if not exists task_waits_found
  on ${schema}.task_waits (tool, group_name, since, task_id, wire);

create or replace function ${schema}.parley_note_history() returns trigger language plpgsql as $$
begin
  if ${isNewlyEnded} then
    new.runs := old.runs || jsonb_build_array(jsonb_build_array(
      old.epoch, old.worker, old.claimed_at - old.created_at, ${schema}.parley_now() - old.created_at, case
      when new.worker is not null then 'lost'
      when ${isLive("new")} then case
        when new.epoch <> old.epoch then 'lost'
        when new.revision <> old.revision then 'parked'
        else ${release} end
      when new.rest = 'expired' then 'expired'
      when ${isLive("old")} then case when new.status = 'cancelled' then 'cancelled' else 'finished' end
      when new.epoch <> old.epoch then 'lost'
      when new.undos = 0 then 'undone'
      else ${release} end));
    if old.epoch % 10 = 0 then
      insert into ${schema}.task_runs (task_id, epoch, runs) values (old.id, old.epoch, new.runs)
        on conflict do nothing;
      delete from ${schema}.task_runs where task_id = old.id and epoch <= old.epoch - ${mostRuns};
      new.runs := '[]';
    end if;
  end if;

  if jsonb_array_length(new.waits) > 1 or jsonb_array_length(old.waits) > 1 then
    if old.waits is distinct from new.waits then
      if old.wait_since is not null then
        insert into ${schema}.task_waits (task_id, wire, key, kind, group_name, tool, since)
        values (old.id, old.waits -> 0 ->> 'wire', old.waits -> 0 ->> 'key', old.waits -> 0 ->> 'kind',
          old.wait_group, old.tool, old.wait_since)
        on conflict do nothing;
      end if;
      delete from ${schema}.task_waits as kept where kept.task_id = new.id and not exists (
        select from jsonb_array_elements(new.waits) as wait (value)
        where wait.value ->> 'wire' = kept.wire and wait.value ->> 'key' = kept.key
          and wait.value ->> 'kind' = kept.kind
          and coalesce(wait.value ->> 'group', '') = kept.group_name);
      insert into ${schema}.task_waits (task_id, wire, key, kind, group_name, tool, since)
      ${waitsOf("new", "new.updated_at")}
      on conflict do nothing;
      new.wait_group := null;
      new.wait_since := null;
      if jsonb_array_length(new.waits) < 2 then
        delete from ${schema}.task_waits where task_id = new.id
          returning group_name, since into new.wait_group, new.wait_since;
      end if;
    end if;
  elsif jsonb_array_length(new.waits) = 0 or new.waits -> 0 ->> 'kind' = 'timer' then
    new.wait_group := null;
    new.wait_since := null;
  elsif old.wait_since is null or new.wait_group <> coalesce(new.waits -> 0 ->> 'group', '')
    or new.waits -> 0 ->> 'wire' <> old.waits -> 0 ->> 'wire'
    or new.waits -> 0 ->> 'key' <> old.waits -> 0 ->> 'key'
    or new.waits -> 0 ->> 'kind' <> old.waits -> 0 ->> 'kind' then
    new.wait_group := coalesce(new.waits -> 0 ->> 'group', '');
    new.wait_since := new.updated_at;
  end if;
  return new;
end $$;
create or replace trigger task_history before update of worker, epoch, waits on ${schema}.tasks
  for each row
  when ((${isNewlyEnded}) or (old.waits is distinct from new.waits
    and (new.wait_since is not distinct from old.wait_since
      or jsonb_array_length(new.waits) > 1 or jsonb_array_length(old.waits) > 1)))
  execute function ${schema}.parley_note_history();

update ${schema}.tasks as task set wait_group = '', wait_since = task.updated_at
  where ${isLive("task")} and task.wait_since is null and jsonb_array_length(task.waits) = 1
    and task.waits -> 0 ->> 'kind' <> 'timer';
insert into ${schema}.task_waits (task_id, wire, key, kind, group_name, tool, since)
  select old.* from ${schema}.tasks as task cross join lateral (${waitsOf("task", "task.updated_at")}) as old
  where ${isLive("task")} and jsonb_array_length(task.waits) > 1
  on conflict do nothing;

create or replace function ${schema}.parley_forget_history() returns trigger language plpgsql as $$
begin
  delete from ${schema}.task_runs where task_id = old.id;
  delete from ${schema}.task_waits where task_id = old.id;
  return null;
end $$;
create or replace trigger task_history_end after delete on ${schema}.tasks
  for each row when (old.epoch > 9 or old.waits <> '[]')
  execute function ${schema}.parley_forget_history();`,
};
