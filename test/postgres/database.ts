// An empty Postgres database for a test file.

import { askRun, isInRun } from "../run/shared.ts";
import { startPostgres } from "./start.ts";
import type { Postgres } from "./start.ts";

/** Everything of a server but the power over its life. */
export type Database = Pick<Postgres, "url" | "port" | "stop">;

/**
 * On the server that all files of a run share (test/run/setup.ts), so what belongs to the server and not to the database
 * is seen by others: roles, and the rows of pg_stat_activity. A test that kills its server, or wants it with settings of
 * its own, starts one (`startPostgres`).
 */
export async function freshDatabase(): Promise<Database> {
  if (!isInRun()) return startPostgres();
  const database = await askRun<Pick<Database, "url" | "port">>("database");
  // It goes with the run.
  return { ...database, stop: async () => {} };
}
