// Migration 5 of SQLite: the answer to a question that a page shows, next to the question. Earlier versions do not ask
// such questions, and do not use the column.

import type { Migration } from "../../migration-policy.ts";

/** The column behind the mailbox. */
export const sqliteMailbox: Migration<string> = {
  number: 5,
  isBreaking: false,
  sql: `
      alter table spills add column answer text;
    `,
};
