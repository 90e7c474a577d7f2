// Reads the audit of a store, opens it, and finds out whether something is missing or was changed.

import { isReadable, openChain } from "../../server/audit/open-chain.ts";
import type { SealedEntry } from "../../server/audit/open-chain.ts";
import type { AuditRecord } from "../../server/audit/audit-record.ts";
import type { AuditEntry, AuditStore } from "../../tasks/audit-store.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { isLive, isUndoing } from "../../tasks/task.ts";
import { linkKeyId } from "../../token/chain.ts";
import type { Keyring } from "../../token/keyring.ts";
import { chainOf } from "./find-call.ts";

/** The audit of a store, as far as it was asked for. */
export interface ReadAudit {
  /** In the order of time. */
  readonly records: readonly AuditRecord[];
  /** The records that were sealed with other keys, in the order of time. */
  readonly sealed: readonly SealedEntry[];
  /** How many calls they belong to. */
  readonly calls: number;
  /** The calls whose record has no end. */
  readonly open: readonly string[];
  readonly problems: readonly AuditProblem[];
}

/** Something that is wrong with the record of a call. */
interface AuditProblem {
  readonly call: string;
  readonly problem: string;
}

const pageSize = 1_000;

/** Reads all records, or those of one call. The beginning of its id is enough. */
export async function readAudit(
  store: TaskStore,
  keyring: Keyring,
  call: string | undefined,
): Promise<ReadAudit> {
  const { audit } = store;
  if (audit === undefined) throw new Error("This store keeps no audit.");
  const chains = await chainsIn(audit, call);
  const isOther = await otherKeys(audit, chains, keyring);
  const records: AuditRecord[] = [];
  const sealed: SealedEntry[] = [];
  const open: string[] = [];
  const problems: AuditProblem[] = [];
  for (const [chain, entries] of chains) {
    const opened = openChain(
      entries.toSorted((one, other) => one.n - other.n),
      keyring,
      isOther,
    );
    sealed.push(...opened.sealed);
    records.push(...withAbout(opened.records));
    problems.push(...opened.problems.map((problem) => ({ call: chain, problem })));
    if (opened.isEnded || isOfProcess(chain)) continue;
    const problem = await whyNoEnd(store, chain);
    if (problem === undefined) open.push(chain);
    else problems.push({ call: chain, problem });
  }
  const calls = [...chains.keys()].filter((chain) => !isOfProcess(chain)).length;
  const byTime = records.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return {
    records: byTime,
    sealed: sealed.toSorted((one, other) => one.at - other.at),
    calls,
    open,
    problems,
  };
}

/**
 * Tells which keys have the id of the key that sealed records, and are others. Every development server calls its key "dev",
 * so a record that does not open need not have been changed. A key that opens any record of its id is the right one.
 */
async function otherKeys(
  audit: AuditStore,
  chains: ReadonlyMap<string, readonly AuditEntry[]>,
  keyring: Keyring,
): Promise<(keyId: string) => boolean> {
  const right = new Set<string>();
  const look = (entries: Iterable<AuditEntry>) => {
    for (const entry of entries) {
      const keyId = linkKeyId(entry.record);
      if (!right.has(keyId) && isReadable(entry, keyring)) right.add(keyId);
    }
  };
  for (const entries of chains.values()) look(entries);
  // The records of one call may all have been changed, so others are looked at, too.
  const isEveryKeyRight = () => [...keyring.opening.keys()].every((keyId) => right.has(keyId));
  if (!isEveryKeyRight()) look(await audit.readAfter(undefined, pageSize));
  return (keyId) => !right.has(keyId);
}

const cutOff = "Its task has ended, but its record has no end. What was recorded last was cut off";

/** What belongs to no call, such as refused tokens, is in chains of the processes. They have no end. */
const isOfProcess = (chain: string): boolean => chain.startsWith("~");

async function chainsIn(
  audit: AuditStore,
  call: string | undefined,
): Promise<ReadonlyMap<string, readonly AuditEntry[]>> {
  if (call !== undefined) {
    const chain = await chainOf(audit, call);
    return new Map([[chain, await audit.readChain(chain)]]);
  }
  const chains = new Map<string, AuditEntry[]>();
  let last: AuditEntry | undefined;
  do {
    const page = await audit.readAfter(last, pageSize);
    last = page.at(-1);
    for (const entry of page) {
      const chain = chains.get(entry.chain);
      if (chain === undefined) chains.set(entry.chain, [entry]);
      else chain.push(entry);
    }
  } while (last !== undefined);
  return chains;
}

/** What was shown beside a question is recorded with the question. Whoever answered saw it, too. */
function withAbout(records: readonly AuditRecord[]): readonly AuditRecord[] {
  const asked = new Map(
    records.flatMap(({ action, digest, about }) =>
      action === "asked" && about !== undefined ? [[digest, about] as const] : [],
    ),
  );
  return records.map((record) => {
    const about =
      record.about ?? (record.digest === undefined ? undefined : asked.get(record.digest));
    return about === undefined ? record : { ...record, about };
  });
}

/**
 * What is wrong with the record of a call that has no end. Undefined if its task goes on. A task that ran out of time was
 * ended by a sweep, which records nothing.
 */
async function whyNoEnd(store: TaskStore, callId: string): Promise<string | undefined> {
  const task = await store.readByCall(callId);
  if (task === undefined || isLive(task) || isUndoing(task)) return undefined;
  if (task.rest === "expired") return undefined;
  if (task.status !== "cancelled") return `${cutOff}, or its process died at that moment.`;
  return `${cutOff}, its process died at that moment, or it was cancelled without the keys.`;
}
