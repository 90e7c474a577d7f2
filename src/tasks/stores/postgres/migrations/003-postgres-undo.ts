// Migration 3 of Postgres: how many steps of a task would be undone, or still have to be undone. Earlier versions do
// not write it, because they do not have undo.

import type { Migration } from "../../migration-policy.ts";

/** The column behind undo (R16). */
export const postgresUndo: Migration<(schema: string) => string> = {
  number: 3,
  isBreaking: false,
  sql: (schema) => `
alter table ${schema}.tasks add column if not exists undos integer not null default 0;
create index if not exists tasks_undos on ${schema}.tasks (status) where undos > 0;`,
};
