// The streams of a task, read from any replica over HTTP.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { overEntry } from "../entry.ts";
import { gate } from "../gate.fixture.ts";
import type { Gate } from "../gate.fixture.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { accept, envelope, exchange, post } from "./post.ts";
import type { Answer, Incoming, Sending, To } from "./post.ts";
import { stdioHere } from "./stdio-here.ts";
import { streamOf } from "./stream.ts";
import { ask, begun, extension, until } from "./task-calls.ts";
import { unreadCall } from "./unread-call.ts";

const id = "io.github.mcp-parley/streaming";
const method = `${id}/read`;
const capabilities = { elicitation: {}, extensions: { [id]: {}, [extension]: {} } };
const own = (token: unknown = "s-1") => ({ capabilities, meta: { [id]: { token } } });

interface Writer {
  readonly app: App;
  readonly to: string;
  readonly gates: { readonly middle: Gate; readonly end: Gate };
}

/** An app whose tool streams in the background, waits in the middle of it, asks, and streams again. */
async function writer(
  store = new MemoryStore(),
  options: Partial<ParleyOptions> = {},
  work = true,
): Promise<Writer> {
  const gates = { middle: gate(), end: gate() };
  const app = parley({
    keys,
    logger: quiet,
    store,
    ...options,
    name: "writer",
    version: "1.0.0",
    auth: undefined,
    ...options,
  } as ParleyOptions);
  app.tool("report", { task: "optional" }, async (ctx) => {
    await ctx.background();
    const draft = await ctx.stream("draft", async function* () {
      yield "Revenue ";
      await gates.middle.opened;
      yield "grew. ";
    });
    const add = await ctx.ask("add", "Add what?");
    const rest = await ctx.stream("rest", async function* () {
      yield `And ${add}`;
      await gates.end.opened;
      yield ".";
    });
    return draft + rest;
  });
  const { url } = await app.listen(0, overEntry({ worker: work }));
  onTestFinished(() => {
    gates.middle.open();
    gates.end.open();
    return app.close();
  });
  return { app, to: url, gates };
}

const begin = (to: To, sending: Sending = {}) => begun(to, "report", {}, { ...own(), ...sending });

const message = (taskId: string, after?: unknown) =>
  envelope(method, { taskId, ...(after === undefined ? {} : { after }) }, own());

/** A reading that is open. */
async function reading(to: To, taskId: string, after?: unknown, sending: Sending = {}) {
  const stop = new AbortController();
  const response = await post(to, message(taskId, after), { signal: stop.signal, ...sending });
  const stream = streamOf(response);
  onTestFinished(() => stop.abort());
  return { ...stream, stop: () => stop.abort() };
}

const read = (to: To, taskId: string, after?: unknown, sending?: Sending): Promise<Answer> =>
  exchange(to, message(taskId, after), sending);

function rebuilt(
  parts: readonly Pick<Incoming, "params">[],
  blocks: Record<string, string> = {},
): Record<string, string> {
  for (const { params } of parts) {
    const { block, op, content, token } = params;
    expect(token).toBe("s-1");
    const key = String(block);
    if (op === "reset") {
      delete blocks[key];
      continue;
    }
    const text = (content as { text: string }[]).map((one) => one.text).join("");
    blocks[key] = (op === "replace" ? "" : (blocks[key] ?? "")) + text;
  }
  return blocks;
}

const turnOf = <T>(value: T) => new Promise<T>((resolve) => void setImmediate(resolve, value));

const answer = { inputResponses: { add: accept({ add: "profit" }) } };

test("a client reads a task's streams as they are made, and goes on after its question", async () => {
  const { to, gates } = await writer();
  const taskId = await begin(to);
  const first = await reading(to, taskId);
  const part = await first.next();
  expect(part?.params).toEqual({
    token: "s-1",
    block: "draft",
    content: [{ type: "text", text: "Revenue " }],
  });
  gates.middle.open();
  const rest = await first.rest();
  const response = rest.pop();
  const blocks = rebuilt([part!, ...rest]);
  expect(blocks).toEqual({ draft: "Revenue grew. " });
  expect(rest.at(-1)?.params).toMatchObject({ op: "replace" });
  const { cursor, ...task } = response!.result!;
  expect(task).toMatchObject({ resultType: "complete", taskId, status: "input_required" });
  expect(task).toMatchObject({ inputRequests: { add: {} } });
  await ask(to, "tasks/update", taskId, answer);
  await until(to, taskId, ({ status }) => status !== "input_required");
  const second = await reading(to, taskId, cursor);
  const more = await second.next();
  expect(more?.params).toMatchObject({ block: "rest", content: [{ text: "And profit" }] });
  gates.end.open();
  const last = await second.rest();
  const end = last.pop()!.result!;
  expect(rebuilt([more!, ...last], blocks)).toEqual({
    draft: "Revenue grew. ",
    rest: "And profit.",
  });
  const got = await ask(to, "tasks/get", taskId);
  expect(end).toEqual({ ...got.result, cursor: end["cursor"] });
  expect(end).toMatchObject({ status: "completed", result: { content: [{ type: "text" }] } });
  // A client that comes late gets all of it, and one that has it all gets nothing.
  expect(rebuilt((await read(to, taskId)).notifications)).toEqual(blocks);
  expect((await read(to, taskId, end["cursor"])).notifications).toEqual([]);
});

