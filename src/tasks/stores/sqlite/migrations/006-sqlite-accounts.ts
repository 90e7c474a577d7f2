// Migration 6 of SQLite: accounts at other services. Earlier versions do not use the table.

import type { Migration } from "../../migration-policy.ts";

/** The table behind `ctx.connect`. */
export const sqliteAccountTable: Migration<string> = {
  number: 6,
  isBreaking: false,
  sql: `
      create table accounts (
        server text not null,
        provider text not null,
        principal text not null,
        tokens text not null,
        epoch integer not null,
        lease_until integer not null,
        primary key (server, provider, principal)
      ) strict, without rowid;
    `,
};
