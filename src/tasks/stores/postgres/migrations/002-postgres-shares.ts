// Migration 2 of Postgres: who owns a spilled state or a round, and whether a client has read a task. Version 0.1.0
// writes neither. Its states and rounds then count for no caller, and its tasks count as read. The new index has no
// column that a running task changes often, because such a change would touch every index.

import type { Migration } from "../../migration-policy.ts";

/** The columns behind the limits of a caller, and behind the end of abandoned tasks. */
export const postgresShares: Migration<(schema: string) => string> = {
  number: 2,
  isBreaking: false,
  sql: (schema) => `
alter table ${schema}.tasks add column if not exists unread smallint not null default 0;
create index if not exists tasks_unread on ${schema}.tasks (created_at)
  where unread = 1 and status = 'input_required';

alter table ${schema}.spills add column if not exists principal text collate "C";
create index if not exists spills_own on ${schema}.spills (principal);

alter table ${schema}.rounds add column if not exists principal text collate "C";
create index if not exists rounds_own on ${schema}.rounds (principal);`,
};
