// The tasks extension (SEP-2663) over HTTP: what each message contains, and what a client sees of a task's life.

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { streamingExtension } from "../../src/protocol/streaming.ts";
import { parley } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys, quiet } from "../interop/errands.ts";
import { oven } from "./oven.ts";
import { accept, envelope, exchange, textIn } from "./post.ts";
import type { To } from "./post.ts";
import {
  ask,
  begun,
  call,
  extension,
  follows,
  listen,
  ovenHere,
  servedOven,
  stays,
  taskIdIn,
  textOf,
  until,
} from "./task-calls.ts";

const serverInfo = (name: string) => ({
  "io.modelcontextprotocol/serverInfo": { name, version: "1.0.0" },
});
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const id = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
const needed = { requiredCapabilities: { extensions: { [extension]: {} } } };

/** What every message says about its task. */
const base = {
  taskId: id,
  createdAt: time,
  lastUpdatedAt: time,
  ttlMs: expect.any(Number) as number,
  pollIntervalMs: 1_000,
};

/** An app that is attached to a plain official server with its own tool. */
async function attached(): Promise<To> {
  const { app } = oven();
  await app.work();
  const newServer = () => {
    const server = new McpServer({ name: "own", version: "1.0.0" });
    server.registerTool("add", {}, () => ({ content: [{ type: "text", text: "2" }] }));
    return app.attach(server);
  };
  const handler = createMcpHandler(newServer);
  onTestFinished(async () => {
    await handler.close();
    await app.close();
  });
  return (request: Request) => handler.fetch(request);
}

