// Migration 7 of Postgres: the audit. Earlier versions do not write to it.

import type { Migration } from "../../migration-policy.ts";

/** The table of audit records. */
export const postgresAudit: Migration<(schema: string) => string> = {
  number: 7,
  isBreaking: false,
  sql: (schema) => `
create table if not exists ${schema}.audit (
  chain  text collate "C" not null,
  n      integer not null,
  id     text collate "C" not null,
  app    text not null,
  at     bigint not null,
  record text not null,
  primary key (chain, n)
);
create unique index if not exists audit_ids on ${schema}.audit (chain, id);
create index if not exists audit_by_time on ${schema}.audit (at, chain, n);`,
};
