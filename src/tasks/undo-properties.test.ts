// Undo for every handler (R16): fast-check generates handlers, when a task is cancelled or its time is up, when its worker
// dies, and whether the next worker has changed code behind `patched`.

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { patience } from "../../test/patience.ts";
import { answerTo, perform, programs, unpatched } from "../replay/programs.fixture.ts";
import type { Program } from "../replay/programs.fixture.ts";
import { Engine, openSealer } from "./engine.fixture.ts";
import type { Undos } from "./engine.fixture.ts";
import { readUndone } from "./execution/log-records.ts";
import type { UndoInfo } from "./program.ts";
import type { TaskStore } from "./store.ts";
import { MemoryStore } from "./stores/memory.ts";
import { isLive } from "./task.ts";

const runs = { numRuns: Number(process.env["PARLEY_PROPERTY_RUNS"] ?? 300) };
const everything = ["seq", "all", "race", "any", "allSettled"] as const;
const ttlMs = 60_000;
const dayMs = 86_400_000;

/** Handlers with at least two steps, so that there is an order. */
const handlers = programs(everything, { isPatched: true }).filter((program) => steps(program) > 1);

function steps(program: Program): number {
  if (!("parts" in program)) return program.do === "step" ? 1 : 0;
  return program.parts.reduce((sum: number, part) => sum + steps(part), 0);
}

interface Plan {
  /** What ends the task, and at which write of its workers. */
  readonly end: "cancel" | "expire" | "nothing";
  readonly endsAt: number;
  /** The write at which the first worker dies. 0: it does not die. */
  readonly diesAt: number;
  readonly when: "before" | "after";
}

const plans: fc.Arbitrary<Plan> = fc.record({
  end: fc.constantFrom("cancel", "expire", "nothing"),
  endsAt: fc.integer({ min: 1, max: 16 }),
  diesAt: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 16 })),
  when: fc.constantFrom("before", "after"),
});

interface Played {
  readonly status: string | undefined;
  readonly begun: readonly string[];
  readonly values: ReadonlyMap<string, unknown>;
  /** The undos that the log has. */
  readonly recorded: readonly { readonly key: string; readonly error: string | undefined }[];
  /** The steps whose body a living worker started. */
  readonly ran: readonly string[];
  readonly undos: readonly UndoInfo[];
  readonly error: string;
}

