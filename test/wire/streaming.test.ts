// Parts of a result while it is made, in rounds, as any client sees them: the official one with a notification handler, and
// a raw reader of the events.

import type { Socket } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { overEntry } from "../entry.ts";
import { gate } from "../gate.fixture.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { accept, callTool, envelope, exchange, messagesIn, post, textIn, tokenIn } from "./post.ts";
import type { Answer, Incoming, To } from "./post.ts";
import { streamOf } from "./stream.ts";
import { unreadCall } from "./unread-call.ts";

const id = "io.github.mcp-parley/streaming";
const partMethod = `notifications/${id}/part`;
const capabilities = { elicitation: {}, extensions: { [id]: {} } };
const streaming = (token: unknown = "s-1") => ({ capabilities, meta: { [id]: { token } } });

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

async function* words(text: string) {
  for (const word of text.match(/\S+\s*/g) ?? []) {
    yield word;
    // The first turn sends what has come, the second begins after that.
    await turn();
    await turn();
  }
}

/** An app that closes with the test. */
function server(options: Pick<ParleyOptions, "limits" | "store"> = {}): App {
  const app = parley({ name: "writer", version: "1.0.0", keys, logger: quiet, ...options });
  onTestFinished(() => app.close());
  return app;
}

/** An app with a tool that streams, asks, and streams again. */
function writer(): { app: App; made: string[] } {
  const app = server();
  const made: string[] = [];
  app.tool("report", {}, async (ctx) => {
    const draft = await ctx.stream("draft", () => {
      made.push("draft");
      return words("Revenue grew twofold. ");
    });
    await ctx.emit("chart", { type: "image", data: "AA==", mimeType: "image/png" });
    const add = await ctx.ask("add", "Add what?");
    const rest = await ctx.stream("rest", () => words(`And ${add}.`));
    return draft + rest;
  });
  app.tool("can", {}, async (ctx) => String(ctx.can("stream")));
  app.tool("plain", {}, async () => "plain");
  return { app, made };
}

/** What the client of "report" has of each round if it answers "costs", and the result. */
const firstRound = { draft: "Revenue grew twofold. ", chart: "[image]" };
const secondRound = { rest: "And costs." };
const report = "Revenue grew twofold. And costs.";

async function listening(app: App): Promise<string> {
  return (await app.listen(0, overEntry())).url;
}

const partsOf = ({ notifications }: Pick<Answer, "notifications">): Incoming["params"][] =>
  notifications.filter(({ method }) => method === partMethod).map(({ params }) => params);

/** What a client has of each block after these parts. */
function rebuilt(parts: readonly Incoming["params"][]): Record<string, string> {
  const blocks: Record<string, string> = {};
  for (const { block, op, content } of parts) {
    const key = String(block);
    if (op === "reset") {
      delete blocks[key];
      continue;
    }
    const text = (content as { type: string; text?: string }[])
      .map((one) => one.text ?? `[${one.type}]`)
      .join("");
    blocks[key] = (op === "replace" ? "" : (blocks[key] ?? "")) + text;
  }
  return blocks;
}

