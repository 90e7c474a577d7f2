// Tasks of 2025-11-25, with messages written by hand: what each message contains, and what is left when a session ends.

import { UnansweredError } from "mcp-parley";
import type { App } from "mcp-parley";
import { describe, expect, test } from "vitest";
import { CountingStore } from "./counting-store.ts";
import { accept, messagesIn } from "./post.ts";
import type { Incoming } from "./post.ts";
import { ask, extension, ovenHere, until } from "./task-calls.ts";
import { streamOf } from "./stream.ts";
import { stdioHere } from "./stdio-here.ts";

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const id = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
const related = "io.modelcontextprotocol/related-task";

const base = { taskId: id, createdAt: time, lastUpdatedAt: time, ttl: 60_000, pollInterval: 1_000 };

const clientInfo = { name: "by hand", version: "1.0.0" };
const initialize = (capabilities: object) => ({
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities, clientInfo },
});

interface Session {
  readonly initialized: Incoming;
  readonly send: (message: object) => Promise<Response>;
  readonly request: (method: string, params?: object) => Promise<Incoming>;
  readonly end: () => Promise<Response>;
}

async function opened({ app }: { readonly app: App }, capabilities: object = {}): Promise<Session> {
  let session: string | undefined;
  let count = 1;
  const fetch = (method: string, message?: object) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    };
    const body = message && JSON.stringify({ jsonrpc: "2.0", ...message });
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    return app.fetch(new Request("http://127.0.0.1/mcp", init));
  };
  const send = (message: object) => fetch("POST", message);
  const answerTo = async (message: object) => {
    const heard = messagesIn(await (await send(message)).text());
    return heard.at(-1)!;
  };
  const response = await send(initialize(capabilities));
  const [initialized] = messagesIn(await response.text());
  session = response.headers.get("mcp-session-id") ?? undefined;
  await send({ method: "notifications/initialized" });
  return {
    initialized: initialized!,
    send,
    request: (method, params = {}) => answerTo({ id: ++count, method, params }),
    end: () => fetch("DELETE"),
  };
}

const call = (name: string, args: object = {}, task: object = { ttl: 60_000 }) => ({
  name,
  arguments: args,
  task,
});

async function begun({ request }: Session, name: string, args?: object): Promise<string> {
  const { result, error } = await request("tools/call", call(name, args));
  if (result === undefined) throw new Error(JSON.stringify(error));
  return (result["task"] as { taskId: string }).taskId;
}

describe("a client that answers a question with an error", () => {
  test.each([
    ["elicitation", "unsupported", -32_601],
    ["sampling", "declined", -1],
    ["roots", "cancelled", -32_603],
  ])(
    "leaves it unanswered at once, and the task goes on (%s) [E2.4] [G12]",
    async (kind, reason, code) => {
      const here = await ovenHere();
      here.app.tool("wonder", { task: "optional" }, async (ctx) => {
        const question = {
          elicitation: () => ctx.ask("it", "It?"),
          sampling: () => ctx.sample("it", "It?"),
          roots: () => ctx.roots("it"),
        }[kind];
        try {
          await question?.();
        } catch (error) {
          return error instanceof UnansweredError ? error.reason : "threw";
        }
        return "answered";
      });
      const session = await opened(here, { elicitation: {}, sampling: {}, roots: {} });
      const taskId = await begun(session, "wonder");
      const response = await session.send({ id: "r", method: "tasks/result", params: { taskId } });
      const stream = streamOf(response);
      const question = await stream.next();
      await session.send({ id: question?.id, error: { code, message: "No" } });
      const [last] = (await stream.rest()).slice(-1);
      expect(last?.result).toMatchObject({ content: [{ text: reason }] });
      expect(here.logged.map(({ message }) => message).join()).toContain("with an error");
    },
  );
});

