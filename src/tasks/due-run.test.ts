// Tasks without a process that stays: every run is short, on a new engine, and the next one goes on where it ended.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../test/postgres/database.ts";
import { gate } from "../../test/gate.fixture.ts";
import { Engine, ask } from "./engine.fixture.ts";
import type { Handlers } from "./engine.fixture.ts";
import type { RunDueResult } from "./due-run.ts";
import { defaultTaskLimits } from "./limits.ts";
import type { Store, TaskStore } from "./store.ts";
import { MemoryStore } from "./stores/memory.ts";
import { postgresStore } from "./stores/postgres/index.ts";
import { SqliteStore } from "./stores/sqlite/sqlite-store.ts";

const short = { drainMs: 50 };

/** Runs what is due in a process that knows nothing of the ones before. */
function runDue(
  store: TaskStore,
  handlers: Handlers,
  budgetMs: number = defaultTaskLimits.drainMs + 60_000,
  limits: Partial<typeof defaultTaskLimits> = {},
): Promise<RunDueResult> {
  const engine = new Engine(store, handlers, { limits });
  return engine.runtime.process.runDue({ name: "runner", concurrency: 4, budgetMs });
}

function sqlite(): TaskStore {
  const folder = mkdtempSync(join(tmpdir(), "parley-due-"));
  const store = new SqliteStore({ path: join(folder, "tasks.db") });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}

async function postgres(): Promise<TaskStore> {
  const { url } = await freshDatabase();
  const store: Store = postgresStore(url);
  onTestFinished(() => store.close());
  return store as TaskStore;
}

describe.each([
  ["memory", () => new MemoryStore()],
  ["SQLite", sqlite],
  ["Postgres", postgres],
])("runs of what is due, on %s", (_name, open) => {
  test("bring a task that asks and sleeps to its end, and no step runs twice", async () => {
    const store = await open();
    const ran: string[] = [];
    const handlers: Handlers = {
      tool: async (_input, ops) => {
        await ops.step("one", () => (ran.push("one"), 1));
        const name = await ask(ops, "name");
        await ops.sleep("nap", 3_600_000);
        return name;
      },
    };
    const client = new Engine(store, handlers);
    const { id } = await client.create("tool");
    expect(await runDue(store, handlers)).toEqual({ ran: 1, nextDueAt: undefined });
    expect((await client.runtime.get(id))?.status).toBe("input_required");
    expect(await runDue(store, handlers)).toEqual({ ran: 0, nextDueAt: undefined });
    await client.answer(id, { name: "Ada" });
    const slept = await runDue(store, handlers);
    expect(slept.ran).toBe(1);
    expect(slept.nextDueAt?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    expect(ran).toEqual(["one"]);
  });
});

test("more tasks than there are places all run", async () => {
  const store = new MemoryStore();
  const handlers: Handlers = { tool: (_input, ops) => ops.step("one", () => Promise.resolve(1)) };
  const client = new Engine(store, handlers);
  const tasks = await Promise.all([1, 2, 3, 4, 5, 6].map(() => client.create("tool")));
  expect(await runDue(store, handlers)).toEqual({ ran: 6, nextDueAt: undefined });
  for (const { id } of tasks) {
    expect(await client.runtime.get(id)).toMatchObject({ status: "completed", result: 1 });
  }
});

test("a body that is cut off counts, and after five times the task fails with its step and the budget", async () => {
  const store = new MemoryStore();
  const held = gate();
  onTestFinished(() => held.open());
  let started = 0;
  const handlers: Handlers = {
    tool: (_input, ops) =>
      ops.step("render", async () => {
        started += 1;
        await held.opened;
        return 1;
      }),
  };
  const client = new Engine(store, handlers);
  const { id } = await client.create("tool");
  let last: RunDueResult | undefined;
  for (let runs = 0; runs < 50 && (await client.runtime.get(id))?.status === "working"; runs += 1) {
    last = await runDue(store, handlers, 300, short);
    if (started < 5) expect(last.nextDueAt?.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  }
  expect(started).toBe(5);
  expect(await client.runtime.get(id)).toMatchObject({
    status: "failed",
    error: {
      message:
        'Step "render" was cut off after 300 ms, 5 times in a row, because app.runDue() had no more time. Pass a longer budgetMs, or split the step.',
    },
  });
  expect(last).toEqual({ ran: 1, nextDueAt: undefined });
});

test("a run ends with its process", async () => {
  const store = new MemoryStore();
  const held = gate();
  const started = gate();
  onTestFinished(() => held.open());
  const engine = new Engine(
    store,
    {
      tool: (_input, ops) =>
        ops.step("render", async () => {
          started.open();
          await held.opened;
          return 1;
        }),
    },
    { limits: short },
  );
  await engine.create("tool");
  const run = engine.runtime.process.runDue({ name: "r", concurrency: 1, budgetMs: 3_600_000 });
  await started.opened;
  await engine.close();
  expect((await run).ran).toBe(1);
});