describe("a round", () => {
  test("sends parts under its token before its result, which may be a question; the next round sends only what is new", async () => {
    const { app, made } = writer();
    const to = await listening(app);
    const first = await callTool(to, "report", {}, streaming("s-1"));
    expect(first.headers.get("content-type")).toBe("text/event-stream");
    expect(first.result).toMatchObject({ resultType: "input_required" });
    expect(new Set(partsOf(first).map(({ token }) => token))).toEqual(new Set(["s-1"]));
    expect(partsOf(first).filter(({ block }) => block === "draft")).toHaveLength(3);
    expect(rebuilt(partsOf(first))).toEqual(firstRound);
    const leg = { requestState: tokenIn(first), inputResponses: { add: accept({ add: "costs" }) } };
    const second = await callTool(to, "report", {}, { ...streaming("s-2"), ...leg });
    expect(new Set(partsOf(second).map(({ token }) => token))).toEqual(new Set(["s-2"]));
    expect(rebuilt(partsOf(second))).toEqual(secondRound);
    expect(textIn(second)).toBe(report);
    expect(made).toEqual(["draft"]);
  });

  test("a round that is sent again streams again, under its own token", async () => {
    const { app, made } = writer();
    const to = await listening(app);
    const lost = await callTool(to, "report", {}, streaming("s-1"));
    const again = await callTool(to, "report", {}, streaming("s-2"));
    expect(rebuilt(partsOf(again))).toEqual(rebuilt(partsOf(lost)));
    expect(partsOf(again).every(({ token }) => token === "s-2")).toBe(true);
    expect(made).toEqual(["draft", "draft"]);
  });

  test("reaches a raw reader while the body still runs", async () => {
    const app = server();
    const go = gate();
    app.tool("slow", {}, (ctx) =>
      ctx.stream("draft", async function* () {
        yield "first";
        await go.opened;
        yield " second";
      }),
    );
    const to = await listening(app);
    const message = envelope("tools/call", { name: "slow", arguments: {} }, streaming());
    const stream = streamOf(await post(to, message));
    expect((await stream.next())?.params).toEqual({
      token: "s-1",
      block: "draft",
      content: [{ type: "text", text: "first" }],
    });
    go.open();
    const rest = await stream.rest();
    expect(rebuilt([rest[0]!.params])).toEqual({ draft: " second" });
    expect(rest[1]?.result).toMatchObject({ content: [{ type: "text", text: "first second" }] });
  });

  test("a failed attempt is taken back", async () => {
    const app = server();
    app.tool("flaky", {}, (ctx) =>
      ctx.stream(
        "draft",
        async function* ({ attempt }) {
          yield* words(`attempt ${attempt}`);
          if (attempt === 1) throw new Error("overloaded");
        },
        { retries: 1 },
      ),
    );
    const answer = await callTool(await listening(app), "flaky", {}, streaming());
    expect(partsOf(answer).filter(({ op }) => op === "reset")).toEqual([
      { token: "s-1", block: "draft", op: "reset" },
    ]);
    expect(rebuilt(partsOf(answer))).toEqual({ draft: "attempt 2" });
  });

  test("the official client with a notification handler rebuilds the text", async () => {
    const { app } = writer();
    const to = await listening(app);
    const client = new Client(
      { name: "official", version: "1.0.0" },
      { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    onTestFinished(() => client.close());
    const parts: Incoming["params"][] = [];
    const params = z.looseObject({ token: z.string(), block: z.string() });
    client.setNotificationHandler(partMethod, { params }, (part) => void parts.push(part));
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept",
      content: { add: "costs" },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(to)));
    expect(client.getServerCapabilities()).toMatchObject({ extensions: { [id]: {} } });
    const result = await client.callTool({
      name: "report",
      arguments: {},
      _meta: { [id]: { token: "mine" } },
    });
    expect(result.content).toEqual([{ type: "text", text: report }]);
    expect(rebuilt(parts)).toEqual({ ...firstRound, ...secondRound });
  });

  test("with once, a round that another request has run sends no parts", async () => {
    const app = server({ store: memoryStore() });
    app.tool("write", { once: true }, async (ctx) => {
      const name = await ctx.ask("name", "Name?");
      return ctx.stream("draft", () => words(`Dear ${name}`));
    });
    const to = await listening(app);
    const first = await callTool(to, "write", {}, streaming("s-0"));
    const leg = { requestState: tokenIn(first), inputResponses: { name: accept({ name: "Ann" }) } };
    const ran = await callTool(to, "write", {}, { ...streaming("s-1"), ...leg });
    const again = await callTool(to, "write", {}, { ...streaming("s-2"), ...leg });
    expect(rebuilt(partsOf(ran))).toEqual({ draft: "Dear Ann" });
    expect(partsOf(again)).toEqual([]);
    expect(textIn(again)).toBe("Dear Ann");
  });

  test("with once, a copy that is sent while the round runs gets no parts, and the same result", async () => {
    const app = server({ store: memoryStore() });
    const [begun, go] = [gate(), gate()];
    app.tool("write", { once: true }, async (ctx) => {
      const name = await ctx.ask("name", "Name?");
      return ctx.stream("draft", async function* () {
        begun.open();
        await go.opened;
        yield `Dear ${name}`;
      });
    });
    const to = await listening(app);
    const first = await callTool(to, "write", {}, streaming("s-0"));
    const leg = { requestState: tokenIn(first), inputResponses: { name: accept({ name: "Ann" }) } };
    const running = callTool(to, "write", {}, { ...streaming("s-1"), ...leg });
    await begun.opened;
    const copy = callTool(to, "write", {}, { ...streaming("s-2"), ...leg });
    go.open();
    expect(rebuilt(partsOf(await running))).toEqual({ draft: "Dear Ann" });
    expect(partsOf(await copy)).toEqual([]);
    expect(textIn(await copy)).toBe("Dear Ann");
  });
});