test("a client that is cut off reads again through another replica", async () => {
  const store = new MemoryStore();
  const { to, gates } = await writer(store);
  const other = await writer(store, {}, false);
  const taskId = await begin(to);
  const first = await reading(to, taskId);
  await first.next();
  first.stop();
  const second = await reading(other.to, taskId);
  expect((await second.next())?.params).toMatchObject({ content: [{ text: "Revenue " }] });
  gates.middle.open();
  const rest = await second.rest();
  expect(rest.at(-1)?.result).toMatchObject({ status: "input_required" });
  // The task is not affected by readers that go.
  expect((await ask(to, "tasks/get", taskId)).result).toMatchObject({ status: "input_required" });
});

test("a server that closes tells its readers where to go on", async () => {
  const store = new MemoryStore();
  const { to, gates } = await writer(store);
  const other = await writer(store, {}, false);
  const taskId = await begin(to);
  const first = await reading(other.to, taskId);
  const part = await first.next();
  const closed = other.app.close();
  const end = (await first.rest()).at(-1)!.result!;
  await closed;
  expect(end).toMatchObject({ status: "working", taskId });
  gates.middle.open();
  const { notifications } = await read(to, taskId, end["cursor"]);
  expect(rebuilt([part!, ...notifications])).toEqual({ draft: "Revenue grew. " });
});

describe("a reading is refused", () => {
  test("without the extensions, without a token, and with a cursor of another task", async () => {
    const { to, gates } = await writer();
    gates.middle.open();
    const [one, other] = [await begin(to), await begin(to)];
    const with_ = (params: object, as: object) => exchange(to, envelope(method, { ...params }, as));
    const noTasks = { ...own(), capabilities: { extensions: { [id]: {} } } };
    expect((await with_({ taskId: one }, noTasks)).error?.message).toContain("tasks extension");
    const noStreams = { ...own(), capabilities: { extensions: { [extension]: {} } } };
    expect((await with_({ taskId: one }, noStreams)).error).toMatchObject({
      code: -32_021,
      message: `Requests that read streams must declare the streaming extension (${id}).`,
      data: { requiredCapabilities: { extensions: { [id]: {} } } },
    });
    expect((await with_({ taskId: one }, own(7))).error).toMatchObject({
      code: -32_602,
      data: { reason: "no_token" },
    });
    await until(to, one, "input_required");
    const { result } = await read(to, one);
    expect(typeof result?.["cursor"]).toBe("string");
    for (const cursor of [result?.["cursor"], "made up", ""]) {
      expect((await read(to, other, cursor)).error).toMatchObject({
        code: -32_602,
        data: { reason: "bad_cursor" },
      });
    }
    expect((await read(to, one, 7)).error?.data).toEqual({ reason: "bad_cursor" });
  });

  test("for a task of another caller as for one that does not exist", async () => {
    const { to } = await writer(new MemoryStore(), guarded);
    const taskId = await begin(to, as("ada"));
    const foreign = await raw(to, taskId, as("eve"));
    expect(foreign).toContain("No such task");
    expect(foreign).toBe(await raw(to, "AAAAAAAAAAAAAAAAAAAAAA", as("eve")));
  });

  test("beyond limits.streamReaders, until one ends", async () => {
    const { to } = await writer(new MemoryStore(), { ...guarded, limits: { streamReaders: 2 } });
    const taskId = await begin(to, as("ada"));
    const open = [
      await reading(to, taskId, undefined, as("ada")),
      await reading(to, taskId, undefined, as("ada")),
    ];
    for (const one of open) await one.next();
    const { error } = await read(to, taskId, undefined, as("ada"));
    expect(error).toMatchObject({
      code: -32_603,
      message:
        "Reader limit reached: this caller already reads the streams of 2 tasks, the most it may read at a time. Close one, or poll the tasks with tasks/get.",
      data: { reason: "too_many_readers" },
    });
    // Others are not affected.
    const eves = await begin(to, as("eve"));
    const hers = await reading(to, eves, undefined, as("eve"));
    await hers.next();
    open[0]!.stop();
    await vi.waitFor(async () => {
      const again = await reading(to, taskId, undefined, as("ada"));
      expect((await again.next())?.error).toBeUndefined();
    }, patience);
  });
});

