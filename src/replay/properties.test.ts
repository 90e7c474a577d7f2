// Properties that hold for every handler. fast-check generates the handlers, and prints the seed and the program of a failure.

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ParleyError } from "../errors.ts";
import type { Carrier } from "./carrier.ts";
import type { Operations } from "./operations.ts";
import type { Outcome } from "./outcome.ts";
import type { Inbox, InboxEvent } from "./inbox.ts";
import { emptyJournal } from "./journal.ts";
import type { Journal } from "./journal.ts";
import { answerTo, direct, perform, programs, suspensions, unpatched } from "./programs.fixture.ts";
import type { Program } from "./programs.fixture.ts";
import { answersTo, journalOf, runOnce } from "./rounds.fixture.ts";

const runs = { numRuns: Number(process.env["PARLEY_PROPERTY_RUNS"] ?? 300) };
const everything = ["seq", "all", "race", "any", "allSettled"] as const;
const raceless = ["seq", "all", "allSettled"] as const;

const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", remember));
afterAll(async () => {
  await new Promise(setImmediate);
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});

/** Runs a handler and notes which bodies it executed and which operations settled. Fails if the run does not end. */
async function watch(
  program: Program,
  journal: Journal,
  events: readonly InboxEvent[] | Inbox,
  carrier: Partial<Carrier> = {},
) {
  const ran: string[] = [];
  const settled: string[] = [];
  const decided = new Map<string, boolean>();
  const handler = (ops: Operations) =>
    perform(program, ops, {
      ran: (key) => void ran.push(key),
      settled: (key) => void settled.push(key),
      decided: (key, isPatched) => void decided.set(key, isPatched),
    });
  const outcome = await withinTurns(2_000, runOnce(handler, journal, events, carrier));
  if (outcome.kind === "failed") expect(String(outcome.error)).not.toContain("MixUp");
  return { outcome, ran, settled, decided };
}

/** Fails instead of hanging, by counting turns. A timer would not fire during an endless loop of microtasks. */
async function withinTurns<T>(most: number, promise: Promise<T>): Promise<T> {
  let result: { value: T } | undefined;
  void promise.then((value) => (result = { value }));
  for (let turn = 0; turn < most && result === undefined; turn += 1)
    await new Promise(setImmediate);
  if (result === undefined) throw new Error(`no end after ${most} turns`);
  return result.value;
}

const isSuspended = (outcome: Outcome<unknown>) => "open" in outcome;
const keysOf = (outcome: Outcome<unknown>) =>
  "entries" in outcome
    ? outcome.entries
        .filter(({ kind }) => kind !== "checkpoint" && kind !== "changed" && kind !== "patched")
        .map(({ key }) => key)
    : [];

test("a call that answers one question a round ends like a call that has every answer from the start", async () => {
  await fc.assert(
    fc.asyncProperty(programs(raceless), async (program) => {
      const wanted = await direct(program).then(
        (value) => ({ kind: "done", value }),
        () => ({ kind: "failed" }),
      );
      let journal = emptyJournal;
      let events: readonly InboxEvent[] = [];
      for (let round = 0; round <= suspensions(program); round += 1) {
        const { outcome } = await watch(program, journal, events);
        if (!isSuspended(outcome)) return void expect(outcome).toMatchObject(wanted);
        journal = journalOf(outcome);
        events = answersTo(outcome, answerTo).slice(0, 1);
      }
      throw new Error("more rounds than suspensions");
    }),
    runs,
  );
});

test("a body runs once per recorded entry, whatever the order of the rounds", async () => {
  await fc.assert(
    fc.asyncProperty(programs(everything), choices(), async (program, choose) => {
      const executions = new Map<string, number>();
      const lost = new Map<string, number>();
      await converse(program, choose, {
        ran: (key) => count(executions, key),
        lost: (key) => count(lost, key),
        recorded: (key) => expect(executions.get(key)).toBe(1 + (lost.get(key) ?? 0)),
      });
    }),
    runs,
  );
});

