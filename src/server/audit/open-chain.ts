// Reads the audit of a call back from the store, and finds out whether something is missing or was changed.

import type { AuditEntry } from "../../tasks/audit-store.ts";
import { linkDigest, noLink, openLink } from "../../token/chain.ts";
import { TokenError } from "../../token/errors.ts";
import type { Keyring } from "../../token/keyring.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { KeptRecord } from "./kept-audit.ts";

/** The audit of a call as the store has it. */
export interface OpenedChain {
  /** The records that can be opened, in their order. */
  readonly records: readonly AuditRecord[];
  /** Whether the call is recorded to its end. Otherwise it is not over, was left by its client, or its end was cut off. */
  readonly isEnded: boolean;
  /** What is wrong with the chain, in words. */
  readonly problems: readonly string[];
}

/** Opens all records of a chain and checks that they belong together. */
export function openChain(entries: readonly AuditEntry[], keyring: Keyring): OpenedChain {
  const records: AuditRecord[] = [];
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
    const opened = openEntry(entry, keyring);
    if (typeof opened === "string") problems.push(opened);
    else {
      if (digest !== undefined && opened.before !== digest) problems.push(replaced(n));
      if (opened.record.action === "~end") isEnded = true;
      else records.push(opened.record);
    }
    digest = linkDigest(entry.record);
  }
  return { records, isEnded, problems };
}

function openEntry(
  entry: AuditEntry,
  keyring: Keyring,
): string | { readonly record: KeptRecord; readonly before: string } {
  const { n, id } = entry;
  try {
    const { text, before } = openLink(entry.record, entry, keyring);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this library sealed it
    const record = JSON.parse(text) as KeptRecord & { readonly at: string };
    if (record.id !== id) return changed(n);
    return { record: { ...record, at: new Date(record.at) }, before };
  } catch (error) {
    if (error instanceof TokenError && error.reason === "unknown_key") return unknownKey(n);
    return changed(n);
  }
}

const missing = (from: number, to: number): string =>
  from === to ? `Record ${from} is missing.` : `Records ${from} to ${to} are missing.`;
const replaced = (n: number): string =>
  n === 1
    ? "Record 1 was not the first one: what came before it is missing."
    : `Record ${n - 1} is not the one that record ${n} was written after. One of them was changed or replaced.`;
const changed = (n: number): string => `Record ${n} was changed, or it belongs to another place.`;
const unknownKey = (n: number): string =>
  `Record ${n} cannot be opened, because the key that sealed it is not here. Pass the keys of that time, too.`;