describe.each([
  ["app.listen", "oven", async (): Promise<To> => (await servedOven()).to],
  ["app.attach", "own", attached],
] as const)("the messages, served by %s,", (_, name, serve) => {
  const _meta = serverInfo(name);

  test("CreateTaskResult is flat, begins as working, and contains nothing else [S85] [S87] [A10] [G14]", async () => {
    const to = await serve();
    const { status, result } = await call(to, "bake", { loaf: "rye" });
    expect(status).toBe(200);
    expect(result).toStrictEqual({
      ...base,
      resultType: "task",
      status: "working",
      ttlMs: 60_000,
      _meta,
    });
  });

  test("CreateTaskResult is the same for a tool with an outputSchema, whose result has structured content [S85] [S92]", async () => {
    const to = await serve();
    const created = await call(to, "weigh");
    expect(created.result).toStrictEqual({
      ...base,
      resultType: "task",
      status: "working",
      _meta,
    });
    expect(await until(to, taskIdIn(created), "completed")).toStrictEqual({
      ...base,
      resultType: "complete",
      status: "completed",
      result: {
        resultType: "complete",
        content: [{ type: "text", text: '{"grams":500}' }],
        structuredContent: { grams: 500 },
      },
      _meta,
    });
  });

  test("tasks/get of a working task has only the base [S88] [S89] [A11]", async () => {
    const to = await serve();
    const task = await begun(to, "proof");
    expect((await ask(to, "tasks/get", task)).result).toStrictEqual({
      ...base,
      taskId: task,
      resultType: "complete",
      status: "working",
      _meta,
    });
  });

  test("tasks/get of a task that asks has all its questions, as bare requests [S88] [A11]", async () => {
    const to = await serve();
    const task = await begun(to, "every_kind");
    const asking = await until(to, task, "input_required");
    expect(asking).toStrictEqual({
      ...base,
      taskId: task,
      resultType: "complete",
      status: "input_required",
      inputRequests: {
        form: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Who?",
            requestedSchema: {
              type: "object",
              properties: { name: { type: "string" }, news: { type: "boolean" } },
              required: ["name", "news"],
            },
          },
        },
        page: {
          method: "elicitation/create",
          params: {
            mode: "url",
            message: "Sign in",
            url: expect.stringMatching(/^https:\/\/example\.com\/in\?state=[\w.-]{40,}$/) as string,
          },
        },
        motto: {
          method: "sampling/createMessage",
          params: {
            messages: [{ role: "user", content: { type: "text", text: "A motto" } }],
            maxTokens: 50,
          },
        },
        roots: { method: "roots/list", params: {} },
      },
      _meta,
    });
  });

  test("tasks/get of a completed task has its result, even if that reports a failure [S88] [S90] [S91] [A11]", async () => {
    const to = await serve();
    const task = await begun(to, "burn");
    expect(await until(to, task, "completed")).toStrictEqual({
      ...base,
      taskId: task,
      resultType: "complete",
      status: "completed",
      result: {
        resultType: "complete",
        content: [{ type: "text", text: "It is burnt." }],
        isError: true,
      },
      _meta,
    });
  });

  test("tasks/get of a task that ended in a protocol error has that error [S88] [S90] [S91] [A11]", async () => {
    const to = await serve();
    const task = await begun(to, "short");
    expect(await until(to, task, "failed")).toStrictEqual({
      ...base,
      taskId: task,
      resultType: "complete",
      status: "failed",
      statusMessage: "The fuse is blown.",
      error: { code: 4711, message: "The fuse is blown.", data: { fuse: 3 } },
      _meta,
    });
  });

  test("tasks/get of a cancelled task has only the base [S88] [A11]", async () => {
    const to = await serve();
    const task = await begun(to, "proof");
    await ask(to, "tasks/cancel", task);
    expect(await until(to, task, "cancelled")).toStrictEqual({
      ...base,
      taskId: task,
      resultType: "complete",
      status: "cancelled",
      _meta,
    });
  });

  test("tasks/update and tasks/cancel are acknowledged, with nothing else [S89] [S94] [S97] [A12]", async () => {
    const to = await serve();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const answers = { inputResponses: { one: accept({ one: "1" }) } };
    const ack = { resultType: "complete", _meta };
    expect((await ask(to, "tasks/update", task, answers)).result).toStrictEqual(ack);
    expect((await ask(to, "tasks/cancel", task)).result).toStrictEqual(ack);
    // A request about a task that is over is acknowledged all the same.
    expect((await ask(to, "tasks/update", task, answers)).result).toStrictEqual(ack);
    expect((await ask(to, "tasks/cancel", task)).result).toStrictEqual(ack);
  });

  test("errors of the extension are errors, and name what is needed [S83] [S99] [A15]", async () => {
    const to = await serve();
    const bare = { capabilities: stays };
    const refused = { code: -32021, data: needed };
    const plainly = await call(to, "proof", {}, bare);
    expect([plainly.status, plainly.error]).toMatchObject([400, refused]);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { status, error } = await ask(to, method, "nobodys", bare);
      expect([status, error]).toMatchObject([400, refused]);
    }
  });

  test("discovery names the extensions, without settings, and nothing older [S80] [S102]", async () => {
    const to = await serve();
    const { result } = await exchange(to, envelope("server/discover"));
    const { capabilities } = result as { capabilities: Record<string, unknown> };
    expect(capabilities["extensions"]).toStrictEqual({ [extension]: {}, [streamingExtension]: {} });
    expect(capabilities).not.toHaveProperty("tasks");
  });

  test("the list of tools does not mention tasks [G39]", async () => {
    const to = await serve();
    const { result } = await exchange(to, envelope("tools/list", {}, { capabilities: follows }));
    const { tools } = result as { tools: Record<string, unknown>[] };
    expect(tools.length).toBeGreaterThan(10);
    expect(tools.filter((tool) => "execution" in tool)).toEqual([]);
  });
});