test("equal inputs give equal outcomes, and a replay executes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(programs(everything), choices(), async (program, choose) => {
      await converse(program, choose, {
        end: async (outcome) => {
          if (!("entries" in outcome)) return;
          const out = "open" in outcome ? journalOf(outcome).out : [];
          const again = await watch(program, { entries: outcome.entries, out }, []);
          if (isSuspended(outcome)) {
            if (outcome.kind === "waiting") {
              expect(again.ran).toEqual([]);
              expect(again.outcome).toEqual({ ...outcome, unused: [] });
            }
            return;
          }
          expect(plainly(again.outcome)).toEqual(plainly(outcome));
          // A body that the end of its run cut short left no entry. It may start again and be cut short again.
          expect(again.ran.filter((key) => keysOf(outcome).includes(key))).toEqual([]);
        },
      });
    }),
    runs,
  );
});

test("entries are delivered in recorded order, whatever the code awaits first", async () => {
  await fc.assert(
    fc.asyncProperty(programs(everything), choices(), async (program, choose) => {
      await converse(program, choose, {
        settled: (settled, outcome) => {
          if (!("entries" in outcome)) return;
          expect(settled).toEqual(keysOf(outcome).slice(0, settled.length));
        },
      });
    }),
    runs,
  );
});

test("code that changes between rounds asks again or fails clearly, and repeats no recorded body", async () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom("remove", "reword", "reverse")), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(programs(everything), changes, choices(), async (program, edits, choose) => {
      const recorded = new Set<string>();
      const later = [...edits];
      await converse(program, choose, {
        change: (now) => {
          const edit = later.shift();
          return edit === undefined ? now : edited(now, ...edit);
        },
        ran: (key) => expect(recorded.has(key)).toBe(false),
        recorded: (key) => void recorded.add(key),
        losses: false,
        end: (outcome) => {
          if (outcome.kind !== "failed") return;
          const { error } = outcome;
          if (error instanceof ParleyError) {
            expect(["history_changed", "unstable_question"]).toContain(error.code);
          }
        },
      });
    }),
    runs,
  );
});

test("code that is changed behind patched, at any point and in any round, goes on without repeating a step", async () => {
  const changes = programs(everything, { isPatched: true });
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(6), choices(), async (program, from, choose) => {
      const recorded = new Set<string>();
      const taken = new Set<string>();
      let round = 0;
      await converse(unpatched(program), choose, {
        most: suspensions(program),
        change: (now) => (++round > from ? program : now),
        ran: (key) => expect(recorded.has(key)).toBe(false),
        recorded: (key) => void recorded.add(key),
        // Once a call has taken the new path, and the response has arrived, it takes that path forever.
        decided: (decided) => {
          for (const key of taken) expect(decided.get(key) ?? true).toBe(true);
        },
        kept: (entries) => {
          for (const { kind, key } of entries) if (kind === "patched") taken.add(key);
        },
        end: (outcome) => {
          if (outcome.kind !== "failed") return;
          expect(outcome.error).not.toBeInstanceOf(ParleyError);
        },
      });
    }),
    runs,
  );
});

test("with old and new code in turn, a call goes on or waits for the other code, and repeats no step", async () => {
  const changes = programs(everything, { isPatched: true });
  await fc.assert(
    fc.asyncProperty(changes, choices(), async (program, choose) => {
      const recorded = new Set<string>();
      const codes = [program, unpatched(program)];
      await converse(program, choose, {
        most: 2 * suspensions(program),
        // One of the two has written the last entry, so one of them can go on.
        alternatives: (now) => codes.filter((code) => code !== now),
        change: (now) => codes[choose(2)] ?? now,
        ran: (key) => expect(recorded.has(key)).toBe(false),
        recorded: (key) => void recorded.add(key),
        losses: false,
        end: (outcome) => {
          if (outcome.kind !== "failed") return;
          expect(outcome.error).not.toBeInstanceOf(ParleyError);
        },
      });
    }),
    runs,
  );
});

// ---------------------------------------------------------------- a carrier that misbehaves

type Choose = (below: number) => number;

/** Decisions of a misbehaving carrier, as a list that shrinks well. */
function choices(): fc.Arbitrary<Choose> {
  return fc.array(fc.nat(997), { minLength: 1, maxLength: 40 }).map((numbers) => {
    let next = 0;
    const choose = (below: number) => (numbers[next++ % numbers.length] ?? 0) % below;
    return Object.assign(choose, { toString: () => `choices ${JSON.stringify(numbers)}` });
  });
}

