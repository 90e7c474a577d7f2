// R16 in the engine: a step with an undo is noted as begun before its body starts, and what its body returns after the end
// of the run is not lost. What happens then is the carrier's part: src/tasks/undo.test.ts.

import { describe, expect, test, vi } from "vitest";
import type { Operations } from "./operations.ts";
import { emptyJournal, packEntry, unpackEntry } from "./journal.ts";
import type { Entry } from "./journal.ts";
import { answersTo, journalOf, plain, runOnce } from "./rounds.fixture.ts";
import { Stop } from "./stop.ts";

const begun = (key: string): Entry => ({ kind: "begun", key, undo: "remove" });
const step = (key: string, value: string): Entry => ({ kind: "step", key, value });
const undo = { undo: "remove" };

describe("R16 begun (U1)", () => {
  test("is recorded before the body starts, and the outcome after it", async () => {
    const seen: string[] = [];
    const outcome = await runOnce(
      (ops) => ops.step("a", () => void seen.push("body"), undo),
      emptyJournal,
      [],
      {
        append: async (entry) => {
          await Promise.resolve();
          seen.push(entry.kind);
        },
      },
    );
    expect(outcome.kind).toBe("done");
    expect(seen).toEqual(["begun", "body", "step"]);
  });

  test("is not recorded for a step without an undo", async () => {
    const recorded: Entry[] = [];
    await runOnce((ops) => ops.step("a", () => 1), emptyJournal, [], {
      append: (entry) => void recorded.push(entry),
    });
    expect(recorded).toEqual([{ kind: "step", key: "a", value: 1 }]);
  });

  test("if it cannot be recorded, the body does not start", async () => {
    const body = vi.fn();
    const outcome = await runOnce((ops) => ops.step("a", body, undo), emptyJournal, [], {
      append: () => Promise.reject(new Error("full")),
    });
    expect(outcome).toMatchObject({ kind: "failed", error: { message: "full" } });
    expect(body).not.toHaveBeenCalled();
  });

  test.each([false, "later"] as const)(
    "nothing is recorded while the body may not start (%s)",
    async (may) => {
      const append = vi.fn();
      const carrier = { append, mayStart: () => may };
      await runOnce((ops) => ops.step("a", () => 1, undo), emptyJournal, [], carrier);
      expect(append).not.toHaveBeenCalled();
    },
  );

  test("a run that drains records nothing more", async () => {
    const drain = new Stop();
    const recorded: string[] = [];
    const outcome = await runOnce(
      async (ops) => {
        await ops.step("a", () => drain.stop("Draining"), undo);
        await ops.step("b", () => 1, undo);
      },
      emptyJournal,
      [],
      { drain, append: ({ kind, key }) => void recorded.push(`${kind} ${key}`) },
    );
    expect(outcome.kind).toBe("stopped");
    expect(recorded).toEqual(["begun a", "step a"]);
  });

  test("a body that has begun and has no outcome runs again, under the same key, and is not noted twice", async () => {
    const recorded: Entry[] = [];
    const keys: string[] = [];
    const outcome = await runOnce(
      (ops) => ops.step("a", ({ idempotencyKey }) => void keys.push(idempotencyKey), undo),
      { entries: [begun("a")], out: [] },
      [],
      { append: (entry) => void recorded.push(entry) },
    );
    expect(outcome.kind).toBe("done");
    expect(keys).toEqual(["call-1/a"]);
    expect(recorded.map(({ kind }) => kind)).toEqual(["step"]);
  });

  test("parallel branches replay in the order of the log", async () => {
    const handler = async (ops: Operations) => {
      const winner = await Promise.race([
        ops.step("a", () => "a", undo),
        ops.step("b", () => "b", undo),
      ]);
      return [winner, await ops.ask("q", plain("Q?"))];
    };
    const entries = [begun("a"), begun("b"), step("b", "b"), step("a", "a")];
    const first = await runOnce(handler, { entries, out: [] });
    expect(first).toMatchObject({ kind: "waiting", entries });
    const second = await runOnce(
      handler,
      journalOf(first),
      answersTo(first, () => "yes"),
    );
    expect(second).toMatchObject({ kind: "done", value: ["b", "yes"] });
  });

  test("is an effect: a handler that no longer does the step fails (R6)", async () => {
    const journal = { entries: [begun("a")], out: [] };
    const asks = await runOnce((ops) => ops.ask("q", plain("Q?")), journal);
    const returns = await runOnce(() => "nothing", journal);
    for (const outcome of [asks, returns]) {
      expect(outcome).toMatchObject({ kind: "failed", error: { code: "history_changed" } });
    }
  });

  test("is an effect: a question that was answered before it cannot change (R7)", async () => {
    const entries: Entry[] = [{ kind: "answer", key: "q", value: "yes", digest: "Q?" }, begun("a")];
    const outcome = await runOnce((ops) => ops.ask("q", plain("Another Q?")), {
      entries,
      out: [],
    });
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "history_changed" } });
  });

  test("its key cannot become another kind of operation", async () => {
    const journal = { entries: [begun("a")], out: [] };
    const outcome = await runOnce((ops) => ops.ask("a", plain("A?")), journal);
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "history_changed" } });
  });

  test("can be stored and read back", () => {
    expect(packEntry(begun("a"))).toEqual(["u", "a", "remove"]);
    expect(unpackEntry(["u", "a", "remove"])).toEqual(begun("a"));
    expect(() => unpackEntry(["u", "a"])).toThrow(TypeError);
  });
});

describe("R16 what a body leaves after the end of its run (U3)", () => {
  test("goes to the carrier if the step has an undo", async () => {
    const left: Entry[] = [];
    const ends: Promise<void>[] = [];
    let finish: (value: string) => void = () => {};
    const outcome = await runOnce(
      async (ops) => {
        const slow = ops.step("a", () => new Promise<string>((done) => (finish = done)), undo);
        const plainStep = ops.step("b", () => Promise.reject(new Error("no")));
        await Promise.all([slow, plainStep]);
      },
      emptyJournal,
      [],
      { onLeft: (entry) => void left.push(entry), onBody: (end) => void ends.push(end) },
    );
    expect(outcome.kind).toBe("failed");
    expect(left).toEqual([]);
    finish("late");
    await Promise.all(ends);
    expect(left).toEqual([step("a", "late")]);
  });

  test("includes an outcome that was not recorded yet when the run ended", async () => {
    const left: Entry[] = [];
    const stop = new Stop();
    await runOnce(
      (ops) =>
        Promise.all([
          ops.step("a", () => "made", undo),
          ops.step("b", () => stop.stop("Cancelled")),
        ]),
      emptyJournal,
      [],
      { stop, onLeft: (entry) => void left.push(entry) },
    );
    expect(left).toEqual([step("a", "made")]);
  });
});
