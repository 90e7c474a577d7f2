// What handlers return, over every transport, in tasks and in the test kit. Any JSON value arrives unchanged. A value
// that is not a valid result is refused in the same words everywhere, with one line in the log.

import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { createMcpHandler, McpServer, ProtocolError } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { inputRequired, memoryStore, parley } from "mcp-parley";
import type { App, FullResult } from "mcp-parley";
import { play } from "mcp-parley/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { connectV1, connectV2, legacy, modern } from "../interop/clients.ts";
import { keys } from "../interop/errands.ts";
import { People } from "../interop/people.ts";
import { callTool, envelope, exchange } from "./post.ts";
import type { Incoming, To } from "./post.ts";
import { begun, until } from "./task-calls.ts";
import { keepingLogger } from "./till.ts";

/** Values of every JSON type, as the roots of structured contents. */
const roots = {
  list: { schema: z.array(z.object({ id: z.int() })), value: [{ id: 1 }, { id: 2 }] },
  no_list: { schema: z.array(z.string()), value: [] },
  number: { schema: z.number(), value: 42 },
  zero: { schema: z.number(), value: 0 },
  text: { schema: z.string(), value: "a “text”" },
  nothing: { schema: z.null(), value: null },
  no: { schema: z.boolean(), value: false },
  either: { schema: z.union([z.array(z.int()), z.object({ n: z.int() })]), value: { n: 1 } },
  object: { schema: z.object({ n: z.int() }), value: { n: 1 } },
};

function counting(): App {
  const app = parley({ name: "counting", version: "1.0.0", keys, store: memoryStore() });
  for (const [name, { schema, value }] of Object.entries(roots)) {
    app.tool(name, { outputSchema: schema }, () => value);
    app.tool(`full_${name}`, { outputSchema: schema }, () => ({
      content: [],
      structuredContent: value,
    }));
    app.tool(`${name}_later`, { outputSchema: schema, task: "optional" }, async (ctx) => {
      await ctx.background();
      return value;
    });
  }
  onTestFinished(() => app.close());
  return app;
}

async function listening(app: App, fast: boolean): Promise<string> {
  const { url } = await app.listen(0, { fast });
  onTestFinished(() => app.close());
  return url;
}

function attached(app: App): To {
  const handler = createMcpHandler(() => app.attach(new McpServer({ name: "own", version: "1" })));
  onTestFinished(() => handler.close());
  return (request: Request) => handler.fetch(request);
}

/** A session of 2025-11-25 over standard input and output, on streams inside this process. */
async function session(app: App): Promise<(method: string, params: object) => Promise<Incoming>> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(() => app.attach(new McpServer({ name: "own", version: "1" })), {
    transport: new StdioServerTransport(input, output),
  });
  onTestFinished(() => served.close());
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const send = (message: object) =>
    void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const request = async (method: string, params: object): Promise<Incoming> => {
    const id = (last += 1);
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("The server has ended the session.");
      const message: Incoming = JSON.parse(value);
      if (message.id === id) return message;
    }
  };
  const clientInfo = { name: "by hand", version: "1.0.0" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return request;
}

const ways: Readonly<Record<string, (app: App) => To | Promise<To>>> = {
  "the fast entry": (app) => listening(app, true),
  "fast: false": (app) => listening(app, false),
  "app.fetch": (app) => app,
  "app.attach": attached,
};

const asText = (value: unknown) => [{ type: "text", text: JSON.stringify(value) }];

