// How the newest records of the audit are found.

import { expect, test } from "vitest";
import type { AuditEntry, AuditStore } from "../tasks/audit-store.ts";
import { newestRecords } from "./newest-records.ts";

const now = 1_000_000_000;

/** A store with one record at each of these times, which counts what is read. */
function storeWith(times: readonly number[]) {
  const all = times
    .toSorted((one, other) => one - other)
    .map((at): AuditEntry => ({ id: "", app: "shop", record: "", at, chain: `c${at}`, n: 1 }));
  let read = 0;
  const readAfter: AuditStore["readAfter"] = async (place, limit) => {
    const page = all.filter(({ at }) => at > (place?.at ?? 0)).slice(0, limit);
    read += page.length;
    return page;
  };
  return { readAfter, read: () => read };
}

const every = (ms: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => now - n * ms);

test.each([
  ["a hundred a second", every(10, 100_000), 50],
  ["one an hour", every(3_600_000, 1_000), 50],
  ["fewer than are wanted", every(60_000, 7), 7],
  // More is not read to fill the page. What is shown is the newest all the same.
  [
    "some after a day of many",
    [...every(1_000, 20), ...every(1, 86_400).map((at) => at - 90_000)],
    10,
  ],
  ["none", [], 0],
])("the newest are found, and little else is read, where there are %s", async (_, times, found) => {
  const store = storeWith(times);
  const newest = await newestRecords(store, now, 50);
  expect(newest.map(({ at }) => at)).toEqual(
    times.toSorted((one, other) => one - other).slice(times.length - found),
  );
  expect(store.read()).toBeLessThan(7_000);
});
