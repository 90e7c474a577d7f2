// Migration 8 of SQLite: what operators see. Records say when and in which run they were written, runs say who held a task,
// and what waits for people is in a table of its own. Earlier versions write no runs and no times. Their waits are there,
// because a trigger keeps that table.

import type { Migration } from "../../migration-policy.ts";

/** Whether the wait is one that a person can end. */
const isForPeople = "json_extract(value, '$.kind') <> 'timer'";

const insertWaits = (task: string): string => `
        insert or ignore into task_waits (task_id, wire, key, kind, group_name, tool, since)
          select ${task}.id, json_extract(value, '$.wire'), json_extract(value, '$.key'),
            json_extract(value, '$.kind'), coalesce(json_extract(value, '$.group'), ''), ${task}.tool, ${task}.updated_at
          from json_each(${task}.waits) where ${isForPeople};`;

/** The columns and tables behind the console. */
export const sqliteHistory: Migration<string> = {
  number: 8,
  isBreaking: false,
  sql: `
      alter table task_log add column epoch integer;
      alter table task_log add column at integer;
      alter table task_log add column ms integer;
      alter table task_log add column tries integer;

      alter table tasks add column claimed_at integer;
      alter table tasks add column runs text not null default '';
      create index tasks_found on tasks (tool, status, created_at, id) where rest is null;
      create index tasks_fruitless on tasks (due_at, id) where fruitless > 1 and due_at is not null;

      create table task_runs (
        task_id text not null references tasks (id) on delete cascade,
        epoch integer not null,
        runs text not null,
        primary key (task_id, epoch)
      ) strict, without rowid;

      create table task_waits (
        task_id text not null references tasks (id) on delete cascade,
        wire text not null,
        key text not null,
        kind text not null,
        group_name text not null,
        tool text not null,
        since integer not null,
        primary key (task_id, wire)
      ) strict, without rowid;
      create index task_waits_found on task_waits (tool, group_name, since, task_id, wire);
      insert or ignore into task_waits (task_id, wire, key, kind, group_name, tool, since)
        select tasks.id, json_extract(value, '$.wire'), json_extract(value, '$.key'),
          json_extract(value, '$.kind'), '', tool, updated_at
        from tasks, json_each(waits)
        where status in ('working', 'input_required') and ${isForPeople};
      create trigger task_waits_end after update of waits on tasks
        when new.waits = '[]' and old.waits <> '[]'
        begin
        delete from task_waits where task_id = new.id;
        end;
      create trigger task_waits_change after update of waits on tasks
        when new.waits <> '[]' and new.waits <> old.waits
        begin
        delete from task_waits where old.waits <> '[]' and task_id = new.id and not exists (
          select 1 from json_each(new.waits) where json_extract(value, '$.wire') = task_waits.wire
            and json_extract(value, '$.key') = task_waits.key
            and json_extract(value, '$.kind') = task_waits.kind
            and coalesce(json_extract(value, '$.group'), '') = task_waits.group_name);
        ${insertWaits("new")}
        end;
    `,
};
