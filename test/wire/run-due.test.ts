// `app.runDue`: an app that serves through `app.fetch` only, and runs its tasks now and then.

import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { accept, envelope, exchange } from "./post.ts";
import { call, follows, taskIdIn } from "./task-calls.ts";

function cookery(options: Partial<ParleyOptions> = {}): {
  readonly app: App;
  readonly errors: string[];
} {
  const errors: string[] = [];
  const drop = () => {};
  const logger = { debug: drop, info: drop, warn: drop, error: (m: string) => void errors.push(m) };
  const store = memoryStore();
  const settings = { name: "cookery", version: "1.0.0", keys, logger, store };
  const app = parley({ ...settings, ...options } as ParleyOptions);
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

test("whoever looks for a worker waits as long as the runner is usually away", async () => {
  let now = Date.now();
  const store = new MemoryStore({ now: () => now });
  const run = () => cookery({ store }).app.runDue({ budgetMs: 60_000 });
  const tenMinutes = 600_000;
  await run();
  now += tenMinutes;
  await run();
  // One row for all runs, and it says how often they come.
  const { workers } = await store.workers();
  expect(workers).toEqual([{ name: "runDue-every-600000ms@1.0.0", seenAt: now }]);

  now += 1.5 * tenMinutes;
  const patient = cookery({ store });
  await call(patient.app, "cook");
  expect((await patient.app.health()).problems).toEqual([]);
  expect(patient.errors).toEqual([]);

  now += tenMinutes;
  const worried = cookery({ store });
  await call(worried.app, "cook");
  await vi.waitFor(() => expect(worried.errors).toHaveLength(1), patience);
  expect(worried.errors[0]).toContain("Call app.work() in a long-lived process, or app.runDue()");
  expect((await worried.app.health()).problems).toEqual([
    "No worker has been seen on this store lately, so tasks are created but not run.",
  ]);

  // Runs that come more often shorten the wait little by little.
  await run();
  await run();
  const names = (await store.workers()).workers.map(({ name }) => name);
  expect(names).toEqual(["runDue-every-750000ms@1.0.0"]);
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

describe("app.fetch with a host that waits", () => {
  /** The context of a platform, which needs its `this`, as that of Workers does. */
  class Host {
    readonly #waits: Promise<unknown>[] = [];

    waitUntil(promise: Promise<unknown>): void {
      this.#waits.push(promise);
    }

    get count(): number {
      return this.#waits.length;
    }

    async settled(): Promise<void> {
      await Promise.all(this.#waits);
    }
  }

  const get = (taskId: string) => envelope("tasks/get", { taskId }, { capabilities: follows });
  const salt = (taskId: string) =>
    envelope(
      "tasks/update",
      { taskId, inputResponses: { salt: accept() } },
      { capabilities: follows },
    );

  test("runs what is due after a response that created or answered a task, and after no other", async () => {
    const { app, errors } = cookery();
    const creating = new Host();
    const taskId = taskIdIn(await call((request) => app.fetch(request, creating), "cook"));
    expect(creating.count).toBe(1);
    await creating.settled();

    const reading = new Host();
    const read = await exchange((request) => app.fetch(request, reading), get(taskId));
    expect(read.result).toMatchObject({ status: "input_required" });
    expect(reading.count).toBe(0);

    const answering = new Host();
    await exchange((request) => app.fetch(request, answering), salt(taskId));
    expect(answering.count).toBe(1);
    await answering.settled();

    const { result } = await exchange(app, get(taskId));
    expect(result).toMatchObject({ status: "completed" });
    expect(errors).toEqual([]);
  });

  test("looks at the last argument only, which is ctx on Workers and never env", async () => {
    const { app } = cookery();
    const ctx = new Host();
    const env = {
      waitUntil: () => {
        throw new Error("This is a binding.");
      },
    };
    const fetch: (...passed: [Request, object, object]) => Promise<Response> = app.fetch;
    await call((request) => fetch(request, env, ctx), "cook");
    expect(ctx.count).toBe(1);
    await ctx.settled();
    // Deno passes where the request comes from.
    const info = { remoteAddr: { hostname: "127.0.0.1" } };
    expect((await call((request) => fetch(request, env, info), "cook")).error).toBeUndefined();
  });

  test("a bare waitUntil is refused", async () => {
    const { app } = cookery();
    const request = new Request("https://cook.example.com/mcp");
    const waitUntil = () => {};
    await expect(Reflect.apply(app.fetch, app, [request, waitUntil])).rejects.toThrow(
      new TypeError(
        "app.fetch(request, waitUntil): pass an object, app.fetch(request, { waitUntil }).",
      ),
    );
    await expect(Reflect.apply(app.handle, app, [request, waitUntil])).rejects.toThrow(TypeError);
  });

  test("app.handle waits too", async () => {
    const { app } = cookery();
    const waits: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => void waits.push(promise);
    const taskId = taskIdIn(
      await call((request) => app.handle(request, { authInfo: undefined, waitUntil }), "cook"),
    );
    await Promise.all(waits);
    expect((await exchange(app, get(taskId))).result).toMatchObject({ status: "input_required" });
  });

  test("so does app.pages after an answer on a page", async () => {
    const origin = "https://cook.example.com";
    const { app } = cookery({ url: origin });
    const host = new Host();
    const { extensions } = follows;
    const capabilities = { elicitation: { url: {} }, extensions };
    const to = (request: Request) => app.fetch(request, host);
    const taskId = taskIdIn(await call(to, "cook", {}, { capabilities }));
    await host.settled();
    const { result } = await exchange(to, envelope("tasks/get", { taskId }, { capabilities }));
    const requests = result?.["inputRequests"] as Record<string, { params: { url: string } }>;
    const body = new URLSearchParams({ action: "accept", "f.confirmed": "true" });
    const visiting = new Host();
    const url = requests["salt"]?.params.url ?? "";
    const sent = await app.pages(
      new Request(url, { method: "POST", body, headers: { origin } }),
      visiting,
    );
    expect(sent.status).toBe(303);
    expect(visiting.count).toBe(1);
    await visiting.settled();
    expect((await exchange(app, get(taskId))).result).toMatchObject({ status: "completed" });
  });

  test("a waitUntil that throws is logged, and the response is sent", async () => {
    const { app, errors } = cookery();
    const waitUntil = () => {
      throw new TypeError("Illegal invocation");
    };
    taskIdIn(await call((request) => app.fetch(request, { waitUntil }), "cook"));
    expect(errors).toEqual([
      "waitUntil threw, so the instance may end before its tasks have run: Illegal invocation",
    ]);
  });

  test("a worker in this process leaves nothing to run", async () => {
    const { app } = cookery();
    await app.work();
    const host = new Host();
    taskIdIn(await call((request) => app.fetch(request, host), "cook"));
    expect(host.count).toBe(0);
  });
});
