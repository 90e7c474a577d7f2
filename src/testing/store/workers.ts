// What a worker does with a task, under its lease.

import { describe, expect, test } from "vitest";
import type { ClaimRef } from "../../tasks/task.ts";
import {
  answer,
  arrived,
  claimAll,
  create,
  external,
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
import type { Opened } from "./opened.ts";

const completed = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;
const failed = { status: "failed", result: "e", statusMessage: "m", keepMs } as const;
const undone = { afterMs: 0, isFruitless: true, cause: undefined };
const none = { taken: [], returned: [] };

export function describeWorkers(opened: () => Opened): void {
  describe("claim", () => {
    test("hands out what is due, with its log in order", async () => {
      const { store } = opened();
      const log = Array.from({ length: 25 }, (_, index) => `record ${index}`);
      const task = await create(store, "a", { log });
      const now = await nowOf(store);
      const after = { ...task, worker: "w", epoch: 1, dueAt: now + leaseMs, fruitless: 1 };
      expect(await claimAll(store)).toEqual({
        claimed: [{ task: after, log, before: undefined }],
        nextDueAt: now + leaseMs,
        now,
      });
      expect(await read(store, task)).toEqual(after);
      expect((await claimAll(store, "v")).claimed).toEqual([]);
    });

    test("only the wanted tools'", async () => {
      const { store } = opened();
      await create(store, "a", { tool: "one" });
      await create(store, "b", { tool: "two" });
      await create(store, "c", { tool: "three" });
      const { claimed } = await claimAll(store, "w", ["three", "one", "four"]);
      expect(idsOf(claimed.map(({ task }) => task))).toEqual(["task-a", "task-c"]);
      expect(await claimAll(store, "w", [])).toMatchObject({ claimed: [], nextDueAt: undefined });
    });

    test("the longest due first, at most as many as wanted", async () => {
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

    test("says when the next is due, of the wanted tools and no others", async () => {
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

    test("a timer's task when its time has come, not before", async () => {
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

    test("a task whose lease has run out, and says whose it was", async () => {
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

    test("what is over is never handed out", async () => {
      const { store, advance } = opened();
      const one = await hold(store, "a");
      await store.finish(one, completed);
      const other = await create(store, "b");
      await store.cancel(other.id, keepMs);
      await advance(leaseMs);
      expect(await claimAll(store)).toMatchObject({ claimed: [], nextDueAt: undefined });
    });

    test("counts claims that come to nothing, until one is fruitful", async () => {
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
    const writes: Record<string, (world: Opened, ref: ClaimRef) => Promise<boolean>> = {
      append: ({ store }, ref) => store.append(ref, { at: 0, records: ["late"], ...none }),
      publish: ({ store }, ref) => store.publish(ref, waiting([question("k")])),
      park: ({ store }, ref) => store.park(ref, waiting([question("k")])),
      release: ({ store }, ref) => store.release(ref, undone),
      report: ({ store }, ref) => store.report(ref, "late"),
      finish: ({ store }, ref) => store.finish(ref, completed),
    };
    describe.each(Object.entries(writes))("%s", (_name, write) => {
      const refused = async (world: Opened, ref: ClaimRef) => {
        const before = await world.store.read(ref.id);
        expect(await write(world, ref)).toBe(false);
        expect(await world.store.read(ref.id)).toEqual(before);
        expect(await world.store.readLog(ref.id)).toEqual([]);
      };

      test("is refused after somebody else's claim", async () => {
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

      test("is refused where nobody holds it", async () => {
        const world = opened();
        await refused(world, await create(world.store, "a"));
        const ref = await hold(world.store, "b");
        await world.store.release(ref, undone);
        await refused(world, ref);
      });

      test("is refused under an epoch that never was", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await refused(world, { id: ref.id, epoch: ref.epoch + 1 });
        await refused(world, { id: "nobody", epoch: 1 });
      });

      test("goes through after the lease has run out, while nobody has claimed it", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await world.advance(2 * leaseMs);
        expect(await write(world, ref)).toBe(true);
      });

      test("is refused when it is over", async () => {
        const world = opened();
        const ref = await hold(world.store, "a");
        await world.store.finish(ref, failed);
        await refused(world, ref);
      });
    });
  });

  describe("renew", () => {
    test("prolongs the lease and brings what has arrived", async () => {
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

    test("leaves out what is lost, cancelled, over, parked or unknown", async () => {
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

    test("a lease that has run out, while nobody has claimed it", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await advance(2 * leaseMs);
      expect(idsOf((await store.renew("w", [ref], leaseMs)).held)).toEqual([ref.id]);
      expect((await claimAll(store, "v")).claimed).toEqual([]);
    });

    test("notes that the worker is there, until it leaves", async () => {
      const { store, advance } = opened();
      expect((await store.figures()).workerSeenAt).toBeUndefined();
      const now = await nowOf(store);
      await store.renew("one", [], leaseMs);
      await advance(10);
      await store.renew("two", [], leaseMs);
      await advance(10);
      expect((await store.figures()).workerSeenAt).toBe(now + 10);
      await store.leave("two");
      expect((await store.figures()).workerSeenAt).toBe(now);
      await store.renew("one", [], leaseMs);
      expect((await store.figures()).workerSeenAt).toBe(now + 20);
      await store.leave("one");
      await store.leave("nobody");
      expect((await store.figures()).workerSeenAt).toBeUndefined();
    });
  });

  describe("append", () => {
    test("adds to the log and takes up what has arrived", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const inbox = [arrived("k", now), arrived("l", now)];
      const ref = await hold(store, "a", { log: ["one"], inbox });
      const before = await read(store, ref);
      const more = { at: 1, records: ["two", "three"], taken: ["k"], returned: [] };
      expect(await store.append(ref, more)).toBe(true);
      expect(await store.readLog(ref.id)).toEqual(["one", "two", "three"]);
      expect(await read(store, ref)).toEqual({
        ...before,
        logLength: 3,
        logBytes: 11,
        fruitless: 0,
        inbox: [arrived("l", now)],
      });
    });

    test("gives back what a cut took off the log, ahead of what has arrived since", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const ref = await hold(store, "a", { inbox: [arrived("k", now), arrived("l", now)] });
      const returned = [arrived("m", now, { id: "cut-1" }), arrived("n", now, { id: "cut-2" })];
      await store.append(ref, { at: 0, records: ["cut"], taken: ["k"], returned });
      expect((await read(store, ref)).inbox).toEqual([...returned, arrived("l", now)]);
    });

    test("forgets the cause of the last failure", async () => {
      const { store } = opened();
      const first = await hold(store, "a");
      await store.release(first, { afterMs: 0, isFruitless: true, cause: "why" });
      const [again] = (await claimAll(store)).claimed;
      expect(again?.task).toMatchObject({ cause: "why", fruitless: 2 });
      await store.append(again!.task, { at: 0, records: ["one"], ...none });
      expect(await read(store, first)).toMatchObject({ cause: undefined, fruitless: 0 });
    });

    test("is refused where the log is not as long as the writer thinks", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      expect(await store.append(ref, { at: 2, records: ["x"], ...none })).toBe(false);
      expect(await store.append(ref, { at: 0, records: ["x", "y"], ...none })).toBe(false);
      expect(await store.readLog(ref.id)).toEqual(["one"]);
    });

    test("is true again where only the acknowledgement was lost", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const ref = await hold(store, "a", { inbox: [arrived("k", now)] });
      const returned = [arrived("m", now, { id: "cut-1" })];
      const more = { at: 0, records: ["one", "two"], taken: ["k"], returned };
      expect(await store.append(ref, more)).toBe(true);
      const after = await read(store, ref);
      expect(await store.append(ref, more)).toBe(true);
      expect(await read(store, ref)).toEqual(after);
      expect(await store.readLog(ref.id)).toEqual(["one", "two"]);
    });

    test("is refused, also a second time, when it is over", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const more = { at: 0, records: ["one"], ...none };
      await store.append(ref, more);
      await store.finish(ref, completed);
      expect(await store.append(ref, more)).toBe(false);
    });

    test("of another's records is not one's own", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await advance(leaseMs);
      const [other] = (await claimAll(store, "v")).claimed;
      await store.append(other!.task, { at: 0, records: ["theirs"], ...none });
      expect(await store.append(ref, { at: 0, records: ["mine"], ...none })).toBe(false);
      expect(await store.readLog(ref.id)).toEqual(["theirs"]);
    });
  });

  describe("publish", () => {
    test("shows the questions while the handler runs on", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { inbox: [arrived("x", 1)] });
      const before = await read(store, ref);
      await advance(5);
      const waits = [question("k", { dueAt: before.createdAt + 9 }), external("e")];
      const asked = { k: 2, e: 1 };
      expect(await store.publish(ref, { waits, asked, taken: ["x"] })).toBe(true);
      expect(await read(store, ref)).toEqual({
        ...before,
        status: "input_required",
        waits,
        asked,
        inbox: [],
        revision: before.revision + 1,
        updatedAt: await nowOf(store),
      });
    });

    test("only the client's own questions are its to answer", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([external("e"), timer("t", 5)]));
      expect(await read(store, ref)).toMatchObject({ status: "working" });
      await store.publish(ref, waiting([]));
      expect(await read(store, ref)).toMatchObject({ status: "working", waits: [], asked: {} });
    });

    test("does not ask again what has been answered meanwhile", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([question("k")]));
      await store.answer(ref.id, [answer("k")]);
      await store.publish(ref, waiting([question("k"), question("l")]));
      const after = await read(store, ref);
      expect(after.waits).toEqual([question("l")]);
      expect(after.inbox.map(({ key }) => key)).toEqual(["k"]);
      await store.publish(ref, waiting([question("k", { wire: "k~1" })], ["k"]));
      expect(await read(store, ref)).toMatchObject({ waits: [{ wire: "k~1" }], inbox: [] });
    });
  });

  describe("park", () => {
    test("leaves the task to nobody until something arrives", async () => {
      const { store, advance } = opened();
      const first = await hold(store, "a");
      await store.release(first, { afterMs: 0, isFruitless: true, cause: "why" });
      const [claimed] = (await claimAll(store)).claimed;
      const before = claimed!.task;
      await advance(5);
      const waits = [question("k"), external("e")];
      expect(await store.park(before, waiting(waits))).toBe(true);
      expect(await read(store, first)).toEqual({
        ...before,
        status: "input_required",
        waits,
        asked: {
          k: 1,
          e: 1,
        },
        worker: undefined,
        dueAt: undefined,
        fruitless: 0,
        cause: undefined,
        revision: before.revision + 1,
        updatedAt: await nowOf(store),
      });
      await advance(10 * leaseMs);
      expect(await claimAll(store)).toMatchObject({ claimed: [], nextDueAt: undefined });
    });

    test("is due at the earliest of its times", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const waits = [
        timer("t", now + 50),
        question("k", { dueAt: now + 30 }),
        timer("u", now + 40),
      ];
      expect(await read(store, await park(store, "a", waits))).toMatchObject({ dueAt: now + 30 });
    });

    test("is due at once where an answer came while the handler ran", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      const waits = [question("k"), question("l"), timer("t", (await nowOf(store)) + 1_000)];
      await store.publish(ref, waiting(waits));
      await store.answer(ref.id, [answer("k")]);
      await advance(5);
      await store.park(ref, waiting(waits));
      const now = await nowOf(store);
      const after = await read(store, ref);
      expect(after).toMatchObject({ dueAt: now, worker: undefined, status: "input_required" });
      expect(after.waits).toEqual(waits.slice(1));
      expect(after.inbox.map(({ key }) => key)).toEqual(["k"]);
      expect((await claimAll(store, "v")).claimed).toMatchObject([{ task: { id: ref.id } }]);
    });

    test("is not due for what it has used, nor for what it does not wait for", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const inbox = [arrived("used", now), arrived("unasked", now)];
      const ref = await hold(store, "a", { inbox });
      await store.park(ref, waiting([question("used"), question("k")], ["used"]));
      const after = await read(store, ref);
      expect(after).toMatchObject({ dueAt: undefined, inbox: [arrived("unasked", now)] });
      expect(after.waits.map(({ key }) => key)).toEqual(["used", "k"]);
    });

    test("is due at once for an early delivery of what it waits for", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const early = { key: "e", digest: "digest of e" };
      await store.answer(ref.id, [{ ...answer("ticket"), early }]);
      await store.park(ref, waiting([external("e")]));
      expect(await read(store, ref)).toMatchObject({ dueAt: await nowOf(store), waits: [] });
    });
  });

  describe("release", () => {
    test("gives it back undone, for later", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      const before = await read(store, ref);
      await advance(5);
      expect(await store.release(ref, { afterMs: 70, isFruitless: true, cause: "why" })).toBe(true);
      const now = await nowOf(store);
      expect(await read(store, ref)).toEqual({
        ...before,
        worker: undefined,
        dueAt: now + 70,
        fruitless: 1,
        cause: "why",
      });
      await advance(69);
      expect((await claimAll(store)).claimed).toEqual([]);
      await advance(1);
      const [again] = (await claimAll(store)).claimed;
      expect(again).toMatchObject({
        before: undefined,
        task: { epoch: before.epoch + 1, fruitless: 2 },
      });
    });

    test("in good order does not count, and keeps the cause there was", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.release(ref, { afterMs: 0, isFruitless: true, cause: "why" });
      const [again] = (await claimAll(store)).claimed;
      await store.release(again!.task, { afterMs: 0, isFruitless: false, cause: undefined });
      const dueAt = await nowOf(store);
      expect(await read(store, ref)).toMatchObject({ dueAt, fruitless: 1, cause: "why" });
    });

    test("keeps what it waits for and what has arrived", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([question("k"), question("l")]));
      await store.answer(ref.id, [answer("k")]);
      const { waits, inbox, status } = await read(store, ref);
      await store.release(ref, undone);
      expect(await read(store, ref)).toMatchObject({ waits, inbox, status });
    });
  });

  describe("report", () => {
    test("says how it goes", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      const before = await read(store, ref);
      await advance(5);
      expect(await store.report(ref, "half")).toBe(true);
      const updatedAt = await nowOf(store);
      const after = { ...before, revision: before.revision + 1, updatedAt, statusMessage: "half" };
      expect(await read(store, ref)).toEqual(after);
    });
  });

  describe("finish", () => {
    test("ends it with its result", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      await store.publish(ref, waiting([question("k"), question("l")]));
      await store.answer(ref.id, [answer("k")]);
      await store.report(ref, "half");
      const before = await read(store, ref);
      await advance(5);
      expect(await store.finish(ref, completed)).toBe(true);
      expect(await read(store, ref)).toEqual({
        ...before,
        status: "completed",
        result: "r",
        statusMessage: "half",
        revision: before.revision + 1,
        updatedAt: await nowOf(store),
        worker: undefined,
        dueAt: undefined,
        waits: [],
        inbox: [],
      });
      expect(await store.readLog(ref.id)).toEqual(["one"]);
    });

    test("keeps the result readable for a while at least", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { ttlMs: 1_000 });
      await advance(999);
      await store.finish(ref, failed);
      expect(await read(store, ref)).toMatchObject({
        status: "failed",
        result: "e",
        statusMessage: "m",
        expiresAt: (await nowOf(store)) + keepMs,
      });
    });

    test("is true again where only the acknowledgement was lost", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await store.finish(ref, failed);
      const after = await read(store, ref);
      await advance(5);
      expect(await store.finish(ref, failed)).toBe(true);
      expect(await store.finish(ref, completed)).toBe(false);
      expect(await read(store, ref)).toEqual(after);
    });
  });
}
