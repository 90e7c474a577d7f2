// Migration 8 of Postgres: what operators see. Records say when and in which run they were written, runs say who held a task,
// and what waits for people is in a table of its own. Triggers keep runs and waits, so that a replica of an earlier version
// leaves them complete. They write in the statement that changes the task, without a commit of their own. The two tables do
// not reference the tasks, because checking that would cost as much as writing the row.

import type { Migration } from "../../migration-policy.ts";
import { mostRuns } from "../../../task-runs.ts";

const isLive = (row: string): string => `${row}.status in ('working', 'input_required')`;

/** The same decision as `endedRun` in task-runs.ts. */
const release = `case when new.cause is not null and new.cause is distinct from old.cause
      then 'failed' else 'released' end`;

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

alter table ${schema}.tasks add column if not exists claimed_at bigint;
create index if not exists tasks_found on ${schema}.tasks (tool, status, created_at, id)
  where rest is null;
create index if not exists tasks_fruitless on ${schema}.tasks (due_at, id)
  where fruitless > 1 and due_at is not null;

create table if not exists ${schema}.task_runs (
  task_id  text collate "C" not null,
  epoch    integer not null,
  worker   text collate "C" not null,
  began_at bigint,
  ended_at bigint not null,
  how      text collate "C" not null,
  primary key (task_id, epoch)
);
create or replace function ${schema}.parley_end_run() returns trigger language plpgsql as $$
begin
  insert into ${schema}.task_runs (task_id, epoch, worker, began_at, ended_at, how)
  values (old.id, old.epoch, old.worker, old.claimed_at, ${schema}.parley_now(), case
    when new.worker is not null then 'lost'
    when ${isLive("new")} then case
      when new.epoch <> old.epoch then 'lost'
      when new.revision <> old.revision then 'parked'
      else ${release} end
    when new.rest = 'expired' then 'expired'
    when ${isLive("old")} then case when new.status = 'cancelled' then 'cancelled' else 'finished' end
    when new.epoch <> old.epoch then 'lost'
    when new.undos = 0 then 'undone'
    else ${release} end)
  on conflict do nothing;
  if old.epoch > ${mostRuns} then
    delete from ${schema}.task_runs where task_id = old.id and epoch <= old.epoch - ${mostRuns};
  end if;
  return null;
end $$;
create or replace trigger task_runs_end after update of worker, epoch on ${schema}.tasks
  for each row
  when (old.worker is not null
    and (new.worker is distinct from old.worker or new.epoch <> old.epoch))
  execute function ${schema}.parley_end_run();

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
create or replace function ${schema}.parley_keep_waits() returns trigger language plpgsql as $$
begin
  delete from ${schema}.task_waits as kept where kept.task_id = new.id and not exists (
    select from jsonb_array_elements(new.waits) as wait (value)
    where wait.value ->> 'wire' = kept.wire and wait.value ->> 'key' = kept.key
      and wait.value ->> 'kind' = kept.kind
      and coalesce(wait.value ->> 'group', '') = kept.group_name);
  insert into ${schema}.task_waits (task_id, wire, key, kind, group_name, tool, since)
  select new.id, wait.value ->> 'wire', wait.value ->> 'key', wait.value ->> 'kind',
    coalesce(wait.value ->> 'group', ''), new.tool, new.updated_at
  from jsonb_array_elements(new.waits) as wait (value)
  where wait.value ->> 'kind' <> 'timer'
  on conflict do nothing;
  return null;
end $$;
create or replace trigger task_waits_change after update of waits on ${schema}.tasks
  for each row when (old.waits is distinct from new.waits)
  execute function ${schema}.parley_keep_waits();
insert into ${schema}.task_waits (task_id, wire, key, kind, group_name, tool, since)
  select task.id, wait.value ->> 'wire', wait.value ->> 'key', wait.value ->> 'kind', '', task.tool,
    task.updated_at
  from ${schema}.tasks as task, jsonb_array_elements(task.waits) as wait (value)
  where ${isLive("task")} and wait.value ->> 'kind' <> 'timer'
  on conflict do nothing;

create or replace function ${schema}.parley_forget_history() returns trigger language plpgsql as $$
begin
  delete from ${schema}.task_runs where task_id = old.id;
  delete from ${schema}.task_waits where task_id = old.id;
  return null;
end $$;
create or replace trigger task_history_end after delete on ${schema}.tasks
  for each row execute function ${schema}.parley_forget_history();`,
};
