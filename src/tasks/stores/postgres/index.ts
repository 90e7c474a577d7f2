// The entry `mcp-parley/postgres`: tasks in Postgres, for many replicas.

import type { Store } from "../../store.ts";
import type { PostgresPool } from "./pool.ts";
import { PostgresStore } from "./postgres-store.ts";
import type { PostgresStoreOptions } from "./postgres-store.ts";

export type { Store } from "../../store.ts";
export { StoreUnavailableError } from "./errors.ts";
export type { PostgresPool, PostgresResult, PostgresStatement } from "./pool.ts";
export { migrationSql } from "./postgres-migrations.ts";
export type { PostgresStoreOptions } from "./postgres-store.ts";

/**
 * Keeps tasks in Postgres, which any number of replicas may share. The tables are created in a schema of their own when
 * they are first needed.
 *
 * @param connection - A connection string, or a pool of your own. For a connection string, the store makes a pool of up
 * to ten connections with the package `pg`. A pool of your own stays open when the store is closed.
 * @param options - See `PostgresStoreOptions`.
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 * import { postgresStore } from "mcp-parley/postgres";
 *
 * const store = postgresStore("postgres://app@db.internal/app");
 * const app = parley({ name: "kitchen", version: "1.0.0", store });
 * ```
 */
export function postgresStore(
  connection: string | PostgresPool,
  options: PostgresStoreOptions = {},
): Store {
  return new PostgresStore(connection, options);
}