/** Runs a task to its end, and until nothing is left to undo. */
async function play(program: Program, plan: Plan): Promise<Played> {
  const { end, endsAt, diesAt, when } = plan;
  let shift = 0;
  const store = new MemoryStore({
    leaseMs: diesAt === 0 ? 10 * ttlMs : 100,
    now: () => Date.now() + shift,
  });
  const ran: string[] = [];
  const undos: UndoInfo[] = [];
  let id = "";
  let writes = 0;
  let isDead = false;

  const endIt = async () => {
    if (end === "cancel") await store.cancel(id, dayMs);
    if (end !== "expire") return;
    shift = ttlMs;
    await store.sweep(500, dayMs, undefined, dayMs);
  };
  const answer = async (engine: Engine) => {
    const waits = (await store.read(id))?.waits ?? [];
    const answers = waits.flatMap(({ kind, wire, key }): [string, string][] =>
      kind === "question" ? [[wire, answerTo(key)]] : [],
    );
    if (answers.length > 0) await engine.runtime.update(id, new Map(answers));
  };

  /** The store as a worker sees it. */
  const seenBy = (isGone: () => boolean, death: number, died: () => void): TaskStore => {
    const dead = () => Promise.reject(new Error("This process is dead."));
    const members = Object.entries(store).map(([name, member]: [string, unknown]) => {
      if (typeof member !== "function" || name === "subscribe") return [name, member];
      const isWrite = ["append", "park", "publish", "finish", "undo", "release"].includes(name);
      return [
        name,
        async (...given: unknown[]) => {
          if (isGone()) return dead();
          if (isWrite) writes += 1;
          const number = isWrite ? writes : -1;
          if (number === endsAt && when === "before") await endIt();
          if (number === death && when === "before") died();
          if (isGone()) return dead();
          const result: unknown = await Reflect.apply(member, store, given);
          if (name === "park" || name === "publish") setImmediate(() => void answer(client));
          if (number === endsAt && when === "after") await endIt();
          if (number === death) died();
          if (isGone()) return dead();
          return result;
        },
      ];
    });
    return Object.fromEntries(members) as TaskStore;
  };
  const engineOn = (seen: TaskStore, code: Program, isGone: () => boolean) => {
    const remove: Undos[string] = (info) => {
      if (!isGone()) undos.push(info);
    };
    const settled = () => {};
    const note = (key: string) => void (isGone() ? undefined : ran.push(key));
    return new Engine(
      seen,
      { tool: (_input, ops) => perform(code, ops, { ran: note, settled, undo: "remove" }) },
      { undos: { remove }, limits: { fruitlessClaims: 1_000, drainMs: 1_000 } },
    );
  };

  const client = new Engine(store, { tool: () => null });
  const second = engineOn(
    seenBy(
      () => false,
      0,
      () => {},
    ),
    program,
    () => false,
  );
  const work = { pollMs: 20, sweepMs: dayMs };
  const started: Promise<unknown>[] = [];
  const die = () => {
    isDead = true;
    started.push(second.start(work));
  };
  // Only another worker can have other code.
  const code = diesAt === 0 ? program : unpatched(program);
  const first = engineOn(
    seenBy(() => isDead, diesAt, die),
    code,
    () => isDead,
  );
  try {
    ({ id } = await client.create("tool", null, { ttlMs }));
    await first.start(work);
    const task = await vi.waitFor(
      async () => {
        const record = await store.read(id);
        if (record === undefined || isLive(record) || record.undos > 0) throw new Error("not yet");
        return record;
      },
      { ...patience, interval: 2 },
    );
    const { entries, undone } = readUndone(openSealer, task.callId, await store.readLog(id));
    return {
      status: task.status,
      error: JSON.stringify((await client.runtime.get(id))?.error ?? null),
      begun: entries.flatMap(({ kind, key }) => (kind === "begun" ? [key] : [])),
      values: new Map(
        entries.flatMap((entry) => (entry.kind === "step" ? [[entry.key, entry.value]] : [])),
      ),
      recorded: undone,
      ran,
      undos,
    };
  } finally {
    isDead = true;
    await Promise.all(started);
    await Promise.all([first, second, client].map((engine) => engine.close().catch(() => {})));
  }
}

const first = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

test("whatever a handler does, and wherever it ends or its worker dies, each begun step of a call that did not end well is undone once, the last begun first, and none of a completed one", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(handlers, plans, async (program, plan) => {
      const { status, begun, values, recorded, ran, undos, error } = await play(program, plan);
      expect(error).not.toContain("MixUp");
      const undone = undos.map(({ stepKey }) => stepKey);
      if (status === "completed") {
        seen.add(status);
        expect([undone, recorded]).toEqual([[], []]);
        return;
      }
      if (undone.length > 1) seen.add(`${status} ${plan.end}`);
      // Every body that runs would be undone.
      expect(begun).toEqual(expect.arrayContaining([...ran]));
      expect(first(begun)).toEqual(begun);
      const wanted = begun.toReversed();
      expect(recorded).toEqual(wanted.map((key) => ({ key, error: undefined })));
      // An undo whose worker died runs again, with the same key.
      expect(plan.diesAt === 0 ? undone : first(undone)).toEqual(wanted);
      expect(first(undos.map(({ undoKey }) => undoKey))).toHaveLength(wanted.length);
      for (const { stepKey, value } of undos) expect(value).toEqual(values.get(stepKey));
    }),
    runs,
  );
  expect([...seen]).toEqual(
    expect.arrayContaining(["completed", "cancelled cancel", "failed expire", "failed nothing"]),
  );
}, 120_000);
