// Migration 2 of SQLite: who owns a spilled state or a round, and whether a client has read a task. Version 0.1.0
// writes neither. Its states and rounds then count for no caller, and its tasks count as read.

import type { Migration } from "../../migration-policy.ts";

/** The columns behind the limits of a caller, and behind the end of abandoned tasks. */
export const sqliteShares: Migration<string> = {
  number: 2,
  isBreaking: false,
  sql: `
      alter table tasks add column unread integer not null default 0;
      create index tasks_unread on tasks (created_at)
        where unread = 1 and status = 'input_required';
      alter table spills add column principal text;
      create index spills_own on spills (principal);
      alter table rounds add column principal text;
      create index rounds_own on rounds (principal);
    `,
};
