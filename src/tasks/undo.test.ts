// Undo in tasks (R16, U2 to U5 and U7): which ends of a task undo its steps, in which order, and what happens when an
// undo fails or its worker goes away. It uses the memory store and SQLite. test/chaos uses processes that die.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { gate } from "../../test/gate.fixture.ts";
import { patience } from "../../test/patience.ts";
import { Stop } from "../replay/stop.ts";
import { StoreClock } from "./clock.ts";
import { ask, Engine, openSealer } from "./engine.fixture.ts";
import type { Handlers, Undos } from "./engine.fixture.ts";
import type { ExecutionDeps } from "./execution/dependencies.ts";
import { HeldClaim } from "./execution/held-claim.ts";
import { Lease } from "./execution/lease-time.ts";
import { readUndone } from "./execution/log-records.ts";
import { Undoing } from "./execution/undoing.ts";
import { defaultTaskLimits } from "./limits.ts";
import type { Program, UndoInfo } from "./program.ts";
import type { TaskStore } from "./store.ts";
import { MemoryStore } from "./stores/memory.ts";
import { SqliteStore } from "./stores/sqlite/sqlite-store.ts";

const engines: Engine[] = [];

function engineOn(
  store: TaskStore,
  handlers: Handlers,
  undos: Undos,
  limits: NonNullable<ConstructorParameters<typeof Engine>[2]>["limits"] = {},
): Engine {
  const engine = new Engine(store, handlers, { undos, limits });
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** An undo that notes what it is called with. */
function noting(): { readonly undone: UndoInfo[]; readonly undos: Undos } {
  const undone: UndoInfo[] = [];
  return { undone, undos: { remove: (info) => void undone.push(info) } };
}

const undo = { undo: "remove" };

/** Waits until the task has ended and nothing is left to undo. */
async function allUndone(store: TaskStore, id: string): Promise<void> {
  await vi.waitFor(async () => {
    const task = await store.read(id);
    expect(task?.undos).toBe(0);
    expect(["failed", "cancelled"]).toContain(task?.status);
  }, patience);
}

/** Waits until the task has parked, so that no worker holds it. */
async function parked(store: TaskStore, id: string): Promise<void> {
  await vi.waitFor(async () => {
    const task = await store.read(id);
    expect(task?.waits.length).toBe(1);
    expect(task?.worker).toBeUndefined();
  }, patience);
}

async function outcomesOf(store: TaskStore, id: string): Promise<readonly unknown[]> {
  const task = await store.read(id);
  return readUndone(openSealer, task?.callId ?? "", await store.readLog(id)).undone;
}

function sqlite(): TaskStore {
  const folder = mkdtempSync(join(tmpdir(), "parley-undo-"));
  const store = new SqliteStore({ path: join(folder, "tasks.db"), leaseMs: 3_000 });
  onTestFinished(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}

describe.each([
  ["memory", () => new MemoryStore({ leaseMs: 3_000 })],
  ["SQLite", sqlite],
])("a task in %s", (_, newStore) => {
  test("that throws is undone: each step once, the last begun first, one at a time (U2, U4)", async () => {
    const store = newStore();
    const running: string[] = [];
    let most = 0;
    const undone: UndoInfo[] = [];
    const remove = async (info: UndoInfo) => {
      running.push(info.stepKey);
      most = Math.max(most, running.length);
      await new Promise((resolve) => setImmediate(resolve));
      undone.push(info);
      running.pop();
    };
    const second = gate();
    const engine = engineOn(
      store,
      {
        tool: async (_input, ops) => {
          await ops.step("a", () => ({ id: 1 }), undo);
          await ops.step("plain", () => 1);
          // The branches end in a different order from the one they begin in.
          await Promise.all([
            ops.step("b", () => second.opened.then(() => "b"), undo),
            ops.step("c/d", () => (second.open(), "c"), undo),
          ]);
          await ops.step("e", () => Promise.reject(new Error("no")), undo);
        },
      },
      { remove },
    );
    await engine.start();
    const { id, callId } = await engine.create("tool", null, { principal: "ann" });
    expect(await engine.over(id)).toMatchObject({ status: "failed" });
    await allUndone(store, id);
    expect(most).toBe(1);
    const key = `${callId}/c%2Fd`;
    expect(undone.map(({ stepKey, value }) => [stepKey, value])).toEqual([
      ["e", undefined],
      ["c/d", "c"],
      ["b", "b"],
      ["a", { id: 1 }],
    ]);
    expect(undone[1]).toMatchObject({
      idempotencyKey: key,
      undoKey: `${key}~undo`,
      tool: "tool",
      callId,
      principal: "ann",
      attempt: 1,
    });
    expect(engine.told.filter(({ event }) => event === "undone")).toHaveLength(4);
    const ended = await store.read(id);
    expect(ended).toMatchObject({ worker: undefined, dueAt: undefined });
  });

  test("that returns is not undone (U2)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const engine = engineOn(
      store,
      { tool: (_input, ops) => ops.step("a", () => "made", undo) },
      undos,
    );
    await engine.start();
    const { id } = await engine.create("tool");
    expect(await engine.over(id)).toMatchObject({ status: "completed", result: "made" });
    expect(await store.read(id)).toMatchObject({ undos: 0, worker: undefined });
    expect(undone).toEqual([]);
  });

  test("that moves to another worker is not undone (U2)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const begun = gate();
    const handlers: Handlers = {
      tool: async (_input, ops) => {
        await ops.step("a", () => "a", undo);
        begun.open();
        await ops.sleep("nap", 5);
        return ops.step("b", () => "b", undo);
      },
    };
    const first = engineOn(store, handlers, undos);
    await first.start();
    const { id } = await first.create("tool");
    await begun.opened;
    await first.close();
    const second = engineOn(store, handlers, undos);
    await second.start();
    expect(await second.over(id)).toMatchObject({ status: "completed" });
    expect(undone).toEqual([]);
  });

  test("that is cancelled while it waits is undone (U3)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const engine = engineOn(
      store,
      {
        tool: async (_input, ops) => {
          await ops.step("a", () => "made", undo);
          await ask(ops, "q");
        },
      },
      undos,
    );
    await engine.start();
    const { id } = await engine.create("tool");
    await parked(store, id);
    expect(await engine.runtime.cancel(id)).toMatchObject({ status: "cancelled" });
    await allUndone(store, id);
    expect(undone.map(({ stepKey, value }) => [stepKey, value])).toEqual([["a", "made"]]);
    expect(await engine.runtime.get(id)).toMatchObject({ status: "cancelled" });
  });

  test("that is cancelled while a body runs: the body is aborted and awaited, and what it made is undone (U3)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const running = gate();
    const aborted = gate();
    const finish = gate();
    const engine = engineOn(
      store,
      {
        tool: (_input, ops) =>
          ops.step(
            "a",
            async ({ signal }) => {
              signal.addEventListener("abort", aborted.open);
              running.open();
              await finish.opened;
              return "made late";
            },
            undo,
          ),
      },
      undos,
    );
    await engine.start();
    const { id } = await engine.create("tool");
    await running.opened;
    await engine.runtime.cancel(id);
    await aborted.opened;
    expect(undone).toEqual([]);
    finish.open();
    await allUndone(store, id);
    expect(undone.map(({ stepKey, value }) => [stepKey, value])).toEqual([["a", "made late"]]);
  });

  test("whose bodies do not end in time is undone without their outcomes (U3)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const running = gate();
    const engine = engineOn(
      store,
      {
        tool: (_input, ops) =>
          Promise.all([
            ops.step("a", () => new Promise(() => {}), undo),
            ops.step("b", () => running.opened.then(() => Promise.reject(new Error("no")))),
          ]),
      },
      undos,
      { drainMs: 20 },
    );
    await engine.start();
    const { id } = await engine.create("tool");
    running.open();
    await allUndone(store, id);
    expect(undone.map(({ stepKey, value }) => [stepKey, value])).toEqual([["a", undefined]]);
  });

  test("that throws while a parallel body runs: what that body made is undone (U3)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const engine = engineOn(
      store,
      {
        tool: (_input, ops) =>
          Promise.all([
            ops.step(
              "a",
              ({ signal }) =>
                new Promise((resolve) => {
                  signal.addEventListener("abort", () => resolve("late"));
                }),
              undo,
            ),
            ops.step("b", () => Promise.reject(new Error("no"))),
          ]),
      },
      undos,
    );
    await engine.start();
    const { id } = await engine.create("tool");
    await allUndone(store, id);
    expect(undone.map(({ stepKey, value }) => [stepKey, value])).toEqual([["a", "late"]]);
  });

  test("shows its end before the first undo, and a cancellation changes nothing then (U3, U7)", async () => {
    const store = newStore();
    const started = gate();
    const finish = gate();
    const undone: string[] = [];
    const remove = async ({ stepKey }: UndoInfo) => {
      started.open();
      await finish.opened;
      undone.push(stepKey);
    };
    const engine = engineOn(
      store,
      {
        tool: async (_input, ops) => {
          await ops.step("a", () => 1, undo);
          throw new Error("no");
        },
      },
      { remove },
    );
    await engine.start();
    const { id } = await engine.create("tool");
    await started.opened;
    const over = await engine.runtime.get(id);
    expect(over).toMatchObject({ status: "failed", error: { message: "no" } });
    expect(await engine.runtime.cancel(id)).toEqual(over);
    expect(await engine.runtime.figures()).toMatchObject({ live: 0, undoing: 1 });
    finish.open();
    await allUndone(store, id);
    expect(undone).toEqual(["a"]);
    expect(await engine.runtime.get(id)).toMatchObject({ status: "failed" });
  });

  test("whose time is up is undone (U3)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const engine = engineOn(
      store,
      {
        tool: async (_input, ops) => {
          await ops.step("a", () => "made", undo);
          await ask(ops, "q");
        },
      },
      undos,
    );
    await engine.start({ sweepMs: 20 });
    const { id } = await engine.create("tool", null, { ttlMs: 200 });
    await allUndone(store, id);
    await vi.waitFor(() => expect(undone).toHaveLength(1), patience);
    expect(await engine.runtime.get(id)).toMatchObject({
      status: "failed",
      error: { data: { reason: "task_expired" } },
    });
  });

  test("tries a failing undo again, and the undos before it wait (U5)", async () => {
    const store = newStore();
    const attempts: unknown[] = [];
    const remove = ({ stepKey, attempt, undoKey }: UndoInfo) => {
      attempts.push([stepKey, attempt, undoKey.endsWith(`${stepKey}~undo`)]);
      if (stepKey === "b" && attempt < 3) throw new Error("not now");
    };
    const engine = engineOn(store, { tool: makesAandB }, { remove });
    await engine.start();
    const { id } = await engine.create("tool");
    await allUndone(store, id);
    expect(attempts).toEqual([
      ["b", 1, true],
      ["b", 2, true],
      ["b", 3, true],
      ["a", 1, true],
    ]);
    const delayed = engine.told.filter(({ event }) => event === "undoDelayed b");
    expect(delayed).toMatchObject([
      { error: { message: "not now" } },
      { error: { message: "not now" } },
    ]);
  });

  test("gives up a failing undo when its time is up, and the others go on (U5)", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const engine = engineOn(
      store,
      { tool: makesAandB },
      {
        remove: (info) => {
          if (info.stepKey === "b") throw new Error("never");
          return undos["remove"]?.(info);
        },
      },
      { undoMs: 1 },
    );
    await engine.start();
    const { id } = await engine.create("tool");
    await allUndone(store, id);
    expect(undone.map(({ stepKey }) => stepKey)).toEqual(["a"]);
    expect(await outcomesOf(store, id)).toEqual([
      { key: "b", error: "never" },
      { key: "a", error: undefined },
    ]);
    expect(engine.told.filter(({ event }) => event === "undoFailed")).toHaveLength(1);
  });

  test("waits for a worker that knows its undo (U5)", async () => {
    const store = newStore();
    const handlers = { tool: makesAandB };
    const old = engineOn(store, handlers, {});
    await old.start();
    const { id } = await old.create("tool");
    await vi.waitFor(
      () => expect(old.told.some(({ event }) => event === "undoDelayed b")).toBe(true),
      patience,
    );
    await old.close();
    const { undone, undos } = noting();
    const newer = engineOn(store, handlers, undos);
    await newer.start();
    await allUndone(store, id);
    expect(undone.map(({ stepKey }) => stepKey)).toEqual(["b", "a"]);
  });

  test("is undone by another worker from where the first one stopped (U4)", async () => {
    const store = newStore();
    const undone: string[] = [];
    const reached = gate();
    const handlers = { tool: makesAandB };
    const first = engineOn(
      store,
      handlers,
      {
        remove: ({ stepKey }) => {
          undone.push(`first ${stepKey}`);
          if (stepKey === "b") return undefined;
          reached.open();
          return new Promise(() => {});
        },
      },
      { drainMs: 50 },
    );
    await first.start();
    const { id } = await first.create("tool");
    await reached.opened;
    await first.close();
    const second = engineOn(store, handlers, {
      remove: ({ stepKey, attempt }) => void undone.push(`second ${stepKey} ${attempt}`),
    });
    await second.start();
    await allUndone(store, id);
    expect(undone).toEqual(["first b", "first a", "second a 1"]);
  });

  test("that was given up is undone, too", async () => {
    const store = newStore();
    const { undone, undos } = noting();
    const engine = engineOn(store, { tool: () => "never called" }, undos, { fruitlessClaims: 0 });
    const entries = [{ kind: "begun", key: "a", undo: "remove" }] as const;
    const { id } = await engine.create("tool", null, { entries });
    await engine.start();
    await allUndone(store, id);
    expect(await engine.runtime.get(id)).toMatchObject({ status: "failed" });
    expect(undone.map(({ stepKey, value }) => [stepKey, value])).toEqual([["a", undefined]]);
  });
});

