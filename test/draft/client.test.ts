// Our client and our server in the draft, over every transport; and our client with other servers.

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import type { App } from "mcp-parley";
import { CallError, connect } from "mcp-parley/client";
import type { CallEvent, Connection, ConnectOptions, Era } from "mcp-parley/client";
import { drafts } from "mcp-parley/drafts";
import { describe, expect, onTestFinished, test } from "vitest";
import { failure } from "../../src/client/failure.fixture.ts";
import { form, hostile } from "../../src/client/hostile.fixture.ts";
import { stdioPlace } from "../interop/stdio-place.ts";
import { oven } from "../wire/oven.ts";
import { till } from "../wire/till.ts";
import { draftServer, notFound } from "./draft-server.ts";
import { draftVersion } from "./peer.ts";

const draft: Era = "2026-06-XX";
const inDraft: ConnectOptions = { era: draft, drafts: drafts() };

const people: ConnectOptions = {
  elicit: (question) => {
    if (question.kind === "url") return { action: "accept" };
    const content: Record<string, string | number | boolean | string[]> = {};
    for (const name of question.schema.required ?? []) {
      const field = question.schema.properties[name];
      if (field?.type === "string")
        content[name] = field.enum?.[0] ?? field.oneOf?.[0]?.const ?? "Ada";
      else if (field?.type === "boolean") content[name] = true;
      else content[name] = field?.type === "array" ? [] : 9;
    }
    return { action: "accept", content };
  },
  sample: () => ({ role: "assistant", content: { type: "text", text: "onwards" }, model: "m" }),
  roots: [{ uri: "file:///home/ada" }],
};

function opened(connection: Connection): Connection {
  onTestFinished(() => connection.close());
  return connection;
}

const { command, args, cwd } = stdioPlace(new URL("stdio-server.ts", import.meta.url));

type Way = (app: "till" | "oven", options: ConnectOptions) => Promise<Connection>;
const ways: [string, Way][] = [
  [
    "HTTP",
    async (app, options) => {
      const { app: served } =
        app === "till" ? till({ drafts: drafts() }) : oven({ drafts: drafts() });
      const { url } = await served.listen(0);
      onTestFinished(() => served.close());
      return opened(await connect(url, options));
    },
  ],
  [
    "an app",
    async (app, options) => {
      const { app: served } =
        app === "till" ? till({ drafts: drafts() }) : oven({ drafts: drafts() });
      if (app === "oven") await served.work();
      onTestFinished(() => served.close());
      return opened(await connect(served, options));
    },
  ],
  [
    "stdio",
    async (app, options) =>
      opened(await connect({ command, args: [...args, app], ...(cwd && { cwd }) }, options)),
  ],
];

describe.each(ways)("over %s", (_, way) => {
  test("rounds complete: with one kind of question, with all kinds, and with none", async () => {
    const connection = await way("till", { ...people, ...inDraft });
    expect(connection.era).toBe(draft);
    expect(connection.server.name).toBe("till");
    expect((await connection.call("pay", { amount: 5 })).text).toBe("nobody paid 5");
    expect((await connection.call("form_then_sample")).text).toBe("onwards");
    expect((await connection.call("halves")).text).toBe("both");
    expect((await connection.call("every_kind")).text).toContain("file:///home/ada");
    const { messages } = await connection.prompt("letter", { tone: "kind" });
    expect(messages).toMatchObject([{ content: { text: "A kind letter to Ada" } }]);
    const { contents } = await connection.read("diary://days/monday");
    expect(contents).toMatchObject([{ text: "monday in Ada" }]);
    const { tools } = await connection.sdk.listTools();
    expect(tools.map(({ name }) => name)).toContain("pay");
  });

  test("tasks are requested, ask, get answers, and return their results", async () => {
    const connection = await way("oven", { ...people, ...inDraft });
    const bread = await connection.call("bake", { loaf: "rye" }, { task: true });
    expect(bread.text).toBe("rye with a thin crust");
    const order = await connection.call("order", { loaf: "rye" }, { task: { ttlMs: 60_000 } });
    expect(order.text).toBe("rye for Ada in 9 slices");
    // A tool that runs only as a task is called as one, even if the caller does not say so.
    expect((await connection.call("two")).text).toBe("Ada and Ada");
    expect((await connection.call("weigh", {}, { task: true })).data).toEqual({ grams: 500 });
    const burnt = await connection.call("burn", {}, { task: true });
    expect([burnt.isError, burnt.text]).toEqual([true, "It is burnt."]);
    const blown = await failure(connection.call("short", {}, { task: true }));
    expect([blown.code, blown.rpc?.code]).toEqual(["task_failed", 4711]);
  });

  test("the caller can leave a task running or cancel it", async () => {
    const connection = await way("oven", { ...people, ...inDraft });
    const left = await firstTask(connection.start("proof"));
    const call = connection.start("proof");
    const { taskId } = await firstTask(call);
    await call.cancel();
    const cancelled = await failure(call.result());
    expect([cancelled.code, cancelled.taskId]).toEqual(["cancelled", taskId]);
    expect(left.taskId).not.toBe(taskId);
  });
});

