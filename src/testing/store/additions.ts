// Records that `park` and `finish` bring along, for stores that take them (`appendsWithNext`).

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import {
  answer,
  arrived,
  claimAll,
  hold,
  keepMs,
  leaseMs,
  nowOf,
  park,
  question,
  read,
  waiting,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";
import type { CaseContext } from "./cases.ts";
import type { TaskStore } from "../../tasks/store.ts";
import type { ClaimRef, LogAddition } from "../../tasks/task.ts";

const completed = { status: "completed", result: "r", statusMessage: undefined, keepMs } as const;
const failed = { ...completed, status: "failed", isUndoing: true } as const;
const inVain = { afterMs: 0, isFruitless: true, cause: "why" };

type Bring = (store: TaskStore, ref: ClaimRef, append: LogAddition) => Promise<boolean>;

/** The operations that bring records along. */
const operations: readonly (readonly [string, Bring])[] = [
  ["park", (store, ref, append) => store.park(ref, { ...waiting([question("l")], ["k"]), append })],
  ["finish", (store, ref, append) => store.finish(ref, { ...completed, append })],
];

/** Registers these tests. */
export function describeAdditions(opened: () => OpenedStore): void {
  const given =
    (work: (opened: OpenedStore) => Promise<void>) =>
    async ({ skip }: CaseContext) => {
      if (opened().store.appendsWithNext !== true)
        skip("This store appends records by themselves.");
      await work(opened());
    };

  describe.each(operations)("%s with records", (name, bring) => {
    test(
      "adds them to the log, and does the rest",
      given(async ({ store }) => {
        const inbox = [arrived("k", await nowOf(store))];
        const ref = await hold(store, "a", { log: ["one"], inbox });
        expect(await bring(store, ref, { at: 1, records: ["two", "three"] })).toBe(true);
        expect(await store.readLog(ref.id)).toEqual(["one", "two", "three"]);
        expect(await read(store, ref)).toMatchObject({
          logLength: 3,
          logBytes: 11,
          inbox: [],
          worker: undefined,
          status: name === "park" ? "input_required" : "completed",
        });
      }),
    );

    test(
      "forgets the claims that made no progress",
      given(async ({ store }) => {
        const first = await hold(store, "a");
        await store.release(first, inVain);
        const [again] = (await claimAll(store)).claimed;
        expect(again?.task).toMatchObject({ cause: "why", fruitless: 2 });
        expect(await bring(store, again!.task, { at: 0, records: ["one"] })).toBe(true);
        expect(await read(store, first)).toMatchObject({ cause: undefined, fruitless: 0 });
      }),
    );

    test(
      "writes nothing if the log is not as long as the writer expects",
      given(async ({ store }) => {
        const inbox = [arrived("k", await nowOf(store))];
        const ref = await hold(store, "a", { log: ["one"], inbox });
        const before = await read(store, ref);
        expect(await bring(store, ref, { at: 0, records: ["x"] })).toBe(false);
        expect(await bring(store, ref, { at: 2, records: ["x"] })).toBe(false);
        expect(await read(store, ref)).toEqual(before);
        expect(await store.readLog(ref.id)).toEqual(["one"]);
        expect(await bring(store, ref, { at: 1, records: ["two"] })).toBe(true);
      }),
    );

    test(
      "writes nothing when the claim is lost",
      given(async ({ store, advance }) => {
        const inbox = [arrived("k", await nowOf(store))];
        const ref = await hold(store, "a", { inbox });
        await advance(leaseMs);
        await claimAll(store, "v");
        const before = await read(store, ref);
        expect(await bring(store, ref, { at: 0, records: ["mine"] })).toBe(false);
        expect(await read(store, ref)).toEqual(before);
        expect(await store.readLog(ref.id)).toEqual([]);
      }),
    );

    test(
      "adds them once, even if the acknowledgement is lost",
      given(async ({ store }) => {
        const ref = await hold(store, "a");
        const append = { at: 0, records: ["one", "two"] };
        expect(await bring(store, ref, append)).toBe(true);
        const after = await read(store, ref);
        // A task that is parked shows by its epoch that nobody else has it. `finish` says that it has ended like this.
        expect(await bring(store, ref, append)).toBe(name === "finish");
        expect(await read(store, ref)).toEqual(after);
        expect(await store.readLog(ref.id)).toEqual(["one", "two"]);
      }),
    );

    test(
      "counts their size for the caller",
      given(async ({ store }) => {
        const [one, other] = [await hold(store, "a"), await hold(store, "b", { principal: "bob" })];
        await bring(store, one, { at: 0, records: [] });
        await bring(store, other, { at: 0, records: ["x".repeat(1_000)] });
        const [small, large] = [await store.usage("ann"), await store.usage("bob")];
        expect(large.bytes - small.bytes).toBe(1_000);
      }),
    );

    test(
      "says when and in which run they were written",
      given(async ({ store, advance }) => {
        const { reader } = store;
        if (reader === undefined) return;
        const ref = await hold(store, "a", { log: ["one"] });
        await advance(5);
        await bring(store, ref, { at: 1, records: ["two", "three"] });
        const at = await nowOf(store);
        const noted = { epoch: 1, at, ms: undefined, tries: undefined };
        expect((await reader.log(ref.id, 1, 9)).map((each) => ({ ...each }))).toMatchObject([
          { seq: 1, record: "two", ...noted },
          { seq: 2, record: "three", ...noted },
        ]);
        const how = name === "park" ? "parked" : "finished";
        expect(await reader.runs(ref.id)).toMatchObject([{ epoch: 1, endedAt: at, how }]);
      }),
    );

    test(
      "shows them to whoever claims the task next",
      given(async ({ store }) => {
        if (name !== "park") return;
        const ref = await hold(store, "a", { log: ["one"] });
        await bring(store, ref, { at: 1, records: ["two"] });
        const holder = { worker: "v", leaseMs };
        const answered = await store.answer(ref.id, [answer("l")], holder);
        expect(answered?.claimed).toMatchObject({ log: ["one", "two"], task: { logLength: 2 } });
      }),
    );
  });

  describe("park and finish without records", () => {
    test(
      "leave the log alone, whatever its length is",
      given(async ({ store }) => {
        const parked = await park(store, "a", [question("k")], { log: ["one", "two"] });
        const ended = await hold(store, "b", { log: ["one"] });
        await store.finish(ended, completed);
        expect(await read(store, parked)).toMatchObject({ logLength: 2, logBytes: 6 });
        expect(await read(store, ended)).toMatchObject({ logLength: 1, fruitless: 1 });
      }),
    );
  });

  describe("finish with records", () => {
    test(
      "keeps the claim of a task whose steps are undone",
      given(async ({ store }) => {
        const ref = await hold(store, "a");
        const begun = { at: 0, records: ["begun"], taken: [], returned: [], undos: 1 };
        await store.append(ref, begun);
        expect(await store.finish(ref, { ...failed, append: { at: 1, records: ["two"] } })).toBe(
          true,
        );
        expect(await read(store, ref)).toMatchObject({ worker: "w", undos: 1, logLength: 2 });
        expect(await store.undo(ref, { at: 2, records: ["z"], undos: 0, keepMs })).toBe(true);
        expect(await store.readLog(ref.id)).toEqual(["begun", "two", "z"]);
      }),
    );
  });
}
