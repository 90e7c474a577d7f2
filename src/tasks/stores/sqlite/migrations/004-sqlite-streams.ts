// Migration 4 of SQLite: the parts of running streams. Earlier versions neither write nor delete them, so a trigger deletes
// them when their claim ends, as stored-parts.ts says.

import type { Migration } from "../../migration-policy.ts";

/** The table behind streaming in tasks. */
export const sqliteStreams: Migration<string> = {
  number: 4,
  isBreaking: false,
  sql: `
      create table task_parts (
        task_id text not null references tasks (id) on delete cascade,
        epoch integer not null,
        key text not null,
        n integer not null,
        record text not null,
        primary key (task_id, epoch, n)
      ) strict, without rowid;
      create trigger task_parts_end after update of worker, epoch, status on tasks
        when old.worker is not null and (new.worker is not old.worker
          or new.epoch <> old.epoch or new.status not in ('working', 'input_required'))
        begin
          delete from task_parts where task_id = old.id;
        end;
    `,
};