describe("any JSON value may be structured content", () => {
  test.each(Object.entries(ways))("over %s", async (_, way) => {
    const to = await way(counting());
    for (const [name, { value }] of Object.entries(roots)) {
      const { result } = await callTool(to, name);
      expect(result).toMatchObject({ structuredContent: value, content: asText(value) });
      expect((await callTool(to, `full_${name}`)).result?.["structuredContent"]).toEqual(value);
    }
  });

  test("in a task", async () => {
    const app = counting();
    await app.work();
    for (const [name, { value }] of Object.entries(roots)) {
      const id = await begun(app, `${name}_later`);
      const task = await until(app, id, "completed");
      expect(task["result"]).toMatchObject({ structuredContent: value, content: asText(value) });
    }
  });

  test("for the official client, which checks it with the listed schema", async () => {
    const url = await listening(counting(), true);
    const client = await connectV2({ url }, new People(), modern);
    expect(await client.toolNames()).toContain("list");
    for (const [name, { value }] of Object.entries(roots)) {
      expect((await client.tool(name)).data).toEqual(value);
    }
    await client.close();
  });

  // 2025-11-25 allows objects only. There the SDK lists and sends { result: … } for any other root.
  const wrapped = (name: string, value: unknown) => (name === "object" ? value : { result: value });

  test.each([
    ["v1", (url: string) => connectV1({ url }, new People())],
    ["v2", (url: string) => connectV2({ url }, new People(), legacy)],
  ])("wrapped in an object for 2025-11-25, by the official client %s", async (_, connect) => {
    const client = await connect(await listening(counting(), true));
    expect(await client.toolNames()).toContain("list");
    for (const [name, { value }] of Object.entries(roots)) {
      expect((await client.tool(name)).data).toEqual(wrapped(name, value));
    }
    await client.close();
  });

  test("and in the result of a 2025-11-25 task", async () => {
    const app = counting();
    await app.work();
    const request = await session(app);
    for (const [name, { value }] of Object.entries(roots)) {
      const { result } = await request("tools/call", { name: `${name}_later`, task: {} });
      const { taskId } = (result as unknown as { task: { taskId: string } }).task;
      const final = await request("tasks/result", { taskId });
      expect(final.result).toMatchObject({ structuredContent: wrapped(name, value) });
    }
  });

  test("in a played call", async () => {
    const app = parley({ name: "played", version: "1.0.0" });
    const days = app.tool("days", { outputSchema: z.array(z.string()) }, () => ["mon", "tue"]);
    const { data, text } = await play(days, {});
    expect([data, text]).toEqual([["mon", "tue"], '["mon","tue"]']);
  });
});

test.each([
  ["outputSchema", { outputSchema: z.object({ at: z.date() }) }],
  ["outputSchema", { outputSchema: z.bigint() }],
  ["inputSchema", { inputSchema: z.object({ at: z.date() }) }],
])("an %s that JSON Schema cannot describe is refused at registration", (member, config) => {
  const app = parley({ name: "early", version: "1.0.0" });
  expect(() => app.tool("stamps", config as object, () => "")).toThrow(
    `Tool "stamps": its ${member} cannot be written as JSON Schema`,
  );
});

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
const text = { type: "text", text: "text" };

/** Values that are not results, and what the message says about each. */
const malformed: Readonly<Record<string, readonly [returned: unknown, words: string]>> = {
  bigint: [{ content: [], structuredContent: { n: 1n } }, "a bigint at result.structuredContent.n"],
  cycle: [{ content: [text], _meta: { cycle } }, "a circular reference at result._meta.cycle.self"],
  extra: [{ content: [text], n: 1n }, "a bigint at result.n"],
  nan: [{ content: [text], structuredContent: { n: Number.NaN } }, "NaN"],
  map: [{ content: [text], _meta: { map: new Map() } }, "a Map at result._meta.map"],
  throwing: [
    {
      content: [text],
      get _meta() {
        throw new Error("no");
      },
    },
    "a value that cannot be read",
  ],
  unknown_block: [{ content: [text, { type: "hologram" }] }, 'of type "hologram"'],
  no_block: [{ content: ["text"] }, "result.content[0]"],
  no_text: [{ content: [{ type: "text" }] }, "result.content[0]"],
  odd_error: [{ content: [text], isError: "yes" }, "isError"],
  odd_meta: [{ content: [text], _meta: 5 }, "_meta"],
};

function failing() {
  const { logger, logged } = keepingLogger();
  const runs = { count: 0 };
  const app = parley({ name: "failing", version: "1.0.0", keys, logger, store: memoryStore() });
  const run = (returned: unknown) => {
    runs.count += 1;
    return returned as FullResult;
  };
  for (const [name, [returned]] of Object.entries(malformed)) {
    app.tool(name, {}, () => run(returned));
    app.tool(`${name}_later`, { task: "optional" }, async (ctx) => {
      await ctx.background();
      return run(returned);
    });
  }
  const errors = () => logged.filter(({ level }) => level === "error");
  return { app, errors, runs };
}

const refusal = (name: string, words: string) => ({
  code: -32603,
  message: expect.stringContaining(words) as string,
  data: { reason: "bad_result" },
  name,
});

