// Tools that cannot do without a store.

import { ParleyError } from "../errors.ts";
import type { Definition } from "./definition.ts";

export function needsStore({ task, once }: Definition): boolean {
  return task !== undefined || once === true;
}

export function noStore(who: string): ParleyError {
  return new ParleyError(
    "no_store",
    `${who} needs a store. Pass parley({ store: sqliteStore("tasks.db") }) from mcp-parley/sqlite, or postgresStore(url) from mcp-parley/postgres for several machines.\n` +
      "One is made by default only in development on this machine (app.listen on loopback, app.stdio).",
  );
}