test("parts arrive as they were made, whatever is in them, in a round and in a task", async () => {
  const { app, to } = await writer();
  const pieces = [
    "data: {}\n\nevent: message\nid: 5\nretry: 0\n\n:",
    "\r\n\r\u2028\u2029\u0000",
    "\uD83D",
    "\uDE00 \uDC00 alone",
    `${"x".repeat(300_000)}\n`,
  ];
  const block = "a\n\nb\u2028";
  const write = async function* () {
    for (const piece of pieces) {
      yield piece;
      // What is yielded in one turn goes out together.
      for (let turns = 0; turns < 2; turns += 1) await new Promise((next) => setImmediate(next));
    }
  };
  app.tool("now", {}, (ctx) => ctx.stream(block, write));
  app.tool("later", { task: "optional" }, async (ctx) => {
    await ctx.background();
    return ctx.stream(block, write);
  });
  const now = await exchange(to, envelope("tools/call", { name: "now", arguments: {} }, own()));
  const later = await read(to, await begun(to, "later", {}, own()));
  expect(rebuilt(now.notifications)).toEqual({ [block]: pieces.join("") });
  expect(now.notifications.length).toBeGreaterThan(3);
  expect(rebuilt(later.notifications)).toEqual({ [block]: pieces.join("") });
});

test("a stream whose iterator ignores return() delays neither its client nor the closing server", async () => {
  const { app, to } = await writer();
  const never = () => new Promise<never>(() => {});
  const asked = gate();
  app.tool("stubborn", {}, (ctx) =>
    ctx.stream("draft", () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: await turnOf("more ") }),
        return: () => {
          asked.open();
          return never();
        },
      }),
    })),
  );
  const stop = new AbortController();
  const call = envelope("tools/call", { name: "stubborn", arguments: {} }, own());
  const stream = streamOf(await post(to, call, { signal: stop.signal }));
  expect((await stream.next())?.params).toMatchObject({ block: "draft" });
  stop.abort();
  await asked.opened;
  await app.close();
});

test("a client that does not read gets no more after limits.streamStallMs", async () => {
  const limits = { streamStallMs: 100, taskLogBytes: 128 * 1024 * 1024 };
  const { store, readers } = heardStore();
  const { app, to } = await writer(store, { limits });
  const piece = "x".repeat(1024 * 1024);
  const blocks = 40;
  app.tool("flood", { task: "optional" }, async (ctx) => {
    await ctx.background();
    for (let n = 0; n < blocks; n += 1) await ctx.emit(`block ${n}`, piece);
    return "done";
  });
  const taskId = await begun(to, "flood", {}, own());
  await until(to, taskId, "completed", own());
  const before = { ...readers };
  const socket = await unreadCall(to, method, taskId, message(taskId));
  await vi.waitFor(() => expect(readers.begun).toBeGreaterThan(before.begun), patience);
  await vi.waitFor(() => expect(readers.open).toBe(before.open), patience);
  // It gets what was on its way, and no result.
  let bytes = 0;
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    bytes += chunk.length;
    text = (text + chunk).slice(-2_000);
  });
  socket.resume();
  await vi.waitFor(() => expect(text.endsWith("\r\n0\r\n\r\n")).toBe(true), patience);
  expect(bytes).toBeLessThan((blocks - 10) * piece.length);
  expect(text).not.toContain('"result"');
});

test("a client that wants its connection closed after the response need not close it", async () => {
  const { to, gates } = await writer();
  gates.middle.open();
  const taskId = await begin(to);
  await until(to, taskId, "input_required");
  const socket = await unreadCall(to, method, taskId, message(taskId), "connection: close\r\n");
  const chunks: Buffer[] = await socket.toArray();
  const [head = "", ...body] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  expect(head).toMatch(/^connection: close$/im);
  expect(head).toContain("text/event-stream");
  expect(body.join("")).toContain('"status":"input_required"');
});

test("over stdio", async () => {
  const { app, ask: asked } = await stdioHere();
  app.tool("report", { task: "optional" }, async (ctx) => {
    await ctx.background();
    const draft = await ctx.stream("draft", async function* () {
      yield "Revenue ";
      yield "grew.";
    });
    await ctx.emit("note", "Done.");
    return draft;
  });
  const [created] = await asked("tools/call", { name: "report", arguments: {} }, own());
  const taskId = created?.result?.["taskId"];
  const messages = await asked(method, { taskId }, own());
  expect(messages.pop()?.result).toMatchObject({ status: "completed", taskId });
  expect(rebuilt(messages)).toEqual({ draft: "Revenue grew.", note: "Done." });
});

// ---------------------------------------------------------------- callers

const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => ({
      token,
      clientId: "one-application",
      scopes: [],
      expiresAt: Date.now() / 1000 + 3_600,
      extra: { sub: token },
    }),
  },
};
const guarded = { auth, principal: ({ extra }: AuthInfo) => extra?.["sub"] as string };
const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } });

async function raw(to: To, taskId: string, sending: Sending): Promise<string> {
  const response = await post(to, message(taskId), sending);
  const headers = [...response.headers].filter(([name]) => name !== "date");
  return JSON.stringify([response.status, headers, await response.text()]);
}

/** A store that counts who listens to it. A process that reads streams does. */
function heardStore() {
  const store = new MemoryStore();
  const readers = { begun: 0, open: 0 };
  const { subscribe } = store;
  const counted: typeof subscribe = (listener) => {
    const stop = subscribe(listener);
    readers.begun += 1;
    readers.open += 1;
    return () => {
      readers.open -= 1;
      stop();
    };
  };
  return { store: Object.assign(store, { subscribe: counted }), readers };
}
