// Migration 5 of Postgres: the answer to a question that a page shows, next to the question. Earlier versions do not
// ask such questions, and do not use the column.

import type { Migration } from "../../migration-policy.ts";

/** The column behind the mailbox. */
export const postgresMailbox: Migration<(schema: string) => string> = {
  number: 5,
  isBreaking: false,
  sql: (schema) => `
alter table ${schema}.spills add column if not exists answer text;`,
};
