// The entry `mcp-parley/sqlite`: tasks in a file.

import { resolve } from "node:path";
import { ParleyError } from "../../../errors.ts";
import type { Store } from "../../store.ts";
import { SqliteStore } from "./sqlite-store.ts";

export { migrationSql } from "./sqlite-migrations.ts";
export type { Store } from "../../store.ts";

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** How long a worker holds a task without renewing its lease, in milliseconds. Default: 10 seconds. */
  readonly leaseMs?: number | undefined;
}

/**
 * Keeps tasks in a SQLite file, which several processes on one machine may share. The file is opened when it is first
 * needed. If the file or its folder does not exist, it is created, readable by this user only.
 *
 * Needs Node 22.13 or later, or the package `libsql`.
 *
 * @param path - The path of the file. Default: `.parley/parley.db` in the working directory.
 * @param options - See `SqliteStoreOptions`.
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 * import { sqliteStore } from "mcp-parley/sqlite";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: sqliteStore("data/tasks.db") });
 * ```
 */
export function sqliteStore(path = ".parley/parley.db", options: SqliteStoreOptions = {}): Store {
  if (path === "" || path === ":memory:")
    throw new ParleyError(
      "bad_option",
      "sqliteStore() keeps tasks in a file. Pass it a path, or use memoryStore() in tests.",
    );
  // The path is made absolute, because the working directory may change, and because libsql reads a path that looks
  // like a URL as the address of a server.
  return new SqliteStore({ path: resolve(path), leaseMs: options.leaseMs });
}
