// Migration 9 of SQLite: less to write for each change of a task. Earlier versions find tasks more slowly on these tables, and
// need not know the rest: triggers keep it.

import type { Migration } from "../../migration-policy.ts";

/** An index without the tasks that workers hold, and a note of which tasks have parts of streams. */
export const sqliteLighterWrites: Migration<string> = {
  number: 9,
  isBreaking: false,
  sql: `
      -- A task that a worker holds changes its status every few milliseconds, and there are few of them. They are found in
      -- tasks_held.
      drop index tasks_found;
      create index tasks_unheld on tasks (tool, status, created_at, id)
        where rest is null and worker is null;

      -- Most tasks have no parts, so most claims end without a look for them.
      alter table tasks add column has_parts integer not null default 0;
      update tasks set has_parts = 1 where id in (select task_id from task_parts);
      create trigger task_parts_begin after insert on task_parts
        begin
          update tasks set has_parts = 1 where id = new.task_id and has_parts = 0;
        end;
      drop trigger task_parts_end;
      create trigger task_parts_end after update of worker, epoch, status on tasks
        when old.has_parts = 1 and old.worker is not null and (new.worker is not old.worker
          or new.epoch <> old.epoch or new.status not in ('working', 'input_required'))
        begin
          delete from task_parts where task_id = old.id;
          update tasks set has_parts = 0 where id = old.id;
        end;
    `,
};
