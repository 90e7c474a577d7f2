// How answers reach a task.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import {
  answer,
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

/** Registers these tests. */
export function describeAnswers(opened: () => OpenedStore): void {
  describe("answer", () => {
    test("wakes a parked task", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k")]);
      const before = await read(store, ref);
      expect(before).toMatchObject({ status: "input_required", dueAt: undefined });
      await advance(5);
      const now = await nowOf(store);
      const given = await store.answer(ref.id, [answer("k", "sealed")]);
      expect(given).toEqual({
        accepted: ["k"],
        task: {
          ...before,
          status: "working",
          revision: before.revision + 1,
          updatedAt: now,
          dueAt: now,
          waits: [],
          inbox: [{ id: "k", key: "k", digest: "digest of k", value: "sealed", at: now }],
        },
      });
      expect(await read(store, ref)).toEqual(given?.task);
      expect((await claimAll(store)).claimed.map(({ task }) => task.inbox)).toEqual([
        given?.task.inbox,
      ]);
    });

    test("gives the task that it wakes to the worker that is named, with its log", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k"), question("l")]);
      const before = await read(store, ref);
      await advance(5);
      const now = await nowOf(store);
      const given = await store.answer(ref.id, [answer("k", "sealed")], { worker: "v", leaseMs });
      expect(given?.accepted).toEqual(["k"]);
      expect(given?.task).toMatchObject({
        worker: "v",
        claimedAt: now,
        dueAt: now + leaseMs,
        epoch: before.epoch + 1,
        fruitless: before.fruitless + 1,
        revision: before.revision + 1,
        inbox: [{ id: "k", value: "sealed" }],
      });
      expect(given?.claimed).toEqual({
        task: given?.task,
        log: await store.readLog(ref.id),
        before: undefined,
      });
      expect(await read(store, ref)).toEqual(given?.task);
      expect((await claimAll(store)).claimed).toEqual([]);
      const held = { id: ref.id, epoch: before.epoch + 1 };
      expect(await store.park(held, waiting([question("l")], ["k"]))).toBe(true);
    });

    test("gives a task to no worker if another one holds it, or if nothing is accepted", async () => {
      const { store } = opened();
      const parked = await park(store, "a", [question("k")]);
      const held = await hold(store, "b");
      await store.publish(held, waiting([question("k")]));
      const by = { worker: "v", leaseMs };
      const [late, other] = [
        await store.answer(parked.id, [answer("x")], by),
        await store.answer(held.id, [answer("k")], by),
      ];
      expect([late?.accepted, other?.accepted]).toEqual([[], ["k"]]);
      expect([late?.claimed, other?.claimed]).toEqual([undefined, undefined]);
      expect([late?.task.worker, other?.task.worker]).toEqual([undefined, "w"]);
      expect(await read(store, held)).toMatchObject({ epoch: held.epoch, fruitless: 1 });
    });

    test("counts if it is the first; a second is not accepted and changes nothing", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k"), question("l")]);
      const first = await store.answer(ref.id, [answer("k", "first")]);
      await advance(5);
      expect(await store.answer(ref.id, [answer("k", "second")])).toEqual({
        task: first?.task,
        accepted: [],
      });
    });

    test("several at once arrive in the order of the questions, and unknown keys are skipped", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [question("k"), question("l"), question("m")]);
      const given = await store.answer(ref.id, [answer("x"), answer("m"), answer("k")]);
      expect(given?.accepted).toEqual(["k", "m"]);
      expect(given?.task).toMatchObject({ status: "input_required", waits: [question("l")] });
      expect(given?.task.inbox.map(({ key }) => key)).toEqual(["k", "m"]);
      const last = await store.answer(ref.id, [answer("l")]);
      expect(last?.task.inbox.map(({ key }) => key)).toEqual(["k", "m", "l"]);
      expect(last?.task).toMatchObject({ status: "working", waits: [] });
    });

    test("changes nothing if no key is known", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [question("k")]);
      const before = await read(store, ref);
      expect(await store.answer(ref.id, [answer("x")])).toEqual({ task: before, accepted: [] });
      expect(await store.answer(ref.id, [])).toEqual({ task: before, accepted: [] });
      expect(await read(store, ref)).toEqual(before);
    });

    test("is given to the wire key, and delivered under the question's own key", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [question("k", { wire: "k~2" })]);
      expect((await store.answer(ref.id, [answer("k")]))?.accepted).toEqual([]);
      const given = await store.answer(ref.id, [answer("k~2")]);
      expect(given?.accepted).toEqual(["k~2"]);
      expect(given?.task.inbox).toMatchObject([{ id: "k~2", key: "k", digest: "digest of k" }]);
    });

    test("keeps the time limit of its question, and arrives even after it", async () => {
      const { store, advance } = opened();
      const dueAt = (await nowOf(store)) + 100;
      const ref = await park(store, "a", [question("k", { dueAt })]);
      await advance(200);
      const given = await store.answer(ref.id, [answer("k")]);
      expect(given?.task.inbox).toMatchObject([{ at: await nowOf(store), dueAt }]);
    });

    test("does not make a task due while a worker holds it", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([question("k")]));
      const { dueAt } = await read(store, ref);
      await advance(5);
      const given = await store.answer(ref.id, [answer("k")]);
      expect(given?.accepted).toEqual(["k"]);
      expect(given?.task).toMatchObject({ dueAt, worker: "w", epoch: ref.epoch });
      expect((await claimAll(store, "v")).claimed).toEqual([]);
    });

    test("is not accepted by a timer", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [timer("t", (await nowOf(store)) + 100)]);
      expect((await store.answer(ref.id, [answer("t")]))?.accepted).toEqual([]);
    });

    test("a delivery from elsewhere wakes a task, too", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [external("e")]);
      expect(await read(store, ref)).toMatchObject({ status: "working", dueAt: undefined });
      expect((await store.answer(ref.id, [answer("e")]))?.accepted).toEqual(["e"]);
      expect(await read(store, ref)).toMatchObject({ dueAt: await nowOf(store) });
    });

    test("is too late once the task is over", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [question("k")]);
      const task = await store.cancel(ref.id, keepMs);
      const early = { ...answer("ticket"), early: { key: "e", digest: "digest of e" } };
      expect(await store.answer(ref.id, [answer("k"), early])).toEqual({ task, accepted: [] });
    });

    test("a delivery may come before its question, once", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [question("k")]);
      const early = { key: "e", digest: "digest of e" };
      const given = await store.answer(ref.id, [{ ...answer("ticket"), early }]);
      const now = await nowOf(store);
      expect(given?.accepted).toEqual(["ticket"]);
      expect(given?.task).toMatchObject({
        waits: [question("k")],
        status: "input_required",
        dueAt: now,
        inbox: [{ id: "ticket", ...early, value: "answer to ticket", at: now }],
      });
      const again = await store.answer(ref.id, [{ ...answer("other"), early }]);
      expect(again).toEqual({ task: given?.task, accepted: [] });
    });

    test("a delivery on a ticket counts as an ordinary answer once its question was asked", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [external("e", { wire: "ticket" })]);
      const early = { key: "e", digest: "digest of e" };
      expect((await store.answer(ref.id, [{ ...answer("other"), early }]))?.accepted).toEqual([]);
      const given = await store.answer(ref.id, [{ ...answer("ticket"), early }]);
      expect(given?.accepted).toEqual(["ticket"]);
      expect(given?.task.inbox).toHaveLength(1);
    });

    test("answers and early deliveries in one request are taken with the asked ones first", async () => {
      const { store } = opened();
      const ref = await park(store, "a", [question("k"), question("l")]);
      const early = { key: "e", digest: "digest of e" };
      const given = await store.answer(ref.id, [
        { ...answer("ticket"), early },
        answer("l"),
        answer("k"),
      ]);
      expect(given?.accepted).toEqual(["k", "l", "ticket"]);
      expect(given?.task.inbox.map(({ key }) => key)).toEqual(["k", "l", "e"]);
    });
  });
}
