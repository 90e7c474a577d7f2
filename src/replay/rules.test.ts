// Tests for each rule of the engine. `npm run mutants` breaks each rule and expects one of them to fail.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ParleyError, StepError, UnansweredError } from "../errors.ts";
import type { Carrier } from "./carrier.ts";
import type { Operations } from "./operations.ts";
import type { Outcome } from "./outcome.ts";
import { Inbox } from "./inbox.ts";
import type { InboxEvent } from "./inbox.ts";
import { emptyJournal } from "./journal.ts";
import type { Entry, Journal } from "./journal.ts";
import { errorText } from "../util/error-text.ts";
import type { Json } from "../util/json.ts";
import { answersTo, converse, HandClock, journalOf, plain, runOnce } from "./rounds.fixture.ts";
import type { TestHandler } from "./rounds.fixture.ts";
import { Stop, Stopped } from "./stop.ts";

const answer = (
  key: string,
  digest: string | undefined,
  value = `answer to ${key}`,
): InboxEvent => ({
  kind: "answer",
  key,
  value,
  digest,
});
const answered = (key: string, digest: string, value = `answer to ${key}`): Entry => ({
  kind: "answer",
  key,
  value,
  digest,
});
const stepped = (key: string, value: Json = `result of ${key}`): Entry => ({
  kind: "step",
  key,
  value,
});
const told = (...entries: Entry[]): Journal => ({ entries, out: [] });
const out = (key: string, digest: string) => ({ key, digest });

function errorOf(outcome: Outcome<unknown>): unknown {
  expect(outcome.kind).toBe("failed");
  return outcome.kind === "failed" ? outcome.error : undefined;
}

function faultOf(outcome: Outcome<unknown>): ParleyError {
  const error = errorOf(outcome);
  expect(error).toBeInstanceOf(ParleyError);
  return error as ParleyError;
}

function fail(): never {
  throw new Error("from a getter");
}

function circle(): object {
  const made: { self?: object } = {};
  made.self = made;
  return made;
}

/** A promise, and the functions that settle it. */
function gate<T = void>() {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const ticks = async (count: number) => {
  for (let hop = 0; hop < count; hop += 1) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
};

const immediate = () => new Promise<void>((resolve) => setImmediate(resolve));

// Promises that a handler leaves behind must never crash the process.
const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", remember);
});
afterEach(async () => {
  await immediate();
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});

describe("R1 run", () => {
  test("a run starts the handler at its top and ends once", async () => {
    let starts = 0;
    const { outcome, outcomes } = await converse(async (ops) => {
      starts += 1;
      await ops.ask("a", plain("A?"));
      await ops.ask("b", plain("B?"));
      return "end";
    });
    expect(outcome).toMatchObject({ kind: "done", value: "end" });
    expect(outcomes.map(({ kind }) => kind)).toEqual(["waiting", "waiting", "done"]);
    expect(starts).toBe(3);
  });

  test("after the end every operation does nothing, never settles, and is reported", async () => {
    const reports: unknown[] = [];
    const bodies = vi.fn();
    let late!: Operations;
    await runOnce((ops) => void (late = ops), emptyJournal, [], {
      report: (mistake) => reports.push(mistake),
    });
    const settled = vi.fn();
    for (const promise of [
      late.ask("x", plain("X?")),
      late.step("s", bodies),
      late.sleep("t", 0),
      late.background(),
      late.checkpoint(),
    ]) {
      promise.then(settled, settled);
    }
    await immediate();
    await immediate();
    expect(bodies).not.toHaveBeenCalled();
    expect(settled).not.toHaveBeenCalled();
    expect(reports).toHaveLength(5);
    expect(reports[0]).toMatchObject({
      code: "ctx_after_return",
      message:
        'ctx was used after the handler of "test" had ended (question "x"). Await everything before you return. Work that outlives the call belongs in a task (ctx.background()).',
    });
  });

  test("a suspended handler that is woken by a timer of its own finds the run ended", async () => {
    const reports: unknown[] = [];
    const bodies = vi.fn();
    const own = gate();
    const outcome = await runOnce(
      async (ops) => {
        void own.opened.then(() => ops.step("late", bodies));
        await ops.ask("a", plain("A?"));
      },
      emptyJournal,
      [],
      { report: (mistake) => reports.push(mistake) },
    );
    own.open();
    await immediate();
    expect(outcome.kind).toBe("waiting");
    expect(bodies).not.toHaveBeenCalled();
    expect(reports).toHaveLength(1);
  });
});

describe("R2 settling", () => {
  test("suspending does not run any catch or finally of the handler", async () => {
    const ran: string[] = [];
    const outcome = await runOnce(async (ops) => {
      try {
        await ops.ask("a", plain("A?"));
      } catch {
        ran.push("catch");
      } finally {
        ran.push("finally");
      }
    });
    await immediate();
    expect(outcome.kind).toBe("waiting");
    expect(ran).toEqual([]);
  });

  test("an unhandled rejection does not reach the process, even if it is chained", async () => {
    const journal = told(
      { kind: "threw", key: "s", error: { name: "Error", message: "no" } },
      { kind: "threw", key: "s2", error: { name: "Error", message: "no" } },
      { kind: "expired", key: "q", digest: "Q?" },
    );
    const outcome = await runOnce(async (ops) => {
      void ops.step("s", () => {});
      void ops
        .ask("q", plain("Q?", { timeoutMs: 1 }))
        .then((value) => value)
        .then((value) => value);
      void ops.step("s2", () => {}).finally(() => {});
      await ops.ask("a", plain("A?"));
    }, journal);
    expect(outcome.kind).toBe("waiting");
    // afterEach fails if the process saw an unhandled rejection.
  });
});

describe("R3 log and inbox", () => {
  test("an entry is durable before it is delivered, and appends do not overlap", async () => {
    const happened: string[] = [];
    let appending = 0;
    const { outcome } = await converse(
      async (ops) => {
        const steps = ["a", "b", "c"].map(async (key) => {
          await ops.step(key, () => key);
          happened.push(`delivered ${key}`);
        });
        await Promise.all(steps);
      },
      undefined,
      {
        carrier: {
          append: async ({ key }) => {
            appending += 1;
            expect(appending).toBe(1);
            await immediate();
            appending -= 1;
            happened.push(`appended ${key}`);
          },
        },
      },
    );
    expect(outcome.kind).toBe("done");
    expect(happened).toEqual(
      ["a", "b", "c"].flatMap((key) => [`appended ${key}`, `delivered ${key}`]),
    );
  });

  test("nothing is delivered when its append fails", async () => {
    const delivered = vi.fn();
    const outcome = await runOnce(
      async (ops) => {
        await ops.step("s", () => 1).then(delivered, delivered);
      },
      emptyJournal,
      [],
      { append: () => Promise.reject(new Error("disk full")) },
    );
    await immediate();
    expect(errorOf(outcome)).toMatchObject({ message: "disk full" });
    expect(delivered).not.toHaveBeenCalled();
  });

  test("what the carrier has put off is durable before a body starts, and is not written without one", async () => {
    const happened: string[] = [];
    const unwritten: string[] = [];
    const carrier: Partial<Carrier> = {
      append: ({ key }, _shown, isRepeatable) => {
        happened.push(`${isRepeatable === true ? "put off" : "appended"} ${key}`);
        if (isRepeatable === true) unwritten.push(key);
      },
      write: () => {
        const keys = unwritten.splice(0);
        if (keys.length === 0) return undefined;
        return immediate().then(() => void happened.push(`wrote ${keys.join()}`));
      },
    };
    const outcome = await runOnce(
      async (ops) => {
        await ops.ask("a", plain("A?"));
        await ops.ask("b", plain("B?"));
        const step = (key: string) => ops.step(key, () => void happened.push(`body ${key}`));
        await Promise.all([step("s"), step("t")]);
        await ops.ask("c", plain("C?"));
      },
      emptyJournal,
      [answer("a", "A?"), answer("b", "B?"), answer("c", "C?")],
      carrier,
    );
    expect(outcome.kind).toBe("done");
    expect(happened.join("; ")).toBe(
      "put off a; put off b; wrote a,b; body s; body t; appended s; appended t; put off c",
    );
  });

  test("if what was put off cannot be written, no body starts", async () => {
    const body = vi.fn();
    const outcome = await runOnce((ops) => ops.step("s", body), emptyJournal, [], {
      append: () => {},
      write: () => Promise.reject(new Error("disk full")),
    });
    expect(errorOf(outcome)).toMatchObject({ message: "disk full" });
    expect(body).not.toHaveBeenCalled();
  });

  test("only an answer that would be recorded in the same way again may be put off", async () => {
    const repeatable = vi.fn();
    const carrier: Partial<Carrier> = {
      append: ({ key }, _shown, isRepeatable) => repeatable(key, isRepeatable),
    };
    const admit = (value: Json) => ({ kind: "value", value }) as const;
    await runOnce(
      async (ops) => {
        await ops.ask("plain", plain("Plain?"));
        await ops.ask("checked", plain("Checked?", { admit }));
        await ops.ask("late", plain("Late?", { timeoutMs: 1 })).catch(() => {});
        await ops.step("step", () => 1);
      },
      emptyJournal,
      [
        answer("plain", "Plain?"),
        answer("checked", "Checked?"),
        { kind: "due", key: "late", digest: "Late?" },
      ],
      carrier,
    );
    expect(repeatable.mock.calls).toEqual([
      ["plain", true],
      ["checked", false],
      ["late", false],
      ["step", false],
    ]);
  });

  test("the first event in the inbox whose operation is outstanding becomes the next entry", async () => {
    const handler = async (ops: Operations) => {
      const first = await Promise.race([ops.ask("a", plain("A?")), ops.ask("b", plain("B?"))]);
      const late = await ops.ask("late", plain("Late?"));
      return [first, late];
    };
    const events = [answer("late", "Late?"), answer("b", "B?"), answer("a", "A?")];
    const outcome = await runOnce(handler, emptyJournal, events);
    expect(outcome).toMatchObject({ kind: "done", value: ["answer to b", "answer to late"] });
    expect(outcome).toMatchObject({
      entries: [{ key: "b" }, { key: "late" }, { key: "a" }].slice(0, 2),
    });
  });

  test("the first answer to a key wins, and the others stay unused", async () => {
    const outcome = await runOnce(
      async (ops) => [await ops.ask("a", plain("A?")), await ops.ask("b", plain("B?"))],
      emptyJournal,
      [answer("a", "A?", "first"), answer("a", "A?", "second")],
    );
    expect(outcome).toMatchObject({
      kind: "waiting",
      entries: [answered("a", "A?", "first")],
      unused: [],
    });
  });

  test("an event comes before a body that finished in the same turn", async () => {
    const outcome = await runOnce(
      (ops) => Promise.race([ops.step("s", () => "body"), ops.ask("a", plain("A?"))]),
      emptyJournal,
      [answer("a", "A?")],
    );
    expect(outcome).toMatchObject({ kind: "done", value: "answer to a" });
  });

  test("while an append or a validation is under way, nothing else is delivered", async () => {
    const slow = gate();
    const order: string[] = [];
    const running = runOnce(
      (ops) =>
        Promise.all(
          ["a", "b"].map(async (key) => {
            const read = async (value: Json) => {
              if (key === "a") await slow.opened;
              return { kind: "value" as const, value };
            };
            await ops.ask(key, plain(key, { read }));
            order.push(key);
          }),
        ),
      emptyJournal,
      [answer("a", "a"), answer("b", "b")],
    );
    for (let turn = 0; turn < 5; turn += 1) await immediate();
    expect(order).toEqual([]);
    slow.open();
    expect(await running).toMatchObject({ kind: "done", entries: [{ key: "a" }, { key: "b" }] });
    expect(order).toEqual(["a", "b"]);
  });

  test("an event that arrives while bodies run is taken", async () => {
    const inbox = new Inbox();
    const outcome = await runOnce(
      (ops) =>
        Promise.all([
          ops.ask("a", plain("A?")),
          ops.step("s", () => {
            inbox.push(answer("a", "A?"));
            return immediate();
          }),
        ]),
      emptyJournal,
      inbox,
    );
    expect(outcome).toMatchObject({ kind: "done", value: ["answer to a", undefined] });
  });
});