const firstTask = (call: AsyncIterable<CallEvent>) => firstOf(call, "task");

async function firstOf<Type extends CallEvent["type"]>(
  call: AsyncIterable<CallEvent>,
  type: Type,
): Promise<Extract<CallEvent, { type: Type }>> {
  const isIt = (event: CallEvent): event is Extract<CallEvent, { type: Type }> =>
    event.type === type;
  for await (const event of call) if (isIt(event)) return event;
  throw new Error(`The call had no ${type} event`);
}

test("another connection continues a call where the first left it", async () => {
  const { app, done } = oven({ drafts: drafts() });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const first = await connect(url, { ...people, ...inDraft });
  const { ref } = await firstTask(first.start("proof"));
  await first.close();
  const second = opened(await connect(url, { ...people, ...inDraft }));
  done.resolve();
  expect((await second.resume(ref).result()).text).toBe("proofed");
});

describe.each<[Era, Era]>([
  [draft, "2026-07-28"],
  ["2026-07-28", draft],
])("a call that began over %s continues over %s", (era, other) => {
  /** Leaves a call at its first question and resumes it over a connection of the other kind. */
  async function left(served: App, tool: string, given: Record<string, unknown>) {
    const { url } = await served.listen(0);
    onTestFinished(() => served.close());
    const first = await connect(url, { ...people, era, drafts: drafts(), elicit: "events" });
    const call = first.start(tool, given, { task: true });
    const { ref } = await firstOf(call, "asked");
    await first.close();
    const second = opened(await connect(url, { ...people, era: other, drafts: drafts() }));
    expect(second.era).toBe(other);
    return second.resume(ref).result();
  }

  test("in rounds", async () => {
    const { app, called } = till({ drafts: drafts() });
    expect((await left(app, "pay", { amount: 5 })).text).toBe("nobody paid 5");
    expect(called).toEqual(["pay", "pay"]);
  });

  test("as a task that asks", async () => {
    const { app } = oven({ drafts: drafts() });
    expect((await left(app, "bake", { loaf: "rye" })).text).toBe("rye with a thin crust");
  });

  test("in a round, and becomes a task there", async () => {
    const { app, ran } = oven({ drafts: drafts() });
    expect((await left(app, "order", { loaf: "rye" })).text).toBe("rye for Ada in 9 slices");
    // It is the same call, so no step ran again.
    expect(ran).toEqual(["price", "bake"]);
  });
});

// ---------------------------------------------------------------- messages

