// Tests for R17: `patched`, clause by clause. `npm run mutants -- R17` breaks each clause and expects one of them to fail.

import { describe, expect, test, vi } from "vitest";
import { ParleyError } from "../errors.ts";
import type { Carrier } from "./carrier.ts";
import type { InboxEvent } from "./inbox.ts";
import type { Entry, Journal, PatchPath } from "./journal.ts";
import { emptyJournal, packEntry, unpackEntry } from "./journal.ts";
import type { Operations } from "./operations.ts";
import type { Outcome } from "./outcome.ts";
import { answersTo, converse, HandClock, journalOf, plain, runOnce } from "./rounds.fixture.ts";

const note = (key: string, path: PatchPath = "new"): Entry => ({ kind: "patched", key, path });
const stepped = (key: string): Entry => ({ kind: "step", key, value: `result of ${key}` });
const answered = (key: string): Entry => ({
  kind: "answer",
  key,
  value: `answer to ${key}`,
  digest: key,
});
const checkpoint: Entry = { kind: "checkpoint", key: "~checkpoint-1" };
const told = (...entries: Entry[]): Journal => ({ entries, out: [] });
const entriesOf = (outcome: Outcome<unknown>) => ("entries" in outcome ? outcome.entries : []);
const notesIn = (outcome: Outcome<unknown>) =>
  entriesOf(outcome).flatMap((entry) => (entry.kind === "patched" ? [entry.key] : []));

function faultOf(outcome: Outcome<unknown>): ParleyError {
  expect(outcome.kind).toBe("failed");
  if (outcome.kind !== "failed" || !(outcome.error instanceof ParleyError)) throw new Error("?");
  return outcome.error;
}

/** A handler whose author has put a step in front of one that calls had recorded. */
async function changed(ops: Operations): Promise<string[]> {
  const done: string[] = [];
  const run = async (key: string) => {
    await ops.step(key, () => void done.push(key));
  };
  await run("first");
  if (await ops.patched("vat")) await run("vat");
  await run("second");
  await ops.ask("q", plain("q"));
  await run("third");
  return done;
}