describe("R4 delivery", () => {
  // Each branch notes when it continues. The order must be that of the log, whatever the handler awaits first.
  const branches = (keys: readonly string[], order: string[]) => (ops: Operations) =>
    Promise.all(
      keys.map(async (key) => {
        await ops.ask(key, plain(key));
        order.push(key);
        await null;
        await Promise.resolve().then(() => {});
        order.push(`${key} still`);
      }),
    );

  test("one entry is delivered per turn, in recorded order, whatever the code awaits first", async () => {
    const order: string[] = [];
    const journal = told(answered("c", "c"), answered("a", "a"), answered("b", "b"));
    await runOnce(branches(["a", "b", "c"], order), journal);
    expect(order).toEqual(["c", "c still", "a", "a still", "b", "b still"]);
  });

  test("live delivery has the same order as a replay", async () => {
    const order: string[] = [];
    const events = ["c", "a", "b"].map((key) => answer(key, key));
    await runOnce(branches(["a", "b", "c"], order), emptyJournal, events);
    expect(order).toEqual(["c", "c still", "a", "a still", "b", "b still"]);
  });

  test("a turn covers a chain of nextTicks while others are outstanding", async () => {
    const order: string[] = [];
    const handler = (ops: Operations) =>
      Promise.all([
        (async () => {
          await ops.ask("a", plain("a"));
          await ticks(20);
          order.push("a");
        })(),
        (async () => {
          await ops.ask("b", plain("b"));
          order.push("b");
        })(),
      ]);
    await runOnce(handler, told(answered("a", "a"), answered("b", "b")));
    expect(order).toEqual(["a", "b"]);
  });

  test("a turn covers a chain of nextTicks before the first delivery of a run", async () => {
    const order: string[] = [];
    const handler = (ops: Operations) =>
      Promise.all([
        (async () => {
          await ticks(20);
          order.push("before a");
          await ops.ask("a", plain("a"));
        })(),
        (async () => {
          await ops.ask("b", plain("b"));
          order.push("b");
        })(),
        ops.ask("c", plain("c")),
      ]);
    await runOnce(handler, told(answered("b", "b"), answered("a", "a"), answered("c", "c")));
    expect(order).toEqual(["before a", "b"]);
  });

  test("a turn covers a chain of nextTicks even if only one operation is outstanding so far", async () => {
    const order: string[] = [];
    const handler = (ops: Operations) =>
      Promise.all([
        (async () => {
          await ticks(20);
          order.push("before a");
          await ops.ask("a", plain("a"));
        })(),
        (async () => {
          await ops.ask("b", plain("b"));
          order.push("b");
        })(),
      ]);
    await runOnce(handler, told(answered("b", "b"), answered("a", "a")));
    expect(order).toEqual(["before a", "b"]);
  });

  test("a turn covers a chain of nextTicks before each later delivery while others are outstanding", async () => {
    const order: string[] = [];
    const handler = async (ops: Operations) => {
      await ops.ask("a", plain("a"));
      return Promise.all([
        (async () => {
          await ops.ask("b", plain("b"));
          order.push("b");
        })(),
        ops.ask("c", plain("c")),
        (async () => {
          await ticks(20);
          order.push("before b");
        })(),
      ]);
    };
    const live = await runOnce(handler, emptyJournal, [
      answer("a", "a"),
      answer("b", "b"),
      answer("c", "c"),
    ]);
    await runOnce(handler, told(...("entries" in live ? live.entries : [])));
    expect(order).toEqual(["before b", "b", "before b", "b"]);
  });

  test("with one outstanding operation, only the first delivery needs an immediate", async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    const full = vi.fn<(callback: () => void) => void>((callback) => void setImmediate(callback));
    const { nodeTurns } = await import("./turns.ts");
    const outcome = await runOnce(
      async (ops) => {
        for (const key of keys) await ops.step(key, () => key);
      },
      told(...keys.map((key) => stepped(key))),
      [],
      { turns: { full, brief: nodeTurns.brief } },
    );
    expect(outcome.kind).toBe("done");
    // There is one before the first delivery, because other branches may still be about to ask.
    expect(full).toHaveBeenCalledTimes(1);
  });

  test("a value is decoded afresh, so changes by the handler reach no other run", async () => {
    const journal = told(stepped("s", { list: [1] }), {
      kind: "answer",
      key: "a",
      digest: "A?",
      value: { tags: ["x"] },
    });
    const handler = async (ops: Operations) => {
      const step = (await ops.step("s", () => {})) as { list: number[] };
      const given = (await ops.ask("a", plain("A?"))) as { tags: string[] };
      step.list.push(2);
      given.tags.push("y");
      return { step, given };
    };
    const first = await runOnce(handler, journal);
    const second = await runOnce(handler, journal);
    expect(second).toEqual(first);
    expect(journal.entries[0]).toEqual(stepped("s", { list: [1] }));
  });
});

describe("R5 phases", () => {
  test("no body starts before all entries are delivered and every open question is asked again", async () => {
    const body = vi.fn(() => "ran");
    const journal = { entries: [answered("a", "A?")], out: [out("b", "B?")] };
    const seen: unknown[] = [];
    const handler = async (ops: Operations) => {
      const step = ops.step("s", () => {
        seen.push("body");
        return body();
      });
      const questions = (async () => {
        await ops.ask("a", plain("A?"));
        seen.push("a delivered");
        const b = ops.ask("b", plain("B?"));
        seen.push("b asked");
        return b;
      })();
      return Promise.all([step, questions]);
    };
    const outcome = await runOnce(handler, journal);
    expect(outcome.kind).toBe("waiting");
    expect(seen).toEqual(["a delivered", "b asked", "body"]);
  });

  test("no body starts before an open question is asked again, even if that takes time", async () => {
    const clock = new HandClock();
    const slow = gate();
    const body = vi.fn();
    const running = runOnce(
      (ops) =>
        Promise.all([
          ops.step("s", body),
          (async () => {
            await slow.opened;
            return ops.ask("b", plain("B?"));
          })(),
        ]),
      { entries: [], out: [out("b", "B?")] },
      [],
      { stallMs: 5_000, after: clock.after },
    );
    while (clock.waiting === 0) await immediate();
    expect(body).not.toHaveBeenCalled();
    slow.open();
    expect(await running).toMatchObject({ kind: "waiting", open: [{ key: "b" }] });
    expect(body).toHaveBeenCalledTimes(1);
  });

  test("the handler can see whether it is live", async () => {
    const live: boolean[] = [];
    const handler = async (ops: Operations) => {
      live.push(ops.isLive());
      await ops.ask("a", plain("A?"));
      live.push(ops.isLive());
      await ops.ask("b", plain("B?"));
      live.push(ops.isLive());
    };
    await runOnce(handler, { entries: [answered("a", "A?")], out: [out("b", "B?")] }, [
      answer("b", "B?"),
    ]);
    expect(live).toEqual([false, false, true]);
    live.length = 0;
    await runOnce(handler);
    expect(live).toEqual([true]);
    live.length = 0;
    await runOnce(handler, { entries: [], out: [out("a", "A?")] }, [answer("a", "A?")]);
    expect(live).toEqual([false, true]);
    live.length = 0;
    const yielded = told(answered("a", "A?"), { kind: "checkpoint", key: "~checkpoint-1" });
    await runOnce(async (ops) => {
      await ops.ask("a", plain("A?"));
      live.push(ops.isLive());
      await ops.checkpoint();
      live.push(ops.isLive());
    }, yielded);
    expect(live).toEqual([false, true]);
  });

  test("the handler is live even if it asks nothing more after the last entry", async () => {
    const live: boolean[] = [];
    await runOnce(
      async (ops) => {
        await ops.step("s", () => {});
        live.push(ops.isLive());
        await immediate();
        live.push(ops.isLive());
      },
      told(stepped("s")),
    );
    expect(live).toEqual([false, true]);
  });

  test("work that was done past the last entry in the round before does not count as new", async () => {
    const live: boolean[] = [];
    const journal = { entries: [stepped("s")], out: [out("a", "A?")] };
    await runOnce(
      (ops) =>
        Promise.all([
          ops.ask("a", plain("A?")),
          ops.step("s", () => {}).then(() => live.push(ops.isLive())),
        ]),
      journal,
    );
    expect(live).toEqual([false]);
  });

  test("nothing from the inbox is recorded before the log is delivered", async () => {
    const appended: string[] = [];
    const outcome = await runOnce(
      (ops) => Promise.all([ops.ask("b", plain("B?")), ops.ask("a", plain("A?"))]),
      told(answered("a", "A?")),
      [answer("b", "B?")],
      { append: ({ key }) => void appended.push(key) },
    );
    expect(outcome).toMatchObject({ kind: "done", entries: [{ key: "a" }, { key: "b" }] });
    expect(appended).toEqual(["b"]);
  });
});