describe("a value that is not a result is refused in the same way", () => {
  test.each(Object.entries(ways))("over %s", async (_, way) => {
    const { app, errors } = failing();
    const to = await way(app);
    for (const [index, [name, [, words]]] of Object.entries(malformed).entries()) {
      const { error } = await callTool(to, name);
      expect({ ...error, name }).toEqual(refusal(name, words));
      expect(error?.message).toContain(`Tool "${name}"`);
      expect(errors()).toHaveLength(index + 1);
      expect(errors()[index]?.message).toContain(`Tool "${name}"`);
    }
  });

  test("over stdio, in a session of 2025-11-25", async () => {
    const { app, errors } = failing();
    const request = await session(app);
    for (const [name, [, words]] of Object.entries(malformed)) {
      const { error } = await request("tools/call", { name, arguments: {} });
      expect({ ...error, name }).toEqual(refusal(name, words));
    }
    expect(errors()).toHaveLength(Object.keys(malformed).length);
  });

  test("in a task, which fails at once", async () => {
    const { app, errors, runs } = failing();
    await app.work();
    onTestFinished(() => app.close());
    for (const [name, [, words]] of Object.entries(malformed)) {
      const task = await until(app, await begun(app, `${name}_later`), "failed");
      expect({ ...(task["error"] as object), name }).toEqual(refusal(name, words));
    }
    expect(runs.count).toBe(Object.keys(malformed).length);
    expect(errors()).toHaveLength(Object.keys(malformed).length);
  });

  test("in a played call", async () => {
    for (const [name, [returned, words]] of Object.entries(malformed)) {
      const app = parley({ name: "played", version: "1.0.0" });
      const tool = app.tool(name, {}, () => returned as FullResult);
      await expect(play(tool, {})).rejects.toThrow(words);
    }
  });

  test.each(Object.entries(ways))(
    "by a prompt, a resource, an error and a round made by hand, over %s",
    async (_, way) => {
      const { logger, logged } = keepingLogger();
      const app = parley({ name: "others", version: "1.0.0", keys, logger });
      const hologram = { messages: [{ role: "user", content: { type: "hologram" } }] };
      app.prompt("hologram", {}, () => hologram as never);
      app.prompt("counts", {}, () => ({ messages: [], _meta: { n: 1n } }));
      app.resource("nameless", "a://nameless", {}, () => ({ contents: [{ text: "a" }] }) as never);
      app.resource("counts", "a://counts", {}, () => ({ contents: [], _meta: { n: 1n } }));
      app.tool("error", {}, () => {
        throw new ProtocolError(7, "Seven", { n: 1n });
      });
      app.tool("by_hand", {}, () => {
        const metadata = { n: 1n } as unknown as Record<string, number>;
        const params = { messages: [], maxTokens: 1, metadata };
        return inputRequired({ inputRequests: { q: inputRequired.createMessage(params) } });
      });
      const to = await way(app);
      const told = async (method: string, params: Record<string, unknown>) => {
        const before = logged.length;
        const { error } = await exchange(to, envelope(method, params));
        return [error?.code, error?.message, logged.slice(before).map(({ message }) => message)];
      };
      const all = [
        await told("prompts/get", { name: "hologram", arguments: {} }),
        await told("prompts/get", { name: "counts", arguments: {} }),
        await told("resources/read", { uri: "a://nameless" }),
        await told("resources/read", { uri: "a://counts" }),
        await told("tools/call", { name: "by_hand", arguments: {} }),
      ];
      const names = ['Prompt "hologram"', 'Prompt "counts"', 'Resource "nameless"'];
      for (const [index, name] of [...names, 'Resource "counts"', '"by_hand"'].entries()) {
        const message = expect.stringContaining(name) as string;
        expect(all[index]).toEqual([-32603, message, [message]]);
      }
      // The error keeps its code and message. Only the data, which cannot be sent, is left out.
      expect(await told("tools/call", { name: "error", arguments: {} })).toEqual([
        7,
        "Seven",
        [expect.stringContaining('"error"')],
      ]);
    },
  );
});

test("the data of a thrown ProtocolError may be any JSON value", async () => {
  const app = parley({ name: "data", version: "1.0.0", keys });
  for (const [name, data] of Object.entries({ list: [1], text: "why", zero: 0, nothing: null })) {
    app.tool(name, {}, () => {
      throw new ProtocolError(7, "Seven", data);
    });
    expect((await callTool(app, name)).error).toEqual({ code: 7, message: "Seven", data });
  }
});

test("a result that is changed after its handler has returned is sent without the change", async () => {
  const { logger } = keepingLogger();
  const app = parley({ name: "late", version: "1.0.0", keys, logger });
  const at = new Date(0);
  const tool = app.tool("late", { outputSchema: z.any() }, () => ({ at, left: undefined }));
  expect((await play(tool, {})).data).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  expect((await callTool(app, "late")).result).toMatchObject({
    structuredContent: { at: "1970-01-01T00:00:00.000Z" },
  });
});
