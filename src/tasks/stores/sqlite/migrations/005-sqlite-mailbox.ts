// Migration 5 of SQLite: the answer to a question that a page shows, beside the question. Earlier versions ask no such
// question, and leave the column alone.

import type { Migration } from "../../migration-policy.ts";

/** The column behind the mailbox. */
export const sqliteMailbox: Migration<string> = {
  number: 5,
  isBreaking: false,
  sql: `
      alter table spills add column answer text;
    `,
};