describe("R6 divergence", () => {
  test("answers that the code no longer asks for are cut off and kept with their digests", async () => {
    const outcome = await runOnce(
      async (ops) => [await ops.ask("new", plain("New?")), await ops.ask("old", plain("Old?"))],
      told(answered("old", "Old?")),
    );
    expect(outcome).toMatchObject({
      kind: "waiting",
      entries: [],
      open: [{ key: "new" }],
      unused: [answer("old", "Old?")],
    });
    if (outcome.kind !== "waiting") return;
    const next = await runOnce(
      async (ops) => [await ops.ask("new", plain("New?")), await ops.ask("old", plain("Old?"))],
      journalOf(outcome),
      [...outcome.unused, answer("new", "New?")],
    );
    expect(next).toMatchObject({ kind: "done", value: ["answer to new", "answer to old"] });
  });

  test("answers are cut off even if an impossible question was asked in the meantime", async () => {
    const clock = new HandClock();
    const later = gate();
    const impossible = new Error("nobody can be asked that");
    const running = runOnce(
      (ops) =>
        Promise.all([
          ops.ask("new", plain("New?")),
          later.opened.then(() => ops.ask("odd", plain("Odd?", { impossible }))).catch(() => {}),
        ]),
      told(answered("old", "Old?")),
      [],
      { stallMs: 5_000, after: clock.after },
    );
    while (clock.waiting === 0) await immediate();
    later.open();
    await immediate();
    while (clock.waiting === 0) await immediate();
    clock.pass(5_000);
    expect(await running).toMatchObject({ kind: "waiting", open: [{ key: "new" }] });
  });

  test("the carrier learns where to cut", async () => {
    const cut = vi.fn();
    await runOnce(
      async (ops) => {
        await ops.ask("kept", plain("Kept?"));
        await ops.ask("new", plain("New?"));
      },
      told(answered("kept", "Kept?"), answered("gone", "Gone?")),
      [],
      { cut },
    );
    const back = { kind: "answer", key: "gone", value: "answer to gone", digest: "Gone?" };
    expect(cut.mock.calls).toEqual([[1, [back]]]);
  });

  test("with a step ahead, the run fails before any new effect and names both sides", async () => {
    const body = vi.fn();
    const outcome = await runOnce(
      async (ops) => {
        await ops.step("ship", body);
      },
      told(answered("go", "Go?"), stepped("build")),
    );
    expect(faultOf(outcome)).toMatchObject({ code: "history_changed" });
    expect(faultOf(outcome).message).toContain(
      'the journal continues with question "go", but the handler waits for step "ship"',
    );
    expect(body).not.toHaveBeenCalled();
  });

  test("with a background entry ahead, the run fails as well", async () => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.ask("new", plain("New?"));
      },
      told({ kind: "background", key: "~background-1" }),
    );
    expect(faultOf(outcome).code).toBe("history_changed");
  });

  test("a run is not stalled before nothing has happened for stallMs", async () => {
    const clock = new HandClock();
    const slow = gate();
    const running = runOnce(
      async (ops) => {
        const slowly = async () => {
          await slow.opened;
          return ops.step("s", () => {});
        };
        return Promise.all([slowly(), ops.ask("b", plain("B?"))]);
      },
      told(stepped("s"), answered("b", "B?")),
      [],
      { stallMs: 5_000, after: clock.after },
    );
    while (clock.waiting === 0) await immediate();
    clock.pass(4_999);
    slow.open();
    await expect(running).resolves.toMatchObject({
      kind: "done",
      value: ["result of s", "answer to b"],
    });
  });

  test("a run is stalled after stallMs", async () => {
    const clock = new HandClock();
    const running = runOnce(
      async (ops) => {
        await ops.ask("b", plain("B?"));
      },
      told(stepped("s")),
      [],
      { stallMs: 5_000, after: clock.after },
    );
    while (clock.waiting === 0) await immediate();
    clock.pass(5_000);
    expect(faultOf(await running).code).toBe("history_changed");
  });

  test("a request in the meantime restarts the time", async () => {
    const clock = new HandClock();
    const gates = [gate(), gate()];
    const running = runOnce(
      (ops) =>
        Promise.all([
          ops.ask("b", plain("B?")),
          (async () => {
            await gates[0]?.opened;
            return ops.ask("c", plain("C?"));
          })(),
          (async () => {
            await gates[1]?.opened;
            return ops.step("s", () => {});
          })(),
        ]),
      told(stepped("s"), answered("b", "B?"), answered("c", "C?")),
      [],
      { stallMs: 5_000, after: clock.after },
    );
    while (clock.waiting === 0) await immediate();
    clock.pass(4_999);
    gates[0]?.open();
    await immediate();
    while (clock.waiting === 0) await immediate();
    clock.pass(4_999);
    gates[1]?.open();
    expect(await running).toMatchObject({ kind: "done" });
  });

  test("a checkpoint that the code no longer has is skipped", async () => {
    const outcome = await runOnce(
      async (ops) => [await ops.step("a", () => {}), await ops.step("b", () => {})],
      told(stepped("a"), { kind: "checkpoint", key: "~checkpoint-1" }, stepped("b")),
    );
    expect(outcome).toMatchObject({ kind: "done", value: ["result of a", "result of b"] });
  });

  test("a run that ends while it seems stalled leaves no timer", async () => {
    const clock = new HandClock();
    const stop = new Stop();
    const running = runOnce((ops) => ops.ask("b", plain("B?")), told(stepped("s")), [], {
      stallMs: 5_000,
      after: clock.after,
      stop,
    });
    while (clock.waiting === 0) await immediate();
    stop.stop("Cancelled");
    await running;
    expect(clock.waiting).toBe(0);
  });

  test("if only an open question is missing, the run goes live", async () => {
    const body = vi.fn(() => 1);
    const outcome = await runOnce((ops) => ops.step("s", body), {
      entries: [],
      out: [out("gone", "Gone?")],
    });
    expect(outcome).toMatchObject({ kind: "done", value: 1 });
  });

  test("a handler that returns without requesting a recorded step fails; a recorded answer may be left unrequested", async () => {
    expect(faultOf(await runOnce(() => "early", told(stepped("s")))).message).toContain(
      'the journal continues with step "s", but the handler returned without it',
    );
    expect(
      faultOf(
        await runOnce(
          async (ops) => {
            await ops.ask("a", plain("A?"));
          },
          told(answered("a", "A?"), stepped("s")),
        ),
      ).code,
    ).toBe("history_changed");
    expect(await runOnce(() => "early", told(answered("a", "A?")))).toMatchObject({ kind: "done" });
  });
});

