// How a worker gets a task and keeps it: claims, the fence, renewals.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { ClaimRef } from "../../tasks/task.ts";
import {
  answer,
  claimAll,
  create,
  hold,
  idsOf,
  keepMs,
  leaseMs,
  nowOf,
  park,
  question,
  read,
  timer,
  waiting,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const completed = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;
const failed = { status: "failed", result: "e", statusMessage: "m", keepMs } as const;
const undone = { afterMs: 0, isFruitless: true, cause: undefined };
const none = { taken: [], returned: [] };

/** Registers these tests. */
export function describeLeases(opened: () => OpenedStore): void {
  describe("claim", () => {
    test("hands out due tasks, with their logs in order", async () => {
      const { store } = opened();
      const log = Array.from({ length: 25 }, (_, index) => `record ${index}`);
      const task = await create(store, "a", { log });
      const now = await nowOf(store);
      const claim = { worker: "w", epoch: 1, dueAt: now + leaseMs, fruitless: 1, claimedAt: now };
      const after = { ...task, ...claim };
      expect(await claimAll(store)).toEqual({
        claimed: [{ task: after, log, before: undefined }],
        nextDueAt: now + leaseMs,
        now,
      });
      expect(await read(store, task)).toEqual(after);
      expect((await claimAll(store, "v")).claimed).toEqual([]);
    });

    test("hands out only tasks of the wanted tools", async () => {
      const { store } = opened();
      await create(store, "a", { tool: "one" });
      await create(store, "b", { tool: "two" });
      await create(store, "c", { tool: "three" });
      const { claimed } = await claimAll(store, "w", ["three", "one", "four"]);
      expect(idsOf(claimed.map(({ task }) => task))).toEqual(["task-a", "task-c"]);
      expect(await claimAll(store, "w", [])).toMatchObject({ claimed: [], nextDueAt: undefined });
    });

    test("hands out the longest due first, and at most as many as wanted", async () => {
      const { store, advance } = opened();
      await create(store, "z");
      await advance(1);
      await create(store, "a", { tool: "other" });
      await create(store, "b");
      await advance(1);
      await create(store, "d");
      const wanted = { worker: "w", tools: ["tool", "other"], most: 2, leaseMs };
      const first = await store.claim(wanted);
      expect(idsOf(first.claimed.map(({ task }) => task))).toEqual(["task-z", "task-a"]);
      expect(first.nextDueAt).toBe(first.now - 1);
      const second = await store.claim(wanted);
      expect(idsOf(second.claimed.map(({ task }) => task))).toEqual(["task-b", "task-d"]);
      expect(second.nextDueAt).toBe(second.now + leaseMs);
      expect((await store.claim({ ...wanted, most: 0 })).claimed).toEqual([]);
    });

    test("says when the next task of the wanted tools is due", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      expect(await claimAll(store)).toEqual({ claimed: [], nextDueAt: undefined, now });
      await park(store, "a", [timer("t", now + 70)]);
      await park(store, "b", [timer("t", now + 50)], { tool: "other" });
      await park(store, "c", [question("k")]);
      expect(await claimAll(store)).toEqual({ claimed: [], nextDueAt: now + 70, now });
      const both = await claimAll(store, "w", ["tool", "other"]);
      expect(both.nextDueAt).toBe(now + 50);
    });

    test("hands out a task with a timer when its time has come, not before", async () => {
      const { store, advance } = opened();
      const dueAt = (await nowOf(store)) + 100;
      const ref = await park(store, "a", [timer("t", dueAt), question("k")]);
      await advance(99);
      expect((await claimAll(store)).claimed).toEqual([]);
      await advance(1);
      const { claimed } = await claimAll(store);
      expect(claimed).toMatchObject([
        { task: { id: ref.id, waits: [{ key: "t" }, { key: "k" }] } },
      ]);
    });

    test("hands out a task whose lease has expired, and says which worker held it", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await advance(leaseMs - 1);
      expect((await claimAll(store, "v")).claimed).toEqual([]);
      await advance(1);
      const { claimed } = await claimAll(store, "v");
      expect(claimed).toMatchObject([
        { before: "w", task: { worker: "v", epoch: ref.epoch + 1, fruitless: 2 } },
      ]);
    });

    test("never hands out a task that is over", async () => {
      const { store, advance } = opened();
      const one = await hold(store, "a");
      await store.finish(one, completed);
      const other = await create(store, "b");
      await store.cancel(other.id, keepMs);
      await advance(leaseMs);
      expect(await claimAll(store)).toMatchObject({ claimed: [], nextDueAt: undefined });
    });

    test("counts claims without progress, until one makes progress", async () => {
      const { store, advance } = opened();
      await create(store, "a");
      const claims: number[] = [];
      for (let claim = 0; claim < 3; claim += 1) {
        claims.push((await claimAll(store)).claimed[0]!.task.fruitless);
        await advance(leaseMs);
      }
      expect(claims).toEqual([1, 2, 3]);
      const [held] = (await claimAll(store)).claimed;
      await store.append(held!.task, { at: 0, records: ["one"], ...none });
      expect(await read(store, held!.task)).toMatchObject({ fruitless: 0 });
    });
  });

  describe("the fence", () => {
    const writes: Record<string, (world: OpenedStore, ref: ClaimRef) => Promise<boolean>> = {
      append: ({ store }, ref) => store.append(ref, { at: 0, records: ["late"], ...none }),
      publish: ({ store }, ref) => store.publish(ref, waiting([question("k")])),
      park: ({ store }, ref) => store.park(ref, waiting([question("k")])),
      release: ({ store }, ref) => store.release(ref, undone),
      report: ({ store }, ref) => store.report(ref, "late"),
      finish: ({ store }, ref) => store.finish(ref, completed),
    };
    describe.each(Object.entries(writes))("%s", (_name, write) => {
      const refused = async (world: OpenedStore, ref: ClaimRef) => {
        const before = await world.store.read(ref.id);
        expect(await write(world, ref)).toBe(false);
        expect(await world.store.read(ref.id)).toEqual(before);
        expect(await world.store.readLog(ref.id)).toEqual([]);
      };

      test("is refused after another worker's claim", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await world.advance(leaseMs);
        await claimAll(world.store, "w");
        await refused(world, ref);
      });

      test("is refused after a cancel", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await world.store.cancel(ref.id, keepMs);
        await refused(world, ref);
      });

      test("is refused if no worker holds the task", async () => {
        const world = opened();
        await refused(world, await create(world.store, "a"));
        const ref = await hold(world.store, "b");
        await world.store.release(ref, undone);
        await refused(world, ref);
      });

      test("is refused under an epoch that never existed", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await refused(world, { id: ref.id, epoch: ref.epoch + 1 });
        await refused(world, { id: "nobody", epoch: 1 });
      });

      test("is accepted after the lease has expired, while no worker has claimed the task", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await world.advance(2 * leaseMs);
        expect(await write(world, ref)).toBe(true);
      });

      test("is refused when the task is over", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await world.store.finish(ref, failed);
        await refused(world, ref);
      });
    });
  });

  describe("renew", () => {
    test("extends the lease and returns what has arrived", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([question("k")]));
      const given = await store.answer(ref.id, [answer("k")]);
      const quiet = await hold(store, "b");
      await advance(leaseMs - 1);
      const now = await nowOf(store);
      expect(await store.renew("w", [quiet, ref], 700)).toEqual({
        held: [
          { id: quiet.id, inbox: [] },
          { id: ref.id, inbox: given?.task.inbox },
        ],
        now,
      });
      expect(await read(store, ref)).toEqual({ ...given?.task, dueAt: now + 700 });
      await advance(699);
      expect((await claimAll(store, "v")).claimed).toEqual([]);
      await advance(1);
      expect((await claimAll(store, "v")).claimed).toHaveLength(2);
    });

    test("leaves out tasks that are lost, cancelled, over, parked or unknown", async () => {
      const { store, advance } = opened();
      const lost = await hold(store, "lost", { claimedBy: { worker: "w", leaseMs: 1 } });
      const gone = await hold(store, "cancelled");
      const over = await hold(store, "over");
      const parked = await park(store, "parked", [question("k")]);
      const kept = await hold(store, "kept");
      await store.cancel(gone.id, keepMs);
      await store.finish(over, completed);
      await advance(1);
      await claimAll(store, "v");
      const before = await read(store, lost);
      const refs = [lost, gone, over, parked, { id: "nobody", epoch: 1 }, kept];
      const { held } = await store.renew("w", refs, leaseMs);
      expect(idsOf(held)).toEqual([kept.id]);
      expect(await read(store, lost)).toEqual(before);
      expect(await read(store, parked)).toMatchObject({ dueAt: undefined });
    });

    test("accepts an expired lease while no worker has claimed the task", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await advance(2 * leaseMs);
      expect(idsOf((await store.renew("w", [ref], leaseMs)).held)).toEqual([ref.id]);
      expect((await claimAll(store, "v")).claimed).toEqual([]);
    });

    test("records that the worker is there, until it leaves", async () => {
      const { store, advance } = opened();
      expect((await store.figures()).workerSeenAt).toBeUndefined();
      const now = await nowOf(store);
      await store.renew("one", [], leaseMs);
      await advance(10);
      await store.renew("two", [], leaseMs);
      await advance(10);
      expect((await store.figures()).workerSeenAt).toBe(now + 10);
      const seen = await store.workers();
      expect(seen.now).toBe(now + 20);
      expect(seen.workers.toSorted((one, other) => one.seenAt - other.seenAt)).toEqual([
        { name: "one", seenAt: now },
        { name: "two", seenAt: now + 10 },
      ]);
      await store.leave("two");
      expect((await store.figures()).workerSeenAt).toBe(now);
      await store.renew("one", [], leaseMs);
      expect((await store.figures()).workerSeenAt).toBe(now + 20);
      await store.leave("one");
      await store.leave("nobody");
      expect((await store.figures()).workerSeenAt).toBeUndefined();
      expect((await store.workers()).workers).toEqual([]);
    });
  });
}