interface Sent {
  readonly version: string | null;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** An app that records what a client sends to it. */
function overheard(app: { readonly fetch: (request: Request) => Promise<Response> }) {
  const sent: Sent[] = [];
  return {
    sent,
    fetch: async (request: Request) => {
      const text = await request.clone().text();
      if (text !== "") {
        sent.push({ version: request.headers.get("mcp-protocol-version"), ...JSON.parse(text) });
      }
      return app.fetch(request);
    },
  };
}

const methods = (sent: readonly Sent[]) => sent.map(({ method }) => method);

test("the client sends the draft's messages as documented", async () => {
  const { app } = oven({ drafts: drafts() });
  await app.work();
  onTestFinished(() => app.close());
  const to = overheard(app);
  const connection = opened(await connect(to, { ...people, ...inDraft }));
  await connection.call("bake", { loaf: "rye" }, { task: { ttlMs: 5_000 } });
  expect(to.sent[0]).toMatchObject({
    method: "initialize",
    params: { protocolVersion: draftVersion },
  });
  const spoken = to.sent.slice(1);
  expect(new Set(spoken.map(({ version }) => version))).toEqual(new Set([draftVersion]));
  expect(new Set(methods(spoken))).toEqual(
    new Set([
      "notifications/initialized",
      "tools/list",
      "tools/call",
      "tasks/get",
      "tasks/result",
      "tasks/input_response",
    ]),
  );
  const calls = spoken.filter(({ method }) => method === "tools/call");
  // The questions of a task are answered without sending the call again.
  expect(calls).toHaveLength(1);
  expect(calls[0]?.params).toMatchObject({
    name: "bake",
    arguments: { loaf: "rye" },
    task: { ttl: 5_000 },
  });
  const [answered] = spoken.filter(({ method }) => method === "tasks/input_response");
  expect(Object.keys(answered?.params ?? {})).toEqual(["inputResponses", "_meta"]);
  // No message has members of the 2026-07-28 form.
  expect(JSON.stringify(spoken)).not.toMatch(/io.modelcontextprotocol\/(client|protocol)/);
});

test("the client sends the lifetime of a task in a session of 2025-11-25, too", async () => {
  const { app } = oven();
  await app.work();
  onTestFinished(() => app.close());
  const to = overheard(app);
  const connection = opened(await connect(to, { ...people, era: "2025-11-25" }));
  const { taskId } = await firstTask(connection.start("proof", {}, { task: { ttlMs: 5_000 } }));
  expect(taskId).toEqual(expect.any(String));
  const [call] = to.sent.filter(({ method }) => method === "tools/call");
  expect(call?.params["task"]).toEqual({ ttl: 5_000 });
});

describe("version negotiation", () => {
  test.each<[string, ConnectOptions, Era]>([
    ["says nothing", {}, "2026-07-28"],
    ["knows drafts", { drafts: drafts() }, "2026-07-28"],
    ["wants the draft", inDraft, draft],
    ["wants 2025-11-25", { era: "2025-11-25", drafts: drafts() }, "2025-11-25"],
  ])("a server with drafts meets a client that %s", async (_, options, era) => {
    const { app } = till({ drafts: drafts() });
    onTestFinished(() => app.close());
    const to = overheard(app);
    const connection = opened(await connect(to, { ...people, ...options }));
    expect(connection.era).toBe(era);
    expect((await connection.call("pay", { amount: 5 })).text).toBe("nobody paid 5");
    const isDraft = JSON.stringify(to.sent).includes(draftVersion);
    expect(isDraft).toBe(era === draft);
  });

  test.each<Era>(["2026-07-28", "2025-11-25"])(
    "a server with drafts over stdio meets a client that wants %s",
    async (era) => {
      const place = { command, args: [...args, "till"], ...(cwd && { cwd }) };
      const connection = opened(await connect(place, { ...people, era }));
      expect(connection.era).toBe(era);
      expect((await connection.call("pay", { amount: 5 })).text).toBe("nobody paid 5");
    },
  );

  test("a server without drafts responds to a request for one as before, and the client says so", async () => {
    const { app } = till();
    onTestFinished(() => app.close());
    const refused = await failure(connect(app, { ...people, ...inDraft }));
    expect([refused.code, refused.message]).toEqual([
      "era_not_shared",
      'The server does not speak the draft. Omit era: "2026-06-XX" to use a version that it speaks.',
    ]);
    const connection = opened(await connect(app, { ...people, drafts: drafts() }));
    expect(connection.era).toBe("2026-07-28");
  });

  test("the draft without its plug-in is a mistake, and the message says what to pass", async () => {
    const { app } = till();
    onTestFinished(() => app.close());
    await expect(connect(app, { era: draft })).rejects.toThrow(
      new TypeError(
        'era: "2026-06-XX" is a draft and needs a plug-in: import { drafts } from "mcp-parley/drafts" and pass drafts: drafts().',
      ),
    );
    // @ts-expect-error -- the option before it was a plug-in
    await expect(connect(app, { drafts: true })).rejects.toThrow(
      new TypeError(
        'drafts is a plug-in: import { drafts } from "mcp-parley/drafts" and pass drafts: drafts().',
      ),
    );
  });

  test("a server that speaks only 2026-07-28 refuses, and the client says why", async () => {
    const server = createMcpHandler(() => new McpServer({ name: "new", version: "1.0.0" }), {
      legacy: "reject",
    });
    const refused = await failure(connect({ fetch: (request) => server.fetch(request) }, inDraft));
    expect(refused).toBeInstanceOf(CallError);
    expect(refused.code).toBe("era_not_shared");
    expect(refused.message).toMatch(
      /version.*Omit era: "2026-06-XX" to use a version that it speaks\.$/,
    );
  });

  test("a server that speaks only the draft is usable only by a client that knows drafts", async () => {
    const server = draftServer(() => notFound);
    expect(opened(await connect(server, { drafts: drafts() })).era).toBe(draft);
    const refused = await failure(connect(server));
    expect([refused.code, refused.message]).toEqual([
      "era_not_shared",
      "Server's protocol version is not supported: 2026-06-XX.",
    ]);
  });

  test("if the server chooses another version, the client speaks that version", async () => {
    const server = draftServer(() => notFound, "2025-11-25");
    expect(opened(await connect(server, { drafts: drafts() })).era).toBe("2025-11-25");
  });
});

// ---------------------------------------------------------------- other servers

const time = "2026-01-27T03:32:48.314Z";
const task = (status: string) => ({
  taskId: "t",
  status,
  createdAt: time,
  lastUpdatedAt: time,
  ttl: 60_000,
  pollInterval: 1,
});
const tools = {
  tools: [
    { name: "echo", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
    { name: "plain", inputSchema: { type: "object" } },
  ],
};

describe("a third-party server", () => {
  test("a server that asks a question of a task again under its old key is answered again", async () => {
    let answers = 0;
    const said: Record<string, () => object> = {
      "tools/list": () => tools,
      "tools/call": () => ({ task: task("working") }),
      "tasks/get": () => task(answers < 2 ? "input_required" : "completed"),
      "tasks/result": () =>
        answers < 2
          ? { inputRequests: { echo_input: form("Which?") } }
          : { content: [{ type: "text", text: "done" }] },
      "tasks/input_response": () => {
        answers += 1;
        return {};
      },
    };
    const server = draftServer(({ method }) => said[method]?.() ?? notFound);
    const asked: string[] = [];
    const connection = opened(
      await connect(server, {
        ...inDraft,
        elicit: ({ key }) => {
          asked.push(key);
          return { action: "accept", content: { name: "Ada" } };
        },
      }),
    );
    expect((await connection.call("echo", {}, { task: true })).text).toBe("done");
    expect(asked).toEqual(["echo_input", "echo_input (2)"]);
    const answered = server.heard.filter(({ method }) => method === "tasks/input_response");
    expect(answered.map(({ params }) => Object.keys(params["inputResponses"] as object))).toEqual([
      ["echo_input"],
      ["echo_input"],
    ]);
    // A tool that cannot run as a task is called without one.
    await connection.call("plain", {}, { task: true }).catch(() => {});
    expect(
      server.heard.findLast(({ method }) => method === "tools/call")?.params,
    ).not.toHaveProperty("task");
  });

  test("a task that is done when its questions are requested is done", async () => {
    const said: Record<string, object> = {
      "tools/list": tools,
      "tools/call": { task: task("working") },
      "tasks/get": task("input_required"),
      "tasks/result": { content: [{ type: "text", text: "done" }] },
    };
    const server = draftServer(({ method }) => said[method] ?? notFound);
    const connection = opened(await connect(server, { ...people, ...inDraft }));
    expect((await connection.call("echo", {}, { task: true })).text).toBe("done");
  });

  test("a task that asks an unhandled question is cancelled", async () => {
    const said: Record<string, object> = {
      "tools/list": tools,
      "tools/call": { task: task("working") },
      "tasks/get": task("input_required"),
      "tasks/result": { inputRequests: { echo_input: form("Which?") } },
      "tasks/cancel": task("cancelled"),
    };
    const server = draftServer(({ method }) => said[method] ?? notFound);
    const connection = opened(await connect(server, inDraft));
    const { code } = await failure(connection.call("echo", {}, { task: true }));
    expect(code).toBe("unhandled_question");
    expect(server.heard.at(-1)).toMatchObject({ method: "tasks/cancel", params: { taskId: "t" } });
  });

  test("a server that asks without a state gets none back", async () => {
    const server = draftServer(({ method, params }) => {
      if (method === "tools/list") return tools;
      return params["inputResponses"] === undefined
        ? { inputRequests: { resolution: form("How?") } }
        : { content: [{ type: "text", text: "resolved" }], isError: false };
    });
    const connection = opened(await connect(server, { ...people, ...inDraft }));
    expect((await connection.call("plain")).text).toBe("resolved");
    const [, retry] = server.heard.filter(({ method }) => method === "tools/call");
    expect(retry?.params).not.toHaveProperty("requestState");
    expect(retry?.params["inputResponses"]).toEqual({
      resolution: { action: "accept", content: {} },
    });
  });

  test.each<[string, object, string]>([
    ["a task without an id", { task: { status: "working" } }, "bad_response"],
    [
      "questions that are not requests",
      { inputRequests: { a: { method: "tools/call" } } },
      "bad_response",
    ],
    ["questions that are not a map", { inputRequests: "?" }, "bad_response"],
    ["a state that is not a string", { requestState: 7 }, "bad_response"],
    ["nothing at all", {}, "bad_response"],
    ["an error", { code: -32000, message: "no" }, "refused"],
  ])("a server that responds with %s fails the call", async (_, said, code) => {
    const server = draftServer(({ method }) => (method === "tools/list" ? tools : said));
    const connection = opened(await connect(server, { ...people, ...inDraft }));
    expect((await failure(connection.call("echo"))).code).toBe(code);
  });

  test.each<[string, Record<string, object>, string]>([
    ["no status", { "tasks/get": { taskId: "t" } }, "bad_response"],
    ["another id", { "tasks/get": { ...task("working"), taskId: "u" } }, "bad_response"],
    ["no record any more", { "tasks/get": { code: -32602, message: "no" } }, "task_gone"],
    [
      "a failure",
      { "tasks/get": task("failed"), "tasks/result": { code: -32603, message: "late" } },
      "task_failed",
    ],
    ["a cancellation", { "tasks/get": task("cancelled") }, "task_cancelled"],
    [
      "questions that are not a map",
      { "tasks/get": task("input_required"), "tasks/result": { inputRequests: [] } },
      "bad_response",
    ],
  ])("a task with %s fails the call", async (_, said, code) => {
    const known = { "tools/list": tools, "tools/call": { task: task("working") }, ...said };
    const server = draftServer(({ method }) => Reflect.get(known, method) ?? notFound);
    const connection = opened(
      await connect(server, { ...people, ...inDraft, limits: { outageMs: 1, silenceMs: 2_000 } }),
    );
    expect((await failure(connection.call("echo", {}, { task: true }))).code).toBe(code);
  });
});

describe("a server of 2026-07-28 that responds as the draft does", () => {
  test.each<[string, object]>([
    ["an incomplete result", { inputRequests: { name: form("Who?") }, requestState: "s" }],
    ["a state alone", { requestState: "s" }],
    ["a task in a task", { task: task("working") }],
  ])("with %s is refused", async (_, said) => {
    const { url, heard, close } = await hostile(() => said);
    onTestFinished(close);
    const connection = opened(await connect(url, { ...people, drafts: drafts() }));
    expect(connection.era).toBe("2026-07-28");
    const refused = await failure(connection.call("echo"));
    expect(refused.code).toBe("bad_response");
    expect(heard).toHaveLength(1);
  });
});
