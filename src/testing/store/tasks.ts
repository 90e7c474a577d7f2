// What anyone may do with a task besides answering it: create, read, list, cancel and requeue it.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import {
  answer,
  arrived,
  claimAll,
  create,
  hold,
  idsOf,
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

/** Registers these tests. */
export function describeTasks(opened: () => OpenedStore): void {
  describe("create", () => {
    test("makes a task that is due at once", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const inbox = [arrived("k", now - 5, { dueAt: now + 7 })];
      const creation = await store.create(newTask("a", { log: ["one", "two"], inbox }), 10);
      const task: TaskRecord = {
        id: "task-a",
        callId: "call-a",
        tool: "tool",
        principal: "ann",
        status: "working",
        revision: 1,
        epoch: 0,
        worker: undefined,
        dueAt: now,
        waits: [],
        inbox,
        asked: {},
        logLength: 2,
        logBytes: 6,
        undos: 0,
        fruitless: 0,
        cause: undefined,
        input: "input of a",
        statusMessage: undefined,
        result: undefined,
        rest: undefined,
        isUnread: true,
        createdAt: now,
        updatedAt: now,
        expiresAt: now + ttlMs,
      };
      expect(creation).toEqual({ kind: "created", task });
      expect(await store.read("task-a")).toEqual(task);
      expect(await store.readByCall("call-a")).toEqual(task);
      expect(await store.readLog("task-a")).toEqual(["one", "two"]);
    });

    test("gives it to the worker that continues it", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const task = await create(store, "a", { claimedBy: { worker: "w", leaseMs: 500 } });
      expect(task).toMatchObject({ epoch: 1, worker: "w", dueAt: now + 500, fruitless: 1 });
      expect((await claimAll(store)).claimed).toEqual([]);
    });

    test("makes one task per call: a second create gets the first task, whatever its state", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      await store.report(ref, "half");
      const again = newTask("b", { callId: "call-a", log: ["other"], input: "other" });
      expect(await store.create(again, 10)).toEqual({
        kind: "exists",
        task: await read(store, ref),
      });
      expect(await store.read("task-b")).toBeUndefined();
      expect(await store.readLog("task-b")).toEqual([]);
      expect(await store.readLog("task-a")).toEqual(["one"]);
    });

    test("reports an existing task rather than too many tasks", async () => {
      const { store } = opened();
      await create(store, "a");
      expect(await store.create(newTask("a"), 1)).toMatchObject({ kind: "exists" });
    });

    test("refuses more live tasks than a principal may have", async () => {
      const { store } = opened();
      const first = await hold(store, "a");
      await create(store, "b");
      await create(store, "foreign", { principal: "bob" });
      expect(await store.create(newTask("c"), 2)).toEqual({ kind: "too many" });
      expect(await store.read("task-c")).toBeUndefined();
      expect(await store.create(newTask("d", { principal: "bob" }), 2)).toMatchObject({
        kind: "created",
      });
      const end = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;
      await store.finish(first, end);
      expect(await store.create(newTask("c"), 2)).toMatchObject({ kind: "created" });
    });

    test("counts waiting tasks as live", async () => {
      const { store } = opened();
      await park(store, "a", [question("k")]);
      expect(await store.create(newTask("b"), 1)).toEqual({ kind: "too many" });
    });

    test("makes none if none are allowed", async () => {
      const { store } = opened();
      expect(await store.create(newTask("a"), 0)).toEqual({ kind: "too many" });
    });

    test("makes any number if there is no limit", async () => {
      const { store } = opened();
      await create(store, "a");
      expect(await store.create(newTask("b"), Infinity)).toMatchObject({ kind: "created" });
    });
  });

  describe("read", () => {
    test("finds nothing for an unknown task", async () => {
      const { store } = opened();
      expect(await store.read("task-a")).toBeUndefined();
      expect(await store.readByCall("call-a")).toBeUndefined();
      expect(await store.readLog("task-a")).toEqual([]);
      expect(await store.answer("task-a", [answer("k")])).toBeUndefined();
      expect(await store.cancel("task-a", keepMs)).toBeUndefined();
    });
  });

  describe("list", () => {
    test("has the newest first, page by page, of one principal or of all", async () => {
      const { store, advance } = opened();
      await create(store, "a");
      await create(store, "b");
      await advance(10);
      await create(store, "c");
      await create(store, "foreign", { principal: "bob" });
      const page = { principal: "ann", after: undefined, limit: 2 };
      const first = await store.list(page);
      expect(first).toEqual([
        await read(store, { id: "task-c" }),
        await read(store, { id: "task-b" }),
      ]);
      const second = await store.list({ ...page, after: first[1] });
      expect(idsOf(second)).toEqual(["task-a"]);
      expect(await store.list({ ...page, after: second[0] })).toEqual([]);
      const all = await store.list({ principal: undefined, after: undefined, limit: 10 });
      expect(idsOf(all)).toEqual(["task-foreign", "task-c", "task-b", "task-a"]);
      expect(await store.list({ ...page, limit: 0 })).toEqual([]);
    });

    test("continues after a task that is gone", async () => {
      const { store } = opened();
      const { createdAt } = await create(store, "a");
      await create(store, "c");
      const after = { createdAt, id: "task-b" };
      expect(idsOf(await store.list({ principal: "ann", after, limit: 10 }))).toEqual(["task-a"]);
    });

    test("shows tasks that are over, and leaves out those at rest", async () => {
      const { store, advance } = opened();
      const ref = await create(store, "a");
      await store.cancel(ref.id, keepMs);
      const page = { principal: "ann", after: undefined, limit: 10 };
      expect(idsOf(await store.list(page))).toEqual([ref.id]);
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      expect(await store.list(page)).toEqual([]);
    });
  });

  describe("cancel", () => {
    test("ends a task, whichever worker holds it", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([question("k")]));
      const before = await read(store, ref);
      await advance(5);
      const now = await nowOf(store);
      const task = await store.cancel(ref.id, keepMs);
      expect(task).toEqual({
        ...before,
        status: "cancelled",
        epoch: before.epoch + 1,
        revision: before.revision + 1,
        updatedAt: now,
        worker: undefined,
        dueAt: undefined,
        waits: [],
        inbox: [],
      });
      expect(await read(store, ref)).toEqual(task);
      expect(await store.renew("w", [ref], leaseMs)).toEqual({ held: [], now });
    });

    test("keeps the task and its log readable for a minimum time", async () => {
      const { store, advance } = opened();
      const ref = await create(store, "a", { ttlMs: 1_000, log: ["one"] });
      await advance(900);
      const task = await store.cancel(ref.id, keepMs);
      expect(task?.expiresAt).toBe((await nowOf(store)) + keepMs);
      expect(await store.readLog(ref.id)).toEqual(["one"]);
    });

    test("does nothing to a task that is over", async () => {
      const { store } = opened();
      const ref = await create(store, "a");
      const task = await store.cancel(ref.id, keepMs);
      expect(await store.cancel(ref.id, 2 * ttlMs)).toEqual(task);
    });
  });

  describe("requeue", () => {
    const which = { stuckAfter: 1, keepMs };
    const failed = { status: "failed", result: "r", statusMessage: "m", keepMs: 1 } as const;
    const inVain = { afterMs: 0, isFruitless: true, cause: "c" };

    test("continues a task that was given up, from its log", async () => {
      const { store, advance } = opened();
      const first = await hold(store, "a", { log: ["one"], ttlMs: 1_000 });
      await store.release(first, inVain);
      const [second] = (await claimAll(store)).claimed;
      await store.finish(second!.task, failed);
      const before = await read(store, first);
      await advance(900);
      const now = await nowOf(store);
      const task = {
        ...before,
        status: "working",
        revision: before.revision + 1,
        updatedAt: now,
        epoch: before.epoch + 1,
        dueAt: now,
        fruitless: 0,
        cause: undefined,
        result: undefined,
        statusMessage: undefined,
        expiresAt: now + keepMs,
      };
      expect(await store.requeue(first.id, which)).toEqual({ task, isRequeued: true });
      expect(await read(store, first)).toEqual(task);
      const { claimed } = await claimAll(store);
      expect(claimed.map(({ task: { id }, log }) => ({ id, log }))).toEqual([
        { id: first.id, log: ["one"] },
      ]);
    });

    test("takes a task from a worker whose lease is over, and from no other", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([question("k")]));
      const before = await read(store, ref);
      expect(await store.requeue(ref.id, which)).toEqual({ task: before, isRequeued: false });
      await advance(leaseMs);
      const now = await nowOf(store);
      const task = {
        ...before,
        epoch: before.epoch + 1,
        worker: undefined,
        dueAt: now,
        fruitless: 0,
        expiresAt: Math.max(before.expiresAt, now + keepMs),
      };
      expect(await store.requeue(ref.id, which)).toEqual({ task, isRequeued: true });
      expect(await store.report(ref, "late")).toBe(false);
      expect(await read(store, ref)).toEqual(task);
    });

    test("does not wait for the next try of a task", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.release(ref, { ...inVain, afterMs: 60_000 });
      expect((await claimAll(store)).claimed).toEqual([]);
      expect(await store.requeue(ref.id, which)).toMatchObject({
        task: { fruitless: 0, cause: undefined },
        isRequeued: true,
      });
      expect(idsOf((await claimAll(store)).claimed.map(({ task }) => task))).toEqual([ref.id]);
    });

    test("leaves alone what has ended or waits for something", async () => {
      const { store, advance } = opened();
      const completed = await hold(store, "a");
      await store.finish(completed, { ...failed, status: "completed" });
      const cancelled = await hold(store, "b");
      await store.cancel(cancelled.id, keepMs);
      const failing = await hold(store, "c");
      await store.finish(failing, failed);
      const asking = await park(store, "d", [question("k")]);
      const sleeping = await park(store, "e", [timer("t", (await nowOf(store)) + 500)]);
      const expired = await hold(store, "f", { ttlMs: 1 });
      await advance(10);
      await store.sweep(10, keepMs);
      for (const ref of [completed, cancelled, failing, asking, sleeping, expired]) {
        const task = await read(store, ref);
        // Only the number of attempts without progress tells a task that was given up from one that failed by itself.
        const always = { stuckAfter: ref === failing ? 1 : 0, keepMs };
        expect(await store.requeue(ref.id, always)).toEqual({ task, isRequeued: false });
        expect(await read(store, ref)).toEqual(task);
      }
      expect(await store.requeue("nobody", which)).toBeUndefined();
    });
  });

  describe("revisions", () => {
    test("are returned for tasks that exist", async () => {
      const { store } = opened();
      const one = await hold(store, "a");
      const other = await create(store, "b");
      await store.report(one, "half");
      expect(await store.revisions([one.id, other.id, "nobody"])).toEqual(
        new Map([
          [one.id, 2],
          [other.id, 1],
        ]),
      );
      expect(await store.revisions([])).toEqual(new Map());
    });

    test("are returned for the tasks of one caller, without those whose contents are deleted", async () => {
      const { store, advance } = opened();
      const { id } = await create(store, "a", { principal: "ada" });
      const bobs = await create(store, "b", { principal: "bob" });
      const nobodys = await create(store, "c", { principal: "" });
      const ids = [id, bobs.id, nobodys.id];
      expect([...(await store.revisions(ids, "ada")).keys()]).toEqual([id]);
      expect([...(await store.revisions(ids, "")).keys()]).toEqual([nobodys.id]);
      await store.cancel(id, 1);
      expect([...(await store.revisions(ids, "ada")).keys()]).toEqual([id]);
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      expect(await store.revisions(ids, "ada")).toEqual(new Map());
      expect((await store.revisions(ids)).has(id)).toBe(true);
    });

    test("increase with visible changes, and with nothing else", async () => {
      const { store, advance } = opened();
      const { id } = await create(store, "a");
      let ref = { id, epoch: 0 };
      const grows = async (operation: () => Promise<unknown>) => {
        const before = await read(store, ref);
        await advance(1);
        await operation();
        const after = await read(store, ref);
        const hasGrown = after.revision > before.revision;
        expect(after.updatedAt).toBe(hasGrown ? await nowOf(store) : before.updatedAt);
        return after.revision - before.revision;
      };
      const claim = async () => {
        const { claimed } = await claimAll(store);
        ref = claimed[0]!.task;
      };
      const end = { status: "failed", result: "r", statusMessage: undefined, keepMs } as const;
      expect(await grows(claim)).toBe(0);
      expect(await grows(() => store.renew("w", [ref], leaseMs))).toBe(0);
      const more = { at: 0, records: ["one"], taken: [], returned: [] };
      expect(await grows(() => store.append(ref, more))).toBe(0);
      expect(await grows(() => store.publish(ref, waiting([question("k")])))).toBe(1);
      expect(await grows(() => store.report(ref, "half"))).toBe(1);
      const why = { afterMs: 0, isFruitless: true, cause: "c" };
      expect(await grows(() => store.release(ref, why))).toBe(0);
      expect(await grows(claim)).toBe(0);
      expect(await grows(() => store.park(ref, waiting([question("k")])))).toBe(1);
      expect(await grows(() => store.answer(id, [answer("x")]))).toBe(0);
      expect(await grows(() => store.answer(id, [answer("k")]))).toBe(1);
      expect(await grows(claim)).toBe(0);
      expect(await grows(() => store.finish(ref, end))).toBe(1);
      expect(await grows(() => store.cancel(id, keepMs))).toBe(0);
    });
  });
}
