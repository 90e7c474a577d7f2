// The audit, for stores that keep it.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { AuditEntry, AuditStore, NewAuditEntry } from "../../tasks/audit-store.ts";
import type { TaskStore } from "../../tasks/store.ts";
import type { OpenedStore } from "./opened.ts";

const entry = (id: string): NewAuditEntry => ({ id, app: "shop", record: `record of ${id}` });
const dayMs = 24 * 3_600_000;

/** The audit of a store. A store that leaves it out passes. */
function auditOf({ audit }: TaskStore, skip: () => never): AuditStore {
  return audit ?? skip();
}

/** Registers these tests. */
export function describeAudit(opened: () => OpenedStore): void {
  describe("the audit", () => {
    test("numbers the records of a chain, and every replica reads them", async ({ skip }) => {
      const { store, another } = opened();
      const audit = auditOf(store, skip);
      expect(await audit.tail("c", ["a"])).toEqual({ n: 0, record: undefined, known: [] });
      expect(await audit.append("c", 0, [entry("a"), entry("b")])).toBe(true);
      expect(await audit.append("d", 0, [entry("a")])).toBe(true);
      expect(await audit.append("c", 2, [entry("ü")])).toBe(true);
      const other = auditOf(await another(), skip);
      expect(await other.tail("c", ["x", "b", "ü"])).toEqual({
        n: 3,
        record: "record of ü",
        known: expect.toSatisfy((known: string[]) => known.toSorted().join() === "b,ü"),
      });
      const { now } = await store.figures();
      expect(await other.readChain("c")).toEqual(
        ["a", "b", "ü"].map((id, index) => ({ ...entry(id), chain: "c", n: index + 1, at: now })),
      );
      expect(await other.readChain("nothing")).toEqual([]);
    });

    test("adds all records or none, and only to the end that was seen", async ({ skip }) => {
      const audit = auditOf(opened().store, skip);
      await audit.append("c", 0, [entry("a")]);
      expect(await audit.append("c", 0, [entry("b"), entry("c")])).toBe(false);
      expect(await audit.append("c", 2, [entry("b")])).toBe(false);
      expect(await audit.append("c", 1, [entry("b"), entry("a")])).toBe(false);
      expect((await audit.readChain("c")).map(({ id }) => id)).toEqual(["a"]);
    });

    test("gives no number twice if replicas add to a chain at once", async ({ skip }) => {
      const { store, another } = opened();
      const stores = [store, await another(), await another()].map((one) => auditOf(one, skip));
      for (let after = 0; after < 8;) {
        const added = await Promise.all(
          // Of different lengths, so that the second of one would fit behind the first of another.
          stores.map((one, index) =>
            one.append(
              "c",
              after,
              Array.from({ length: index + 1 }, (_, n) => entry(`${after}/${index}/${n}`)),
            ),
          ),
        );
        const winner = added.indexOf(true);
        expect(added.filter((isAdded) => isAdded)).toHaveLength(1);
        after += winner + 1;
        const chain = await auditOf(store, skip).readChain("c");
        expect(chain.map(({ n }) => n)).toEqual(Array.from({ length: after }, (_, n) => n + 1));
      }
    });

    test("reads all chains in the order of time, page by page", async ({ skip }) => {
      const { store, advance } = opened();
      const audit = auditOf(store, skip);
      await audit.append("b", 0, [entry("b1"), entry("b2")]);
      await audit.append("a", 0, [entry("a1")]);
      await advance(1);
      await audit.append("a", 1, [entry("a2")]);
      await audit.append("B", 0, [entry("B1")]);
      const read: string[] = [];
      let last: AuditEntry | undefined;
      for (let page = 0; page < 10; page += 1) {
        const entries = await audit.readAfter(last, 2);
        read.push(...entries.map(({ id }) => id));
        last = entries.at(-1);
        if (last === undefined) break;
      }
      expect(read).toEqual(["a1", "b1", "b2", "B1", "a2"]);
    });

    test("deletes whole chains, when their last record is old enough", async ({ skip }) => {
      const { store, advance } = opened();
      const audit = auditOf(store, skip);
      await audit.append("old", 0, [entry("a"), entry("b")]);
      await audit.append("older", 0, [entry("a")]);
      await audit.append("active", 0, [entry("a")]);
      await advance(dayMs);
      await audit.append("active", 1, [entry("b")]);
      expect(await audit.sweep(dayMs + 1, 10)).toBe(0);
      expect(await audit.sweep(Infinity, 10)).toBe(0);
      expect(await audit.sweep(dayMs, 1)).toBe(1);
      expect(await audit.sweep(dayMs, 10)).toBe(1);
      expect(await audit.sweep(dayMs, 10)).toBe(0);
      const left = await audit.readAfter(undefined, 10);
      expect(left.map(({ chain, n }) => [chain, n])).toEqual([
        ["active", 1],
        ["active", 2],
      ]);
    });
  });
}