test("a call that may not be a task but is, or must be a task but is not, is refused in plain words", async () => {
  const here = await ovenHere();
  here.app.tool("never", {}, () => "done");
  const session = await opened(here);
  const required = await session.request("tools/call", { name: "proof", arguments: {} });
  expect(required.error).toEqual({
    code: -32601,
    message:
      'Tool "proof" runs only as a task, and this client did not ask for one. Nothing has run. Use a client that supports tasks.',
  });
  const forbidden = await session.request("tools/call", call("never"));
  expect(forbidden.error).toEqual({
    code: -32601,
    message:
      'Tool "never" does not run as a task, and this client asked for one. Nothing has run. Call it without a task.',
  });
  expect(here.called).toEqual([]);
});

test("a call that requests a task proves that the client supports tasks, and nothing else", async () => {
  const here = await ovenHere();
  here.app.tool("strict", { task: "optional", requires: ["task"] }, () => "done");
  here.app.tool("stricter", { task: "optional", requires: ["task", "sampling"] }, () => "done");
  const session = await opened(here);
  const { result } = await session.request("tools/call", call("strict"));
  expect(result).toMatchObject({ task: { status: "working" } });
  const { error } = await session.request("tools/call", call("stricter"));
  expect(error).toEqual({
    code: -32602,
    message:
      'Tool "stricter" needs a client that supports sampling, and this one does not. Nothing has run.',
  });
});

