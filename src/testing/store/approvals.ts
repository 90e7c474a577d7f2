// How decisions reach an approval that a task waits for. A store without `approvals` is not tested here.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { ApprovalStore, DecisionResult } from "../../tasks/approval-store.ts";
import type { Wait } from "../../tasks/task.ts";
import {
  answer,
  claimAll,
  external,
  hold,
  keepMs,
  nowOf,
  park,
  question,
  read,
  waiting,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const approval = (key: string, needs: number, more: Partial<Wait> = {}): Wait =>
  external(key, { needs, ...more });

const by = (who: string, approves = true) => ({ who, approves, value: `sealed by ${who}` });

/** Registers these tests. */
export function describeApprovals(opened: () => OpenedStore): void {
  const decide: ApprovalStore["decide"] = async (...given) =>
    opened().store.approvals?.decide(...given);
  const people = (result: DecisionResult | undefined) => result?.decisions.map(({ who }) => who);

  describe("decide", () => {
    test("counts a decision of each person, and changes nothing that a client can see", async ({
      skip,
    }) => {
      const { store } = opened();
      if (store.approvals === undefined) skip();
      const ref = await park(store, "a", [approval("pay", 3), question("k")]);
      const before = await read(store, ref);
      const at = await nowOf(store);
      const first = await decide(ref.id, "pay", by("bo"));
      const decisions = [{ ...by("bo"), at }];
      expect(first).toEqual({
        kind: "counted",
        decisions,
        task: { ...before, waits: [approval("pay", 3, { decisions }), question("k")] },
      });
      expect(await read(store, ref)).toEqual(first?.task);
      expect(people(await decide(ref.id, "pay", by("cy")))).toEqual(["bo", "cy"]);
      expect((await claimAll(store)).claimed).toEqual([]);
    });

    test("the last approval closes the wait and makes one arrival, with all decisions", async ({
      skip,
    }) => {
      const { store, advance } = opened();
      if (store.approvals === undefined) skip();
      const dueAt = (await nowOf(store)) + 60_000;
      const ref = await park(store, "a", [approval("pay", 2, { wire: "pay~2", dueAt })]);
      const before = await read(store, ref);
      await decide(ref.id, "pay~2", by("bo"));
      const first = await nowOf(store);
      await advance(5);
      const at = await nowOf(store);
      const decisions = [
        { ...by("bo"), at: first },
        { ...by("cy"), at },
      ];
      const last = await decide(ref.id, "pay~2", by("cy"));
      expect(last).toEqual({
        kind: "completed",
        decisions,
        task: {
          ...before,
          revision: before.revision + 1,
          updatedAt: at,
          dueAt: at,
          waits: [],
          inbox: [
            { id: "pay~2", key: "pay", digest: "digest of pay", value: "", at, dueAt, decisions },
          ],
        },
      });
      expect((await claimAll(store)).claimed.map(({ task }) => task.inbox)).toEqual([
        last?.task.inbox,
      ]);
      expect(await decide(ref.id, "pay~2", by("di"))).toMatchObject({
        kind: "closed",
        decisions: [],
      });
    });

    test("one refusal ends it", async ({ skip }) => {
      const { store } = opened();
      if (store.approvals === undefined) skip();
      const ref = await park(store, "a", [approval("pay", 9), question("k")]);
      await decide(ref.id, "pay", by("bo"));
      const ended = await decide(ref.id, "pay", by("cy", false));
      expect(ended).toMatchObject({ kind: "completed", task: { waits: [question("k")] } });
      expect(ended?.task).toMatchObject({ status: "input_required" });
      expect(ended?.task.inbox.map(({ decisions }) => decisions?.map((one) => one.who))).toEqual([
        ["bo", "cy"],
      ]);
    });

    test("the first decision of a person counts, and a second changes nothing", async ({
      skip,
    }) => {
      const { store, advance } = opened();
      if (store.approvals === undefined) skip();
      const ref = await park(store, "a", [approval("pay", 2)]);
      const first = await decide(ref.id, "pay", by("bo"));
      await advance(5);
      for (const again of [by("bo"), by("bo", false)]) {
        expect(await decide(ref.id, "pay", again)).toEqual({ ...first, kind: "repeated" });
      }
      expect(await read(store, ref)).toEqual(first?.task);
    });

    test("is closed without such a task, approval or time, and writes nothing", async ({
      skip,
    }) => {
      const { store, advance } = opened();
      if (store.approvals === undefined) skip();
      expect(await decide("unknown", "pay", by("bo"))).toBeUndefined();
      const dueAt = (await nowOf(store)) + 1_000;
      const ref = await park(store, "a", [external("e"), approval("pay", 1, { dueAt })]);
      const closed = { kind: "closed", decisions: [], task: await read(store, ref) };
      expect(await decide(ref.id, "e", by("bo"))).toEqual(closed);
      expect(await decide(ref.id, "pay~2", by("bo"))).toEqual(closed);
      await advance(1_000);
      expect(await decide(ref.id, "pay", by("bo"))).toEqual(closed);
      const cancelled = await park(store, "b", [approval("pay", 1)]);
      const task = await store.cancel(cancelled.id, keepMs);
      expect(await decide(cancelled.id, "pay", by("bo"))).toEqual({ ...closed, task });
    });

    test("survives a worker that publishes and parks what it knew before", async ({ skip }) => {
      const { store, another } = opened();
      if (store.approvals === undefined) skip();
      const ref = await hold(store, "a");
      const waits = [approval("pay", 3)];
      await store.publish(ref, waiting(waits));
      await decide(ref.id, "pay", by("bo"));
      await store.publish(ref, waiting(waits));
      await (await another()).approvals?.decide(ref.id, "pay", by("cy"));
      await store.park(ref, waiting(waits));
      expect((await read(store, ref)).waits[0]?.decisions?.map(({ who }) => who)).toEqual([
        "bo",
        "cy",
      ]);
      const done = await decide(ref.id, "pay", by("di"));
      expect(done).toMatchObject({ kind: "completed", task: { dueAt: await nowOf(store) } });
    });

    test("does not survive a change of the wording, which has another wire key", async ({
      skip,
    }) => {
      const { store } = opened();
      if (store.approvals === undefined) skip();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([approval("pay", 2)]));
      await decide(ref.id, "pay", by("bo"));
      await store.park(ref, waiting([approval("pay", 2, { wire: "pay~2" })]));
      expect((await read(store, ref)).waits).toEqual([approval("pay", 2, { wire: "pay~2" })]);
    });

    test("does not make a task due while a worker holds it", async ({ skip }) => {
      const { store } = opened();
      if (store.approvals === undefined) skip();
      const ref = await hold(store, "a");
      await store.publish(ref, waiting([approval("pay", 1)]));
      const { dueAt } = await read(store, ref);
      expect(await decide(ref.id, "pay", by("bo"))).toMatchObject({
        kind: "completed",
        task: { dueAt, worker: "w" },
      });
    });

    test("of several at once on two replicas, exactly one completes it", async ({ skip }) => {
      const { store, another } = opened();
      if (store.approvals === undefined) skip();
      const ref = await park(store, "a", [approval("pay", 2)]);
      const others = [store, await another()];
      const results = await Promise.all(
        ["bo", "cy", "di", "ed", "bo", "cy"].map((who, index) =>
          others[index % 2]?.approvals?.decide(ref.id, "pay", by(who)),
        ),
      );
      const kinds = results.map((result) => result?.kind);
      expect(kinds.filter((kind) => kind === "completed")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "counted")).toHaveLength(1);
      const { inbox } = await read(store, ref);
      expect(inbox.map(({ decisions }) => decisions?.length)).toEqual([2]);
    });
  });

  describe("append of an expiry", () => {
    test("is refused if the answer has arrived in time", async () => {
      const { store, advance } = opened();
      const ref = await hold(store, "a");
      const dueAt = (await nowOf(store)) + 100;
      await store.publish(ref, waiting([external("e", { dueAt }), external("late", { dueAt })]));
      await store.answer(ref.id, [answer("e")]);
      await advance(100);
      await store.answer(ref.id, [answer("late")]);
      const append = { at: 0, records: ["expired"], taken: [], returned: [] };
      expect(await store.append(ref, { ...append, expired: "e" })).toBe(false);
      expect(await store.readLog(ref.id)).toEqual([]);
      expect(await store.append(ref, { ...append, expired: "late" })).toBe(true);
      expect(await store.append(ref, { ...append, at: 1, expired: "other" })).toBe(true);
    });
  });
}