describe("R7 questions", () => {
  test("an answer to another question under the key is not used, and the question is asked again", async () => {
    const outcome = await runOnce(
      (ops) => ops.ask("a", plain("Delete everything?")),
      { entries: [], out: [out("a", "Save?")] },
      [answer("a", "Save?", "yes")],
    );
    expect(outcome).toMatchObject({
      kind: "waiting",
      open: [{ key: "a", digest: "Delete everything?" }],
      entries: [{ kind: "changed", key: "a" }],
      unused: [],
    });
  });

  test("a recorded answer whose question has changed is cut off with everything after it", async () => {
    const outcome = await runOnce(
      async (ops) => [await ops.ask("a", plain("A, new?")), await ops.ask("b", plain("B?"))],
      told(answered("a", "A?"), answered("b", "B?")),
    );
    expect(outcome).toMatchObject({
      kind: "waiting",
      entries: [{ kind: "changed", key: "a" }],
      open: [{ key: "a" }],
      unused: [answer("b", "B?")],
    });
  });

  test("if several questions have changed, the log is cut at the earliest", async () => {
    const delivered = vi.fn();
    const outcome = await runOnce(
      (ops) =>
        Promise.all([
          ops.ask("b", plain("B, new?")).then(delivered),
          ops.ask("a", plain("A, new?")).then(delivered),
        ]),
      told(answered("a", "A?"), answered("b", "B?")),
    );
    expect(delivered).not.toHaveBeenCalled();
    expect(outcome).toMatchObject({
      kind: "waiting",
      entries: [
        { kind: "changed", key: "a" },
        { kind: "changed", key: "b" },
      ],
      open: [{ key: "b" }, { key: "a" }],
      unused: [],
    });
  });

  test("a cut takes no time, even if an open question depends on what is cut", async () => {
    const clock = new HandClock();
    const outcome = await runOnce(
      async (ops) => {
        await ops.ask("a", plain("A, new?"));
        await ops.ask("b", plain("B?"));
      },
      { entries: [answered("a", "A?")], out: [out("b", "B?")] },
      [],
      { stallMs: 5_000, after: clock.after },
    );
    expect(outcome).toMatchObject({ kind: "waiting", open: [{ key: "a" }] });
    expect(clock.waiting).toBe(0);
  });

  test("a changed question is remembered over a cut", async () => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.ask("x", plain("X, new?"));
        await ops.ask("a", plain("A, third?"));
      },
      told(answered("x", "X?"), { kind: "changed", key: "a" }, answered("a", "A, second?")),
      [answer("x", "X, new?")],
    );
    expect(faultOf(outcome).code).toBe("unstable_question");
  });

  test("a recorded answer whose question changes again is unstable, too", async () => {
    const outcome = await runOnce(
      (ops) => ops.ask("a", plain("A, third?")),
      told({ kind: "changed", key: "a" }, answered("a", "A, second?")),
    );
    expect(faultOf(outcome).code).toBe("unstable_question");
  });

  test("the time limit of another wording does not expire this question", async () => {
    const handler = (ops: Operations) => ops.ask("q", plain("Delete?", { timeoutMs: 10 }));
    expect(
      await runOnce(handler, { entries: [], out: [out("q", "Save?")] }, [
        { kind: "due", key: "q", digest: "Save?" },
      ]),
    ).toMatchObject({ kind: "waiting", open: [{ key: "q", digest: "Delete?" }] });
    expect(
      await runOnce(handler, told({ kind: "expired", key: "q", digest: "Save?" })),
    ).toMatchObject({ kind: "waiting", entries: [{ kind: "changed", key: "q" }] });
  });

  test("admission is checked before an answer is recorded, not when it is delivered", async () => {
    const admit = vi.fn(() => ({ kind: "invalid" as const, reason: "not yet" }));
    const handler = (ops: Operations) => ops.ask("q", plain("Q?", { admit }));
    expect(await runOnce(handler, emptyJournal, [answer("q", "Q?")])).toMatchObject({
      kind: "waiting",
      entries: [],
      open: [{ reason: "not yet" }],
    });
    expect(await runOnce(handler, told(answered("q", "Q?")))).toMatchObject({ kind: "done" });
    expect(admit).toHaveBeenCalledTimes(1);
  });

  test("the run fails if a step came after the answer", async () => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.ask("a", plain("A, new?"));
        await ops.step("s", () => {});
      },
      told(answered("a", "A?"), stepped("s")),
    );
    expect(faultOf(outcome)).toMatchObject({ code: "history_changed" });
    expect(faultOf(outcome).message).toContain(
      'question "a" has changed since it was answered, and step',
    );
  });

  test("a second change of one key in a call is an unstable question", async () => {
    let version = 0;
    const { outcome, outcomes } = await converse((ops) =>
      ops.ask("a", plain(`A at ${(version += 1)}?`)),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(["waiting", "waiting", "failed"]);
    expect(faultOf(outcome).code).toBe("unstable_question");
  });

  test("a question that may not change fails the run at once, whether its answer is new or recorded", async () => {
    const handler = (ops: Operations) =>
      ops.ask("a", plain("A, new?", { ifChanged: () => new Error("not the same") }));
    const asked = { entries: [], out: [out("a", "A?")] };
    for (const outcome of [
      await runOnce(handler, asked, [answer("a", "A?")]),
      await runOnce(handler, told(answered("a", "A?"))),
    ]) {
      expect(outcome).toMatchObject({ kind: "failed", error: { message: "not the same" } });
    }
    expect(await runOnce(handler, told(answered("a", "A, new?")))).toMatchObject({ kind: "done" });
  });

  test("an invalid answer leaves no entry, and the question is asked again with the reason", async () => {
    const even = plain("Even?", {
      read: (value) =>
        Number(value) % 2 === 0
          ? { kind: "value", value: Number(value) }
          : { kind: "invalid", reason: "not even" },
    });
    const first = await runOnce(
      (ops) => ops.ask("n", even),
      { entries: [], out: [out("n", "Even?")] },
      [answer("n", "Even?", "3")],
    );
    expect(first).toMatchObject({
      kind: "waiting",
      entries: [],
      open: [{ key: "n", reason: "not even" }],
    });
    const second = await runOnce((ops) => ops.ask("n", even), journalOf(first), [
      answer("n", "Even?", "4"),
    ]);
    expect(second).toMatchObject({
      kind: "done",
      value: 4,
      entries: [answered("n", "Even?", "4")],
    });
  });

  test("validation may be asynchronous, and its errors end the run", async () => {
    const slow = plain("Q?", {
      read: async (value) => {
        await immediate();
        return { kind: "value", value };
      },
    });
    expect(
      await runOnce(
        (ops) => Promise.all([ops.ask("q", slow), ops.step("s", () => 1)]),
        emptyJournal,
        [answer("q", "Q?")],
      ),
    ).toMatchObject({ kind: "done", value: ["answer to q", 1] });
    const broken = plain("Q?", { read: () => Promise.reject(new Error("broken")) });
    expect(
      errorOf(await runOnce((ops) => ops.ask("q", broken), emptyJournal, [answer("q", "Q?")])),
    ).toMatchObject({ message: "broken" });
  });

  test("the raw answer is recorded, and parsed again in every run that finds it recorded", async () => {
    const read = vi.fn((value: unknown) => ({ kind: "value" as const, value: { parsed: value } }));
    const handler = (ops: Operations) => ops.ask("q", plain("Q?", { read }));
    const live = await runOnce(handler, emptyJournal, [answer("q", "Q?", "raw")]);
    expect(live).toMatchObject({
      kind: "done",
      value: { parsed: "raw" },
      entries: [{ value: "raw" }],
    });
    const replayed = await runOnce(handler, told(answered("q", "Q?", "raw")));
    expect(replayed).toEqual(live);
    expect(read).toHaveBeenCalledTimes(2);
  });

  test("a recorded answer that is no longer valid is asked for again", async () => {
    const strict = plain("Q?", { read: () => ({ kind: "invalid", reason: "stricter now" }) });
    const outcome = await runOnce((ops) => ops.ask("q", strict), told(answered("q", "Q?")));
    expect(outcome).toMatchObject({
      kind: "waiting",
      entries: [{ kind: "changed" }],
      open: [{ key: "q", reason: "stricter now" }],
    });
    const late = await runOnce(
      (ops) => ops.ask("q", strict),
      told(answered("q", "Q?"), stepped("s")),
    );
    expect(faultOf(late).message).toContain(
      'question "q" accepted its answer earlier and now refuses it (stricter now), but step "s" came after that answer',
    );
  });

  test("an answer without a token counts only for a question marked unsolicited", async () => {
    const events = [answer("q", undefined)];
    expect(await runOnce((ops) => ops.ask("q", plain("Q?")), emptyJournal, events)).toMatchObject({
      kind: "waiting",
      unused: [],
    });
    expect(
      await runOnce(
        (ops) => ops.ask("q", plain("Q?", { unsolicited: true })),
        emptyJournal,
        events,
      ),
    ).toMatchObject({ kind: "done", value: "answer to q", entries: [answered("q", "Q?")] });
  });

  test("if the time limit came first, the timeout wins", async () => {
    const outcome = await runOnce(
      async (ops) => {
        try {
          return await ops.ask("q", plain("Q?", { timeoutMs: 10 }));
        } catch (error) {
          return error instanceof UnansweredError ? error.reason : "another error";
        }
      },
      { entries: [], out: [out("q", "Q?")] },
      [{ kind: "due", key: "q", digest: "Q?" }, answer("q", "Q?")],
    );
    expect(outcome).toMatchObject({
      kind: "done",
      value: "timed_out",
      entries: [{ kind: "expired", key: "q", digest: "Q?" }],
    });
  });

  test("a question without a time limit does not expire", async () => {
    const outcome = await runOnce((ops) => ops.ask("q", plain("Q?")), emptyJournal, [
      { kind: "due", key: "q", digest: "Q?" },
    ]);
    expect(outcome.kind).toBe("waiting");
  });
});

describe("R8 ending", () => {
  test("questions asked together go out in one round", async () => {
    const { outcomes } = await converse((ops) =>
      Promise.all(["a", "b", "c"].map((key) => ops.ask(key, plain(key)))),
    );
    expect(outcomes).toHaveLength(2);
    expect(outcomes[0]).toMatchObject({ open: [{ key: "a" }, { key: "b" }, { key: "c" }] });
  });

  test("questions go out in one round even if one is asked only after a chain of nextTicks", async () => {
    const outcome = await runOnce((ops) =>
      Promise.all([
        ops.ask("a", plain("A?")),
        (async () => {
          await ticks(20);
          return ops.ask("b", plain("B?"));
        })(),
      ]),
    );
    expect(outcome).toMatchObject({ kind: "waiting", open: [{ key: "a" }, { key: "b" }] });
  });

  test("questions go out in one round after a replay, too", async () => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.step("s", () => "s");
        return Promise.all([
          ops.ask("a", plain("A?")),
          ticks(20).then(() => ops.ask("b", plain("B?"))),
        ]);
      },
      told(stepped("s")),
    );
    expect(outcome).toMatchObject({ kind: "waiting", open: [{ key: "a" }, { key: "b" }] });
  });

  test("an untracked await between two questions costs a round, and loses nothing", async () => {
    const { outcome, outcomes } = await converse((ops) =>
      Promise.all([
        ops.ask("a", plain("A?")),
        (async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return ops.ask("b", plain("B?"));
        })(),
      ]),
    );
    expect(outcomes.length).toBeGreaterThan(1);
    expect(outcome).toMatchObject({ kind: "done", value: ["answer to a", "answer to b"] });
  });

  test("a run does not end as waiting while a body runs", async () => {
    const working = gate<string>();
    const running = runOnce((ops) =>
      Promise.all([ops.ask("q", plain("Q?")), ops.step("s", () => working.opened)]),
    );
    const ended = vi.fn();
    void running.then(ended);
    for (let turn = 0; turn < 5; turn += 1) await immediate();
    expect(ended).not.toHaveBeenCalled();
    working.open("built");
    await expect(running).resolves.toMatchObject({
      kind: "waiting",
      entries: [stepped("s", "built")],
    });
  });

  test("a settling handler ends the run at once; running bodies are aborted and not recorded", async () => {
    const appended = vi.fn();
    const never = gate();
    let signal!: AbortSignal;
    const outcome = await runOnce(
      (ops) =>
        Promise.race([
          ops.step("slow", (step) => {
            signal = step.signal;
            return never.opened;
          }),
          ops.step("fast", () => "first"),
        ]),
      emptyJournal,
      [],
      { append: ({ key }) => void appended(key) },
    );
    expect(outcome).toMatchObject({ kind: "done", value: "first" });
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ reason: "RunEnded" });
    never.open();
    await immediate();
    expect(appended.mock.calls).toEqual([["fast"]]);
  });

  test("a task publishes its open questions while bodies run, once for each change", async () => {
    const published: string[][] = [];
    const working = gate();
    const inbox = new Inbox();
    const running = runOnce(
      (ops) =>
        Promise.all([
          ops.ask("a", plain("A?")),
          ops.ask("b", plain("B?")),
          ops.sleep("t", 100),
          ops.step("s", () => working.opened),
        ]),
      emptyJournal,
      inbox,
      { publish: (open) => void published.push(open.map(({ key }) => key)) },
    );
    while (published.length < 1) await immediate();
    inbox.push(answer("a", "A?"));
    while (published.length < 2) await immediate();
    working.open();
    await expect(running).resolves.toMatchObject({
      kind: "waiting",
      open: [{ key: "b" }, { key: "t" }],
    });
    expect(published).toEqual([
      ["a", "b", "t"],
      ["b", "t"],
    ]);
  });
});