describe("which requests get a task", () => {
  test.each([
    ["any object", { [extension]: {} }, "task"],
    ["one with settings", { [extension]: { later: true } }, "task"],
    ["no extension", {}, "complete"],
    ["another extension", { "example.com/tasks": {} }, "complete"],
  ])(
    "a request that declares %s (%j) gets a %s result [S81] [S84] [G29]",
    async (_, extensions, resultType) => {
      const { to, done } = await servedOven();
      done.resolve();
      const { result } = await call(to, "rise", {}, { capabilities: { ...stays, extensions } });
      expect(result).toMatchObject({ resultType });
    },
  );

  test.each([[null], [[]], ["yes"], [true], [1]])(
    "a declaration that is %j does not count [S81] [G29]",
    async (declared) => {
      const { to, done, store } = await servedOven();
      done.resolve();
      const extensions = { [extension]: declared };
      const { result, error } = await call(to, "rise", {}, { capabilities: { extensions } });
      // A value that is not an object is refused by the SDK before Parley sees it.
      expect(result?.["resultType"] ?? error?.code).toBeOneOf(["complete", -32602]);
      expect((await store.figures()).live).toBe(0);
    },
  );

  test("a request that declares only what 2025-11-25 had, or asks for a task, gets none [S101] [S102]", async () => {
    const { to, done, store } = await servedOven();
    done.resolve();
    const capabilities = { ...stays, tasks: { requests: { tools: { call: {} } } } };
    const params = { name: "rise", arguments: {}, task: { ttl: 60_000 } };
    const { result } = await exchange(to, envelope("tools/call", params, { capabilities }));
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "risen" }] });
    expect((await store.figures()).live).toBe(0);
    const get = await ask(to, "tasks/get", "nobodys", { capabilities });
    expect([get.status, get.error?.code]).toEqual([400, -32021]);
  });

  test("a request for a task changes nothing for a client that supports them [S101]", async () => {
    const { to } = await servedOven();
    const own = { capabilities: follows };
    const quick = { name: "quick", arguments: {}, task: { ttl: 1 } };
    expect((await exchange(to, envelope("tools/call", quick, own))).result).toMatchObject({
      resultType: "complete",
      content: [{ text: "done at once" }],
    });
    const bake = { name: "bake", arguments: { loaf: "rye" }, task: { ttl: 1 } };
    expect((await exchange(to, envelope("tools/call", bake, own))).result).toMatchObject({
      resultType: "task",
      ttlMs: 60_000,
    });
  });

  test("the handler decides, and quick work gets its result at once [S82]", async () => {
    const { to, store } = await servedOven();
    expect((await call(to, "quick")).result).toMatchObject({
      resultType: "complete",
      content: [{ text: "done at once" }],
    });
    expect((await store.figures()).live).toBe(0);
  });

  test("a task-only tool is refused before anything runs [S83]", async () => {
    const { to, called, store } = await servedOven();
    for (const tool of ["proof", "two", "fussy"]) {
      const { status, error } = await call(to, tool, {}, { capabilities: stays });
      expect([status, error?.code, error?.data]).toEqual([400, -32021, needed]);
    }
    expect(called).toEqual([]);
    expect((await store.figures()).live).toBe(0);
  });

  test("each request speaks for itself, and those that follow a task must declare it, too [S99]", async () => {
    const { to } = await servedOven();
    const task = await begun(to, "two");
    const bare = { capabilities: stays };
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      // The response is the same for the caller's own task and for an unknown one, because nothing is looked up yet.
      const own = await ask(to, method, task, { ...bare, inputResponses: {} });
      const unknown = await ask(to, method, "nobodys", { ...bare, inputResponses: {} });
      expect([own.status, own.error]).toMatchObject([400, { code: -32021, data: needed }]);
      expect(unknown.error).toEqual(own.error);
    }
    expect((await until(to, task, "input_required")).status).toBe("input_required");
  });

  test("no request gets a task without a store, and the extension is not declared [S18] [S80]", async () => {
    const app = parley({ name: "storeless", version: "1.0.0", keys, logger: quiet });
    app.tool("bake", { task: "optional" }, async (ctx) => {
      await ctx.background();
      return "baked";
    });
    const { result } = await exchange(app, envelope("server/discover"));
    expect(JSON.stringify(result)).not.toContain(extension);
    const { status, error } = await ask(app, "tasks/get", "nobodys");
    expect([status, error?.code]).toEqual([404, -32601]);
  });

  test("prompts and resources are never tasks, and nothing else uses the names of the methods [S81] [S100] [S112]", async () => {
    const { to } = await servedOven();
    for (const method of ["tasks/result", "tasks/list", "tasks/input_response", "tasks/new"]) {
      const { status, error } = await ask(to, method, "nobodys", {
        headers: { "mcp-name": undefined },
      });
      expect([method, status, error?.code]).toEqual([method, 404, -32601]);
    }
  });
});

