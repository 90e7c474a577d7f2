// A task that has ended and whose steps are undone.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import {
  claimAll,
  create,
  hold,
  keepMs,
  leaseMs,
  newTask,
  nowOf,
  park,
  question,
  read,
  timer,
  ttlMs,
  waiting,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const failed = { status: "failed", result: "r", statusMessage: "m", keepMs } as const;
const appended = { records: ["begun"], taken: [], returned: [] };

/** Registers these tests. */
export function describeUndoing(opened: () => OpenedStore): void {
  describe("undo", () => {
    test("a record can say how many steps have begun, and other records do not change that", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      expect(await store.append(ref, { ...appended, at: 0, undos: 1 })).toBe(true);
      expect(await store.append(ref, { ...appended, at: 1 })).toBe(true);
      expect(await read(store, ref)).toMatchObject({ undos: 1, logLength: 2 });
      expect(await create(store, "b", { log: ["begun"], undos: 1 })).toMatchObject({ undos: 1 });
    });

    test("a parked task that is cancelled is due at once, keeps its contents and is not live", async () => {
      const { store } = opened();
      const { id } = await park(store, "a", [question("k")], { log: ["begun"], undos: 1 });
      const task = await store.cancel(id, keepMs);
      const now = await nowOf(store);
      expect(task).toMatchObject({
        status: "cancelled",
        undos: 1,
        dueAt: now,
        epoch: 2,
        waits: [],
      });
      expect(await store.figures()).toMatchObject({ live: 0, held: 0, due: 0, undoing: 1 });
      expect(await store.create(newTask("b"), 1)).toMatchObject({ kind: "created" });
      const { claimed } = await claimAll(store);
      expect(claimed).toMatchObject([
        { task: { id, status: "cancelled", undos: 1, fruitless: 1 }, log: ["begun"] },
        { task: { id: "task-b" } },
      ]);
    });

    test("a held task that is cancelled stays with its worker, which learns of it from its next renewal", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      const { dueAt } = await read(store, ref);
      const task = await store.cancel(ref.id, keepMs);
      expect(task).toMatchObject({ status: "cancelled", worker: "w", epoch: ref.epoch, dueAt });
      const { held } = await store.renew("w", [ref], leaseMs);
      expect(held).toEqual([{ id: ref.id, inbox: [], isUndoing: true }]);
    });

    test("its worker can no longer go on with it", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      await store.cancel(ref.id, keepMs);
      expect(await store.append(ref, { ...appended, at: 0, undos: 2 })).toBe(false);
      expect(await store.park(ref, waiting([timer("t", 1)]))).toBe(false);
      expect(await store.publish(ref, waiting([]))).toBe(false);
      expect(await store.report(ref, "m")).toBe(false);
      expect(await store.finish(ref, failed)).toBe(false);
    });

    test("if the worker is gone, another one claims it when the lease is over", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      await store.cancel(ref.id, keepMs);
      expect((await claimAll(store)).claimed).toEqual([]);
      await advance(leaseMs);
      const { claimed } = await claimAll(store);
      expect(claimed).toMatchObject([{ task: { id: ref.id, status: "cancelled", fruitless: 2 } }]);
    });

    test("a task that fails is kept by its worker if its steps are undone, and only then", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 2 });
      expect(await store.finish(ref, { ...failed, isUndoing: true })).toBe(true);
      expect(await store.finish(ref, { ...failed, isUndoing: true })).toBe(true);
      expect(await read(store, ref)).toMatchObject({
        ...over,
        undos: 2,
        worker: "w",
        fruitless: 1,
      });
      const other = await hold(store, "b", { undos: 2 });
      expect(await store.finish(other, failed)).toBe(true);
      expect(await read(store, other)).toMatchObject({ ...over, undos: 0, worker: undefined });
      const none = await hold(store, "c");
      expect(await store.finish(none, { ...failed, isUndoing: true })).toBe(true);
      expect(await read(store, none)).toMatchObject({ ...over, undos: 0, worker: undefined });
    });

    test("each progress is written once, and with the last one the worker lets go", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 2 });
      await store.finish(ref, { ...failed, isUndoing: true });
      const { updatedAt, revision } = await read(store, ref);
      const progress = { at: 0, records: ["one"], undos: 1, keepMs };
      expect(await store.undo(ref, progress)).toBe(true);
      expect(await store.undo(ref, progress)).toBe(true);
      expect(await store.undo({ ...ref, epoch: ref.epoch - 1 }, progress)).toBe(false);
      expect(await store.undo(ref, { ...progress, records: ["other", "writer"] })).toBe(false);
      expect(await read(store, ref)).toMatchObject({ undos: 1, worker: "w", logLength: 1 });
      expect(await store.undo(ref, { at: 1, records: ["two"], undos: 0, keepMs })).toBe(true);
      const task = await read(store, ref);
      expect(task).toMatchObject({ ...over, undos: 0, worker: undefined, dueAt: undefined });
      // Clients do not see it.
      expect(task).toMatchObject({ updatedAt, revision, result: "r", statusMessage: "m" });
      expect(await store.readLog(ref.id)).toEqual(["one", "two"]);
      expect((await claimAll(store)).claimed).toEqual([]);
    });

    test("is refused for a live task", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      const progress = { at: 0, records: ["one"], undos: 0, keepMs };
      expect(await store.undo(ref, progress)).toBe(false);
      expect(await store.readLog(ref.id)).toEqual([]);
    });

    test("a release gives it back until its next attempt, which counts", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      await store.finish(ref, { ...failed, isUndoing: true });
      const why = { afterMs: 500, isFruitless: true, cause: "down" };
      expect(await store.release(ref, why)).toBe(true);
      expect((await claimAll(store)).claimed).toEqual([]);
      await advance(500);
      expect((await claimAll(store)).claimed).toMatchObject([
        { task: { status: "failed", undos: 1, fruitless: 2, cause: "down" } },
      ]);
    });

    test("a task whose time is up keeps its contents until it is undone", async () => {
      const { store, advance } = opened();
      const { id } = await park(store, "a", [question("k")], { log: ["begun"], undos: 1 });
      await advance(ttlMs);
      expect(await store.sweep(10, keepMs, undefined, 1_000_000)).toMatchObject({ expired: 1 });
      const task = await store.read(id);
      const now = await nowOf(store);
      expect(task).toMatchObject({ status: "failed", rest: "expired", undos: 1, dueAt: now });
      expect(task).toMatchObject({ input: "input of a", waits: [] });
      await advance(keepMs);
      expect(await store.sweep(10, keepMs, undefined, 1_000_000)).toMatchObject({ forgotten: 0 });
      const { claimed } = await claimAll(store);
      expect(claimed).toMatchObject([{ task: { id }, log: ["begun"] }]);
      const ref = { id, epoch: claimed[0]!.task.epoch };
      expect(await store.undo(ref, { at: 1, records: ["one"], undos: 0, keepMs })).toBe(true);
      await advance(keepMs);
      expect(await store.sweep(10, keepMs)).toMatchObject({ forgotten: 1 });
      expect(await store.read(id)).toBeUndefined();
    });

    test("a held task whose time is up stays with its worker", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      expect(await read(store, ref)).toMatchObject({
        rest: "expired",
        worker: "w",
        epoch: ref.epoch,
      });
    });

    test("sweeps and limits leave it alone, until undoing has taken too long", async () => {
      const { store, advance } = opened();
      const { id } = await park(store, "a", [question("k")], { undos: 1, ttlMs: 100 });
      await store.cancel(id, 100);
      await advance(1_000);
      expect(await store.removeEnded("ann", 10, keepMs)).toBe(0);
      expect(await store.sweep(10, keepMs)).toMatchObject({ removed: 0 });
      expect(await store.sweep(10, keepMs, undefined, 1_001)).toMatchObject({ removed: 0 });
      expect(await store.sweep(10, keepMs, undefined, 1_000)).toMatchObject({ removed: 1 });
      expect(await store.read(id)).toMatchObject({ rest: "removed", undos: 0, input: "" });
    });

    test("a cancellation while it is undone changes nothing (U7)", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      await store.finish(ref, { ...failed, isUndoing: true });
      const before = await read(store, ref);
      expect(await store.cancel(ref.id, keepMs)).toEqual(before);
      expect(await read(store, ref)).toEqual(before);
    });

    test("an operator can make the next attempt start at once", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { undos: 1 });
      await store.finish(ref, { ...failed, isUndoing: true });
      const stuck = { stuckAfter: 0, keepMs };
      expect(await store.requeue(ref.id, stuck)).toMatchObject({ isRequeued: false });
      await store.release(ref, { afterMs: 50_000, isFruitless: true, cause: "down" });
      const requeued = await store.requeue(ref.id, stuck);
      expect(requeued).toMatchObject({
        isRequeued: true,
        task: { ...over, undos: 1, result: "r" },
      });
      expect((await claimAll(store)).claimed).toHaveLength(1);
    });

    test("a call that ended in its rounds is created with its end", async () => {
      const { store } = opened();
      const ended = { status: "cancelled", result: undefined } as const;
      const task = await create(store, "a", { log: ["begun"], undos: 1, ended });
      expect(task).toMatchObject({ status: "cancelled", undos: 1, revision: 1 });
      const other = await create(store, "b", {
        undos: 1,
        ended: { status: "failed", result: "error" },
      });
      expect(other).toMatchObject({ status: "failed", result: "error" });
      expect(await store.figures()).toMatchObject({ live: 0, undoing: 2 });
      expect((await claimAll(store)).claimed).toHaveLength(2);
    });
  });
}

const over = { status: "failed", waits: [], inbox: [] };
