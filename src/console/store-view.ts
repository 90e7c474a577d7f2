// The store of an app as the console reads it: brought up to date, with errors that say what to do.

import type { Inside } from "../server/inside.ts";
import { fromStore } from "../server/tasks/store-needed.ts";
import { sealerOf } from "../server/core.ts";
import type { TaskReader } from "../tasks/task-reader.ts";
import type { TaskRuntime } from "../tasks/runtime.ts";
import type { Sealer } from "../tasks/sealing.ts";
import type { TaskStore } from "../tasks/store.ts";
import type { Sealed, TaskRecord } from "../tasks/task.ts";
import { recordKeyId } from "../token/sealed-record.ts";
import type { Admitted } from "./operator.ts";
import { notFound, Refusal } from "./refusal.ts";

/** What a request works on. */
export interface StoreView {
  readonly inside: Inside;
  readonly store: TaskStore;
  readonly reader: TaskReader;
  readonly tasks: TaskRuntime;
  /** Undefined if this process does not have the keys. */
  readonly sealer: Sealer | undefined;
}

/** Opens the store. Throws a Refusal if there is none, or if it cannot be listed. */
export async function storeView(inside: Inside): Promise<StoreView> {
  const { store, tasks } = inside.core;
  if (store === undefined || tasks === undefined) {
    throw new Refusal(
      409,
      "no_store",
      "This app has no store, so it has no tasks. Pass parley({ store }).",
    );
  }
  const { reader } = store;
  if (reader === undefined) {
    throw new Refusal(
      501,
      "no_reader",
      `The ${store["~store"]} store cannot list tasks for operators. Give it a reader, as TaskReader of mcp-parley/store says.`,
    );
  }
  await fromStore(tasks.ready());
  return { inside, store, reader: heard(reader), tasks, sealer: sealerIn(inside) };
}

/** The same reader, whose errors are those of a store that cannot be reached. */
function heard(reader: TaskReader): TaskReader {
  return {
    find: (query) => fromStore(reader.find(query)),
    waiting: (query) => fromStore(reader.waiting(query)),
    log: (...of) => fromStore(reader.log(...of)),
    runs: (id) => fromStore(reader.runs(id)),
  };
}

function sealerIn({ core }: Inside): Sealer | undefined {
  try {
    core.keyring();
    return sealerOf(core);
  } catch {
    return undefined;
  }
}

/** Reads a task that must exist. */
export async function taskIn({ store }: StoreView, id: string): Promise<TaskRecord> {
  const task = id.length > 200 ? undefined : await fromStore(store.read(id));
  if (task === undefined) throw notFound("There is no such task. It may have been forgotten.");
  return task;
}

/** What `open` returns, or undefined if the operator may not see it or it cannot be opened. */
export function shown<T>(
  { sealer }: StoreView,
  { values }: Admitted,
  open: (sealer: Sealer) => T,
): T | undefined {
  return values && sealer !== undefined ? opened(sealer, open) : undefined;
}

/** What `open` returns, or undefined if there are no keys or the text belongs to another server. */
export function opened<T>(sealer: Sealer | undefined, open: (sealer: Sealer) => T): T | undefined {
  if (sealer === undefined) return undefined;
  try {
    return open(sealer);
  } catch {
    return undefined;
  }
}

/** The id of the first key that one of these texts needs and that is not here. Undefined without any keys. */
export function missingKey(
  { sealer, inside }: Pick<StoreView, "sealer" | "inside">,
  sealed: readonly (Sealed | undefined)[],
): string | undefined {
  if (sealer === undefined) return undefined;
  const { opening } = inside.core.keyring();
  return sealed
    .map((text) => text && recordKeyId(text))
    .find((id) => id !== undefined && !opening.has(id));
}

/** A number in the address, within bounds. */
export function numberIn(
  query: URLSearchParams,
  name: string,
  usual: number,
  most: number,
): number {
  const text = query.get(name);
  if (text === null) return usual;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new Refusal(400, "invalid", `"${name}" must be a whole number.`);
  }
  return Math.min(value, most);
}

/** A text in the address. Undefined if it is missing or empty. */
export const textIn = (query: URLSearchParams, name: string): string | undefined => {
  const text = query.get(name);
  return text === null || text === "" ? undefined : text.slice(0, 500);
};
