// What a worker writes under its claim: records, waits, status messages, and how it lets go of the task.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import {
  answer,
  arrived,
  claimAll,
  external,
  hold,
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
export function describeWrites(opened: () => OpenedStore): void {
  describe("append", () => {
    test("adds to the log and consumes what has arrived", async () => {
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

    test("gives back what a cut took off the log, ahead of later arrivals", async () => {
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

    test("is refused if the log is not as long as the writer expects", async () => {
      const { store } = opened();
      const ref = await hold(store, "a", { log: ["one"] });
      expect(await store.append(ref, { at: 2, records: ["x"], ...none })).toBe(false);
      expect(await store.append(ref, { at: 0, records: ["x", "y"], ...none })).toBe(false);
      expect(await store.readLog(ref.id)).toEqual(["one"]);
    });

    test("succeeds again if only the acknowledgement was lost", async () => {
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

    test("is refused, even a second time, when the task is over", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const more = { at: 0, records: ["one"], ...none };
      await store.append(ref, more);
      await store.finish(ref, completed);
      expect(await store.append(ref, more)).toBe(false);
    });

    test("does not mistake another writer's records for its own", async () => {
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
    test("shows the questions while the handler keeps running", async () => {
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

    test("lets the client answer only its own questions", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([external("e"), timer("t", 5)]));
      expect(await read(store, ref)).toMatchObject({ status: "working" });
      await store.publish(ref, waiting([]));
      expect(await read(store, ref)).toMatchObject({ status: "working", waits: [], asked: {} });
    });

    test("does not ask again a question that was answered in the meantime", async () => {
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
    test("leaves the task without a worker until something arrives", async () => {
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

    test("makes the task due at the earliest of its times", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const waits = [
        timer("t", now + 50),
        question("k", { dueAt: now + 30 }),
        timer("u", now + 40),
      ];
      expect(await read(store, await park(store, "a", waits))).toMatchObject({ dueAt: now + 30 });
    });

    test("makes the task due at once if an answer came while the handler ran", async () => {
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

    test("does not make the task due because of a used answer, or one that it does not wait for", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const inbox = [arrived("used", now), arrived("unasked", now)];
      const ref = await hold(store, "a", { inbox });
      await store.park(ref, waiting([question("used"), question("k")], ["used"]));
      const after = await read(store, ref);
      expect(after).toMatchObject({ dueAt: undefined, inbox: [arrived("unasked", now)] });
      expect(after.waits.map(({ key }) => key)).toEqual(["used", "k"]);
    });

    test("makes the task due at once for an early delivery that it waits for", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const early = { key: "e", digest: "digest of e" };
      await store.answer(ref.id, [{ ...answer("ticket"), early }]);
      await store.park(ref, waiting([external("e")]));
      expect(await read(store, ref)).toMatchObject({ dueAt: await nowOf(store), waits: [] });
    });
  });

  describe("release", () => {
    test("gives the task back unfinished, for later", async () => {
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

    test("is not counted when it is in good order, and keeps the last cause", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      await store.release(ref, { afterMs: 0, isFruitless: true, cause: "why" });
      const [again] = (await claimAll(store)).claimed;
      await store.release(again!.task, { afterMs: 0, isFruitless: false, cause: undefined });
      const dueAt = await nowOf(store);
      expect(await read(store, ref)).toMatchObject({ dueAt, fruitless: 1, cause: "why" });
    });

    test("keeps what the task waits for and what has arrived", async () => {
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
    test("sets the status message", async () => {
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
    test("ends the task with its result, and removes its status message", async () => {
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
        statusMessage: undefined,
        revision: before.revision + 1,
        updatedAt: await nowOf(store),
        worker: undefined,
        dueAt: undefined,
        waits: [],
        inbox: [],
      });
      expect(await store.readLog(ref.id)).toEqual(["one"]);
    });

    test("keeps the result readable for a minimum time", async () => {
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

    test("succeeds again if only the acknowledgement was lost", async () => {
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
