// What operators read, for stores that have a `reader`.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { TaskReader } from "../../tasks/task-reader.ts";
import { mostRuns } from "../../tasks/task-runs.ts";
import type { ClaimRef } from "../../tasks/task.ts";
import {
  answer,
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
  timer,
  ttlMs,
  waiting,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const completed = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;
const entry = { records: ["record"], taken: [], returned: [] };
const orderly = { afterMs: 0, isFruitless: false, cause: undefined };

/** What each way to end a run is called. */
const ends: Readonly<
  Record<string, readonly [(opened: OpenedStore, ref: ClaimRef) => Promise<unknown>, string]>
> = {
  "a task that parks": [({ store }, ref) => store.park(ref, waiting([question("k")])), "parked"],
  "a task that is given back": [({ store }, ref) => store.release(ref, orderly), "released"],
  "a task that is given back with a cause": [
    ({ store }, ref) => store.release(ref, { ...orderly, isFruitless: true, cause: "why" }),
    "failed",
  ],
  "a task that ends": [({ store }, ref) => store.finish(ref, completed), "finished"],
  "a task that is cancelled": [({ store }, { id }) => store.cancel(id, keepMs), "cancelled"],
  "a task that another worker takes": [
    async ({ store, advance }) => {
      await advance(leaseMs);
      return claimAll(store, "other");
    },
    "lost",
  ],
  "a task that an operator takes": [
    async ({ store, advance }, { id }) => {
      await advance(leaseMs);
      return store.requeue(id, { stuckAfter: 1, keepMs });
    },
    "lost",
  ],
  "a task whose time is up": [
    async ({ store, advance }) => {
      await advance(ttlMs);
      return store.sweep(10, keepMs);
    },
    "expired",
  ],
  "a task whose steps are undone": [
    async ({ store }, ref) => {
      await store.append(ref, { ...entry, at: 0, undos: 1 });
      await store.cancel(ref.id, keepMs);
      return store.undo(ref, { at: 1, records: ["undone"], undos: 0, keepMs });
    },
    "undone",
  ],
};

/** Registers these tests. */
export function describeHistory(opened: () => OpenedStore): void {
  describe("what operators read", () => {
    /** The reader. A store without one has nothing to show, and passes. */
    const reading =
      (work: (reader: TaskReader, opened: OpenedStore) => Promise<void>) => async () => {
        const { reader } = opened().store;
        if (reader !== undefined) await work(reader, opened());
      };

    test.each(Object.entries(ends))("the run of %s is noted", async (_name, [end, how]) =>
      reading(async (reader, { store, advance, ...rest }) => {
        const ref = await hold(store, "a");
        const beganAt = await nowOf(store);
        expect(await reader.runs(ref.id)).toEqual([
          { epoch: 1, worker: "w", beganAt, endedAt: undefined, how: undefined },
        ]);
        await advance(5);
        await end({ store, advance, ...rest }, ref);
        const [run] = await reader.runs(ref.id);
        expect(run).toEqual({ epoch: 1, worker: "w", beganAt, endedAt: await nowOf(store), how });
      })(),
    );

    test(
      "a takeover shows both workers, and the second one still runs",
      reading(async (reader, { store, advance }) => {
        const { id } = await hold(store, "a");
        await advance(leaseMs);
        await claimAll(store, "v");
        expect(await reader.runs(id)).toMatchObject([
          { epoch: 1, worker: "w", how: "lost" },
          { epoch: 2, worker: "v", endedAt: undefined },
        ]);
      }),
    );

    test(
      `the newest ${mostRuns} runs are kept`,
      reading(async (reader, { store }) => {
        const first = await hold(store, "a");
        for (let epoch = 1; epoch <= mostRuns + 5; epoch += 1) {
          await store.release({ id: first.id, epoch }, orderly);
          await claimAll(store);
        }
        const runs = await reader.runs(first.id);
        expect(runs.map(({ epoch }) => epoch)).toEqual(
          Array.from({ length: mostRuns + 1 }, (_, index) => index + 6),
        );
      }),
    );

    test(
      "records say when and in which run they were written, and what their step took",
      reading(async (reader, { store, advance }) => {
        const { id } = await create(store, "a", { log: ["from a round"] });
        const createdAt = await nowOf(store);
        const { claimed } = await claimAll(store);
        const ref = { id, epoch: claimed[0]?.task.epoch ?? 0 };
        await advance(7);
        const at = await nowOf(store);
        await store.append(ref, {
          ...entry,
          at: 1,
          records: ["note", "step"],
          took: { ms: 40, tries: 3 },
        });
        await store.append(ref, { ...entry, at: 3 });
        const none = { ms: undefined, tries: undefined };
        const log = [
          { seq: 0, record: "from a round", epoch: 0, at: createdAt, ...none },
          { seq: 1, record: "note", epoch: 1, at, ...none },
          { seq: 2, record: "step", epoch: 1, at, ms: 40, tries: 3 },
          { seq: 3, record: "record", epoch: 1, at, ...none },
        ];
        expect(await reader.log(id, 0, 100)).toEqual(log);
        expect(await reader.log(id, 1, 2)).toEqual(log.slice(1, 3));
        expect(await reader.log("nobody", 0, 100)).toEqual([]);
      }),
    );

    test(
      "what waits for people is listed, the longest first, until it is answered",
      reading(async (reader, { store, advance }) => {
        const since = await nowOf(store);
        await park(store, "a", [question("k"), external("pay", { group: "finance" })]);
        await advance(10);
        await park(store, "b", [external("go"), timer("t", since + 90_000)], { tool: "deploy" });
        const k = { taskId: "task-a", wire: "k", key: "k", kind: "question", tool: "tool" };
        const pay = { ...k, wire: "pay", key: "pay", kind: "external", group: "finance", since };
        const go = { ...pay, taskId: "task-b", wire: "go", key: "go", tool: "deploy" };
        const all = [
          { ...k, group: undefined, since },
          pay,
          { ...go, group: undefined, since: since + 10 },
        ];
        expect(await reader.waiting({ limit: 9 })).toEqual(all);
        expect(await reader.waiting({ limit: 9, groups: ["finance"] })).toEqual([pay]);
        expect(await reader.waiting({ limit: 9, groups: ["", "none"] })).toEqual([all[0], all[2]]);
        expect(await reader.waiting({ limit: 9, tool: "deploy" })).toEqual([all[2]]);
        expect(await reader.waiting({ limit: 9, taskId: "task-a" })).toEqual(all.slice(0, 2));
        expect(await reader.waiting({ limit: 1 })).toEqual([all[0]]);
        expect(await reader.waiting({ limit: 9, after: pay })).toEqual([all[2]]);
        await store.answer("task-a", [answer("k")]);
        expect(await reader.waiting({ limit: 9 })).toEqual(all.slice(1));
        await store.cancel("task-b", keepMs);
        expect(await reader.waiting({ limit: 9 })).toEqual([pay]);
      }),
    );

    test(
      "a question that is asked again has waited since it was first asked",
      reading(async (reader, { store, advance }) => {
        const since = await nowOf(store);
        const ref = await hold(store, "a");
        await store.publish(ref, waiting([question("k")]));
        await advance(100);
        await store.park(ref, waiting([question("k"), question("l")]));
        expect(await reader.waiting({ limit: 9 })).toMatchObject([
          { wire: "k", since },
          { wire: "l", since: since + 100 },
        ]);
        await advance(100);
        await store.answer(ref.id, [answer("k")]);
        expect(await reader.waiting({ limit: 9 })).toMatchObject([
          { wire: "l", since: since + 100 },
        ]);
        const { claimed } = await claimAll(store);
        const again = { id: ref.id, epoch: claimed[0]?.task.epoch ?? 0 };
        await store.park(again, waiting([question("l")], ["k"]));
        expect(await reader.waiting({ limit: 9 })).toMatchObject([
          { wire: "l", since: since + 100 },
        ]);
      }),
    );

    test(
      "a wait that takes the place of another has waited since then",
      reading(async (reader, { store, advance }) => {
        const ref = await hold(store, "a");
        await store.publish(ref, waiting([external("k")]));
        await advance(50);
        const since = await nowOf(store);
        await store.park(ref, waiting([external("k", { group: "finance" })]));
        expect(await reader.waiting({ limit: 9 })).toMatchObject([
          { wire: "k", group: "finance", since },
        ]);
        expect(await reader.waiting({ limit: 9, groups: [""] })).toEqual([]);
      }),
    );

    test(
      "tasks are found by status, tool and caller, the newest first, page by page",
      reading(async (reader, { store, advance }) => {
        await park(store, "a", [question("k")]);
        await advance(1);
        await create(store, "b", { tool: "deploy", principal: "bo" });
        await advance(1);
        await store.finish(await hold(store, "c"), completed);
        await advance(1);
        await create(store, "d");
        const find = async (query: Parameters<TaskReader["find"]>[0]) =>
          idsOf(await reader.find(query)).join(" ");
        expect(await find({ limit: 9 })).toBe("task-d task-c task-b task-a");
        expect(await find({ limit: 9, status: "working" })).toBe("task-d task-b");
        expect(await find({ limit: 9, tool: "tool" })).toBe("task-d task-c task-a");
        expect(await find({ limit: 9, tool: "deploy", status: "working" })).toBe("task-b");
        expect(await find({ limit: 9, principal: "ann" })).toBe("task-d task-c task-a");
        expect(await find({ limit: 9, principal: "ann", status: "completed" })).toBe("task-c");
        expect(await find({ limit: 9, tool: "none" })).toBe("");
        const [, second] = await reader.find({ limit: 2 });
        expect(await find({ limit: 2, after: second })).toBe("task-b task-a");
        expect(await find({ limit: 1, after: second, status: "working" })).toBe("task-b");
        const [first] = await reader.find({ limit: 1, status: "input_required" });
        expect(first).toMatchObject({ id: "task-a", waits: [{ key: "k" }], principal: "ann" });
        expect(first).not.toHaveProperty("input");
      }),
    );

    test(
      "stuck tasks are found: due for long, or tried without progress",
      reading(async (reader, { store, advance }) => {
        await park(store, "waits", [question("k")]);
        const held = await hold(store, "fails");
        await store.release(held, { afterMs: 100, isFruitless: true, cause: "why" });
        await advance(100);
        const { claimed } = await claimAll(store);
        const again = { id: held.id, epoch: claimed[0]?.task.epoch ?? 0 };
        await store.release(again, { afterMs: 90_000, isFruitless: true, cause: "why" });
        await create(store, "due");
        const stuck = async () => idsOf(await reader.find({ limit: 9, stuckMs: 30_000 }));
        expect(await stuck()).toEqual(["task-fails"]);
        await advance(30_000);
        expect(await stuck()).toEqual(["task-due", "task-fails"]);
      }),
    );
  });
}
