// Finds a task of a store by its id, or by the beginning of its id, which is what the log has.

import { CallError } from "../../client/index.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { UsageError } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import { everyTask } from "./orphans.ts";

/** A store finds a task by its whole id only, so its tasks are read, the newest first, and no more than these. */
const mostLookedAt = 20_000;
/** The log shows as much of an id, and then "…". */
const leastLength = 6;
const mostNamed = 5;

/** The id of the one task that has this id, or whose id begins with it. Throws if there is none, or more than one. */
export async function taskIdOf(store: TaskStore, given: string): Promise<string> {
  if ((await store.read(given)) !== undefined) return given;
  const text = given.replace(/…$/, "");
  const shown = plainLine(text, 60);
  if (text.length < leastLength) {
    throw noTask(`The store has no task with the id "${shown}".`, "the ids");
  }
  const found: string[] = [];
  let looked = 0;
  for await (const { id } of everyTask(store)) {
    if (id.startsWith(text)) found.push(id);
    looked += 1;
    if (looked >= mostLookedAt) break;
  }
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined) {
    const named = found.slice(0, mostNamed).map((id) => plainLine(id, 60));
    const rest = found.length > mostNamed ? `, and ${found.length - mostNamed} more` : "";
    throw new UsageError(
      `${found.length} tasks have an id that begins with "${shown}": ${named.join(", ")}${rest}. Pass more of the id.`,
    );
  }
  if (looked < mostLookedAt) {
    throw noTask(`The store has no task whose id begins with "${shown}".`, "its tasks");
  }
  throw noTask(
    `None of the newest ${mostLookedAt} tasks of the store has an id that begins with "${shown}". Pass the whole id.`,
    "the ids",
  );
}

/** A task is forgotten an hour after its contents are deleted, so it may have been there. */
const noTask = (what: string, shows: string) =>
  new CallError(
    "task_gone",
    `${what} It may have been forgotten. parley tasks ls --store … shows ${shows}.`,
  );
