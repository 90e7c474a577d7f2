// Whether keys are those of a store. Each sealed text names its key in the clear, so a few of the newest records tell which
// keys the servers of a store use, and whether the keys of a command open any of them.

import { isReadable } from "../../server/audit/open-chain.ts";
import type { AuditEntry } from "../../tasks/audit-store.ts";
import { places } from "../../tasks/sealing.ts";
import type { TaskStore } from "../../tasks/store.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import { linkKeyId } from "../../token/chain.ts";
import type { Keyring } from "../../token/keyring.ts";
import { openRecord, recordKeyId } from "../../token/sealed-record.ts";
import { plainLine } from "../screen/plain.ts";
import { keyringOf } from "./available-keys.ts";
import type { AvailableKeys } from "./available-keys.ts";

/** How many tasks and how many records of the audit are looked at. */
const mostLookedAt = 20;
const mostNamed = 3;

/** The newest sealed records of a store. */
export interface SealedSample {
  /** The ids of the keys that sealed the tasks and their records in the audit, those of the newest task first. */
  readonly keyIds: readonly string[];
  /** The names of the servers, as far as the audit says them. */
  readonly names: readonly string[];
  readonly tasks: readonly TaskRecord[];
  readonly entries: readonly AuditEntry[];
}

/** Reads a few of the newest sealed records of a store. */
export async function sealedSample(
  store: Pick<TaskStore, "list" | "audit">,
): Promise<SealedSample> {
  const { audit } = store;
  const listed = await store.list({ principal: undefined, after: undefined, limit: mostLookedAt });
  const tasks = listed.filter(({ input }) => input !== "");
  // A store reads its audit from the oldest record on, so the newest ones are found by their tasks.
  const newest: AuditEntry[] = [];
  for (const { callId } of tasks.slice(0, mostNamed)) {
    newest.push(...((await audit?.readChain(callId)) ?? []));
  }
  const oldest = (await audit?.readAfter(undefined, mostLookedAt)) ?? [];
  // The oldest records may be sealed with a key that was replaced long ago.
  const recent = tasks.length === 0 ? oldest : newest;
  const ids = [
    ...tasks.map(({ input }) => recordKeyId(input) ?? ""),
    ...recent.map(({ record }) => linkKeyId(record)),
  ];
  const entries = [...newest, ...oldest];
  const keyIds = [...new Set(ids.filter((id) => id !== ""))];
  return { keyIds, names: [...new Set(entries.map(({ app }) => app))], tasks, entries };
}

/** Whether the arguments of a task open with these keys, for a server of this name. */
export function opensTask(
  { input, callId }: Pick<TaskRecord, "input" | "callId">,
  name: string,
  keyring: Keyring,
): boolean {
  try {
    openRecord(input, `${name}/${places.input(callId)}`, keyring);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether keys are those of a store. Undefined if that cannot be told, because nothing is sealed there, or because the name
 * of the server is not known and its key has the id of one of these.
 */
export function fits(
  { keyIds, names, tasks, entries }: SealedSample,
  keyring: Keyring,
  name: string | undefined,
): boolean | undefined {
  if (keyIds.length === 0) return undefined;
  if (entries.some((entry) => isReadable(entry, keyring))) return true;
  if (!keyIds.some((id) => keyring.opening.has(id))) return false;
  const tried = name === undefined ? names : [name];
  if (tasks.some((task) => tried.some((one) => opensTask(task, one, keyring)))) return true;
  return tried.length === 0 ? undefined : false;
}

/** What to tell a person whose keys open nothing in a store. */
function openNothing(
  { keyIds }: Pick<SealedSample, "keyIds">,
  { from }: Pick<AvailableKeys, "from">,
  keyring: Keyring,
): string {
  const ids = keyIds.slice(0, mostNamed).map((id) => `"${plainLine(id, 40)}"`);
  const other = keyIds.some((id) => keyring.opening.has(id)) ? "another key with the id " : "";
  const which = ids.length === 1 ? `${other || "the key "}${ids[0]}` : `the keys ${ids.join(", ")}`;
  return `The keys in ${from} open nothing in this store; it uses ${which}. Set PARLEY_KEYS, or pass --keys-file.`;
}

/** The keys that a command uses for a store, and what to tell the person. */
export interface KeysForStore {
  /** Undefined if there are none, or none that open anything in the store. */
  readonly keys: AvailableKeys | undefined;
  /** Why the keys are not used. */
  readonly notice?: string | undefined;
}

/** Finds out whether the keys of a command are those of a store. Wrong ones are not used, because they would also seal. */
export async function keysForStore(
  store: Pick<TaskStore, "list" | "audit">,
  keys: AvailableKeys | undefined,
  name?: string,
): Promise<KeysForStore> {
  if (keys === undefined) return { keys };
  const keyring = keyringOf(keys);
  const sample = await sealedSample(store);
  if (fits(sample, keyring, name) === false) {
    return { keys: undefined, notice: openNothing(sample, keys, keyring) };
  }
  return { keys };
}