test("no undo starts when the lease of its worker is over (U4)", async () => {
  const store = new MemoryStore({ leaseMs: 3_000 });
  let now = 0;
  const undone: string[] = [];
  // The process is stopped right after the first undo, for longer than its lease.
  const remove = ({ stepKey }: UndoInfo) => {
    undone.push(stepKey);
    now = 3_000;
  };
  const engine = engineOn(store, { tool: () => "never called" }, { remove });
  const entries = ["a", "b"].map((key) => ({ kind: "begun", key, undo: "remove" }) as const);
  const { id } = await engine.create("tool", null, { entries });
  await store.cancel(id, 60_000);
  const { claimed } = await store.claim({ worker: "w", tools: ["tool"], most: 1, leaseMs: 3_000 });
  const [one] = claimed;
  if (one === undefined) throw new Error("The task could not be claimed.");
  const deps = {
    store,
    sealer: openSealer,
    clock: new StoreClock(),
    limits: defaultTaskLimits,
    observer: {},
  } as unknown as ExecutionDeps;
  const claim = new HeldClaim(one.task, new Lease([() => now], 3_000), deps);
  const program = { undo: () => remove } as unknown as Program;
  await new Undoing(one, program, claim, deps, new Stop()).run([]);
  expect(undone).toEqual(["b"]);
  expect(await store.read(id)).toMatchObject({ status: "cancelled", undos: 1 });
});

