// The log messages of a server, as events of the call that they belong to.

import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { connect } from "mcp-parley/client";
import type { Call, CallEvent } from "mcp-parley/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { namingRequest } from "../../src/client/log-messages.ts";
import { keys, quiet } from "../interop/errands.ts";

interface Meeting {
  readonly app: App;
  /** Lets the calls that wait for each other go on. */
  readonly meet: () => void;
}

function meeting(): Meeting {
  let meet = () => {};
  const met = new Promise<void>((resolve) => void (meet = resolve));
  const app = parley({ name: "logged", version: "1.0.0", keys, logger: quiet });
  app.tool("talk", {}, async (ctx) => {
    ctx.log("debug", "too small to hear");
    const name = await ctx.ask("name", "Name?");
    ctx.log("info", `I am ${name}`);
    ctx.progress(1, 2);
    await met;
    ctx.log("warning", { name, mood: "good" });
    return `bye ${name}`;
  });
  onTestFinished(() => app.close());
  return { app, meet: () => meet() };
}

/** The events of a call that says this name, and calls `onEvent` with each. */
async function heard(call: Call, name: string, onEvent: (event: CallEvent) => void) {
  const events: CallEvent[] = [];
  for await (const event of call) {
    if (event.type === "asked") {
      await call.answer("name", { action: "accept", content: { name } });
    }
    events.push(event);
    onEvent(event);
  }
  return events.filter(({ type }) => type === "log" || type === "progress" || type === "done");
}

const said = (name: string) => [
  { type: "log", level: "info", data: `I am ${name}` },
  { type: "progress", done: 1, total: 2 },
  { type: "log", level: "warning", data: { name, mood: "good" } },
  { type: "done", result: { text: `bye ${name}` } },
];

test("each of two calls at once gets its own log messages, in their order", async () => {
  const { app, meet } = meeting();
  const { url } = await app.listen(0);
  const server = await connect(url, { logLevel: "info", elicit: "events" });
  onTestFinished(() => server.close());
  let talking = 0;
  const onEvent = ({ type }: CallEvent) => {
    if (type === "progress" && (talking += 1) === 2) meet();
  };
  const names = ["Ada", "Byron"];
  const events = await Promise.all(names.map((name) => heard(server.start("talk"), name, onEvent)));
  expect(events).toMatchObject(names.map(said));
});

test("over a channel that all requests share, a call gets what comes while it waits", async () => {
  const { app, meet } = meeting();
  const [near, far] = InMemoryTransport.createLinkedPair();
  const served = serveStdio(() => app.attach(new McpServer({ name: "logged", version: "1.0.0" })), {
    transport: far,
  });
  onTestFinished(() => served.close());
  const server = await connect(near, { logLevel: "info", elicit: "events" });
  onTestFinished(() => server.close());
  meet();
  expect(await heard(server.start("talk"), "Ada", () => {})).toMatchObject(said("Ada"));
});

test("none are requested by default, nor for a call whose events the program cannot read", async () => {
  const { app, meet } = meeting();
  meet();
  const levels: unknown[] = [];
  const watched = {
    fetch: async (request: Request) => {
      const { method, params } = JSON.parse(await request.clone().text());
      if (method === "tools/call") levels.push(params._meta["io.modelcontextprotocol/logLevel"]);
      return app.fetch(request);
    },
  };
  const elicit = () => ({ action: "accept" as const, content: { name: "Ada" } });
  const silent = await connect(watched, { elicit });
  const loud = await connect(watched, { elicit, logLevel: "error" });
  onTestFinished(async () => void (await Promise.all([silent.close(), loud.close()])));
  await silent.start("talk").result();
  await loud.call("talk");
  await loud.start("talk").result();
  expect(levels).toEqual([undefined, undefined, undefined, undefined, "error", "error"]);
});

test("of the messages that the program has not read, the newest 1000 are kept", async () => {
  const app = parley({ name: "chatty", version: "1.0.0", keys, logger: quiet });
  app.tool("chat", {}, async (ctx) => {
    for (let i = 1; i <= 1_200; i += 1) ctx.log("info", i);
    return "done";
  });
  onTestFinished(() => app.close());
  const server = await connect(app, { logLevel: "debug" });
  onTestFinished(() => server.close());
  const call = server.start("chat");
  await call.result();
  const numbers: unknown[] = [];
  for await (const event of call) if (event.type === "log") numbers.push(event.data);
  expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([1_000, 201, 1_200]);
});

describe("naming the request in an event stream", () => {
  const log = (text: string, more = {}) =>
    JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "info", data: text, ...more },
    });

  async function through(text: string, size: number): Promise<string> {
    const bytes = new TextEncoder().encode(text);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    return new Response(stream.pipeThrough(namingRequest("r1"))).text();
  }

  const named = (text: string) => log(text, { _meta: { "mcp-parley/request": "r1" } });

  test.each(["\n", "\r\n", "\r"])("with lines that end with %j, however it is cut", async (end) => {
    const other = `: ping${end}${end}event: message${end}data: {"id":1,"result":{"é":"…"}}${end}${end}`;
    const split = log("two").replace(",", `,${end}data: `);
    const sent = `${other}id: 7${end}data: ${log("“one”")}${end}${end}data: ${split}${end}${end}${other}data: cut`;
    const expected = `${other}id: 7\ndata: ${named("“one”")}\n\ndata: ${named("two")}\n\n${other}data: cut`;
    for (const size of [1, 2, 3, 7, 50, 10_000]) expect(await through(sent, size)).toBe(expected);
  });

  test("what only looks like a log message passes unchanged", async () => {
    const odd = [
      'data: {"method":"notifications/message"}\n\n',
      "data: notifications/message {\n\n",
      'data: {"method":"tools/list","params":{"text":"notifications/message"}}\n\n',
    ].join("");
    expect(await through(odd, 10)).toBe(odd);
  });
});
