// The entry `mcp-parley/postgres`.

import type { Store } from "../../store.ts";
import type { Pool } from "./pool.ts";
import { PostgresStore } from "./store.ts";
import type { PostgresOptions } from "./store.ts";

export { StoreUnavailable } from "./errors.ts";
export { migrationSql } from "./migrations.ts";
export type { Pool } from "./pool.ts";
export type { PostgresOptions } from "./store.ts";

/**
 * Tasks in Postgres. Takes a connection string, for which it makes a pool of up to ten connections (and needs the
 * package `pg`), or a pool of your own, which `close` leaves open.
 */
export function postgresStore(connection: string | Pool, options: PostgresOptions = {}): Store {
  return new PostgresStore(connection, options);
}