describe("a task", () => {
  test("can be read, and is in the store, before its id goes out [S86]", async () => {
    const { to, store } = await servedOven();
    const task = await begun(to, "bake", { loaf: "rye" });
    expect(await store.read(task)).toMatchObject({ id: task, tool: "bake" });
    expect((await ask(to, "tasks/get", task)).result).toMatchObject({ taskId: task });
  });

  test("alternates between working and input_required, then ends and stays ended [S109] [G17]", async () => {
    const { to } = await servedOven();
    const task = await begun(to, "bake", { loaf: "rye" });
    await until(to, task, "input_required");
    const inputResponses = { crust: accept({ crust: "thin" }) };
    await ask(to, "tasks/update", task, { inputResponses });
    const done = await until(to, task, "completed");
    expect(textOf(done)).toBe("rye with a thin crust");
    await ask(to, "tasks/cancel", task);
    await ask(to, "tasks/update", task, { inputResponses });
    expect((await ask(to, "tasks/get", task)).result).toEqual(done);
  });

  test("is reported only by its status message, and nothing is sent elsewhere [S105] [S70] [S71] [A14]", async () => {
    const logged: unknown[] = [];
    const { to, done } = await servedOven({
      logger: {
        debug: () => {},
        info: (...line) => void logged.push(line),
        warn: () => {},
        error: () => {},
      },
    });
    const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "debug" };
    const created = await call(to, "rise", {}, { meta });
    // Until the call becomes a task, notifications go on the stream of its request.
    expect(created.notifications.map(({ method }) => method)).toEqual([
      "notifications/progress",
      "notifications/message",
    ]);
    const task = taskIdIn(created);
    await until(to, task, ({ statusMessage }) => statusMessage === "rising (2/3)");
    const stream = await listen(to, { taskIds: [task] }, { meta });
    done.resolve();
    const heard = await stream.rest();
    expect(new Set(heard.map(({ method }) => method))).toEqual(
      new Set(["notifications/subscriptions/acknowledged", "notifications/tasks", undefined]),
    );
    // What a task logs is only for the server. The status message described work that is over now.
    expect(await until(to, task, "completed")).not.toHaveProperty("statusMessage");
    expect(JSON.stringify(heard)).not.toContain("the top");
    expect(logged).toContainEqual([
      '{"at":"the top"}',
      { handler: "rise", call: expect.any(String), task: `${task.slice(0, 6)}…` },
    ]);
  });

  test("what it logs does not replace its progress, and is not sent to the client", async () => {
    const { app, to, logged } = await ovenHere();
    app.tool("whisper", { task: "required" }, async (ctx) => {
      await ctx.background();
      ctx.progress(1, 2, "baking");
      ctx.log("debug", "the password");
      return ctx.ask("name", "Name?");
    });
    const task = taskIdIn(await call(to, "whisper"));
    // What was reported is written before a task waits.
    const open = await until(to, task, "input_required");
    expect(open).toMatchObject({ statusMessage: "baking (1/2)" });
    await ask(to, "tasks/update", task, { inputResponses: { name: accept({ name: "Ada" }) } });
    const done = await until(to, task, "completed");
    expect(JSON.stringify([open, done])).not.toContain("the password");
    const lines = logged.filter(({ message }) => message.includes("the password"));
    expect(new Set(lines.map(({ level, message }) => `${level} ${message}`))).toEqual(
      new Set(["debug the password"]),
    );
  });

  test("accepts any value to log, as a round does [S105]", async () => {
    const { app, to } = await ovenHere();
    app.tool("mumble", { task: "required" }, async (ctx) => {
      await ctx.background();
      const round: Record<string, unknown> = {};
      round["round"] = round;
      for (const data of [round, 1n, undefined, Symbol("s"), () => {}]) ctx.log("info", data);
      return "said";
    });
    const task = await begun(to, "mumble");
    expect(textOf(await until(to, task, "completed"))).toBe("said");
  });

  test("is not changed by tasks/get, however often it is called [S114]", async () => {
    const { to, store } = await servedOven();
    const task = await begun(to, "two");
    const first = await until(to, task, "input_required");
    const before = await store.read(task);
    const again = await Promise.all(
      Array.from({ length: 20 }, async () => (await ask(to, "tasks/get", task)).result),
    );
    expect(again).toEqual(again.map(() => first));
    expect(await store.read(task)).toEqual(before);
  });

  test("has an id of 128 random bits that is safe in a header [D7]", async () => {
    const { to } = await servedOven();
    const ids = await Promise.all(Array.from({ length: 50 }, () => begun(to, "two")));
    expect(new Set(ids).size).toBe(50);
    for (const one of ids) expect(one).toMatch(/^[0-9a-f]{32}$/);
    // No bit is always the same, so the ids contain neither a time nor a counter.
    const bits = ids.map((one) => BigInt(`0x${one}`));
    const everSet = bits.reduce((sum, one) => sum | one, 0n);
    const alwaysSet = bits.reduce((sum, one) => sum & one, (1n << 128n) - 1n);
    expect([everSet, alwaysSet]).toEqual([(1n << 128n) - 1n, 0n]);
  });

  test("has a whole number of milliseconds to live, and to wait between polls [S106] [G15]", async () => {
    const { to } = await servedOven({ limits: { taskTtlMs: 90_000 } });
    const { result } = await call(to, "two");
    expect(result).toMatchObject({ ttlMs: 90_000, pollIntervalMs: 1_000 });
    const baked = await call(to, "bake", { loaf: "rye" });
    expect(baked.result).toMatchObject({ ttlMs: 60_000 });
  });

  test("fails if its time is up before it is done, and is gone after a while [S107] [S113] [G15] [D29]", async () => {
    const clock = { now: Date.now() };
    const store = new MemoryStore({ now: () => clock.now });
    const { to } = await servedOven({ store });
    const task = await begun(to, "bake", { loaf: "rye" });
    await until(to, task, "input_required");
    const keepMs = 3_600_000;
    clock.now += 59_999;
    await store.sweep(100, keepMs);
    expect((await ask(to, "tasks/get", task)).result).toMatchObject({ status: "input_required" });
    clock.now += 1;
    // No sweep has passed yet. An answer that comes now is acknowledged and changes nothing.
    const crust = { action: "accept", content: { value: "thin" } };
    const late = await ask(to, "tasks/update", task, { inputResponses: { crust } });
    expect(late.error).toBeUndefined();
    expect((await ask(to, "tasks/get", task)).result).toStrictEqual({
      ...base,
      taskId: task,
      resultType: "complete",
      status: "failed",
      error: {
        code: -32603,
        message: "The task expired before it was done.",
        data: { reason: "task_expired" },
      },
      _meta: serverInfo("oven"),
    });
    // After a sweep, nothing is left of its contents.
    await store.sweep(100, keepMs);
    expect(await store.read(task)).toMatchObject({ input: "", waits: [], inbox: [], logLength: 0 });
    expect(await store.readLog(task)).toEqual([]);
    clock.now += keepMs;
    await store.sweep(100, keepMs);
    expect((await ask(to, "tasks/get", task)).error).toEqual({
      code: -32602,
      message: "No such task",
      data: { reason: "unknown_task" },
    });
  });

  test("a completed task is deleted at the end of its time, and its owner gets an error that says so [S107] [S113] [D29]", async () => {
    const clock = { now: Date.now() };
    const store = new MemoryStore({ now: () => clock.now });
    const { to } = await servedOven({ store });
    const task = await begun(to, "weigh");
    await until(to, task, "completed");
    clock.now += 8 * 24 * 3_600_000;
    await store.sweep(100, 3_600_000);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect((await ask(to, method, task, { inputResponses: {} })).error).toEqual({
        code: -32602,
        message: "The task has expired, and its result is deleted.",
        data: { reason: "task_expired" },
      });
    }
    expect((await store.read(task))?.result).toBeUndefined();
  });

  test("keeps all of a caller's data sealed in the store [D29]", async () => {
    const { to, store } = await servedOven();
    const task = await begun(to, "bake", { loaf: "a-secret-loaf" });
    await until(to, task, "input_required");
    const asked = JSON.stringify([await store.read(task), await store.readLog(task)]);
    await ask(to, "tasks/update", task, { inputResponses: { crust: accept({ crust: "thick" }) } });
    await until(to, task, "completed");
    const over = JSON.stringify([await store.read(task), await store.readLog(task)]);
    for (const kept of [asked, over]) {
      expect(kept).not.toMatch(/a-secret-loaf|thick|kneading/);
    }
  });

  test("goes on after the request that created it has its response and its client is gone [S110] [A14]", async () => {
    const { to, done } = await servedOven();
    const gone = new AbortController();
    const task = await begun(to, "rise", {}, { signal: gone.signal });
    gone.abort();
    done.resolve();
    expect(textOf(await until(to, task, "completed"))).toBe("risen");
  });

  test("counts towards the limit of its caller [D23]", async () => {
    const { to } = await servedOven({ limits: { tasksPerPrincipal: 2 } });
    await begun(to, "two");
    await begun(to, "two");
    const { error } = await call(to, "two");
    expect(error).toMatchObject({ code: -32603, data: { reason: "too_many_tasks" } });
  });
});