describe("R9 steps", () => {
  test("the value passes through JSON on the first run as on every other", async () => {
    const handler = (ops: Operations) =>
      ops.step("s", () => ({
        at: new Date(0),
        gone: undefined,
        run: () => 1,
        nested: [{ x: -0 }],
      }));
    const first = await runOnce(handler);
    expect(first).toMatchObject({
      kind: "done",
      value: { at: "1970-01-01T00:00:00.000Z", nested: [{ x: 0 }] },
    });
    if (first.kind !== "done") return;
    expect(Object.keys(first.value as object)).toEqual(["at", "nested"]);
    expect(await runOnce(handler, told(...first.entries))).toEqual(first);
  });

  test("an error has the same class on the first run and on every other", async () => {
    class Declined extends Error {
      override name = "Declined";
      code = "card_declined";
      data = { attempt: 2, at: new Date(0) };
    }
    const handler = async (ops: Operations) => {
      try {
        return await ops.step("pay", () => {
          throw new Declined("no money");
        });
      } catch (error) {
        if (!(error instanceof StepError)) return "another class";
        const { key, name, message, code, data } = error;
        return { key, name, message, code, data };
      }
    };
    const first = await runOnce(handler);
    expect(first).toMatchObject({
      kind: "done",
      value: {
        key: "pay",
        name: "Declined",
        message: "no money",
        code: "card_declined",
        data: { attempt: 2, at: "1970-01-01T00:00:00.000Z" },
      },
    });
    if (first.kind === "done")
      expect(await runOnce(handler, told(...first.entries))).toEqual(first);
  });

  test.each([
    ["undefined", undefined, "undefined"],
    ["a string", "just text", "just text"],
    ["null", null, "null"],
    [
      "an object without a prototype",
      Object.create(null),
      "a value that cannot be shown was thrown",
    ],
  ])("a body may throw %s", async (_, thrown, message) => {
    const outcome = await runOnce(async (ops) => {
      await ops.step("s", () => {
        throw thrown;
      });
    });
    expect(errorOf(outcome)).toMatchObject({ name: "Error", message });
  });

  test("a value that JSON cannot preserve ends the run, and no catch hides it", async () => {
    const caught = vi.fn();
    const body = vi.fn(() => ({ byId: new Map() }));
    const outcome = await runOnce((ops) => ops.step("seen", body).catch(caught), emptyJournal, [], {
      place: () => "import.ts:4",
    });
    await immediate();
    expect(faultOf(outcome)).toMatchObject({
      code: "not_json",
      message:
        'Step "seen" (import.ts:4) returned a Map at result.byId, which JSON cannot preserve. The result of a step is stored as JSON between rounds.\nReturn plain data, for example Object.fromEntries(map).',
    });
    expect(caught).not.toHaveBeenCalled();
    expect(body).toHaveBeenCalledTimes(1);
  });

  test.each<[string, () => unknown, string]>([
    ["a Response", () => new Response("x"), "a Response at result"],
    ["an iterator", () => ({ rows: [1].values() }), "an iterator at result.rows"],
    ["an invalid Date", () => [new Date(Number.NaN)], "an invalid Date at result[0]"],
    ["NaN", () => ({ n: Number.NaN }), "NaN at result.n"],
    ["a bigint", () => 1n, "a bigint at result"],
    ["a circular value", () => circle(), "a circular reference at result.self"],
    ["an array with undefined", () => [undefined], "undefined at result[0]"],
    [
      "a getter that throws",
      () => Object.defineProperty({}, "x", { enumerable: true, get: fail }),
      "a value that cannot be read at result",
    ],
  ])("%s is refused instead of being stored as something else", async (_, body, what) => {
    const outcome = await runOnce((ops) => ops.step("s", body));
    expect(faultOf(outcome)).toMatchObject({ code: "not_json" });
    expect(faultOf(outcome).message).toContain(what);
  });

  test("an error whose getters throw is still recorded as an error", async () => {
    const odd = Object.defineProperty(new Error("x"), "message", { get: fail });
    const outcome = await runOnce((ops) =>
      ops
        .step("s", () => Promise.reject(odd))
        .catch((error: unknown) => error instanceof StepError),
    );
    expect(outcome).toMatchObject({ kind: "done", value: true, entries: [{ kind: "threw" }] });
  });

  test("the idempotency key fits in a header, whatever the name of the step", async () => {
    const keys: string[] = [];
    await runOnce(async (ops) => {
      for (const key of ["plain", "ä\n", "\uD800"]) {
        await ops.step(key, ({ idempotencyKey }) => void keys.push(idempotencyKey));
      }
    });
    expect(keys).toEqual(["call-1/plain", "call-1/%C3%A4%0A", "call-1/%EF%BF%BD"]);
  });

  test.each([
    [undefined, undefined, "has no body"],
    [() => {}, { retries: Number.NaN }, "has retries: NaN"],
    [() => {}, { retries: -1 }, "has retries: -1"],
  ])("an invalid step is refused: %j %j", async (body, options, message) => {
    const outcome = await runOnce((ops) => ops.step("s", body as never, options));
    expect(faultOf(outcome)).toMatchObject({ code: "bad_option" });
    expect(faultOf(outcome).message).toContain(message);
  });

  test("a body runs in the asynchronous context of the branch that asked for it", async () => {
    const { AsyncLocalStorage } = await import("node:async_hooks");
    const tenant = new AsyncLocalStorage<string>();
    const seen: string[] = [];
    const charge = (ops: Operations, who: string) =>
      tenant.run(who, () => ops.step(who, () => void seen.push(`${who} ${tenant.getStore()}`)));
    await runOnce((ops) => Promise.all([charge(ops, "a"), charge(ops, "b")]), emptyJournal, [], {
      capture: () => AsyncLocalStorage.snapshot(),
    });
    expect(seen).toEqual(["a a", "b b"]);
  });

  test("a body gets the same idempotency key each time it runs again", async () => {
    const keys: string[] = [];
    const handler = async (ops: Operations) => {
      await ops.step(
        "pay",
        ({ idempotencyKey, attempt }) => void keys.push(`${idempotencyKey} ${attempt}`),
      );
    };
    await runOnce(handler);
    await runOnce(handler);
    expect(keys).toEqual(["call-1/pay 1", "call-1/pay 1"]);
  });

  test("retries count attempts and back off, doubling", async () => {
    const clock = new HandClock();
    const waits: number[] = [];
    const attempts: number[] = [];
    const outcome = await runOnce(
      (ops) =>
        ops.step(
          "s",
          ({ attempt }) => {
            attempts.push(attempt);
            if (attempt < 4) throw new Error(`try ${attempt}`);
            return "at last";
          },
          { retries: 3, backoffMs: 100 },
        ),
      emptyJournal,
      [],
      {
        after: (ms, callback) => {
          waits.push(ms);
          return clock.after(0, callback);
        },
      },
    );
    expect(outcome).toMatchObject({ kind: "done", value: "at last" });
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(waits).toEqual([100, 200, 400]);
  });

  test("the carrier learns of each attempt that fails, and when the next one comes", async () => {
    const heard: unknown[] = [];
    await runOnce(
      (ops) =>
        ops.step(
          "push",
          ({ attempt }) => {
            throw new Error(`refused ${attempt}`);
          },
          { retries: 2, backoffMs: 750 },
        ),
      emptyJournal,
      [],
      {
        after: (_ms, callback) => new HandClock().after(0, callback),
        onStepError: (key, error) => void heard.push([key, errorText(error)]),
      },
    );
    expect(heard).toEqual([
      ["push", "refused 1 (attempt 1 of 3, the next one in 750 ms)"],
      ["push", "refused 2 (attempt 2 of 3, the next one in 1.5 s)"],
      ["push", "refused 3"],
    ]);
  });

  test("what an aborted body throws is not a failed attempt", async () => {
    const stop = new Stop();
    const onStepError = vi.fn();
    const body = vi.fn(
      ({ signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const running = runOnce((ops) => ops.step("s", body, { retries: 3 }), emptyJournal, [], {
      stop,
      onStepError,
    });
    await vi.waitFor(() => expect(body).toHaveBeenCalled());
    stop.stop("LostLease");
    await running;
    for (let turn = 0; turn < 5; turn += 1) await immediate();
    expect(onStepError).not.toHaveBeenCalled();
  });

  test("a body that was aborted is not tried again", async () => {
    const clock = new HandClock();
    const stop = new Stop();
    const body = vi.fn(
      ({ signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const running = runOnce((ops) => ops.step("s", body, { retries: 3 }), emptyJournal, [], {
      stop,
      after: clock.after,
    });
    while (body.mock.calls.length === 0) await immediate();
    stop.stop("LostLease");
    await running;
    for (let turn = 0; turn < 5; turn += 1) await immediate();
    expect(body).toHaveBeenCalledTimes(1);
    expect(clock.waiting).toBe(0);
  });

  test("a body that was waiting for its next try is not tried again", async () => {
    const clock = new HandClock();
    const stop = new Stop();
    const running = runOnce(
      (ops) =>
        ops.step(
          "s",
          () => {
            throw new Error("again");
          },
          { retries: 3, backoffMs: 1_000 },
        ),
      emptyJournal,
      [],
      { stop, after: clock.after },
    );
    while (clock.waiting === 0) await immediate();
    stop.stop("LostLease");
    await running;
    expect(clock.waiting).toBe(0);
  });

  test("outcomes after the signal aborted are never recorded", async () => {
    const appended = vi.fn();
    const working = gate();
    const stop = new Stop();
    const running = runOnce((ops) => ops.step("s", () => working.opened), emptyJournal, [], {
      stop,
      append: appended,
    });
    await immediate();
    await immediate();
    stop.stop("LostLease");
    working.open();
    await immediate();
    expect(await running).toEqual({ kind: "stopped", reason: "LostLease" });
    expect(appended).not.toHaveBeenCalled();
  });

  test("no body starts when the carrier forbids it", async () => {
    const body = vi.fn();
    const outcome = await runOnce((ops) => ops.step("s", body), emptyJournal, [], {
      mayStart: () => false,
    });
    expect(outcome).toEqual({ kind: "stopped", reason: "LostLease" });
    expect(body).not.toHaveBeenCalled();
  });

  test("the carrier is asked before each attempt of a body, not only before the first", async () => {
    let attempts = 0;
    let isHeld = true;
    const outcome = await runOnce(
      (ops) =>
        ops.step(
          "flaky",
          () => {
            attempts += 1;
            // The process is stopped during the pause before a retry.
            isHeld = false;
            throw new Error("not yet");
          },
          { retries: 1, backoffMs: 1 },
        ),
      emptyJournal,
      [],
      {
        mayStart: () => isHeld,
        after: (_ms, callback) => {
          const soon = setImmediate(callback);
          return () => clearImmediate(soon);
        },
      },
    );
    expect(outcome).toEqual({ kind: "stopped", reason: "LostLease" });
    expect(attempts).toBe(1);
  });

  test("the carrier learns when a body ends, even after the run", async () => {
    const working = gate();
    const stop = new Stop();
    const ends: Promise<void>[] = [];
    const running = runOnce((ops) => ops.step("s", () => working.opened), emptyJournal, [], {
      stop,
      onBody: (end) => void ends.push(end),
    });
    await immediate();
    await immediate();
    stop.stop("Draining");
    await running;
    expect(ends).toHaveLength(1);
    let isOver = false;
    void ends[0]?.then(() => (isOver = true));
    await immediate();
    expect(isOver).toBe(false);
    working.open();
    await immediate();
    expect(isOver).toBe(true);
  });

  test("a step that belongs to a question has a key that an author cannot use", async () => {
    const outcome = await runOnce(
      async (ops) => {
        const question = ops.ask("q", plain("Q?"));
        await Promise.all([question, ops.aside("q", () => "told")]);
      },
      emptyJournal,
      [],
      { canDetach: false },
    );
    expect(outcome).toMatchObject({
      kind: "waiting",
      entries: [{ kind: "step", key: "q~aside", value: "told" }],
    });
    const used = await runOnce((ops) => ops.step("q~aside", () => {}));
    expect(used).toMatchObject({ kind: "failed", error: { code: "bad_key" } });
    const bad = await runOnce((ops) => ops.aside("", () => {}));
    expect(bad).toMatchObject({ kind: "failed", error: { code: "bad_key" } });
  });

  test("work that belongs to a task-only question does not start before the task exists", async () => {
    const notify = vi.fn();
    const outcome = await runOnce(
      async (ops) => {
        const question = ops.ask("q", plain("Q?"));
        await Promise.all([question, ops.aside("q", notify)]);
      },
      emptyJournal,
      [],
      { canDetach: true },
    );
    expect(outcome).toMatchObject({ kind: "waiting", entries: [], open: [{ key: "q" }] });
    expect(notify).not.toHaveBeenCalled();
  });
});

describe("R10 fatal mistakes", () => {
  const places = (...lines: number[]): Partial<Carrier> => ({
    place: () => `import.ts:${lines.shift()}`,
  });

  /** Expects the run to fail, even if the handler catches everything. */
  async function fatal(
    handler: (ops: Operations) => unknown,
    carrier: Partial<Carrier> = {},
    journal = emptyJournal,
  ) {
    const settled = vi.fn();
    const outcome = await runOnce(
      async (ops) => {
        try {
          await handler(ops);
        } catch (error) {
          settled(error);
        }
        return "hidden";
      },
      journal,
      [],
      carrier,
    );
    await immediate();
    expect(settled).not.toHaveBeenCalled();
    return errorOf(outcome) as ParleyError;
  }

  test("a key is used twice", async () => {
    const error = await fatal(
      async (ops) => {
        for (const row of [1, 2]) await ops.step("save", () => row);
      },
      { ...places(8, 8), name: "import_rows" },
    );
    expect(error).toMatchObject({
      code: "duplicate_key",
      message:
        'Key "save" is used twice in one run of "import_rows": by a step at import.ts:8 and by a step at import.ts:8.\nEach question and step of a call needs its own key. In a loop, add what differs: `save-${i}`.',
    });
  });

  test("the kind of a key changes", async () => {
    const error = await fatal((ops) => ops.step("x", () => {}), {}, told(answered("x", "X?")));
    expect(error.code).toBe("history_changed");
    expect(error.message).toContain(
      'the journal has question "x", but the handler now uses that key for a step',
    );
  });

  test("a question inside a step's body is found by the synchronous flag", async () => {
    const error = await fatal(
      (ops) => ops.step("save", () => ops.ask("ok", plain("Ok?"))),
      places(8, 9),
    );
    expect(error).toMatchObject({
      code: "ask_in_step",
      message:
        'Question "ok" is asked inside step "save" (import.ts:9). A step runs once and cannot wait for a person.\nAsk first, then use the answer in the step.',
    });
  });

  test("a step starts inside a step's body", async () => {
    expect((await fatal((ops) => ops.step("outer", () => ops.step("inner", () => 1)))).code).toBe(
      "step_in_step",
    );
  });

  test("an operation after an await in the body is found if the carrier tracks it", async () => {
    const { AsyncLocalStorage } = await import("node:async_hooks");
    const storage = new AsyncLocalStorage<string>();
    const error = await fatal(
      (ops) =>
        ops.step("outer", async () => {
          await immediate();
          await ops.ask("inner", plain("Inner?"));
        }),
      {
        nesting: {
          run: (step, body) => storage.run(step, body),
          current: () => storage.getStore(),
        },
      },
    );
    expect(error.code).toBe("ask_in_step");
  });

  test("a step starts past an un-awaited question", async () => {
    const body = vi.fn();
    const error = await fatal(
      async (ops) => {
        if (!ops.ask("go", plain("Go?"))) return;
        await ops.step("deploy", body);
      },
      { place: vi.fn().mockReturnValueOnce("deploy.ts:12").mockReturnValueOnce("deploy.ts:13") },
    );
    expect(error).toMatchObject({
      code: "not_awaited",
      message:
        'Question "go" (deploy.ts:12) was asked but not awaited before step "deploy" (deploy.ts:13) began, so the handler would not wait for the answer.\nWrite `await ctx.ask("go", …)`. To ask while a step runs, use Promise.all([ctx.ask(…), ctx.step(…)]).',
    });
    expect(body).not.toHaveBeenCalled();
  });

  test("the handler returns past a step that is not awaited", async () => {
    const body = vi.fn();
    const error = await fatal((ops) => void ops.step("save", body), { place: () => "x.ts:7" });
    expect(error).toMatchObject({
      code: "not_awaited",
      message:
        'Step "save" (x.ts:7) was started but not awaited before the handler returned, so its outcome would be lost.\nWrite `await ctx.step("save", …)`.',
    });
    expect(body).not.toHaveBeenCalled();
  });

  test.each([
    ["background", (ops: Operations) => ops.background()],
    ["checkpoint", (ops: Operations) => ops.checkpoint()],
    ["the handler's return", () => "returned"],
  ])("%s past an un-awaited question is fatal", async (_, next) => {
    const error = await fatal((ops) => {
      void ops.ask("go", plain("Go?"));
      return next(ops);
    });
    expect(error.code).toBe("not_awaited");
  });

  test("a question asked after the step does not affect the step", async () => {
    const { outcome } = await converse(async (ops) => {
      const first = ops.ask("q1", plain("Q1?"));
      const step = ops.step("s", () => 1);
      const second = ops.ask("q2", plain("Q2?"));
      await Promise.all([first, step]);
      return second;
    });
    expect(outcome).toMatchObject({ kind: "done", value: "answer to q2" });
  });

  test("an un-awaited question is fatal even if it was answered in an earlier round", async () => {
    const error = await fatal(
      async (ops) => {
        void ops.ask("go", plain("Go?"));
        await ops.step("deploy", () => {});
      },
      {},
      told(answered("go", "Go?")),
    );
    expect(error.code).toBe("not_awaited");
  });

  test.each([
    [
      "Promise.all",
      (ops: Operations) => Promise.all([ops.ask("q", plain("Q?")), ops.step("s", () => 1)]),
    ],
    [
      "Promise.race",
      (ops: Operations) => Promise.race([ops.step("s", () => 1), ops.ask("q", plain("Q?"))]),
    ],
    [
      "Promise.any",
      (ops: Operations) => Promise.any([ops.ask("q", plain("Q?")), ops.step("s", () => 1)]),
    ],
    [
      "Promise.allSettled",
      (ops: Operations) => Promise.allSettled([ops.ask("q", plain("Q?")), ops.step("s", () => 1)]),
    ],
    [
      "an async function around it",
      async (ops: Operations) => {
        const question = (async () => ops.ask("q", plain("Q?")))();
        await ops.step("s", () => 1);
        return question;
      },
    ],
  ])("%s counts as awaiting", async (_, handler) => {
    const { outcome } = await converse(handler);
    expect(outcome.kind).toBe("done");
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    "a question asked %i microtasks before the return is not forgotten",
    async (hops) => {
      const outcome = await runOnce((ops) =>
        Promise.any([
          (async () => {
            for (let hop = 0; hop < 4; hop += 1) await null;
            return "first";
          })(),
          (async () => {
            for (let hop = 0; hop < hops; hop += 1) await null;
            return await ops.ask("q", plain("Q?"));
          })(),
        ]),
      );
      expect(outcome).toMatchObject({ kind: "done", value: "first" });
    },
  );

  test.each([[""], ["a~2"], ["x".repeat(201)], [42], [undefined], ["__proto__"]])(
    "an invalid key is fatal: %j",
    async (key) => {
      const operations: TestHandler[] = [
        (ops) => ops.step(key as string, () => {}),
        (ops) => ops.ask(key as string, plain("Q?")),
        (ops) => ops.sleep(key as string, 1),
      ];
      for (const operation of operations) {
        const error = await fatal(operation);
        expect(error.code).toBe("bad_key");
        expect(error.message).toContain('A key is a string of 1 to 200 characters without "~"');
      }
    },
  );

  test("other keys of Object.prototype are treated like any other", async () => {
    const { outcome } = await converse(async (ops) => [
      await ops.ask("hasOwnProperty", plain("P?")),
      await ops.step("constructor", () => "c"),
      await ops.ask("toString", plain("T?")),
    ]);
    expect(outcome).toMatchObject({
      kind: "done",
      value: ["answer to hasOwnProperty", "c", "answer to toString"],
    });
  });
});

describe("R11 background and checkpoint", () => {
  test("background ends the run as detached, and the next run continues past its entry", async () => {
    const handler = async (ops: Operations) => {
      await ops.step("before", () => "before");
      await ops.background({ ttlMs: 5 });
      return ops.step("after", () => "after");
    };
    const first = await runOnce(handler);
    expect(first).toMatchObject({
      kind: "detached",
      options: { ttlMs: 5 },
      entries: [stepped("before", "before"), { kind: "background" }],
    });
    expect(await runOnce(handler, journalOf(first))).toMatchObject({
      kind: "done",
      value: "after",
    });
  });

  test("if the call cannot become a task, background has no effect", async () => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.background();
        return "inline";
      },
      emptyJournal,
      [],
      { canDetach: false },
    );
    expect(outcome).toMatchObject({
      kind: "done",
      value: "inline",
      entries: [{ kind: "background" }],
    });
  });

  test("once background is requested no new body starts, running bodies are recorded, and open questions move to the task", async () => {
    const working = gate();
    const later = vi.fn();
    const running = runOnce((ops) =>
      Promise.all([
        ops.step("running", () => working.opened),
        ops.ask("q", plain("Q?")),
        (async () => {
          await ops.step("quick", () => {});
          await ops.background();
        })(),
        (async () => {
          await ops.step("quick too", () => {});
          await immediate();
          await immediate();
          await ops.step("later", later);
        })(),
      ]),
    );
    for (let turn = 0; turn < 10; turn += 1) await immediate();
    working.open();
    const outcome = await running;
    expect(outcome).toMatchObject({ kind: "detached", open: [{ key: "q" }] });
    if (outcome.kind === "detached") {
      expect(outcome.entries.map(({ key }) => key)).toEqual([
        "quick",
        "quick too",
        "running",
        "~background-1",
      ]);
    }
    expect(later).not.toHaveBeenCalled();
  });

  test("checkpoint ends the round if the round ran a body, and otherwise does nothing", async () => {
    const handler = async (ops: Operations) => {
      await ops.checkpoint();
      await ops.step("s", () => 1);
      await ops.checkpoint();
      return "end";
    };
    const { outcomes } = await converse(handler);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["yielded", "done"]);
    expect(outcomes[1]).toMatchObject({
      entries: [{ kind: "checkpoint" }, { kind: "step" }, { kind: "checkpoint" }],
    });
  });

  test("checkpoint does nothing if no further round is possible", async () => {
    const handler = async (ops: Operations) => {
      await ops.step("s", () => 1);
      await ops.checkpoint();
      return "end";
    };
    expect(await runOnce(handler, emptyJournal, [], { canYield: false })).toMatchObject({
      kind: "done",
    });
  });

  test("checkpoint with afterMs ends the round only once the run has taken that long", async () => {
    const handler = async (ops: Operations) => {
      await ops.step("s", () => 1);
      await ops.checkpoint(100);
      return "end";
    };
    expect(await runOnce(handler, emptyJournal, [], { elapsedMs: () => 99 })).toMatchObject({
      kind: "done",
    });
    expect(await runOnce(handler, emptyJournal, [], { elapsedMs: () => 100 })).toMatchObject({
      kind: "yielded",
    });
  });
});

describe("R12 signal", () => {
  test("a suspended run does not abort the handler's signal, but releases its resources", async () => {
    const released = vi.fn();
    let signal!: AbortSignal;
    const outcome = await runOnce(async (ops) => {
      signal = ops.signal();
      ops.onRunEnd(released);
      await ops.ask("a", plain("A?"));
    });
    expect(outcome.kind).toBe("waiting");
    expect(signal.aborted).toBe(false);
    expect(released).toHaveBeenCalledTimes(1);
  });

  test.each(["Cancelled", "Disconnected", "LostLease", "Draining", "Deadline"] as const)(
    "%s aborts the signals and stops the run, even if the handler never settles",
    async (reason) => {
      const stop = new Stop();
      const signals: AbortSignal[] = [];
      const running = runOnce(
        async (ops) => {
          signals.push(ops.signal());
          await ops.step("s", (step) => {
            signals.push(step.signal);
            return new Promise(() => {});
          });
        },
        emptyJournal,
        [],
        { stop },
      );
      await immediate();
      await immediate();
      stop.stop(reason);
      expect(await running).toEqual({ kind: "stopped", reason });
      expect(signals).toHaveLength(2);
      for (const signal of signals) {
        expect(signal.reason).toBeInstanceOf(Stopped);
        expect(signal.reason).toMatchObject({ reason, name: reason });
      }
    },
  );

  test("a signal that is first read afterwards is aborted, too", async () => {
    const kept: { ops?: Operations; signal?: () => AbortSignal } = {};
    const outcome = await runOnce(
      (ops) => {
        kept.ops = ops;
        return ops.step("s", () => {});
      },
      emptyJournal,
      [],
      { mayStart: () => false },
    );
    expect(outcome.kind).toBe("stopped");
    expect(kept.ops?.signal().reason).toMatchObject({ reason: "LostLease" });
    await runOnce((ops) =>
      Promise.race([
        ops.step("slow", (step) => {
          kept.signal = () => step.signal;
          return new Promise(() => {});
        }),
        ops.step("fast", () => {}),
      ]),
    );
    expect(kept.signal?.().reason).toMatchObject({ reason: "RunEnded" });
  });

  test("a release that is registered after the end runs at once, and may be asynchronous", async () => {
    const reports: unknown[] = [];
    let late!: Operations;
    await runOnce((ops) => void (late = ops), emptyJournal, [], {
      report: (mistake) => reports.push(mistake),
    });
    const released = vi.fn();
    late.onRunEnd(released);
    expect(released).toHaveBeenCalledTimes(1);
    late.onRunEnd(() => Promise.reject(new Error("in release")) as never);
    await immediate();
    expect(reports).toMatchObject([{ message: "in release" }]);
  });

  test("a run that is stopped before it begins does not begin", async () => {
    const stop = new Stop();
    stop.stop("Draining");
    const handler = vi.fn();
    expect(await runOnce(handler, emptyJournal, [], { stop })).toEqual({
      kind: "stopped",
      reason: "Draining",
    });
    expect(handler).not.toHaveBeenCalled();
  });

  describe("a run that drains", () => {
    /** Runs a handler, drains the run when the test says so, and notes what it records. */
    function draining(handler: (ops: Operations) => unknown, more: Partial<Carrier> = {}) {
      const drain = new Stop();
      const recorded: Entry[] = [];
      const outcome = runOnce(handler, emptyJournal, [], {
        drain,
        append: async (entry) => {
          await immediate();
          recorded.push(entry);
        },
        ...more,
      });
      return { drain: () => drain.stop("Draining"), stop: drain, recorded, outcome };
    }

    test("records and delivers what its running bodies return, and starts nothing new", async () => {
      const working = gate<string>();
      const second = vi.fn();
      const signals: AbortSignal[] = [];
      const { drain, recorded, outcome } = draining(async (ops) => {
        await ops.step("first", ({ signal }) => {
          signals.push(signal);
          return working.opened;
        });
        await ops.step("second", second);
      });
      await vi.waitFor(() => expect(signals).toHaveLength(1));
      drain();
      await immediate();
      expect(signals[0]?.aborted).toBe(false);
      working.open("worked");
      expect(await outcome).toEqual({ kind: "stopped", reason: "Draining" });
      expect(recorded).toEqual([stepped("first", "worked")]);
      expect(second).not.toHaveBeenCalled();
    });

    test("ends as usual if its handler returns, throws or waits before anything new would start", async () => {
      for (const [then, kind] of [
        [() => "end", "done"],
        [fail, "failed"],
        [(ops: Operations) => ops.ask("a", plain("A?")), "waiting"],
      ] as const) {
        const working = gate();
        const started = gate();
        const { drain, recorded, outcome } = draining(async (ops) => {
          await ops.step("s", () => {
            started.open();
            return working.opened;
          });
          return then(ops);
        });
        await started.opened;
        drain();
        working.open();
        expect((await outcome).kind).toBe(kind);
        expect(recorded).toHaveLength(1);
      }
    });

    test("finishes a record that is being written", async () => {
      const writing = gate();
      const written = gate();
      const { drain, outcome } = draining(
        async (ops) => {
          await ops.step("s", () => "done");
          return "end";
        },
        {
          append: () => {
            writing.open();
            return written.opened;
          },
        },
      );
      await writing.opened;
      drain();
      written.open();
      expect(await outcome).toMatchObject({ kind: "done", value: "end" });
    });

    test("ends at once if nothing is under way, even if its handler never settles", async () => {
      const idle = gate();
      const before = draining(async (ops) => {
        await ops.step("s", () => {});
        idle.open();
        await new Promise(() => {});
      });
      await idle.opened;
      before.drain();
      expect(await before.outcome).toEqual({ kind: "stopped", reason: "Draining" });
      const started = gate();
      const working = gate();
      const after = draining(async (ops) => {
        await ops.step("s", () => {
          started.open();
          return working.opened;
        });
        await new Promise(() => {});
      });
      await started.opened;
      after.drain();
      working.open();
      expect(await after.outcome).toEqual({ kind: "stopped", reason: "Draining" });
      expect(after.recorded).toHaveLength(1);
    });

    test("does not wait for an answer if a step is left to start", async () => {
      const started = gate();
      const working = gate();
      const { drain, recorded, outcome } = draining((ops) =>
        Promise.all([
          ops.ask("a", plain("A?")),
          ops
            .step("first", () => {
              started.open();
              return working.opened;
            })
            .then(() => ops.step("second", () => {})),
        ]),
      );
      await started.opened;
      drain();
      working.open();
      expect(await outcome).toEqual({ kind: "stopped", reason: "Draining" });
      expect(recorded).toMatchObject([{ key: "first" }]);
    });

    test.each(["before", "while"] as const)(
      "does not try a body again: it drains %s the body fails",
      async (when) => {
        const failed = gate();
        let attempts = 0;
        const { drain, recorded, outcome } = draining((ops) =>
          Promise.all([
            ops.ask("a", plain("A?")),
            ops.step(
              "s",
              async () => {
                attempts += 1;
                if (when === "before") drain();
                setImmediate(() => setImmediate(failed.open));
                throw new Error("not yet");
              },
              { retries: 3, backoffMs: 3_600_000 },
            ),
          ]),
        );
        await failed.opened;
        if (when === "while") drain();
        expect(await outcome).toEqual({ kind: "stopped", reason: "Draining" });
        expect({ attempts, recorded }).toEqual({ attempts: 1, recorded: [] });
      },
    );

    test("records the failure of a body that has no retries left", async () => {
      const started = gate();
      const working = gate();
      const { drain, recorded, outcome } = draining((ops) =>
        ops.step("s", async () => {
          started.open();
          await working.opened;
          fail();
        }),
      );
      await started.opened;
      drain();
      working.open();
      expect((await outcome).kind).toBe("failed");
      expect(recorded).toMatchObject([{ kind: "threw", key: "s" }]);
    });

    test("does not begin if it was asked to drain before", async () => {
      const stop = new Stop();
      stop.stop("Draining");
      const handler = vi.fn();
      const { outcome } = draining(handler, { drain: stop });
      expect(await outcome).toEqual({ kind: "stopped", reason: "Draining" });
      expect(handler).not.toHaveBeenCalled();
    });
  });

  test("listeners are removed at the end of the run", async () => {
    const stop = new Stop();
    const drain = new Stop();
    const inbox = new Inbox();
    await runOnce((ops) => ops.ask("a", plain("A?")), emptyJournal, inbox, { stop, drain });
    expect([stop.listenerCount, drain.listenerCount]).toEqual([0, 0]);
    expect(inbox.listener).toBeUndefined();
  });

  test("an error in a release does not stop the other releases", async () => {
    const released = vi.fn();
    const reports: unknown[] = [];
    await runOnce(
      (ops) => {
        ops.onRunEnd(() => {
          throw new Error("in release");
        });
        ops.onRunEnd(released);
      },
      emptyJournal,
      [],
      { report: (mistake) => reports.push(mistake) },
    );
    expect(released).toHaveBeenCalledTimes(1);
    expect(reports).toMatchObject([{ message: "in release" }]);
  });
});

describe("R14 forks", () => {
  test("a journal that is sent again forks the call: its steps do not run again, later ones do, under the same key", async () => {
    const ran: string[] = [];
    const handler = async (ops: Operations) => {
      await ops.step("before", ({ idempotencyKey }) => void ran.push(idempotencyKey));
      const how = await ops.ask("q", plain("Q?"));
      await ops.step("after", ({ idempotencyKey }) => void ran.push(idempotencyKey));
      return how;
    };
    const first = await runOnce(handler);
    const fork = (value: string) =>
      runOnce(
        handler,
        journalOf(first),
        answersTo(first, () => value),
      );
    expect(await fork("one")).toMatchObject({ kind: "done", value: "one" });
    expect(await fork("two")).toMatchObject({ kind: "done", value: "two" });
    expect(ran).toEqual(["call-1/before", "call-1/after", "call-1/after"]);
  });

  test("postponed bodies end the run as yielded, with its open questions, and nothing has started", async () => {
    const body = vi.fn();
    const outcome = await runOnce(
      (ops) => Promise.all([ops.ask("q", plain("Q?")), ops.step("s", body)]),
      emptyJournal,
      [],
      { mayStart: () => "later" },
    );
    expect(outcome).toMatchObject({ kind: "yielded", entries: [], open: [{ key: "q" }] });
    const alone = await runOnce((ops) => ops.step("s", body), emptyJournal, [], {
      mayStart: () => "later",
    });
    expect(alone).toMatchObject({ kind: "yielded", entries: [], open: [] });
    expect(body).not.toHaveBeenCalled();
  });
});

describe("R15 cost", () => {
  test("a handler that uses no operation causes no signal, timer, turn or listener to be created", async () => {
    const made: string[] = [];
    const { createHook } = await import("node:async_hooks");
    const hook = createHook({
      init: (_id, type) => {
        if (type !== "PROMISE") made.push(type);
      },
    });
    const abort = vi.spyOn(globalThis, "AbortController");
    const turn = vi.fn();
    const after = vi.fn(() => () => {});
    hook.enable();
    const outcome = await runOnce((ops) => (ops.isLive() ? "nothing" : "?"), emptyJournal, [], {
      turns: { full: turn, brief: turn },
      after,
    });
    hook.disable();
    expect(outcome).toEqual({ kind: "done", value: "nothing", entries: [] });
    expect(made).toEqual([]);
    expect(turn).not.toHaveBeenCalled();
    expect(after).not.toHaveBeenCalled();
    expect(abort).not.toHaveBeenCalled();
    abort.mockRestore();
  });
});

describe("a carrier that misbehaves ends the run, not the process", () => {
  test.each<[string, Partial<Carrier>]>([
    ["mayStart", { mayStart: fail }],
    ["elapsedMs", { elapsedMs: fail }],
    ["append", { append: fail }],
  ])("%s throws", async (_, carrier) => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.step("s", () => 1);
        await ops.checkpoint(10);
      },
      emptyJournal,
      [],
      carrier,
    );
    expect(errorOf(outcome)).toMatchObject({ message: "from a getter" });
  });

  test("a read returns nothing", async () => {
    const outcome = await runOnce(
      (ops) => ops.ask("q", plain("Q?", { read: () => undefined as never })),
      emptyJournal,
      [answer("q", "Q?")],
    );
    expect(errorOf(outcome)).toBeInstanceOf(TypeError);
  });

  test("an append whose promise comes from another library is awaited", async () => {
    const later = gate();
    const delivered = vi.fn();
    // oxlint-disable-next-line unicorn/no-thenable -- this is what the test is about
    const thenable = { then: (resolve: () => void) => void later.opened.then(resolve) };
    const running = runOnce((ops) => ops.step("s", () => 1).then(delivered), emptyJournal, [], {
      append: () => thenable as never,
    });
    for (let turn = 0; turn < 5; turn += 1) await immediate();
    expect(delivered).not.toHaveBeenCalled();
    later.open();
    expect(await running).toMatchObject({ kind: "done" });
  });

  test("a report that throws does not stop the run from ending", async () => {
    const running = runOnce(
      (ops) => {
        ops.onRunEnd(fail);
        return "end";
      },
      emptyJournal,
      [],
      { report: fail },
    ).catch(() => "rejected");
    expect(await running).toMatchObject({ kind: "done" });
  });
});