describe("the messages", () => {
  test("capabilities name tasks in the old form, and tools say whether they may be one [E2.3]", async () => {
    const { initialized, request } = await opened(await ovenHere());
    const { capabilities } = initialized.result as { capabilities: Record<string, unknown> };
    expect(capabilities["tasks"]).toStrictEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    });
    const { tools } = (await request("tools/list")).result as { tools: Incoming[] };
    expect(tools.find((tool) => "name" in tool && tool.name === "bake")).toMatchObject({
      execution: { taskSupport: "optional" },
    });
    expect(tools.find((tool) => "name" in tool && tool.name === "proof")).toMatchObject({
      execution: { taskSupport: "required" },
    });
  });

  test("the messages have exactly the members of 2025-11-25, for the whole life of a task [E2.1] [E2.2]", async () => {
    const session = await opened(await ovenHere(), { elicitation: {} });
    const created = await session.request("tools/call", call("weigh"));
    expect(created.result).toStrictEqual({ task: { ...base, status: "working" } });
    const { taskId } = (created.result as { task: { taskId: string } }).task;
    const fetched = await session.request("tasks/result", { taskId });
    expect(fetched.result).toStrictEqual({
      content: [{ type: "text", text: '{"grams":500}' }],
      structuredContent: { grams: 500 },
      _meta: { [related]: { taskId } },
    });
    const got = await session.request("tasks/get", { taskId });
    const over = { ...base, taskId, ttl: expect.any(Number) as number, status: "completed" };
    expect(got.result).toStrictEqual(over);
    const listed = await session.request("tasks/list");
    expect(listed.result).toStrictEqual({ tasks: [over] });
  });

  test("the stream of tasks/result carries the parts of its streams, to a client that wants them", async () => {
    const oven = await ovenHere();
    oven.app.tool("letter", { task: "optional" }, async (ctx) => {
      const draft = await ctx.stream("draft", async function* () {
        yield "Dear ";
        yield "Ada";
      });
      return draft;
    });
    const streaming = "io.github.mcp-parley/streaming";
    const session = await opened(oven, { experimental: { [streaming]: {} } });
    const taskId = await begun(session, "letter");
    const read = async (_meta: object) => {
      const params = { taskId, _meta };
      const sent = await session.send({ id: "r", method: "tasks/result", params });
      return messagesIn(await sent.text());
    };
    const heard = await read({ [streaming]: { token: "s-1" } });
    expect(heard.pop()?.result).toMatchObject({ content: [{ text: "Dear Ada" }] });
    expect(heard.at(-1)?.params).toEqual({
      token: "s-1",
      block: "draft",
      op: "replace",
      content: [{ type: "text", text: "Dear Ada" }],
    });
    expect(await read({})).toHaveLength(1);
  });

  test("the stream of tasks/result carries the questions of a task, and the answers [E2.4]", async () => {
    const session = await opened(await ovenHere(), { elicitation: {} });
    const taskId = await begun(session, "bake", { loaf: "rye" });
    const response = await session.send({ id: "r", method: "tasks/result", params: { taskId } });
    const stream = streamOf(response);
    const question = await stream.next();
    expect(question).toStrictEqual({
      jsonrpc: "2.0",
      id: expect.anything() as unknown,
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "Which crust for rye?",
        requestedSchema: {
          type: "object",
          properties: { crust: { type: "string", enum: ["thin", "thick"] } },
          required: ["crust"],
        },
        _meta: { [related]: { taskId } },
      },
    });
    const asking = await session.request("tasks/get", { taskId });
    expect(asking.result).toStrictEqual({
      ...base,
      taskId,
      status: "input_required",
      statusMessage: "kneading (1/2)",
    });
    await session.send({ id: question?.id, result: accept({ crust: "thin" }) });
    expect(await stream.rest()).toStrictEqual([
      {
        jsonrpc: "2.0",
        id: "r",
        result: {
          content: [{ type: "text", text: "rye with a thin crust" }],
          _meta: { [related]: { taskId } },
        },
      },
    ]);
  });

  test("an answer that does not fit is asked for again [E2.4]", async () => {
    const session = await opened(await ovenHere(), { elicitation: {} });
    const taskId = await begun(session, "fussy");
    const stream = streamOf(
      await session.send({ id: "r", method: "tasks/result", params: { taskId } }),
    );
    const first = await stream.next();
    await session.send({ id: first?.id, result: accept({ age: 12 }) });
    const second = await stream.next();
    expect(second?.params["message"]).toMatch(/How old\?.*18/s);
    await session.send({ id: second?.id, result: accept({ age: 40 }) });
    expect((await stream.rest()).at(-1)?.result).toMatchObject({ content: [{ text: "40" }] });
  });

  test("a question on a broken stream is asked again on the next one, and either may answer [E2.4]", async () => {
    const session = await opened(await ovenHere(), { elicitation: {} });
    const taskId = await begun(session, "fussy");
    const params = { taskId };
    const broken = streamOf(await session.send({ id: "r1", method: "tasks/result", params }));
    const lost = await broken.next();
    await broken.hangUp();
    const stream = streamOf(await session.send({ id: "r2", method: "tasks/result", params }));
    const asked = await stream.next();
    expect(asked).toMatchObject({ method: "elicitation/create", params: { message: "How old?" } });
    expect(asked?.id).not.toBe(lost?.id);
    await session.send({ id: asked?.id, result: accept({ age: 40 }) });
    expect((await stream.rest()).at(-1)?.result).toMatchObject({ content: [{ text: "40" }] });
  });

  test("a requested lifetime counts up to the limit, and nonsense is ignored [E2.1]", async () => {
    const session = await opened(await ovenHere({ limits: { taskTtlMs: 90_000 } }));
    const ttlOf = async (task: object) => {
      const { result } = await session.request("tools/call", call("two", {}, task));
      return (result as { task: { ttl: number } }).task.ttl;
    };
    expect(await ttlOf({ ttl: 5_000 })).toBe(5_000);
    expect(await ttlOf({ ttl: 9e9 })).toBe(90_000);
    for (const ttl of [0, -1]) expect(await ttlOf({ ttl })).toBe(90_000);
    for (const ttl of ["60000", null, {}]) {
      // The SDK refuses it before Parley sees it.
      expect((await session.request("tools/call", call("two", {}, { ttl }))).error?.code).toBe(
        -32602,
      );
    }
    expect(await ttlOf({ ttl: 1500.7 })).toBe(1_500);
    expect(await ttlOf({})).toBe(90_000);
  });
});