describe("who gets parts", () => {
  const asks: [what: string, own: object][] = [
    ["no token", { capabilities }],
    ["no declaration", { capabilities: { elicitation: {} }, meta: { [id]: { token: "s-1" } } }],
    ["an empty token", streaming("")],
    ["a token of another type", streaming({ toString: "s" })],
    ["a token that is too long", streaming("s".repeat(257))],
    ["a list in place of the settings", { capabilities, meta: { [id]: ["s-1"] } }],
  ];
  test.each(asks)("no client with %s, and the response is plain JSON", async (_what, own) => {
    const { app } = writer();
    const answer = await callTool(await listening(app), "report", {}, own);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.result).toMatchObject({ resultType: "input_required" });
  });

  test("`stream: {}` of the draft means nothing without the plug-in, and beside the params it is not JSON-RPC", async () => {
    const { app } = writer();
    const to = await listening(app);
    const message = envelope("tools/call", { name: "report", stream: {} }, { capabilities });
    const answer = await exchange(to, message);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.result).toMatchObject({ resultType: "input_required" });
    const beside = await exchange(to, Object.assign(message, { stream: {} }));
    expect(beside.error).toMatchObject({ code: -32_600 });
  });

  test("a token comes back as it was sent, whatever is in it", async () => {
    const { app } = writer();
    const to = await listening(app);
    for (const token of ["__proto__", '"\n\ndata: {}', "\u2028\uD83D", "s".repeat(256)]) {
      const answer = await callTool(to, "report", {}, streaming(token));
      expect(partsOf(answer).length).toBeGreaterThan(0);
      expect(partsOf(answer).every((part) => part["token"] === token)).toBe(true);
    }
  });

  test("ctx.can says so, and a call that streams nothing stays plain JSON", async () => {
    const { app } = writer();
    const to = await listening(app);
    expect(textIn(await callTool(to, "can", {}, streaming()))).toBe("true");
    expect(textIn(await callTool(to, "can", {}, { capabilities: {} }))).toBe("false");
    const plain = await callTool(to, "plain", {}, streaming());
    expect(plain.headers.get("content-type")).toMatch(/^application\/json/);
  });

  test("requires refuses the others before anything runs", async () => {
    const { app } = writer();
    app.tool("only", { requires: ["stream"] }, async () => "ran");
    const to = await listening(app);
    expect(textIn(await callTool(to, "only", {}, streaming()))).toBe("ran");
    const { error } = await callTool(to, "only", {}, { capabilities: {} });
    expect(error).toEqual({
      code: -32021,
      message:
        'Tool "only" needs a client that supports streaming, and this one does not. Nothing has run.',
      data: { requiredCapabilities: { extensions: { [id]: {} } } },
    });
  });

  test("the server declares the extension", async () => {
    const { app } = writer();
    const { result } = await exchange(await listening(app), envelope("server/discover"));
    expect(result).toMatchObject({ capabilities: { extensions: { [id]: {} } } });
  });
});

describe("progress in place of parts", () => {
  test("is the last line, at most twice a second, and the handler's own values pass", async () => {
    const app = server();
    app.tool("lines", {}, async (ctx) => {
      await ctx.emit("one", "# Title\nFirst line\n");
      for (let i = 0; i < 20; i += 1) await ctx.emit(`more-${i}`, "x");
      ctx.progress(0, 2, "own");
      ctx.progress(1, 2, "own");
      return "done";
    });
    const now = vi.spyOn(Date, "now").mockReturnValue(1_700_000_000_000);
    onTestFinished(() => now.mockRestore());
    const meta = { progressToken: "p" };
    const { notifications } = await callTool(await listening(app), "lines", {}, { meta });
    expect(notifications.map(({ params }) => params)).toEqual([
      { progressToken: "p", progress: 1e-6, message: "First line" },
      { progressToken: "p", progress: 2e-6, total: 2, message: "own" },
      { progressToken: "p", progress: 1, total: 2, message: "own" },
    ]);
  });
});

test("a 2025-11-25 client declares it among its experimental capabilities, and gets parts in its session", async () => {
  const { app } = writer();
  const to = await listening(app);
  const send = (message: object, session?: string) =>
    fetch(to, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const opened = await send({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {}, experimental: { [id]: {} } },
      clientInfo: { name: "by hand", version: "1.0.0" },
    },
  });
  const session = opened.headers.get("mcp-session-id") ?? "";
  const [initialized] = messagesIn(await opened.text());
  expect(initialized?.result).toMatchObject({ capabilities: { experimental: { [id]: {} } } });
  await send({ method: "notifications/initialized" }, session);
  const params = { name: "report", arguments: {}, _meta: { [id]: { token: "s-1" } } };
  const stream = streamOf(await send({ id: 2, method: "tools/call", params }, session));
  const parts: Incoming["params"][] = [];
  for (let one = await stream.next(); one !== undefined; one = await stream.next()) {
    if (one.method === partMethod) parts.push(one.params);
    else if (one.method === "elicitation/create") {
      await send({ id: one.id, result: accept({ add: "costs" }) }, session);
    } else if (one.result !== undefined) {
      expect(textIn({ ...one, status: 200, headers: new Headers(), notifications: [] })).toBe(
        report,
      );
    }
  }
  expect(rebuilt(parts)).toEqual({ ...firstRound, ...secondRound });
});