describe("R17 P1: a note in a key space of its own", () => {
  test("a new call takes the new path, notes it once, and keeps to it in every round", async () => {
    const { outcome, outcomes } = await converse(changed);
    expect(outcome).toMatchObject({ kind: "done", value: ["third"] });
    expect(outcomes).toHaveLength(2);
    expect(entriesOf(outcome).map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      "step first",
      "patched vat",
      "step vat",
      "step second",
      "answer q",
      "step third",
    ]);
  });

  test("a call that was past the place keeps its old path, and runs no step again", async () => {
    const bodies: string[] = [];
    const journal: Journal = {
      entries: [stepped("first"), stepped("second")],
      out: [{ key: "q", digest: "q" }],
    };
    const waiting = await runOnce(changed, journal);
    expect(waiting).toMatchObject({ kind: "waiting", entries: journal.entries });
    const outcome = await runOnce(
      changed,
      journal,
      answersTo(waiting, () => "yes"),
    );
    expect(outcome).toMatchObject({ kind: "done", value: ["third"] });
    expect(notesIn(outcome)).toEqual([]);
    expect(bodies).toEqual([]);
  });

  test("its key may be that of a step or a question, and asking twice is not a mistake", async () => {
    const outcome = await runOnce(async (ops) => {
      const first = await ops.patched("vat");
      await ops.step("vat", () => 1);
      const [second, third] = await Promise.all([ops.patched("vat"), ops.patched("vat")]);
      return [first, second, third];
    });
    expect(outcome).toMatchObject({ kind: "done", value: [true, true, true] });
    expect(notesIn(outcome)).toEqual(["vat"]);
  });

  test("asked again further on, it has the value that it had in this call", async () => {
    const outcome = await runOnce(
      async (ops) => {
        const before = await ops.patched("vat");
        await ops.step("first", () => {});
        await ops.step("new", () => {});
        return [before, await ops.patched("vat")];
      },
      told(stepped("first")),
    );
    expect(outcome).toMatchObject({ kind: "done", value: [false, false] });
  });

  test("the same key, asked by two branches at once, is noted once", async () => {
    const outcome = await runOnce((ops) => Promise.all([ops.patched("vat"), ops.patched("vat")]));
    expect(outcome).toMatchObject({ kind: "done", value: [true, true] });
    expect(notesIn(outcome)).toEqual(["vat"]);
  });

  test("a cut leaves the note in the log, for when the handler gets there again", async () => {
    const cuts: number[] = [];
    const appended: Entry[] = [];
    const handler = async (ops: Operations) => {
      await ops.ask("q", plain("reworded"));
      return ops.patched("vat");
    };
    const first = await runOnce(handler, told(answered("q"), note("vat")), [], {
      cut: (from) => void cuts.push(from),
      append: (entry) => void appended.push(entry),
    });
    expect(first.kind).toBe("waiting");
    expect(cuts).toEqual([0]);
    expect(appended).toEqual([note("vat", "open"), { kind: "changed", key: "q" }]);
    const second = await runOnce(
      handler,
      journalOf(first),
      answersTo(first, () => "yes"),
    );
    expect(second).toMatchObject({ kind: "done", value: true });
  });

  test("after a cut it is true again even at the edge of a crash, because its path had no effect yet", async () => {
    const handler = (ops: Operations) =>
      Promise.all([ops.ask("q", plain("reworded")), ops.patched("vat")]);
    const first = await runOnce(handler, told(answered("q"), note("vat")), [], {
      isInterrupted: true,
    });
    expect(notesIn(first)).toEqual(["vat", "vat"]);
    expect(entriesOf(first).at(-1)).toEqual(note("vat"));
  });

  test("code that drops it goes on, and the note no longer holds", async () => {
    const clock = new HandClock();
    const running = runOnce(
      async (ops) => {
        await ops.step("first", () => {});
        return ops.step("second", () => "done");
      },
      told(stepped("first"), note("vat")),
      [],
      { after: clock.after, stallMs: 100 },
    );
    await vi.waitFor(() => expect(clock.waiting).toBe(1));
    clock.pass(100);
    const outcome = await running;
    expect(outcome).toMatchObject({ kind: "done", value: "done" });
    expect(entriesOf(outcome)[2]).toEqual(note("vat", "old"));
    // The step that was recorded on the other path comes first, so the newer code follows that path.
    const again = await runOnce(
      async (ops) => {
        await ops.step("first", () => {});
        const isPatched = await ops.patched("vat");
        await ops.step("second", () => {});
        return isPatched;
      },
      told(...entriesOf(outcome)),
    );
    expect(again).toMatchObject({ kind: "done", value: false });
  });

  test("a note that the handler asks for late does not count as dropped", async () => {
    const outcome = await runOnce(
      async (ops) => {
        const branch = async () => {
          for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
          return ops.patched("vat");
        };
        const [isPatched] = await Promise.all([branch(), ops.step("first", () => {})]);
        return isPatched;
      },
      told(note("vat")),
      [],
      { after: new HandClock().after, stallMs: 100 },
    );
    expect(outcome).toMatchObject({ kind: "done", value: true });
    expect(entriesOf(outcome)).toEqual([note("vat"), { ...stepped("first"), value: undefined }]);
  });

  test("it is packed with its letter, and read back", () => {
    for (const entry of [note("vat"), note("vat", "old"), note("vat", "open")]) {
      expect(unpackEntry(JSON.parse(JSON.stringify(packEntry(entry))))).toEqual(entry);
    }
    expect(packEntry(note("vat"))).toEqual(["p", "vat"]);
  });
});

