// Two replicas on the same data, at the same moment.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { ChangeHint, TaskStore } from "../../tasks/store.ts";
import {
  answer,
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
  ttlMs,
  waiting,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";
import type { TaskRecord } from "../../tasks/task.ts";

const completed = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
/** How long a hint may take before the test fails. */
const hintWithinMs = 5_000;

/** The first hint that is about this task, or about any task. */
function hinted(
  store: TaskStore,
  id: string,
): { readonly came: Promise<ChangeHint>; end: () => void } {
  let end = () => {};
  const came = new Promise<ChangeHint>((resolve, reject) => {
    const tooLate = setTimeout(() => reject(new Error("No hint came.")), hintWithinMs);
    const unsubscribe = store.subscribe((hint) => {
      if (hint.id === undefined || hint.id === id) resolve(hint);
    });
    end = () => {
      clearTimeout(tooLate);
      unsubscribe();
    };
  });
  return { came, end };
}

/** Registers these tests. */
export function describeRaces(opened: () => OpenedStore): void {
  describe("two handles", () => {
    test("see the same data", async () => {
      const { store, another } = opened();
      const other = await another();
      const ref = await hold(store, "a", { log: ["one"] });
      expect(await other.read(ref.id)).toEqual(await store.read(ref.id));
      expect(await other.readLog(ref.id)).toEqual(["one"]);
      expect(await other.append(ref, { at: 1, records: ["two"], taken: [], returned: [] })).toBe(
        true,
      );
      expect(await store.readLog(ref.id)).toEqual(["one", "two"]);
      expect(await nowOf(other)).toBe(await nowOf(store));
    });

    test("share one clock", async () => {
      const { store, another, advance } = opened();
      const other = await another();
      await hold(store, "a");
      await advance(leaseMs);
      expect(await nowOf(other)).toBe(await nowOf(store));
      expect((await claimAll(other, "v")).claimed).toHaveLength(1);
    });

    test("make one task for a call, however many replicas create it", async () => {
      const { store, another } = opened();
      const handles = [store, await another()];
      const creations = await Promise.all(
        times(20).map((index) =>
          handles[index % 2]!.create(newTask(`of-${index}`, { callId: "same" }), 100),
        ),
      );
      expect(creations.filter(({ kind }) => kind === "created")).toHaveLength(1);
      const ids = creations.map((creation) =>
        creation.kind === "too many" ? "" : creation.task.id,
      );
      expect(new Set(ids)).toEqual(new Set([(await store.readByCall("same"))?.id]));
    });

    test("never hand out a task twice to fifty simultaneous claims", async () => {
      const { store, another } = opened();
      const handles = [store, await another()];
      const names = times(40).map(String);
      await Promise.all(names.map((name) => create(store, name)));
      const claims = await Promise.all(
        times(50).map((index) =>
          handles[index % 2]!.claim({ worker: `w${index}`, tools: ["tool"], most: 2, leaseMs }),
        ),
      );
      const rest = await claimAll(store, "rest");
      const claimed = [...claims, rest].flatMap((claim) => claim.claimed.map(({ task }) => task));
      expect(idsOf(claimed).toSorted()).toEqual(names.map((name) => `task-${name}`).toSorted());
      for (const task of claimed) expect(await store.read(task.id)).toEqual(task);
    });

    test("accept one of fifty simultaneous answers to one question, and keep that one", async () => {
      const { store, another } = opened();
      const handles = [store, await another()];
      const ref = await park(store, "a", [question("k")]);
      const given = await Promise.all(
        times(50).map((index) => handles[index % 2]!.answer(ref.id, [answer("k", `of ${index}`)])),
      );
      const accepted = given.flatMap((one, index) => (one?.accepted.length === 1 ? [index] : []));
      expect(accepted).toHaveLength(1);
      expect((await read(store, ref)).inbox).toMatchObject([{ value: `of ${accepted[0]}` }]);
    });

    test("keep all simultaneous answers to many questions", async () => {
      const { store, another } = opened();
      const handles = [store, await another()];
      const keys = times(30).map((index) => `k${index}`);
      const ref = await park(
        store,
        "a",
        keys.map((key) => question(key)),
      );
      await Promise.all(
        keys.map((key, index) => handles[index % 2]!.answer(ref.id, [answer(key)])),
      );
      const { inbox, waits, status } = await read(store, ref);
      expect(inbox.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
      expect({ waits, status }).toEqual({ waits: [], status: "working" });
    });

    test("let exactly one of cancel and finish win", async () => {
      const { store, another } = opened();
      const other = await another();
      for (const race of times(20)) {
        const ref = await hold(store, `race-${race}`);
        const finish = () => store.finish(ref, completed);
        const cancel = () => other.cancel(ref.id, keepMs);
        const [isFinished, cancelled] =
          race % 2 === 0
            ? await Promise.all([finish(), cancel()])
            : (await Promise.all([cancel(), finish()])).toReversed();
        const after = await read(store, ref);
        expect(after.status).toBe(isFinished === true ? "completed" : "cancelled");
        expect(cancelled).toEqual(after);
        expect(after.revision).toBe(2);
      }
    });

    test("never miss an answer that races with parking", async () => {
      const { store, another } = opened();
      const other = await another();
      for (const race of times(20)) {
        const ref = await hold(store, `race-${race}`, { tool: `tool-${race}` });
        await store.publish(ref, waiting([question("k")]));
        const both = [
          () => store.park(ref, waiting([question("k")])),
          () => other.answer(ref.id, [answer("k")]),
        ];
        await Promise.all((race % 2 === 0 ? both : both.toReversed()).map((one) => one()));
        const { claimed } = await claimAll(other, "v", [`tool-${race}`]);
        expect(claimed).toMatchObject([{ task: { inbox: [{ key: "k" }], waits: [] } }]);
      }
    });

    test("give the log one writer when a claim races with the late write of the previous worker", async () => {
      const { store, another, advance } = opened();
      const other = await another();
      for (const race of times(20)) {
        const ref = await hold(store, `race-${race}`, { tool: `tool-${race}` });
        await advance(leaseMs);
        const more = { at: 0, records: ["late"], taken: [], returned: [] };
        const [isWritten, { claimed }] = await Promise.all([
          store.append(ref, more),
          claimAll(other, "v", [`tool-${race}`]),
        ]);
        const log = await store.readLog(ref.id);
        expect(log).toEqual(isWritten ? ["late"] : []);
        // Either the claim saw everything, or the late write came first and is part of it.
        for (const one of claimed) expect(one.log).toEqual(log);
      }
    });

    test("let one of many claims of a round run it", async () => {
      const { store, another } = opened();
      const handles = [store, await another()];
      const round = { principal: "ann", callId: "c", round: 1, answers: "x", leaseMs, ttlMs };
      const claims = await Promise.all(
        times(20).map((index) => handles[index % 2]!.claimRound(round)),
      );
      const kinds = claims.map(({ kind }) => kind).toSorted();
      expect(kinds).toEqual(["run", ...times(19).map(() => "running")]);
    });
  });

  describe("subscribe", () => {
    test("a change through one handle is hinted to a listener on the other", async ({ skip }) => {
      const { store, another, hasHints } = opened();
      if (hasHints === false) skip("This store gives other handles no hints.");
      const other = await another();
      const ref = await park(store, "a", [question("k")]);
      const hint = hinted(other, ref.id);
      try {
        await store.answer(ref.id, [answer("k")]);
        await hint.came;
        expect(await other.read(ref.id)).toMatchObject({ inbox: [{ key: "k" }] });
      } finally {
        hint.end();
      }
    });

    test("a change is hinted to a listener on the same handle, by the task's id", async () => {
      const { store } = opened();
      const ref = await create(store, "a");
      const hint = hinted(store, ref.id);
      try {
        await store.cancel(ref.id, keepMs);
        await hint.came;
      } finally {
        hint.end();
      }
    });

    test("a hint that brings the task brings it as it is after the change", async () => {
      const { store } = opened();
      const { id, epoch } = await hold(store, "a");
      const told: TaskRecord[] = [];
      const end = store.subscribe(
        ({ task }) => void (task !== undefined && told.push(task)),
        (wanted) => wanted === id,
      );
      const steps: readonly (() => Promise<unknown>)[] = [
        () => store.publish({ id, epoch }, waiting([question("k")])),
        () => store.park({ id, epoch }, waiting([question("k"), question("l")])),
        () => store.answer(id, [answer("k")], { worker: "w", leaseMs }),
        () =>
          store.finish(
            { id, epoch: epoch + 1 },
            { status: "completed", result: "done", statusMessage: undefined, keepMs },
          ),
      ];
      try {
        for (const step of steps) {
          await step();
          const now = await read(store, { id });
          for (const one of told.splice(0)) expect(one).toEqual(now);
        }
      } finally {
        end();
      }
    });

    test("ends on request, for that listener alone", async () => {
      const { store } = opened();
      const ref = await hold(store, "a");
      const heard: ChangeHint[] = [];
      const end = store.subscribe((hint) => void heard.push(hint));
      const before = heard.length;
      end();
      end();
      const hint = hinted(store, ref.id);
      try {
        await store.report(ref, "half");
        await hint.came;
        expect(heard).toHaveLength(before);
      } finally {
        hint.end();
      }
    });
  });
}
