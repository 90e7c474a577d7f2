// An empty Postgres database for a test file.

import { askRun, isInRun } from "../run/shared.ts";
import { startPostgres } from "./start.ts";
import type { Postgres } from "./start.ts";

/** A server without the means to kill or restart it. */
export type Database = Pick<Postgres, "url" | "port" | "stop">;

/**
 * A database on the server that all files of a run share (test/run/setup.ts). Other files see what belongs to the server
 * and not to the database, such as roles and the rows of pg_stat_activity. A test that kills its server, or needs other
 * settings, starts its own (`startPostgres`).
 */
export async function freshDatabase(): Promise<Database> {
  if (!isInRun()) return startPostgres();
  const database = await askRun<Pick<Database, "url" | "port">>("database");
  // The database is removed at the end of the run.
  return { ...database, stop: async () => {} };
}
