// Migration 3 of SQLite: how many steps of a task would be undone, or still have to be undone. Earlier versions do not
// write it, because they do not have undo.

import type { Migration } from "../../migration-policy.ts";

/** The column behind undo (R16). */
export const sqliteUndo: Migration<string> = {
  number: 3,
  isBreaking: false,
  sql: `
      alter table tasks add column undos integer not null default 0;
      create index tasks_undos on tasks (status, worker, due_at, id, undos) where undos > 0;
    `,
};
