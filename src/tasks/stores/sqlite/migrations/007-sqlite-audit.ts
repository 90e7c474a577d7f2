// Migration 7 of SQLite: the audit. Earlier versions do not write to it.

import type { Migration } from "../../migration-policy.ts";

/** The table of audit records. */
export const sqliteAudit: Migration<string> = {
  number: 7,
  isBreaking: false,
  sql: `
      create table audit (
        chain text not null,
        n integer not null,
        id text not null,
        app text not null,
        at integer not null,
        record text not null,
        primary key (chain, n)
      ) strict, without rowid;
      create unique index audit_ids on audit (chain, id);
      create index audit_by_time on audit (at, chain, n);
    `,
};
