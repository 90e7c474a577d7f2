// The newest records of the audit. A store reads them from the oldest on, so they are looked for from now back in steps, each
// of which goes further: however many there are, hardly more is read than is shown.

import type { AuditEntry, AuditPlace, AuditStore } from "../tasks/audit-store.ts";

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const spansMs = [0.1, 1, 10, 100, 1_000].map((seconds) => seconds * second);
spansMs.push(2 * hour, day, 7 * day, 30 * day);
const pageLength = 1_000;
const mostPages = 5;

/** The newest records of the last 30 days, the oldest of them first. */
export async function newestRecords(
  { readAfter }: Pick<AuditStore, "readAfter">,
  now: number,
  wanted: number,
): Promise<readonly AuditEntry[]> {
  let found: readonly AuditEntry[] = [];
  for (const span of spansMs) {
    const since = await allSince(readAfter, now - span);
    if (since === undefined) break;
    found = since;
    if (found.length >= wanted) break;
  }
  return found.slice(-wanted);
}

/** All records since a time. Undefined if they are too many to read. */
async function allSince(
  readAfter: AuditStore["readAfter"],
  at: number,
): Promise<readonly AuditEntry[] | undefined> {
  let place: AuditPlace = { at, chain: "", n: 0 };
  const found: AuditEntry[] = [];
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await readAfter(place, pageLength);
    found.push(...page);
    const last = page.at(-1);
    if (page.length < pageLength || last === undefined) return found;
    place = last;
  }
  return undefined;
}
