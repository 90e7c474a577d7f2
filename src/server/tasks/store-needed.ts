// Tools that cannot do without a store.

import { ParleyError } from "../../errors.ts";
import { TokenError } from "../../token/errors.ts";
import type { Definition } from "../define/definition.ts";

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

/** The store does not answer. What it says is for the log: it names machines. */
export class StoreTrouble extends Error {
  override readonly name = "StoreTrouble";
}

export function storeTrouble(cause: unknown): StoreTrouble {
  return new StoreTrouble(
    "The task store cannot be reached at the moment. Nothing was lost; try again.",
    {
      cause,
    },
  );
}

/** A limit that is reached, or a mistake, is told as it is; anything else is trouble. */
export async function fromStore<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof ParleyError || error instanceof TokenError ? error : storeTrouble(error);
  }
}
