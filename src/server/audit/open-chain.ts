// Reads the audit of a call back from the store, and finds out whether something is missing or was changed.

import type { AuditEntry } from "../../tasks/audit-store.ts";
import { linkBefore, linkDigest, linkKeyId, noLink, openLink } from "../../token/chain.ts";
import { TokenError } from "../../token/errors.ts";
import type { Keyring } from "../../token/keyring.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { KeptRecord } from "./kept-audit.ts";

/** The audit of a call as the store has it. */
export interface OpenedChain {
  /** The records that can be opened, in their order. */
  readonly records: readonly AuditRecord[];
  /** The records that were sealed with other keys. Nobody can tell from them alone whether they were changed. */
  readonly sealed: readonly SealedEntry[];
  /** Whether the call is recorded to its end. Otherwise it is not over, was left by its client, or its end was cut off. */
  readonly isEnded: boolean;
  /** What is wrong with the chain, in words. */
  readonly problems: readonly string[];
}

/** What the store says in plain text about a record that these keys do not open. */
export interface SealedEntry extends Pick<AuditEntry, "app" | "chain" | "n" | "at"> {
  /** The id of the key that it was sealed with. */
  readonly keyId: string;
}

/** Whether a key here is not the one that sealed these records, although it has the same id. */
type IsOtherKey = (keyId: string) => boolean;

/** The id of what marks the end of the record of a call. */
export const endId = "~end";

/** Opens all records of a chain and checks that they belong together. */
export function openChain(
  entries: readonly AuditEntry[],
  keyring: Keyring,
  isOther: IsOtherKey = () => false,
): OpenedChain {
  const records: AuditRecord[] = [];
  const sealed: SealedEntry[] = [];
  const problems: string[] = [];
  let isEnded = false;
  let next = 1;
  /** The digest of the record before. Undefined if that is missing. */
  let digest: string | undefined = noLink;
  for (const entry of entries) {
    const { n } = entry;
    if (n !== next) {
      problems.push(missing(next, n - 1));
      digest = undefined;
    }
    next = n + 1;
    const opened = openEntry(entry, keyring, isOther);
    if (opened === "changed") problems.push(changed(n));
    else {
      if (digest !== undefined && opened.before !== digest) problems.push(replaced(n));
      if ("keyId" in opened) {
        const { app, chain, at } = entry;
        if (entry.id === endId) isEnded = true;
        else sealed.push({ app, chain, n, at, keyId: opened.keyId });
      } else if (opened.record.action === endId) isEnded = true;
      else records.push(opened.record);
    }
    digest = linkDigest(entry.record);
  }
  return { records, sealed, isEnded, problems };
}

/** Whether a record opens with one of these keys. */
export const isReadable = (entry: AuditEntry, keyring: Keyring): boolean => {
  const opened = openEntry(entry, keyring, () => false);
  return opened !== "changed" && "record" in opened;
};

type OpenedEntry =
  | { readonly record: KeptRecord; readonly before: string }
  | { readonly keyId: string; readonly before: string }
  | "changed";

function openEntry(entry: AuditEntry, keyring: Keyring, isOther: IsOtherKey): OpenedEntry {
  try {
    const { text, before } = openLink(entry.record, entry, keyring);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this library sealed it
    const record = JSON.parse(text) as KeptRecord & { readonly at: string };
    if (record.id !== entry.id) return "changed";
    return { record: { ...record, at: new Date(record.at) }, before };
  } catch (error) {
    const reason = error instanceof TokenError ? error.reason : undefined;
    const keyId = linkKeyId(entry.record);
    const isSealed = reason === "unknown_key" || (reason === "forged" && isOther(keyId));
    return isSealed ? { keyId, before: linkBefore(entry.record) } : "changed";
  }
}

const missing = (from: number, to: number): string =>
  from === to ? `Record ${from} is missing.` : `Records ${from} to ${to} are missing.`;
const replaced = (n: number): string =>
  n === 1
    ? "Record 1 was not the first one: what came before it is missing."
    : `Record ${n - 1} is not the one that record ${n} was written after. One of them was changed or replaced.`;
const changed = (n: number): string => `Record ${n} was changed, or it belongs to another place.`;