describe("R17 P2: when it is decided", () => {
  test("a question that was open and is not asked yet shows that the call is past the place", async () => {
    const journal: Journal = { entries: [], out: [{ key: "q", digest: "q" }] };
    const outcome = await runOnce(
      async (ops) => {
        const isPatched = await ops.patched("vat");
        await ops.ask("q", plain("q"));
        return isPatched;
      },
      journal,
      [{ kind: "answer", key: "q", value: 1, digest: "q" }],
    );
    expect(outcome).toMatchObject({ kind: "done", value: false });
  });

  test("it is false at once in front of a recorded entry, without a stall", async () => {
    const clock = new HandClock();
    const outcome = await runOnce(changed, told(stepped("first"), stepped("second")), [], {
      after: clock.after,
      stallMs: 100,
    });
    expect(outcome.kind).toBe("waiting");
    expect(clock.waiting).toBe(0);
  });

  test("it is decided after the log was cut", async () => {
    // The answer to the reworded question is cut off together with what came after it, so the place is reached anew.
    const seen: boolean[] = [];
    const handler = async (ops: Operations) => {
      const branch = async () => {
        await ops.ask("r", plain("r"));
        seen.push(await ops.patched("vat"));
      };
      await Promise.all([ops.ask("q", plain("reworded")), branch()]);
      return "end";
    };
    const first = await runOnce(handler, told(answered("q"), answered("r")));
    expect(first.kind).toBe("waiting");
    expect(seen).toEqual([true]);
  });

  test("its note is durable before the handler learns of it", async () => {
    const order: string[] = [];
    await runOnce(
      async (ops) => {
        await ops.patched("vat");
        order.push("told");
      },
      emptyJournal,
      [],
      {
        append: async () => {
          await new Promise(setImmediate);
          order.push("appended");
        },
      },
    );
    expect(order).toEqual(["appended", "told"]);
  });

  test("it settles before anything else is delivered, on the first run and on every other", async () => {
    const handler = async (ops: Operations) => {
      const order: string[] = [];
      const branch = async () => {
        await ops.patched("vat");
        order.push("patched");
        await ops.step("b", () => "b");
        order.push("b");
      };
      const other = async () => {
        await ops.step("a", () => "a");
        order.push("a");
      };
      await Promise.all([other(), branch()]);
      return order;
    };
    const first = await runOnce(handler);
    expect(first).toMatchObject({ kind: "done" });
    const again = await runOnce(handler, told(...entriesOf(first)));
    expect(again).toEqual(first);
    expect(first).toMatchObject({ value: ["patched", "a", "b"] });
  });

  test("every branch gets a chance to request what is recorded", async () => {
    // The other branch needs a few microtasks before it requests the open question.
    const journal: Journal = { entries: [checkpoint], out: [{ key: "q", digest: "q" }] };
    const handler = async (ops: Operations) => {
      const slow = async () => {
        for (let hop = 0; hop < 20; hop += 1) await null;
        return ops.ask("q", plain("q"));
      };
      const branch = async () => {
        await ops.checkpoint();
        return ops.patched("vat");
      };
      return Promise.all([branch(), slow()]);
    };
    const events: InboxEvent[] = [{ kind: "answer", key: "q", value: 1, digest: "q" }];
    expect(await runOnce(handler, journal, events)).toMatchObject({ value: [true, 1] });
  });

  test("asking again keeps the watch over a handler that has stalled", async () => {
    const clock = new HandClock();
    const running = runOnce(
      async (ops) => {
        const isPatched = await ops.patched("vat");
        const stalled = ops.step("gone", () => {});
        for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
        expect(await ops.patched("vat")).toBe(isPatched);
        await stalled;
      },
      told(stepped("first")),
      [],
      { after: clock.after, stallMs: 100 },
    );
    // The first watch ends when the handler asks again, and a second one follows.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    clock.pass(100);
    expect(faultOf(await running).code).toBe("history_changed");
  });
});

describe("R17 P3: at the edge of a crash", () => {
  const handler = async (ops: Operations) => {
    await ops.checkpoint();
    return ops.patched("vat");
  };

  test("it is false after an entry at which no run can have ended in order", async () => {
    const outcome = await runOnce(changed, told(stepped("first")));
    expect(notesIn(outcome)).toEqual([]);
  });

  test("it is true where the last run is known to have ended", async () => {
    expect(await runOnce(handler, told(checkpoint))).toMatchObject({ value: true });
  });

  test("it is false there, too, if a run after that may have died", async () => {
    const died: Partial<Carrier> = { isInterrupted: true };
    expect(await runOnce(handler, told(checkpoint), [], died)).toMatchObject({ value: false });
    expect(await runOnce((ops) => ops.patched("vat"), emptyJournal, [], died)).toMatchObject({
      value: false,
    });
  });

  test("it is true again as soon as this run has recorded something new", async () => {
    const outcome = await runOnce(
      async (ops) => {
        await ops.step("first", () => {});
        return ops.patched("vat");
      },
      emptyJournal,
      [],
      { isInterrupted: true },
    );
    expect(outcome).toMatchObject({ kind: "done", value: true });
  });
});

