// Which tools need a store, and the errors for a store that is missing or fails.

import { ParleyError } from "../../errors.ts";
import { TokenError } from "../../token/errors.ts";
import type { Definition } from "../define/definition.ts";
import type { Registration } from "../define/registry.ts";

/** Whether a tool has `task`, `once` or `ui` in its config, or continues paused calls. */
export function needsStore({ task, once, ui, isOwn }: Definition): boolean {
  return task !== undefined || once === true || ui !== undefined || isOwn === true;
}

/** The error for a tool, or a method of the app, that needs a store where there is none. */
export function noStore(user: string): ParleyError {
  return new ParleyError(
    "no_store",
    `${user} needs a store. Pass parley({ store: sqliteStore("tasks.db") }) from mcp-parley/sqlite, or postgresStore(url) from mcp-parley/postgres for several machines.\n` +
      "A store is made by default only in development on this machine (app.listen on a loopback address, or app.stdio).",
  );
}

/** Throws if one of these is a tool that needs a store. */
export function noStoreFor(registrations: Iterable<Registration>): void {
  const tool = [...registrations].find(({ definition }) => needsStore(definition));
  if (tool === undefined) return;
  const { isOwn, ui } = tool.definition;
  if (isOwn === true) throw nowhereToPause("parley({ relay: true })");
  if (ui === "form") throw nowhereToPause(`Tool "${tool.name}" has ui: "form", which`);
  throw noStore(`Tool "${tool.name}"`);
}

/** The error for calls that pause, where there is no store to keep them. */
export const nowhereToPause = (who: string): ParleyError =>
  new ParleyError(
    "no_store",
    `${who} keeps paused calls in a store, and this app has none. Pass parley({ store }).`,
  );

/** The store failed. Its own message is for the log only, because it may name machines. */
export class StoreTrouble extends Error {
  override readonly name = "StoreTrouble";
}

/** The error for the client. The cause goes to the log. */
export function storeTrouble(cause: unknown): StoreTrouble {
  return new StoreTrouble(
    "The task store cannot be reached at the moment. Nothing was lost; try again.",
    { cause },
  );
}

/** Waits for the store. Errors of our own, such as a limit that is reached, pass; any other error becomes `StoreTrouble`. */
export async function fromStore<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof ParleyError || error instanceof TokenError ? error : storeTrouble(error);
  }
}
