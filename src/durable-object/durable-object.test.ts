// What can be tested of the Durable Object store without its platform. `npm run test:runtime -- workerd` tests the rest.

import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { durableObjectStore, taskObject } from "mcp-parley/durable-object";
import { expect, test } from "vitest";
import { recordTooLarge } from "../tasks/limits.ts";
import type { TaskStore } from "../tasks/store.ts";
import { operations } from "./operations.ts";

/** A binding whose object answers with this. */
function binding(call: (operation: string, args: readonly unknown[]) => Promise<unknown>) {
  return { idFromName: (name: string) => name, get: () => ({ parley: call }) };
}

test("each operation of a Worker is a call of the object", async () => {
  const calls: string[] = [];
  const namespace = binding(async (operation, args) => {
    calls.push(operation);
    return { value: args };
  });
  const store = durableObjectStore(() => namespace) as TaskStore;
  for (const operation of operations) {
    const [name = "", member] = operation.split(".");
    const group: unknown = Reflect.get(store, name);
    const does: unknown = member === undefined ? group : Reflect.get(Object(group), member);
    if (operation !== "figures")
      expect(await Reflect.apply(does as () => unknown, store, [1])).toEqual([1]);
    else await store.figures();
  }
  expect(calls).toEqual(operations);
});

test("a Worker claims nothing, because the object runs the tasks", async () => {
  const store = durableObjectStore(() =>
    binding(() => Promise.reject(new Error("not called"))),
  ) as TaskStore;
  const claim = { worker: "w", tools: ["tool"], most: 9, leaseMs: 1 };
  expect(await store.claim(claim)).toMatchObject({ claimed: [], nextDueAt: undefined });
  expect(await store.sweep(9, 9)).toMatchObject({ removed: 0, isMore: false });
});

test("an error of the object keeps its code", async () => {
  const refused = { code: "log_too_large", message: "too large" };
  const store = durableObjectStore(() => binding(async () => ({ refused }))) as TaskStore;
  await expect(store.read("task")).rejects.toMatchObject({ name: "ParleyError", ...refused });
});

test("mistakes are refused when the module loads", () => {
  // @ts-expect-error -- a binding instead of a function
  expect(() => durableObjectStore({})).toThrow(
    "durableObjectStore(env.TASKS): a binding cannot be used while the module loads. Pass a function: durableObjectStore(() => env.TASKS).",
  );
  expect(() => taskObject({} as App)).toThrow(
    "taskObject(app): the argument is the app that parley() returned.",
  );
  expect(taskObject(parley({ name: "shop", version: "1.0.0" }))).toBeTypeOf("function");
});

test("a record over the limit of a row says how large it is, and what to do", () => {
  expect(recordTooLarge('Step "render"', 3.1 * 1024 * 1024, 2 * 1024 * 1024).message).toBe(
    'Step "render" is 3.1 MB, and a Durable Object keeps at most 2 MB in a row. Keep an id instead of the contents.',
  );
});
