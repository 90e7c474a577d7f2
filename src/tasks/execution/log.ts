// A task's log at rest: sealed records, only ever appended. Where the engine cuts its journal, a record says
// from where on the ones before it no longer count.

import { packEntry, unpackEntry } from "../../replay/journal.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Json } from "../../util/json.ts";
import type { Sealed } from "../task.ts";
import { openJson, places, sealJson } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";

const cutLetter = "k";

export function entryRecord(sealer: Sealer, callId: string, seq: number, entry: Entry): Sealed {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a packed entry is made of JSON
  return sealJson(sealer, packEntry(entry) as unknown as Json, places.log(callId, seq));
}

export function cutRecord(sealer: Sealer, callId: string, seq: number, from: number): Sealed {
  return sealJson(sealer, [cutLetter, from], places.log(callId, seq));
}

/** Throws for a record that does not open, or that a later version has written. */
export function readEntries(
  sealer: Sealer,
  callId: string,
  log: readonly Sealed[],
  before: readonly Entry[] = [],
): Entry[] {
  const entries = [...before];
  for (const [seq, sealed] of log.entries()) {
    const record = openJson(sealer, sealed, places.log(callId, seq));
    const from = cutFrom(record);
    if (from === undefined) entries.push(unpackEntry(record));
    else entries.length = Math.min(from, entries.length);
  }
  return entries;
}

function cutFrom(record: Json): number | undefined {
  if (!Array.isArray(record)) return undefined;
  const [letter, from]: unknown[] = record;
  return letter === cutLetter && typeof from === "number" ? from : undefined;
}