describe("a handler that never waits for anything slow", () => {
  test("does not block the process", async () => {
    const stop = new Stop();
    setImmediate(() => setImmediate(() => setImmediate(() => stop.stop("Deadline"))));
    const outcome = await runOnce(
      async (ops) => {
        for (let n = 0; n < 100_000; n += 1) await ops.step(`s${n}`, () => n);
      },
      emptyJournal,
      [],
      { stop },
    );
    expect(outcome).toEqual({ kind: "stopped", reason: "Deadline" });
  });
});

describe("a promise that is kept from an earlier run", () => {
  const ways: readonly [string, (kept: Promise<unknown>) => unknown][] = [
    ["awaited", async (kept) => await kept],
    ["returned", (kept) => kept],
    ["in Promise.all", (kept) => Promise.all([kept, 1])],
    ["in Promise.race", async (kept) => Promise.race([kept, new Promise(() => {})])],
    ["behind a helper", async (kept) => await (async () => await kept)()],
  ];

  test.each(ways)("fails the run that awaits it first, instead of hanging: %s", async (_, use) => {
    let kept: Promise<unknown> | undefined;
    const handler = (ops: Operations) => use((kept ??= ops.ask("q", plain("Q?"))));
    const first = await runOnce(handler);
    expect(first).toMatchObject({ kind: "waiting" });
    const error = faultOf(await runOnce(handler, journalOf(first)));
    expect(error.code).toBe("ctx_after_return");
    expect(error.message).toContain('awaits question "q", which it has kept from an earlier run');
  });

  test("is not reported as a mistake of another handler, or of code that an earlier run left behind", async () => {
    const own = gate();
    const late = gate();
    const first = await runOnce(async (ops) => {
      const question = ops.ask("q", plain("Q?"));
      await own.opened;
      late.open();
      return await question;
    });
    const inbox = [{ kind: "answer", key: "q", digest: "Q?", value: "v" }] as const;
    const second = runOnce(
      async (ops) => {
        own.open();
        await late.opened;
        return await ops.ask("q", plain("Q?"));
      },
      journalOf(first),
      inbox,
      { name: "another" },
    );
    expect(await second).toMatchObject({ kind: "done", value: "v" });
  });

  test("may be awaited if it has a value", async () => {
    let kept: Promise<unknown> | undefined;
    const handler = async (ops: Operations) => {
      const value = await (kept ??= ops.step("s", () => "v"));
      await ops.step("s", () => "again").catch(() => {});
      return [value, await ops.ask("q", plain("Q?"))];
    };
    const first = await runOnce(async (ops) => {
      kept = ops.step("s", () => "v");
      await kept;
      return await ops.ask("q", plain("Q?"));
    });
    const inbox = [{ kind: "answer", key: "q", digest: "Q?", value: "a" }] as const;
    expect(await runOnce(handler, journalOf(first), inbox)).toMatchObject({ value: ["v", "a"] });
  });
});