describe("tasks/cancel", () => {
  test("stops the running body, and its result is not reported [S97] [G17]", async () => {
    const { to, ran, stopped } = await servedOven();
    const task = await begun(to, "proof");
    await expect.poll(() => ran).toEqual(["proof"]);
    await ask(to, "tasks/cancel", task);
    expect((await ask(to, "tasks/get", task)).result).toMatchObject({ status: "cancelled" });
    await expect.poll(() => stopped).toEqual(["Cancelled"]);
    expect((await ask(to, "tasks/get", task)).result).toMatchObject({ status: "cancelled" });
  });

  test("ends a task that asks: its questions are gone, and later answers are ignored [S97] [G17]", async () => {
    const { to, called } = await servedOven();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const runs = called.length;
    await ask(to, "tasks/cancel", task);
    const inputResponses = { one: accept({ one: "1" }), other: accept({ other: "2" }) };
    expect((await ask(to, "tasks/update", task, { inputResponses })).result).toMatchObject({
      resultType: "complete",
    });
    const { result } = await ask(to, "tasks/get", task);
    expect(result).toMatchObject({ status: "cancelled" });
    expect(result).not.toHaveProperty("inputRequests");
    expect(called).toHaveLength(runs);
  });

  test("frees what the task held: its place in the worker, its share of the caller's tasks, and its questions [S97]", async () => {
    const { app, store, ran, stopped } = oven({ limits: { tasksPerPrincipal: 1 } });
    onTestFinished(() => app.close());
    await app.work({ concurrency: 1 });
    const running = taskIdIn(await call(app, "proof"));
    await expect.poll(() => ran).toEqual(["proof"]);
    expect((await call(app, "weigh")).error?.data).toMatchObject({ reason: "too_many_tasks" });
    await ask(app, "tasks/cancel", running);
    // The only place of the only worker is free for the next task as soon as the body has stopped.
    const next = taskIdIn(await call(app, "two"));
    await until(app, next, "input_required");
    expect(stopped).toEqual(["Cancelled"]);
    expect((await store.figures()).held).toBe(0);
    expect((await store.read(next))?.waits).toHaveLength(2);
    await ask(app, "tasks/cancel", next);
    expect(await store.read(next)).toMatchObject({ waits: [], inbox: [], dueAt: undefined });
    expect(await store.usage("")).toMatchObject({ live: 0 });
    const last = taskIdIn(await call(app, "weigh"));
    await until(app, last, "completed");
  });

  test("is complete when it is acknowledged [S97]", async () => {
    const { to } = await servedOven();
    for (let n = 0; n < 10; n += 1) {
      const task = await begun(to, "two");
      await ask(to, "tasks/cancel", task);
      expect((await ask(to, "tasks/get", task)).result).toMatchObject({ status: "cancelled" });
    }
  });
});

