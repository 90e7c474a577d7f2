// The log of a task as the store keeps it: sealed records that are only ever appended. When the engine cuts its
// journal, a record names the first entry that no longer counts.

import { packEntry, unpackEntry } from "../../replay/journal.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Json } from "../../util/json.ts";
import type { Sealed } from "../task.ts";
import { openJson, places, sealJson } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";

const cutLetter = "k";
const undoneLetter = "z";
const endingLetter = "f";

/** The record of an entry, sealed for its place in the log. */
export function entryRecord(sealer: Sealer, callId: string, seq: number, entry: Entry): Sealed {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a packed entry is made of JSON
  return sealJson(sealer, packEntry(entry) as unknown as Json, places.log(callId, seq));
}

/** The record of a cut. */
export function cutRecord(sealer: Sealer, callId: string, seq: number, from: number): Sealed {
  return sealJson(sealer, [cutLetter, from], places.log(callId, seq));
}

/**
 * The record that entries from here on were written by this version of the app (R17). Version 0.1.0 reads it as a cut
 * after the end of the log, which cuts nothing.
 */
export function versionRecord(
  sealer: Sealer,
  callId: string,
  seq: number,
  version: string,
): Sealed {
  return sealJson(sealer, [cutLetter, Number.MAX_SAFE_INTEGER, version], places.log(callId, seq));
}

/** The record of the end of a call whose steps are undone. It is the last one of a round. */
export function endingRecord(sealer: Sealer, place: string, seq: number, ending: Json): Sealed {
  return sealJson(sealer, [endingLetter, ending], places.log(place, seq));
}

/** What `endingRecord` wrote at the end of this log. Undefined if the call has not ended. */
export function endingIn(sealer: Sealer, place: string, log: readonly Sealed[]): Json | undefined {
  const last = log.at(-1);
  const record = last && openJson(sealer, last, places.log(place, log.length - 1));
  if (!Array.isArray(record)) return undefined;
  const [letter, ending]: readonly Json[] = record;
  return letter === endingLetter ? ending : undefined;
}

/** How the undo of a step ended. */
export interface Undone {
  /** The step. */
  readonly key: string;
  /** The last error, if the undo was given up. */
  readonly error: string | undefined;
}

/** The record of an undo that has ended. */
export function undoneRecord(
  sealer: Sealer,
  callId: string,
  seq: number,
  { key, error }: Undone,
): Sealed {
  const record = error === undefined ? [undoneLetter, key] : [undoneLetter, key, error];
  return sealJson(sealer, record, places.log(callId, seq));
}

/** The entries of a log, and the undos that have ended. Throws as `readEntries` does. */
export function readUndone(
  sealer: Sealer,
  callId: string,
  log: readonly Sealed[],
): { readonly entries: readonly Entry[]; readonly undone: readonly Undone[] } {
  const undone: Undone[] = [];
  const entries = readEntries(sealer, callId, log, [], (one) => void undone.push(one));
  return { entries, undone };
}

/** The entries that count. Throws if a record cannot be opened, or if a later version wrote it. */
export function readEntries(
  sealer: Sealer,
  callId: string,
  log: readonly Sealed[],
  before: readonly Entry[] = [],
  onUndone: (undone: Undone) => void = () => {},
): Entry[] {
  return readRecords(sealer, callId, log, before, onUndone).entries;
}

/** The entries that count, and the version of the app that wrote the last record, if that is noted. */
export function readRecords(
  sealer: Sealer,
  callId: string,
  log: readonly Sealed[],
  before: readonly Entry[] = [],
  onUndone: (undone: Undone) => void = () => {},
): { readonly entries: Entry[]; readonly version: string | undefined } {
  const entries = [...before];
  let version: string | undefined;
  for (const [seq, sealed] of log.entries()) {
    const record = openRecord(sealer, callId, seq, sealed);
    if (record.kind === "entry") entries.push(record.entry);
    else if (record.kind === "undone") onUndone(record.undone);
    else {
      entries.length = Math.min(record.from, entries.length);
      version = record.version ?? version;
    }
  }
  return { entries, version };
}

/** What one record of a log says. */
export type LogRecord =
  | { readonly kind: "entry"; readonly entry: Entry }
  | { readonly kind: "undone"; readonly undone: Undone }
  | {
      readonly kind: "cut";
      /** The first entry that no longer counts. */
      readonly from: number;
      readonly version: string | undefined;
    };

/** Opens one record. Throws as `readEntries` does. */
export function openRecord(sealer: Sealer, callId: string, seq: number, sealed: Sealed): LogRecord {
  const record = openJson(sealer, sealed, places.log(callId, seq));
  const undone = undoneIn(record);
  if (undone !== undefined) return { kind: "undone", undone };
  const from = cutFrom(record);
  if (from === undefined) return { kind: "entry", entry: unpackEntry(record) };
  return { kind: "cut", from, version: versionIn(record) };
}

function versionIn(record: Json): string | undefined {
  if (!Array.isArray(record)) return undefined;
  const [letter, _from, version]: unknown[] = record;
  return letter === cutLetter && typeof version === "string" ? version : undefined;
}

function undoneIn(record: Json): Undone | undefined {
  if (!Array.isArray(record)) return undefined;
  const [letter, key, error]: unknown[] = record;
  if (letter !== undoneLetter || typeof key !== "string") return undefined;
  return { key, error: typeof error === "string" ? error : undefined };
}

function cutFrom(record: Json): number | undefined {
  if (!Array.isArray(record)) return undefined;
  const [letter, from]: unknown[] = record;
  return letter === cutLetter && typeof from === "number" ? from : undefined;
}
