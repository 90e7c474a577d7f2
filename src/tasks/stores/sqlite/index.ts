// Tasks in a file: `parley({ store: sqliteStore() })`.

import { resolve } from "node:path";
import { ParleyError } from "../../../errors.ts";
import type { Store } from "../../store.ts";
import { SqliteStore } from "./sqlite-store.ts";

export { migrationSql } from "./sqlite-migrations.ts";

export interface SqliteStoreOptions {
  /** How long a worker holds a task without renewing. 10 s. */
  readonly leaseMs?: number | undefined;
}

/** Opened when it is first needed. The file and its folder are made, for this user alone. */
export function sqliteStore(path = ".parley/parley.db", options: SqliteStoreOptions = {}): Store {
  if (path === "" || path === ":memory:")
    throw new ParleyError(
      "bad_option",
      "sqliteStore() keeps tasks in a file: give it a path, or use memoryStore() in tests.",
    );
  // Absolute: the working folder may change, and libsql takes what looks like a URL for a server's.
  return new SqliteStore({ path: resolve(path), leaseMs: options.leaseMs });
}