const makesAandB: Handlers[string] = async (_input, ops) => {
  await ops.step("a", () => "a", undo);
  await ops.step("b", () => "b", undo);
  throw new Error("no");
};

/** The store of a process that dies before or after a certain write. From then on, every operation of this store fails. */
function mortal(
  store: TaskStore,
  death: { readonly write: number; readonly when: "before" | "after" },
): { readonly store: TaskStore; readonly isDead: () => boolean } {
  let writes = 0;
  let isDead = false;
  const counted = new Set(["append", "park", "finish", "undo", "release"]);
  const died = () => Promise.reject(new Error("This process is dead."));
  const seen = new Proxy(store, {
    get: (target, name: string) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || name === "subscribe") return member;
      return async (...args: unknown[]) => {
        if (isDead) return died();
        const isHere = counted.has(name) && (writes += 1) === death.write;
        if (isHere && death.when === "before") isDead = true;
        if (isDead) return died();
        const result: unknown = await Reflect.apply(member, target, args);
        if (isHere) isDead = true;
        return isDead ? died() : result;
      };
    },
  });
  return { store: seen, isDead: () => isDead };
}

test.each([
  ["cancelled while it waits", "cancel"],
  ["that throws", "throw"],
] as const)(
  "a task %s loses no undo, wherever its worker dies (U3, U4)",
  async (_, end) => {
    const handlers: Handlers = {
      tool: async (_input, ops) => {
        await ops.step("a", () => "a", undo);
        await ops.step("b", () => "b", undo);
        if (end === "throw") throw new Error("no");
        await ask(ops, "q");
      },
    };
    let points = 0;
    for (const when of ["before", "after"] as const) {
      for (let write = 1; write < 30; write += 1) {
        const store = new MemoryStore({ leaseMs: 100 });
        const process = mortal(store, { write, when });
        const undone: string[] = [];
        const undos: Undos = { remove: ({ undoKey }) => void undone.push(undoKey) };
        const first = engineOn(process.store, handlers, undos, { fruitlessClaims: 1_000 });
        await first.start({ pollMs: 20 });
        const { id, callId } = await first.create("tool");
        const second = engineOn(store, handlers, undos, { fruitlessClaims: 1_000 });
        const isStarted: Promise<unknown>[] = [];
        const reach = async (isThere: () => Promise<boolean>) =>
          vi.waitFor(async () => {
            if (process.isDead() && isStarted.length === 0) {
              isStarted.push(second.start({ pollMs: 20 }));
            }
            expect(await isThere()).toBe(true);
          }, patience);
        if (end === "cancel") {
          await reach(async () => (await store.read(id))?.waits.length === 1);
          await store.cancel(id, 60_000);
        }
        await reach(async () => {
          const task = await store.read(id);
          return task?.undos === 0 && (task.status === "failed" || task.status === "cancelled");
        });
        const keys = ["b", "a"].map((step) => `${callId}/${step}~undo`);
        expect([...new Set(undone)]).toEqual(keys);
        expect(await outcomesOf(store, id)).toEqual([
          { key: "b", error: undefined },
          { key: "a", error: undefined },
        ]);
        const wasHit = process.isDead();
        await Promise.all(engines.splice(0).map((engine) => engine.close().catch(() => {})));
        if (!wasHit) break;
        points += 1;
      }
    }
    expect(points).toBeGreaterThan(10);
  },
  240_000,
);
