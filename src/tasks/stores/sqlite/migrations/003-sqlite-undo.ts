// Migration 3 of SQLite: how many steps of a task would be undone, or still are to be. Earlier versions write none, because
// they know no undo.

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