describe("how a handler ends by itself", () => {
  test("a value that it throws, synchronously or not, is how the run fails", async () => {
    expect(
      errorOf(
        await runOnce(() => {
          throw new Error("at once");
        }),
      ),
    ).toMatchObject({ message: "at once" });
    expect(errorOf(await runOnce(() => Promise.reject(new Error("later"))))).toMatchObject({
      message: "later",
    });
  });

  test("waiting for its own promise does not end the run, and development mode reports it", async () => {
    const onIdle = vi.fn();
    const own = gate<string>();
    const running = runOnce(
      async (ops) => {
        await ops.step("s", () => {});
        return own.opened;
      },
      emptyJournal,
      [],
      { onIdle },
    );
    while (onIdle.mock.calls.length === 0) await immediate();
    own.open("mine");
    expect(await running).toMatchObject({ kind: "done", value: "mine" });
  });

  test("a question that has become impossible does not overtake the recorded entries", async () => {
    let isPast = false;
    const handler = async (ops: Operations) => {
      const impossible = new UnansweredError("q", "unsupported");
      await ops.ask("q", plain("New?", { impossible })).catch(() => {});
      isPast = true;
      await ops.step("pay", () => {});
      return "past it";
    };
    const recorded = told(answered("q", "Old?"), stepped("pay"));
    expect(faultOf(await runOnce(handler, recorded)).code).toBe("history_changed");
    expect(isPast).toBe(false);
    expect(await runOnce(handler, told(answered("q", "Old?")))).toMatchObject({
      kind: "done",
      value: "past it",
    });
  });

  test("an impossible question rejects at once and leaves no entry", async () => {
    const outcome = await runOnce(async (ops) => {
      try {
        await ops.ask("q", plain("Q?", { impossible: new UnansweredError("q", "unsupported") }));
      } catch (error) {
        return error instanceof UnansweredError && error.reason;
      }
      return "not reached";
    });
    expect(outcome).toMatchObject({ kind: "done", value: "unsupported", entries: [] });
  });
});