describe("R17 P4: awaiting", () => {
  test("it need not be awaited, and neither goes past a question nor waits for one", async () => {
    const outcome = await runOnce(async (ops) => {
      void ops.patched("vat");
      const question = ops.ask("q", plain("q"));
      void ops.patched("more");
      await question;
    });
    expect(outcome.kind).toBe("waiting");
    const returned = await runOnce((ops) => {
      void ops.patched("vat");
      return "at once";
    });
    expect(returned).toMatchObject({ kind: "done", value: "at once" });
  });

  test("inside a step it is a mistake", async () => {
    const outcome = await runOnce((ops) => ops.step("s", () => ops.patched("vat")));
    expect(faultOf(outcome)).toMatchObject({
      code: "step_in_step",
      message: expect.stringContaining('Patched "vat" is used inside step "s"') as string,
    });
  });

  test("its key has the form of any other", async () => {
    expect(faultOf(await runOnce((ops) => ops.patched("a~b"))).code).toBe("bad_key");
  });

  test("after the end of the run it never settles, and is reported", async () => {
    const reports: unknown[] = [];
    let late!: Operations;
    await runOnce((ops) => void (late = ops), emptyJournal, [], {
      report: (mistake) => reports.push(mistake),
    });
    const settled = vi.fn();
    void late.patched("vat").then(settled, settled);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(settled).not.toHaveBeenCalled();
    expect(reports).toMatchObject([{ code: "ctx_after_return" }]);
  });
});

describe("R17 P5: notes that this code does not know", () => {
  const older = async (ops: Operations) => {
    await ops.step("first", () => {});
    await ops.step("second", () => {});
    return "end";
  };
  const taken = told(stepped("first"), note("vat"), stepped("vat"), stepped("second"));

  test("a history that older code cannot follow says so", async () => {
    const outcome = await runOnce(older, taken);
    expect(faultOf(outcome).code).toBe("history_changed");
    expect(outcome).toMatchObject({ isOlder: true });
    expect(await runOnce(() => "at once", taken)).toMatchObject({ kind: "failed", isOlder: true });
  });

  test("a history that newer code cannot follow does not", async () => {
    const outcome = await runOnce(async (ops) => {
      await ops.patched("vat");
      await ops.step("other", () => {});
    }, taken);
    expect(faultOf(outcome).code).toBe("history_changed");
    expect(outcome).not.toHaveProperty("isOlder");
  });

  test("a carrier that knows of newer code can keep older code from going on", async () => {
    const bodies = vi.fn();
    const handler = async (ops: Operations) => {
      await ops.step("first", () => {});
      await ops.step("second", bodies);
    };
    const outcome = await runOnce(handler, told(stepped("first"), note("vat")), [], {
      mayForget: false,
    });
    expect(outcome).toMatchObject({ kind: "failed", isOlder: true });
    expect(faultOf(outcome).message).toContain(
      'the journal notes patched "vat", but the handler goes on without asking for it',
    );
    expect(bodies).not.toHaveBeenCalled();
  });

  test("the message names the way out", async () => {
    expect(faultOf(await runOnce(older, taken)).message).toContain(
      'If you added or removed this step on purpose, put it behind `if (await ctx.patched("some-name"))` so that calls under way keep their old path.',
    );
  });
});

test("a call of the old code, at every place where it can have stopped, goes on with the new code", async () => {
  const old = async (ops: Operations) => {
    await ops.step("first", () => {});
    await ops.step("second", () => {});
    await ops.ask("q", plain("q"));
    await ops.step("third", () => {});
    return "end";
  };
  const { outcome } = await converse(old);
  const whole = entriesOf(outcome);
  for (let length = 0; length <= whole.length; length += 1) {
    const entries = whole.slice(0, length);
    const events: InboxEvent[] = [{ kind: "answer", key: "q", value: "yes", digest: "q" }];
    let now = await runOnce(changed, told(...entries), events, { isInterrupted: true });
    if (now.kind === "waiting") {
      now = await runOnce(
        changed,
        journalOf(now),
        answersTo(now, () => "yes"),
      );
    }
    expect(now.kind).toBe("done");
    expect(entriesOf(now).slice(0, length)).toEqual(entries);
    expect(notesIn(now)).toEqual(length === 0 ? ["vat"] : []);
  }
});