describe("the eras", () => {
  test("each era sees the other's task in its own way [E2.1] [E2.2]", async () => {
    const made = await ovenHere();
    const session = await opened(made, { elicitation: {} });
    const taskId = await begun(session, "bake", { loaf: "rye" });
    const asking = await until(made.to, taskId, "input_required");
    expect(asking).toMatchObject({ resultType: "complete", inputRequests: { crust: {} } });
    expect(asking).not.toHaveProperty("ttl");
    await ask(made.to, "tasks/update", taskId, {
      inputResponses: { crust: accept({ crust: "thin" }) },
    });
    const { result } = await session.request("tasks/result", { taskId });
    expect(result).toMatchObject({ content: [{ text: "rye with a thin crust" }] });
    expect(result).not.toHaveProperty("resultType");
    // When the task is over, one protocol acknowledges and the other refuses.
    expect((await ask(made.to, "tasks/cancel", taskId)).error).toBeUndefined();
    expect((await session.request("tasks/cancel", { taskId })).error?.code).toBe(-32602);
  });

  test("a client of the older era gets no task by declaring the extension [S103]", async () => {
    const made = await ovenHere();
    made.done.resolve();
    const session = await opened(made, { extensions: { [extension]: {} } });
    const { result } = await session.request("tools/call", { name: "rise", arguments: {} });
    expect(result).toStrictEqual({ content: [{ type: "text", text: "risen" }] });
    expect((await made.store.figures()).live).toBe(0);
  });

  test("the methods of the newer era are unknown in the older one [E2.1]", async () => {
    const session = await opened(await ovenHere());
    const taskId = await begun(session, "two");
    for (const method of ["tasks/update", "subscriptions/listen"]) {
      const params = { taskId, inputResponses: {}, notifications: { taskIds: [taskId] } };
      expect((await session.request(method, params)).error?.code).toBe(-32601);
    }
  });
});

describe("tasks/list", () => {
  test("tasks/list without credentials lists only the session's tasks, because an id is enough to read a task [D7] [G38]", async () => {
    const made = await ovenHere();
    const [one, other] = [await opened(made), await opened(made)];
    const taskId = await begun(one, "two");
    expect((await other.request("tasks/list")).result).toStrictEqual({ tasks: [] });
    expect((await one.request("tasks/list")).result).toMatchObject({ tasks: [{ taskId }] });
    const { createdAt } = (await made.store.read(taskId))!;
    const stolen = await other.request("tasks/list", { cursor: `${createdAt + 1}.zzzz` });
    expect(stolen.error?.code).toBe(-32602);
  });

  test("tasks/list over stdio lists all tasks, because they belong to the user that started the process [E2.2]", async () => {
    const here = await stdioHere();
    here.send(initialize({}));
    await here.next();
    here.send({ id: 2, method: "tools/call", params: call("two") });
    const created = await here.next();
    const { taskId } = created.result!["task"] as { taskId: string };
    here.send({ id: 3, method: "tasks/list", params: {} });
    let line = await here.next();
    while (line.id !== 3) line = await here.next();
    expect(line.result).toMatchObject({ tasks: [{ taskId }] });
  });
});

describe("nothing is left behind", () => {
  test("a session that ends leaves its tasks running, and nothing follows them [E1.1]", async () => {
    const store = new CountingStore();
    const made = await ovenHere({ store });
    const before = store.listeners;
    const session = await opened(made, { elicitation: {} });
    const taskId = await begun(session, "two");
    const waiting = await session.send({ id: "r", method: "tasks/result", params: { taskId } });
    // The task is parked, so there is no change that could fail to be delivered.
    await until(made.to, taskId, "input_required");
    await waiting.body?.getReader().read();
    expect(store.listeners).toBe(before + 1);
    await session.end();
    await expect.poll(() => store.listeners).toBe(before);
    expect((await ask(made.to, "tasks/get", taskId)).result).toMatchObject({ taskId });
  });

  test("without a session the task is created, and a closed server follows nothing", async () => {
    const store = new CountingStore();
    const made = await ovenHere({ store });
    const before = store.listeners;
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    };
    const message = { jsonrpc: "2.0", id: 7, method: "tools/call", params: call("two") };
    const response = await made.app.fetch(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers,
        body: JSON.stringify(message),
      }),
    );
    const [created] = messagesIn(await response.text());
    expect(created?.result).toMatchObject({ task: { status: "working" } });
    await expect.poll(() => store.listeners).toBe(before);
  });
});