test("with attach, where nothing can be counted, parts stop after limits.streamBytes", async () => {
  const app = server({ limits: { streamBytes: 10_000 } });
  app.tool("long", {}, async (ctx) => {
    await ctx.emit("short", "whole");
    const text = await ctx.stream("long", () => words("0123456789 ".repeat(2_000)));
    return String(text.length);
  });
  const handler = createMcpHandler(() =>
    app.attach(new McpServer({ name: "own", version: "1.0.0" })),
  );
  const answer = await callTool((request) => handler.fetch(request), "long", {}, streaming());
  const parts = partsOf(answer);
  expect(JSON.stringify(parts).length).toBeLessThan(30_000);
  expect(parts.length).toBeGreaterThan(10);
  expect(rebuilt(parts)).toEqual({ short: "whole" });
  expect(textIn(answer)).toBe("22000");
});

// ---------------------------------------------------------------- clients that do not read

const piece = "x".repeat(16 * 1024);
const pieces = 4096;

/** A tool that streams 64 MiB, and reports how much it had made when it first had to wait for its client. */
function flood(limits: ParleyOptions["limits"] = {}) {
  const app = server({ limits });
  const seen = {
    made: 0,
    waitedAt: undefined as number | undefined,
    ended: gate(),
    isReturned: false,
  };
  app.tool("flood", {}, async (ctx) => {
    try {
      await ctx.stream("draft", async function* () {
        try {
          for (; seen.made < pieces; seen.made += 1) {
            let hasGoneOn = false;
            // A turn of the timers goes by only if the body waits for its client.
            const timer = setTimeout(() => {
              if (!hasGoneOn) seen.waitedAt ??= seen.made;
            }, 0);
            yield piece;
            hasGoneOn = true;
            clearTimeout(timer);
          }
        } finally {
          seen.ended.open();
        }
      });
      return "done";
    } finally {
      seen.isReturned = true;
    }
  });
  return { app, seen };
}

/** A client of the tool "flood" that reads when the test says so. */
const unreadFlood = (to: string): Promise<Socket> =>
  unreadCall(
    to,
    "tools/call",
    "flood",
    envelope("tools/call", { name: "flood", arguments: {} }, streaming()),
  );

// What the kernel takes on both sides, and the 256 KiB of ours.
const bounded = (24 * 1024 * 1024) / piece.length;

describe("a client that does not read", () => {
  test("makes the body wait, then gets no more parts, and the handler ends", async () => {
    const { app, seen } = flood({ streamStallMs: 100 });
    const socket = await unreadFlood(await listening(app));
    await seen.ended.opened;
    await vi.waitFor(() => expect(seen.isReturned).toBe(true), patience);
    expect(seen.made).toBe(pieces);
    expect(seen.waitedAt).toBeLessThan(bounded);
    // When it reads at last, the block that it has a part of is taken back, and the result is there.
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text = (text + chunk).slice(-2_000);
    });
    socket.resume();
    await vi.waitFor(() => expect(text).toContain('"result"'), patience);
    expect(text).toContain('"op":"reset"');
    expect(text).toContain('"text":"done"');
  });

  test("and disconnects ends the body", async () => {
    const { app, seen } = flood();
    const socket = await unreadFlood(await listening(app));
    await vi.waitFor(() => expect(seen.waitedAt).toBeDefined(), patience);
    socket.destroy();
    await seen.ended.opened;
    expect(seen.made).toBeLessThan(bounded);
  });

  test("for a while gets everything once it reads", async () => {
    const { app, seen } = flood();
    const socket = await unreadFlood(await listening(app));
    await vi.waitFor(() => expect(seen.waitedAt).toBeDefined(), patience);
    let bytes = 0;
    let end = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      bytes += chunk.length;
      end = (end + chunk).slice(-2_000);
    });
    socket.resume();
    await vi.waitFor(() => expect(end).toContain('"result"'), patience);
    expect(bytes).toBeGreaterThan(pieces * piece.length);
  });
});

test("a client that disconnects at any part ends the body", async () => {
  const app = server();
  const ends: string[] = [];
  app.tool("endless", {}, (ctx) =>
    ctx.stream("draft", async function* ({ signal }) {
      try {
        for (;;) {
          yield "more ";
          await turn();
        }
      } finally {
        ends.push(signal.aborted ? "aborted" : "not aborted");
      }
    }),
  );
  const to: To = await listening(app);
  for (let parts = 1; parts <= 5; parts += 1) {
    const message = envelope("tools/call", { name: "endless", arguments: {} }, streaming());
    const stream = streamOf(await post(to, message));
    for (let i = 0; i < parts; i += 1) expect((await stream.next())?.method).toBe(partMethod);
    await stream.hangUp();
    await vi.waitFor(() => expect(ends).toHaveLength(parts), patience);
  }
  expect(new Set(ends)).toEqual(new Set(["aborted"]));
});
