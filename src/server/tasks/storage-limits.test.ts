// The storage limits of a caller, and what its calls get when one is reached.

import { expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import { newKey } from "../../token/keyring.ts";
import { registeredAs } from "../define/handles.ts";
import type { Tool } from "../define/tool.ts";
import type { Limits } from "../limits.ts";
import { parley } from "../parley.ts";
import type { RoundRequest, RoundResponse } from "../round/request.ts";
import { serveRound } from "../round/round.ts";
import { serveTask } from "./requests.ts";

const keys = newKey("test");
const accept = (content: Record<string, unknown>) => ({ action: "accept", content });

function opened(limits: Partial<Limits> = {}) {
  const store = new MemoryStore();
  const logged: string[] = [];
  const log = (message: string) => void logged.push(message);
  const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
  const app = parley({ name: "limits-test", version: "1.0.0", keys, store, limits, logger });
  onTestFinished(() => app.close());
  const large = app.tool("large", {}, async (ctx) => {
    const data = await ctx.step("data", () => "x".repeat(50_000));
    const name = await ctx.ask("name", "Name?");
    const more = await ctx.step("more", () => "y".repeat(50_000));
    return `${name} ${await ctx.ask("age", "Age?")} ${data.length + more.length}`;
  });
  const wait = app.tool("wait", { task: "required" }, async (ctx) => {
    await ctx.background();
    return ctx.ask("name", "Name?");
  });
  const call = (tool: Tool, principal?: string, leg: Partial<RoundRequest> = {}) => {
    const { core, definition } = registeredAs(tool);
    return serveRound(core, definition, {
      target: tool.name,
      arguments: {},
      principal,
      capabilities: {
        elicitation: { form: {} },
        extensions: { "io.modelcontextprotocol/tasks": {} },
      },
      facts: { meta: {} },
      ...leg,
    });
  };
  const pay = app.tool(
    "pay",
    { once: true },
    async (ctx) => `paid ${await ctx.ask("sum", "Sum?")}`,
  );
  return { app, store, logged, large, wait, pay, call };
}

const stateIn = (response: RoundResponse): string => {
  if (response.kind !== "input_required") throw new Error(JSON.stringify(response));
  return String(response.result.requestState);
};

test("a token that is sent again and again keeps one state in the store", async () => {
  const { store, large, call } = opened();
  const requestState = stateIn(await call(large, "ann"));
  const first = await store.usage("ann");
  const leg = { requestState, inputResponses: { name: accept({ name: "Ada" }) } };
  const next = stateIn(await call(large, "ann", leg));
  const second = await store.usage("ann");
  expect(second.bytes).toBeGreaterThan(first.bytes + 100_000);
  for (let n = 0; n < 20; n += 1) await call(large, "ann", leg);
  expect(await store.usage("ann")).toEqual(second);
  // Other answers make another state, and both tokens stay valid.
  const other = { requestState, inputResponses: { name: accept({ name: "Bea" }) } };
  const branch = stateIn(await call(large, "ann", other));
  for (const [token, name] of [
    [next, "Ada"],
    [branch, "Bea"],
  ] as const) {
    const age = { requestState: token, inputResponses: { age: accept({ age: "7" }) } };
    expect(JSON.stringify(await call(large, "ann", age))).toContain(`${name} 7 100000`);
  }
});

test("states of a caller that has too much in the store are refused, with a reason", async () => {
  const { logged, large, call } = opened({ storedBytesPerPrincipal: 300_000 });
  const responses: RoundResponse[] = [];
  for (let n = 0; n < 6; n += 1) responses.push(await call(large, "ann"));
  expect(responses.map(({ kind }) => kind).slice(0, 4)).toEqual(Array(4).fill("input_required"));
  expect(JSON.stringify(responses.at(-1))).toContain('The state of \\"large\\" cannot be stored');
  expect(logged.join("\n")).toContain(
    "limits.storedBytesPerPrincipal (300000) is reached for a caller",
  );
  expect((await call(large, "bob")).kind).toBe("input_required");
});

test("callers without a principal share one limit, and the log says so once it is reached", async () => {
  const { logged, wait, call } = opened({ tasksPerPrincipal: 3 });
  for (let n = 0; n < 3; n += 1) expect((await call(wait)).kind).toBe("task");
  logged.length = 0;
  for (let n = 0; n < 3; n += 1) {
    expect(JSON.stringify(await call(wait))).toContain("already has 3 live tasks");
  }
  const lines = logged.filter((line) => line.startsWith("limits.tasksPerPrincipal"));
  expect(lines).toEqual([
    "limits.tasksPerPrincipal (3) is reached for all callers without a principal together, so none of them can add more. " +
      "Pass parley({ auth, principal }), so that each caller has a limit of its own, or raise the limit.",
  ]);
  expect((await call(wait, "ann")).kind).toBe("task");
});

test("an answer to a task is refused with a reason when its caller has twice as much in the store", async () => {
  const { app, store, wait, call } = opened({ storedBytesPerPrincipal: 10_000 });
  await app.work();
  const made = await call(wait, "ann");
  if (made.kind !== "task") throw new Error(JSON.stringify(made));
  const { id: taskId } = made.task;
  await expect.poll(async () => (await store.read(taskId))?.status).toBe("input_required");
  const { core } = registeredAs(wait);
  const update = (name: string) =>
    serveTask(core, {
      method: "tasks/update",
      taskId,
      inputResponses: { name: accept({ name }) },
      principal: "ann",
      capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
    });
  expect(await update("x".repeat(30_000))).toMatchObject({
    kind: "error",
    message: expect.stringContaining('The answer to "wait" cannot be stored'),
    data: { reason: "too_much_stored" },
  });
  expect(await update("Ada")).toMatchObject({ kind: "result" });
  await expect.poll(async () => (await store.read(taskId))?.status).toBe("completed");
});

test("recorded rounds count for their caller, and are refused at its limit", async () => {
  const { store, pay, call } = opened({ storedBytesPerPrincipal: 5_000 });
  const responses: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    const requestState = stateIn(await call(pay, "ann"));
    const leg = { requestState, inputResponses: { sum: accept({ sum: "1" }) } };
    responses.push(JSON.stringify(await call(pay, "ann", leg)));
  }
  expect(responses[0]).toContain("paid 1");
  expect(responses.at(-1)).toContain('The round of \\"pay\\" cannot be stored');
  expect((await store.usage("ann")).bytes).toBeLessThan(6_000);
});

test("what a round records is refused when its caller has twice as much in the store", async () => {
  const { app, call } = opened({ storedBytesPerPrincipal: 10_000 });
  const hoard = app.tool("hoard", { once: true }, async (ctx) => {
    const bytes = Number(await ctx.ask("bytes", "How many?"));
    return `${(await ctx.step("data", () => "x".repeat(bytes))).length}`;
  });
  const recording = async (bytes: string) => {
    const requestState = stateIn(await call(hoard, "ann"));
    const inputResponses = { bytes: accept({ bytes }) };
    return JSON.stringify(await call(hoard, "ann", { requestState, inputResponses }));
  };
  expect(await recording("50000")).toContain('The record of \\"hoard\\" cannot be stored');
  expect(await recording("50")).toContain('"50"');
});
