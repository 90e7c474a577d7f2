// Migration 6 of Postgres: accounts at other services. Earlier versions do not use the table.

import type { Migration } from "../../migration-policy.ts";

/** The table behind `ctx.connect`. */
export const postgresAccountTable: Migration<(schema: string) => string> = {
  number: 6,
  isBreaking: false,
  sql: (schema) => `
create table if not exists ${schema}.accounts (
  server      text not null,
  provider    text not null,
  principal   text not null,
  tokens      text not null,
  epoch       integer not null,
  lease_until bigint not null,
  primary key (server, provider, principal)
);`,
};
