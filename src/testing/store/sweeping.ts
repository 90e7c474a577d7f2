// What happens when the time of a task is up, and the figures for operators.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import {
  answer,
  claimAll,
  create,
  external,
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

const completed = { status: "completed", result: "r", statusMessage: "m", keepMs } as const;
const nothing = {
  expired: 0,
  removed: 0,
  forgotten: 0,
  spills: 0,
  rounds: 0,
  isMore: false,
};
const dayMs = 24 * 3_600_000;
/** What is left of a task whose contents are deleted. */
const emptied = {
  worker: undefined,
  dueAt: undefined,
  waits: [],
  inbox: [],
  asked: {},
  logLength: 0,
  logBytes: 0,
  cause: undefined,
  input: "",
  statusMessage: undefined,
  result: undefined,
};

/** Registers these tests. */
export function describeSweeping(opened: () => OpenedStore): void {
  describe("the time of a task, before a sweep", () => {
    test("is up for every reader of the task", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k")], { log: ["one"] });
      const ended = await hold(store, "b");
      await store.finish(ended, { ...completed, keepMs: 2 * ttlMs });
      const before = await read(store, ref);
      await advance(ttlMs - 1);
      expect(await read(store, ref)).toEqual(before);
      await advance(1);
      const expired = await read(store, ref);
      expect(expired).toEqual({
        ...before,
        ...emptied,
        status: "failed",
        rest: "expired",
        epoch: before.epoch + 1,
        revision: before.revision + 1,
        updatedAt: before.expiresAt,
      });
      await advance(5);
      expect(await read(store, ref)).toEqual(expired);
      expect(await store.readByCall(before.callId)).toEqual(expired);
      expect(await store.create(newTask("c", { callId: before.callId }), 9)).toEqual({
        kind: "exists",
        task: expired,
      });
      const { revision } = expired;
      expect(await store.revisions([ref.id])).toEqual(new Map([[ref.id, revision]]));
      expect(await store.revisions([ref.id], "ann")).toEqual(new Map([[ref.id, revision]]));
      for (const principal of ["ann", undefined]) {
        expect(idsOf(await store.list({ principal, after: undefined, limit: 9 }))).toEqual([
          ended.id,
        ]);
      }
      expect(await store.sweep(10, keepMs)).toEqual({ ...nothing, expired: 1 });
      const expiresAt = (await nowOf(store)) + keepMs;
      expect(await read(store, ref)).toEqual({ ...expired, expiresAt });
    });

    test("is up for an answer, a cancellation and an operator", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k"), external("e")]);
      const due = await create(store, "b");
      await advance(ttlMs);
      const task = await read(store, ref);
      expect(task.status).toBe("failed");
      const early = { wire: "~x", value: "x", early: { key: "x", digest: "d" } };
      expect(await store.answer(ref.id, [answer("k"), answer("e"), early])).toEqual({
        task,
        accepted: [],
      });
      expect(await store.cancel(ref.id, keepMs)).toEqual(task);
      expect(await store.requeue(due.id, { stuckAfter: 0, keepMs })).toEqual({
        task: await read(store, due),
        isRequeued: false,
      });
      expect(await store.sweep(10, keepMs)).toEqual({ ...nothing, expired: 2 });
    });

    test("is up for workers", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      await create(store, "b");
      const later = await park(store, "c", [timer("t", 0)], { ttlMs: 2 * ttlMs });
      await advance(ttlMs);
      const { claimed, nextDueAt } = await claimAll(store);
      expect(idsOf(claimed.map(({ task }) => task))).toEqual([later.id]);
      expect(nextDueAt).toBe((await nowOf(store)) + leaseMs);
      expect((await store.renew("w", [ref], leaseMs)).held).toEqual([]);
      const more = { at: 1, records: ["two"], taken: [], returned: [] };
      expect(await store.append(ref, more)).toBe(false);
      expect(await store.publish(ref, waiting([]))).toBe(false);
      expect(await store.park(ref, waiting([]))).toBe(false);
      expect(await store.report(ref, "half")).toBe(false);
      const release = { afterMs: 0, isFruitless: false, cause: undefined };
      expect(await store.release(ref, release)).toBe(false);
      expect(await store.finish(ref, completed)).toBe(false);
      expect(await store.finish(ref, { ...completed, status: "failed" })).toBe(false);
    });
  });

  describe("sweep", () => {
    test("fails a task whose time is up, and deletes its contents", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      await store.publish(ref, waiting([question("k"), question("l")]));
      await store.answer(ref.id, [answer("k")]);
      await store.report(ref, "half");
      const before = await read(store, ref);
      await advance(ttlMs - 1);
      expect(await store.sweep(10, keepMs)).toEqual(nothing);
      expect(await read(store, ref)).toEqual(before);
      await advance(1);
      expect(await store.sweep(10, keepMs)).toEqual({ ...nothing, expired: 1 });
      const now = await nowOf(store);
      expect(await read(store, ref)).toEqual({
        ...before,
        ...emptied,
        status: "failed",
        rest: "expired",
        epoch: before.epoch + 1,
        revision: before.revision + 1,
        updatedAt: now,
        expiresAt: now + keepMs,
      });
      expect(await store.readLog(ref.id)).toEqual([]);
      expect(await store.readByCall("call-a")).toEqual(await read(store, ref));
      expect(await store.finish(ref, { ...completed, status: "failed" })).toBe(false);
      expect((await claimAll(store)).claimed).toEqual([]);
    });

    test("deletes the contents of a task that is over, without a visible change", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      await store.finish(ref, completed);
      const before = await read(store, ref);
      await advance(ttlMs);
      expect(await store.sweep(10, keepMs)).toEqual({ ...nothing, removed: 1 });
      const expiresAt = (await nowOf(store)) + keepMs;
      const epoch = before.epoch + 1;
      const rest = { ...before, ...emptied, rest: "removed", epoch, expiresAt };
      expect(await read(store, ref)).toEqual(rest);
      expect(await store.readLog(ref.id)).toEqual([]);
      expect(await store.finish(ref, completed)).toBe(false);
    });

    test("forgets a task at rest when it can no longer be requested", async () => {
      const { store, advance } = opened();
      const ref = await create(store, "a", { log: ["one"] });
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      await advance(keepMs - 1);
      expect(await store.sweep(10, keepMs)).toEqual(nothing);
      expect(await store.create(newTask("b", { callId: "call-a" }), 10)).toMatchObject({
        kind: "exists",
      });
      await advance(1);
      expect(await store.sweep(10, keepMs)).toEqual({ ...nothing, forgotten: 1 });
      expect(await store.read(ref.id)).toBeUndefined();
      expect(await store.readByCall("call-a")).toBeUndefined();
      expect(await store.revisions([ref.id])).toEqual(new Map());
      expect(await create(store, "a")).toMatchObject({ logLength: 0 });
      expect(await store.readLog(ref.id)).toEqual([]);
    });

    test("does a limited amount at a time, and continues the next time", async () => {
      const { store, advance } = opened();
      for (let task = 0; task < 5; task += 1) await create(store, String(task));
      await advance(ttlMs);
      const expired: number[] = [];
      for (let sweep = 0; sweep < 4; sweep += 1)
        expired.push((await store.sweep(2, keepMs)).expired);
      expect(expired).toEqual([2, 2, 1, 0]);
      await advance(keepMs);
      let forgotten = 0;
      for (let sweep = 0; sweep < 5; sweep += 1)
        forgotten += (await store.sweep(2, keepMs)).forgotten;
      expect(forgotten).toBe(5);
    });

    test("removes spilled states, rounds and workers that have expired", async () => {
      const { store, advance } = opened();
      await store.spill("s", "state", ttlMs, "ann");
      const round = { principal: "ann", callId: "c", round: 3, answers: "x", leaseMs, ttlMs };
      await store.claimRound(round);
      await store.renew("w", [], leaseMs);
      await advance(ttlMs - 1);
      await store.sweep(10, keepMs);
      expect(await store.spilled("s")).toBe("state");
      expect(await store.claimRound({ ...round, answers: "y" })).toEqual({ kind: "superseded" });
      await advance(1);
      expect(await store.sweep(10, keepMs)).toEqual({ ...nothing, spills: 1, rounds: 1 });
      expect(await store.spilled("s")).toBeUndefined();
      expect(await store.claimRound({ ...round, round: 1 })).toMatchObject({ kind: "run" });
      const seenAt = (await store.figures()).workerSeenAt;
      expect(seenAt).toBe((await nowOf(store)) - ttlMs);
      await advance(dayMs - ttlMs - 1);
      await store.sweep(10, keepMs);
      expect((await store.figures()).workerSeenAt).toBe(seenAt);
      await advance(1);
      await store.sweep(10, keepMs);
      expect((await store.figures()).workerSeenAt).toBeUndefined();
    });
  });

  describe("figures", () => {
    const none = {
      undoing: 0,
      live: 0,
      held: 0,
      parked: 0,
      inputRequired: 0,
      due: 0,
      oldestDueAt: undefined,
      workerSeenAt: undefined,
    };

    test("are zero for an empty store", async () => {
      const { store } = opened();
      expect(await store.figures()).toEqual({ ...none, now: expect.any(Number) });
    });

    test("count the live tasks", async () => {
      const { store, advance } = opened();
      const now = await nowOf(store);
      await hold(store, "held");
      await park(store, "asking", [question("k")]);
      await park(store, "later", [timer("t", now + 500)]);
      await park(store, "soon", [timer("t", now + 7)]);
      const over = await hold(store, "over");
      await store.finish(over, completed);
      await create(store, "due", { principal: "bob", tool: "other" });
      await advance(5);
      const figures = { ...none, live: 5, held: 1, parked: 3, inputRequired: 1, due: 1 };
      expect(await store.figures()).toEqual({ ...figures, oldestDueAt: now, now: now + 5 });
      await claimAll(store, "w", ["other"]);
      await advance(2);
      expect(await store.figures()).toEqual({
        ...figures,
        held: 2,
        parked: 2,
        due: 1,
        oldestDueAt: now + 7,
        now: now + 7,
      });
    });

    test("count an expired lease as due as well as held", async () => {
      const { store, advance } = opened();
      await hold(store, "a");
      await advance(leaseMs);
      const now = await nowOf(store);
      const figures = { ...none, now, live: 1, held: 1, due: 1, oldestDueAt: now };
      expect(await store.figures()).toEqual(figures);
    });

    test("do not count tasks at rest", async () => {
      const { store, advance } = opened();
      await hold(store, "a");
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      expect(await store.figures()).toEqual({ ...none, now: expect.any(Number) });
    });
  });
}
