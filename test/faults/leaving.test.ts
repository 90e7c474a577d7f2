// A worker that drains at an awkward moment. Everything that it holds is written or handed over, and nothing waits for
// its lease to end.

import { expect, onTestFinished, test } from "vitest";
import { ask, Engine } from "../../src/tasks/engine.fixture.ts";
import type { Handler } from "../../src/tasks/engine.fixture.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { gate } from "../gate.fixture.ts";

const leaseMs = 60_000;

/** An engine, and one of its calls to the store, which stays under way until the test lets it go. */
function slow(name: "report" | "create" | "claim" | "append", tool: Handler) {
  const inner: TaskStore = new MemoryStore({ leaseMs });
  const called = gate();
  const mayReturn = gate();
  const call: (...given: never[]) => Promise<unknown> = inner[name];
  const slowed = {
    [name]: async (...given: never[]) => {
      const value = await call(...given);
      called.open();
      await mayReturn.opened;
      return value;
    },
  };
  const engine = new Engine({ ...inner, ...slowed }, { tool });
  onTestFinished(() => engine.close());
  return { store: inner, engine, called, mayReturn };
}

test.for([
  ["its status message is written", "report", "asks"],
  ["its last status message is written", "report", "ends"],
  ["an entry is written", "append", "asks"],
] as const)("a worker that is drained while %s releases its task", async ([, name, then]) => {
  const { store, engine, called, mayReturn } = slow(name, async (_input, ops, report) => {
    if (name === "report") report("got so far");
    else await ops.step("work", () => "done");
    return then === "asks" ? ask(ops, "a") : "the end";
  });
  await engine.start();
  const { id } = await engine.create("tool");
  await called.opened;
  await turns();
  const left = engine.runtime.drain();
  mayReturn.open();
  await left;
  const task = await store.read(id);
  expect(task?.worker).toBeUndefined();
  if (then === "asks") expect(task?.fruitless).toBe(0);
  else expect(task?.status).toBe("completed");
});

test.for([
  ["a task is created for it to run", "create"],
  ["it claims a task", "claim"],
] as const)(
  "a worker that is drained while %s waits until that is done, and runs nothing",
  async ([, name]) => {
    let ran = 0;
    const { store, engine, called, mayReturn } = slow(name, () => (ran += 1));
    const elsewhere = new Engine(store, {});
    if (name === "claim") await elsewhere.create("tool");
    const started = engine.start();
    if (name === "create") await started;
    const created = name === "create" ? engine.create("tool") : undefined;
    await called.opened;
    let isGone = false;
    const left = engine.runtime.drain().then(() => {
      isGone = true;
    });
    await turns();
    expect(isGone).toBe(false);
    mayReturn.open();
    await created;
    await left;
    const [task] = await store.list({ principal: undefined, after: undefined, limit: 10 });
    expect(task).toMatchObject({ status: "working", worker: undefined, fruitless: 0 });
    expect(ran).toBe(0);
  },
);

/** Resolves when everything has happened that does not wait for the store. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
}
