// The parts of running streams.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import { partsAtOnce } from "../../tasks/stored-parts.ts";
import type { StoredPart } from "../../tasks/stored-parts.ts";
import type { ChangeHint, TaskStore } from "../../tasks/store.ts";
import type { ClaimRef } from "../../tasks/task.ts";
import { claimAll, hold, keepMs, leaseMs, question, read, ttlMs, waiting } from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const part = (n: number, key = "draft"): StoredPart => ({ n, key, record: `part ${n} of ${key}` });
const all = { epoch: 0, n: -1 };
const entry = { records: ["whole"], taken: [], returned: [] };
const completed = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;

const numbersIn = async (store: TaskStore, { id }: Pick<ClaimRef, "id">, after = all) =>
  (await store.readParts(id, after))?.parts.map(({ n }) => n);

/** What each way to end a claim does. */
const ends: Readonly<Record<string, (opened: OpenedStore, ref: ClaimRef) => Promise<unknown>>> = {
  "is taken over": async ({ store, advance }) => {
    await advance(leaseMs);
    return claimAll(store, "v");
  },
  "is parked": ({ store }, ref) => store.park(ref, waiting([question("k")])),
  "is given back": ({ store }, ref) =>
    store.release(ref, { afterMs: 0, isFruitless: false, cause: undefined }),
  ends: ({ store }, ref) => store.finish(ref, completed),
  "ends and has steps to undo": async ({ store }, ref) => {
    await store.append(ref, { ...entry, at: 0, undos: 1 });
    return store.finish(ref, { ...completed, status: "failed", isUndoing: true });
  },
  "is cancelled": ({ store }, { id }) => store.cancel(id, keepMs),
  "is cancelled and has steps to undo": async ({ store }, ref) => {
    await store.append(ref, { ...entry, at: 0, undos: 1 });
    return store.cancel(ref.id, keepMs);
  },
  "is put back in the queue": async ({ store, advance }, { id }) => {
    await advance(leaseMs);
    return store.requeue(id, { stuckAfter: 1, keepMs });
  },
  expires: async ({ store, advance }) => {
    await advance(ttlMs);
    return store.sweep(10, keepMs);
  },
};

/** Registers these tests. */
export function describeStreams(opened: () => OpenedStore): void {
  describe("the parts of streams", () => {
    test("are read in their order, after any place, by every replica", async () => {
      const { store, another } = opened();
      const ref = await hold(store, "a");
      expect(await store.addParts(ref, [part(0), part(1, "other")])).toBe(true);
      expect(await store.addParts(ref, [part(2)])).toBe(true);
      const other = await another();
      expect(await other.readParts(ref.id, all)).toEqual({
        epoch: ref.epoch,
        logLength: 0,
        revision: 1,
        parts: [part(0), part(1, "other"), part(2)],
      });
      expect(await numbersIn(other, ref, { epoch: ref.epoch, n: 1 })).toEqual([2]);
      expect(await numbersIn(other, ref, { epoch: ref.epoch + 1, n: 1 })).toEqual([0, 1, 2]);
      expect(await other.readParts("unknown", all)).toBeUndefined();
    });

    test("come in pages", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.addParts(
        ref,
        Array.from({ length: partsAtOnce + 1 }, (_, n) => part(n)),
      );
      expect(await numbersIn(store, ref)).toHaveLength(partsAtOnce);
      const after = { epoch: ref.epoch, n: partsAtOnce - 1 };
      expect(await numbersIn(store, ref, after)).toEqual([partsAtOnce]);
    });

    test("are written once, even if they are sent twice", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.addParts(ref, [part(0)]);
      expect(await store.addParts(ref, [{ ...part(0), record: "again" }, part(1)])).toBe(true);
      expect((await store.readParts(ref.id, all))?.parts).toEqual([part(0), part(1)]);
    });

    test("change nothing else of the task", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      const before = await read(store, ref);
      await advance(1);
      await store.addParts(ref, [part(0)]);
      expect(await read(store, ref)).toEqual(before);
    });

    test("are refused under an older claim, and after the end", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await advance(leaseMs);
      const [claimed] = (await claimAll(store, "v")).claimed;
      expect(await store.addParts(ref, [part(0)])).toBe(false);
      expect(await numbersIn(store, ref)).toEqual([]);
      expect(await store.addParts(claimed!.task, [part(0)])).toBe(true);
      await store.finish(claimed!.task, completed);
      expect(await store.addParts(claimed!.task, [part(1)])).toBe(false);
    });

    test("go when their stream is recorded, in the same moment, and those of others stay", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.addParts(ref, [part(0), part(1, "other"), part(2)]);
      await store.append(ref, { ...entry, at: 0 });
      expect(await numbersIn(store, ref)).toEqual([0, 1, 2]);
      expect(await store.append(ref, { ...entry, at: 1, streamed: "draft" })).toBe(true);
      const page = await store.readParts(ref.id, all);
      expect(page).toMatchObject({ logLength: 2, parts: [{ n: 1 }] });
      expect(await store.append(ref, { ...entry, at: 1, streamed: "draft" })).toBe(true);
    });

    test("stay when a write is refused", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.addParts(ref, [part(0)]);
      expect(await store.append(ref, { ...entry, at: 5, streamed: "draft" })).toBe(false);
      await store.publish(ref, waiting([question("k")]));
      await store.renew("w", [ref], leaseMs);
      await store.report(ref, "message");
      expect(await numbersIn(store, ref)).toEqual([0]);
    });

    test.each(Object.keys(ends))("go when their task %s", async (how) => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const { bytes } = await store.usage("ann");
      const record = "x".repeat(5_000);
      await store.addParts(
        ref,
        [part(0), part(1, "other")].map((one) => ({ ...one, record })),
      );
      expect((await store.usage("ann")).bytes).toBe(bytes + 2 * record.length);
      await ends[how]!(opened(), ref);
      expect(await numbersIn(store, ref)).toEqual([]);
      // Nothing of an earlier claim is left either.
      expect((await store.usage("ann")).bytes).toBeLessThan(bytes + record.length);
    });

    test("their hint wakes their readers alone", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const hints: ChangeHint[] = [];
      const isParts = () => hints.filter((hint) => hint.id === ref.id && hint.isParts === true);
      const end = store.subscribe((hint) => void hints.push(hint));
      await new Promise((resolve) => setImmediate(resolve));
      hints.length = 0;
      await store.addParts(ref, [part(0)]);
      await store.append(ref, { ...entry, at: 0, streamed: "draft" });
      await new Promise((resolve) => setImmediate(resolve));
      end();
      expect(isParts()).toEqual([
        { id: ref.id, isDue: false, isNews: false, isParts: true },
        { id: ref.id, isDue: false, isNews: false, isParts: true },
      ]);
      expect(hints.filter(({ id }) => id === ref.id)).toHaveLength(2);
    });
  });
}
