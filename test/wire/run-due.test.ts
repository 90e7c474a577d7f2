// `app.runDue`: an app that serves through `app.fetch` only, and runs its tasks now and then.

import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { expect, onTestFinished, test } from "vitest";
import { keys } from "../interop/errands.ts";
import { accept, envelope, exchange } from "./post.ts";
import { call, follows, taskIdIn } from "./task-calls.ts";

function cookery(): { readonly app: App; readonly errors: string[] } {
  const errors: string[] = [];
  const drop = () => {};
  const logger = { debug: drop, info: drop, warn: drop, error: (m: string) => void errors.push(m) };
  const store = memoryStore();
  const app = parley({ name: "cookery", version: "1.0.0", keys, logger, store });
  app.tool("cook", { task: "required" }, async (ctx) => {
    await ctx.background();
    const meal = await ctx.step("plan", () => Promise.resolve("soup"));
    const isSalted = await ctx.confirm("salt", `Salt in the ${meal}?`);
    return `${meal}, ${isSalted ? "salted" : "plain"}`;
  });
  onTestFinished(() => app.close());
  return { app, errors };
}

test("a task that asks comes to its end without a process that stays", async () => {
  const { app, errors } = cookery();
  expect(await app.runDue({ budgetMs: 60_000 })).toEqual({ ran: 0, nextDueAt: undefined });
  const taskId = taskIdIn(await call(app, "cook"));
  expect(await app.runDue({ budgetMs: 60_000 })).toEqual({ ran: 1, nextDueAt: undefined });
  const inputResponses = { salt: accept() };
  const capabilities = follows;
  await exchange(app, envelope("tasks/update", { taskId, inputResponses }, { capabilities }));
  expect(await app.runDue({ budgetMs: 60_000, concurrency: 1 })).toMatchObject({ ran: 1 });
  const { result } = await exchange(app, envelope("tasks/get", { taskId }, { capabilities }));
  expect(result).toMatchObject({ status: "completed" });
  expect(JSON.stringify(result)).toContain("soup, salted");
  // The process runs tasks, so nobody has to be told that there is no worker.
  expect(errors).toEqual([]);
});

test("a budget that leaves no time is refused", async () => {
  const { app } = cookery();
  await expect(app.runDue({ budgetMs: 3_000 })).rejects.toThrow(
    new RangeError(
      "app.runDue({ budgetMs: 3000 }): 5000 ms are kept for running steps to end, so nothing could start. Pass more than 5000.",
    ),
  );
  await expect(app.runDue({ budgetMs: Number.NaN })).rejects.toThrow(RangeError);
  await expect(app.runDue({ budgetMs: 60_000, concurrency: 0 })).rejects.toThrow(
    new RangeError("concurrency is 0. Pass a whole number of at least 1."),
  );
});

test("an app without a store has nothing to run", async () => {
  const app = parley({ name: "bare", version: "1.0.0", keys });
  await expect(app.runDue({ budgetMs: 60_000 })).rejects.toThrow("app.runDue() needs a store.");
});