interface Watching {
  ran?: (key: string) => void;
  /** The response to the round that executed this body did not arrive. */
  lost?: (key: string) => void;
  recorded?: (key: string) => void;
  settled?: (keys: readonly string[], outcome: Outcome<unknown>) => void;
  decided?: (decided: ReadonlyMap<string, boolean>, outcome: Outcome<unknown>) => void;
  end?: (outcome: Outcome<unknown>) => void | Promise<void>;
  change?: (program: Program) => Program;
  /** The journal that the next round starts with. */
  kept?: (entries: Journal["entries"]) => void;
  /** Other code that tries if a run cannot follow the journal. */
  alternatives?: (program: Program) => readonly Program[];
  /** How often the program can suspend, if its later versions suspend more often. */
  most?: number;
  losses?: boolean;
}

/** Plays a call with partial, early, late and doubled answers, lost responses and a slow store. */
async function converse(program: Program, choose: Choose, watching: Watching): Promise<void> {
  let journal = emptyJournal;
  let events: InboxEvent[] = [];
  let current = program;
  const answered: InboxEvent[] = [];
  const recorded = new Set<string>();
  const most = 3 * (watching.most ?? suspensions(program)) + 20;
  let losses = watching.losses === false ? 0 : 3;
  for (let round = 0; round < most; round += 1) {
    const carrier: Partial<Carrier> = choose(3) === 0 ? { append: slowly(choose(3)) } : {};
    let watched = await watch(current, journal, events, carrier);
    for (const other of watching.alternatives?.(current) ?? []) {
      const { outcome } = watched;
      if (outcome.kind !== "failed" || !(outcome.error instanceof ParleyError)) break;
      watched = await watch(other, journal, events, carrier);
    }
    const { outcome, ran, settled, decided } = watched;
    for (const key of ran) watching.ran?.(key);
    watching.settled?.(settled, outcome);
    watching.decided?.(decided, outcome);
    await watching.end?.(outcome);
    if (losses > 0 && isSuspended(outcome) && choose(5) === 0) {
      losses -= 1;
      // The response was lost, so the client sends the same round again.
      for (const key of ran) watching.lost?.(key);
      continue;
    }
    for (const entry of "entries" in outcome ? outcome.entries : []) {
      if (entry.kind !== "step" && entry.kind !== "threw") continue;
      if (!recorded.has(entry.key)) watching.recorded?.(entry.key);
      recorded.add(entry.key);
    }
    if (!("open" in outcome)) return;
    journal = journalOf(outcome);
    watching.kept?.(journal.entries);
    current = watching.change?.(current) ?? current;
    const fresh = answersTo(outcome, answerTo);
    // At least one answer, so that the call ends. Sometimes not all of them, and sometimes one twice or an old one.
    const some = fresh.filter((_, index) => index === 0 || choose(3) > 0);
    const again = choose(4) === 0 ? some.slice(0, 1) : [];
    const late = choose(4) === 0 ? answered.slice(0, 2) : [];
    events = [
      ...outcome.unused,
      ...(choose(2) === 0 ? some : some.toReversed()),
      ...again,
      ...late,
    ];
    answered.push(...some);
  }
  throw new Error(`no end after ${most} rounds`);
}

const slowly = (turns: number) => async () => {
  for (let turn = 0; turn <= turns; turn += 1) await new Promise(setImmediate);
};

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** An outcome with its error as text, because two runs make two different error objects. */
function plainly(outcome: Outcome<unknown>): unknown {
  return outcome.kind === "failed" ? { ...outcome, error: String(outcome.error) } : outcome;
}

/** The program with its nth part removed, reworded, or its order reversed. */
function edited(program: Program, place: number, how: string): Program {
  let seen = 0;
  const total = size(program);
  const visit = (part: Program): Program => {
    const isHere = seen++ === place % total;
    if (isHere && how === "remove") return { do: "hop", times: 1 };
    if (isHere && how === "reword" && part.do === "ask")
      return { ...part, wording: part.wording + 1 };
    if (!("parts" in part)) return part;
    if (part.do === "catch" || part.do === "patched") {
      return { ...part, parts: [visit(part.parts[0])] };
    }
    const parts = part.parts.map(visit);
    return { ...part, parts: isHere && how === "reverse" ? parts.toReversed() : parts };
  };
  return visit(program);
}

function size(program: Program): number {
  return "parts" in program ? program.parts.reduce((sum: number, part) => sum + size(part), 1) : 1;
}
