// The entry `mcp-parley/postgres`.

import type { Store } from "../../store.ts";
import type { PostgresPool } from "./pool.ts";
import { PostgresStore } from "./postgres-store.ts";
import type { PostgresStoreOptions } from "./postgres-store.ts";

export { StoreUnavailableError } from "./errors.ts";
export { migrationSql } from "./postgres-migrations.ts";
export type { PostgresPool } from "./pool.ts";
export type { PostgresStoreOptions } from "./postgres-store.ts";

/**
 * Tasks in Postgres. Takes a connection string, for which it makes a pool of up to ten connections (and needs the
 * package `pg`), or a pool of your own, which `close` leaves open.
 */
export function postgresStore(
  connection: string | PostgresPool,
  options: PostgresStoreOptions = {},
): Store {
  return new PostgresStore(connection, options);
}