describe("the header Mcp-Name", () => {
  test.each(["tasks/get", "tasks/update", "tasks/cancel"])(
    "the Mcp-Name header of %s is the task's id, or the response is -32020 [S53] [G9]",
    async (method) => {
      const { to } = await servedOven();
      const task = await begun(to, "two");
      for (const name of [undefined, "another", `${task} x`, "=?base64?!?="]) {
        const { status, error } = await ask(to, method, task, { headers: { "mcp-name": name } });
        expect([status, error?.code]).toEqual([400, -32020]);
      }
      const encoded = `=?base64?${Buffer.from(task).toString("base64")}?=`;
      const { status } = await ask(to, method, task, {
        headers: { "mcp-name": encoded },
        inputResponses: {},
      });
      expect(status).toBe(200);
    },
  );
});

describe("lenientTaskRouting", () => {
  test("serves requests without the header Mcp-Name, and refuses a wrong one as before [G9]", async () => {
    const { to, app } = await servedOven({ lenientTaskRouting: true });
    const without = { headers: { "mcp-name": undefined } };
    for (const place of [to, app]) {
      const task = await begun(place, "two");
      await until(place, task, "input_required");
      const got = await ask(place, "tasks/get", task, without);
      expect(got.result).toMatchObject({ taskId: task, status: "input_required" });
      const updated = await ask(place, "tasks/update", task, { ...without, inputResponses: {} });
      expect(updated.status).toBe(200);
      for (const name of ["", "another"]) {
        const { status, error } = await ask(place, "tasks/get", task, {
          headers: { "mcp-name": name },
        });
        expect([status, error?.code]).toEqual([400, -32020]);
      }
      expect((await ask(place, "tasks/cancel", task, without)).status).toBe(200);
      expect((await ask(place, "tasks/get", task, without)).result).toMatchObject({
        status: "cancelled",
      });
    }
  });

  test("does not concern other methods, or ids that cannot be in a header [G9]", async () => {
    const { to } = await servedOven({ lenientTaskRouting: true });
    const without = { headers: { "mcp-name": undefined } };
    const plain = await call(to, "bake", { loaf: "rye" }, without);
    expect([plain.status, plain.error?.code]).toEqual([400, -32020]);
    for (const odd of ["ä", "a b", ""]) {
      const { status, error } = await ask(to, "tasks/get", odd, without);
      expect([status, error?.code]).toEqual([400, -32020]);
    }
  });
});

test("a call that fails before it becomes a task fails like any other [S90]", async () => {
  const { to, store } = await servedOven();
  expect(textIn(await call(to, "bake", { loaf: 7 }))).toContain("loaf");
  expect((await store.figures()).live).toBe(0);
});
