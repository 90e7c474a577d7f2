// Calls of hosts that render MCP Apps: the form that they are told to show, who can answer through it, and who cannot.

import { gzipSync } from "node:zlib";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { requireScopes } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { memoryStore, parley } from "mcp-parley";
import type { App, CommonOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keys } from "../interop/errands.ts";
import { own } from "../../src/util/objects.ts";
import { patience } from "../patience.ts";
import { blocksIn, chat, detailsIn, handleIn } from "./model.ts";
import { callTool, envelope, exchange, post, textIn } from "./post.ts";
import type { Answer, To } from "./post.ts";
import { keepingLogger } from "./till.ts";

const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const host = { capabilities: { extensions } };

interface Desk {
  readonly app: App;
  readonly ran: string[];
}

function made(options: CommonOptions = {}): Desk {
  const { logger } = keepingLogger();
  const chosen = { keys, logger, store: memoryStore(), ...options };
  const app = parley({ name: "desk", version: "1.0.0", ...chosen });
  onTestFinished(() => app.close());
  return { app, ran: [] };
}

/** A tool that asks for a choice, then for a confirmation, with a step after each. */
function tracker(options?: CommonOptions): Desk {
  const { app, ran } = made(options);
  app.tool(
    "resolve_bug",
    { inputSchema: z.object({ id: z.int() }), ui: "form" },
    async (args, ctx) => {
      const how = await ctx.choose("how", `How was #${args.id} resolved?`, ["Fixed", "Duplicate"]);
      await ctx.step("close", () => void ran.push(`close ${how}`));
      const isSure = await ctx.confirm("sure", "Tell the reporter?");
      await ctx.step("tell", () => void ran.push(`tell ${isSure}`));
      return `#${args.id} closed as ${how}, told: ${isSure}`;
    },
  );
  return { app, ran };
}

function as(app: App, sub: string, scopes: string[] = []): To {
  const authInfo: AuthInfo = { token: "t", clientId: "host", scopes, extra: { sub } };
  return (request) => app.handle(request, { authInfo });
}

const pauseOf = ({ result }: Answer) => own(result?.["_meta"], "io.github.mcp-parley/pause");
/** What the App gets from its host, and no model. */
const secretOf = (answer: Answer): string => String(own(pauseOf(answer), "secret"));
const bug = (to: To) => callTool(to, "resolve_bug", { id: 7 }, host);
const answers = (to: To, args: Record<string, unknown>) => callTool(to, "answer_call", args, host);
const goesOn = (to: To, args: Record<string, unknown>) => callTool(to, "continue_call", args, host);
const isGone = (answer: Answer) => expect(textIn(answer)).toContain("There is no such call.");

describe('a tool with ui: "form"', () => {
  const listed = async (app: App, method: string, name: string) => {
    const { result } = await exchange(app, envelope(method, {}, host));
    return (result?.[name] ?? []) as { name: string; uri?: string; _meta?: object }[];
  };

  test("is listed with its App, and so are the tools that continue its calls", async () => {
    const { app } = tracker();
    app.tool("plain", {}, () => "done");
    const tools = await listed(app, "tools/list", "tools");
    const shown = { ui: { resourceUri: "ui://parley/form" } };
    expect(Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]))).toEqual({
      resolve_bug: shown,
      continue_call: shown,
      answer_call: { ui: { visibility: ["app"] } },
      plain: undefined,
    });
    expect(JSON.stringify(tools)).not.toContain('"ui":"form"');
  });

  test("keeps the author's own metadata", async () => {
    const { app } = made({ relay: true });
    const config = { ui: "form", _meta: { mine: 1, ui: { visibility: ["model"] } } } as const;
    app.tool("asks", { ...config, _meta: { ...config._meta } }, () => "done");
    app.tool("asks_too", { ui: "form" }, () => "done");
    const tools = await listed(app, "tools/list", "tools");
    expect(tools.find(({ name }) => name === "asks")?._meta).toEqual({
      mine: 1,
      ui: { visibility: ["model"], resourceUri: "ui://parley/form" },
    });
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      "answer_call",
      "asks",
      "asks_too",
      "continue_call",
    ]);
  });

  test("has an App that is one document of at most 40 kB and loads nothing", async () => {
    const { app } = tracker();
    expect(await listed(app, "resources/list", "resources")).toMatchObject([
      { uri: "ui://parley/form", mimeType: "text/html;profile=mcp-app" },
    ]);
    const read = envelope("resources/read", { uri: "ui://parley/form" }, host);
    const { result } = await exchange(app, read);
    const [content] = (result?.["contents"] ?? []) as object[];
    expect(content).toMatchObject({
      uri: "ui://parley/form",
      mimeType: "text/html;profile=mcp-app",
      _meta: { ui: { prefersBorder: false } },
    });
    const text = String(own(content, "text"));
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toMatch(/<link|<img|<script[^>]+src|@import|url\(/);
    expect(gzipSync(text).length).toBeLessThanOrEqual(40_000);
  });

  test("without such a tool, nothing of it is there", async () => {
    const { app } = made({ relay: true });
    app.tool("plain", {}, () => "done");
    const tools = await listed(app, "tools/list", "tools");
    expect(tools.map(({ name, _meta }) => [name, _meta])).toEqual([
      ["continue_call", undefined],
      ["plain", undefined],
    ]);
  });

  test("needs a store", async () => {
    const { logged, logger } = keepingLogger();
    const app = parley({ name: "bare", version: "1.0.0", keys, logger });
    onTestFinished(() => app.close());
    app.tool("resolve_bug", { ui: "form" }, () => "done");
    await exchange(app, envelope("tools/list"));
    expect(JSON.stringify(logged.map(({ message }) => message))).toContain(
      String.raw`Tool \"resolve_bug\" has ui: \"form\", which keeps paused calls in a store, and this app has none. Pass parley({ store }).`,
    );
  });

  test("takes no other value", () => {
    const { app } = made();
    // @ts-expect-error -- as JavaScript may pass it
    expect(() => app.tool("asks", { ui: "forms" }, () => "done")).toThrow(
      'Tool "asks" has ui: "forms", which is not known. Use "form".',
    );
  });
});

describe("a host that renders MCP Apps", () => {
  test("is told to show a form, and the model to wait", async () => {
    const { app } = tracker();
    const first = await bug(app);
    const call = handleIn(first);
    expect(blocksIn(first)).toEqual([
      `Not finished. An answer from the user is needed. A form is shown to the user. Wait. If they see none, tell them that this client cannot show it. When they say that they are done, call continue_call with {"call":"${call}"}. Do not answer for the user. Do not call resolve_bug again: that would start a second call.`,
      'Details: {"questions":{"how":{"message":"How was #7 resolved?"}}}',
    ]);
    expect(pauseOf(first)).toMatchObject({
      call,
      secret: expect.stringMatching(/^[0-9A-Za-z]{22}$/) as string,
      questions: { how: { way: "app", request: { params: { requestedSchema: {} } } } },
    });
    expect(secretOf(first)).not.toBe(call);
  });

  test("answers through answer_call, and the model then gets the result", async () => {
    const { app, ran } = tracker();
    const first = await bug(app);
    const [call, secret] = [handleIn(first), secretOf(first)];
    const second = await answers(app, { call, secret, answers: { how: { how: "Fixed" } } });
    expect(Object.keys(own(pauseOf(second), "questions") ?? {})).toEqual(["sure"]);
    expect([handleIn(second), secretOf(second)]).toEqual([call, secret]);
    const last = await answers(app, { call, secret, answers: { sure: true } });
    expect(textIn(last)).toBe("#7 closed as Fixed, told: true");
    expect(textIn(await goesOn(app, { call }))).toBe("#7 closed as Fixed, told: true");
    expect(ran).toEqual(["close Fixed", "tell true"]);
    // No text that a model reads has the secret.
    for (const answer of [first, second, last, await goesOn(app, { call })]) {
      expect(JSON.stringify({ ...answer.result, _meta: undefined })).not.toContain(secret);
    }
  });

  test("sends the same again and gets the recorded response, and anything else has moved on", async () => {
    const { app, ran } = tracker();
    const first = await bug(app);
    const proof = { call: handleIn(first), secret: secretOf(first) };
    const how = { ...proof, answers: { how: { how: "Fixed" } } };
    const second = await answers(app, how);
    expect(blocksIn(await answers(app, how))).toEqual(blocksIn(second));
    const other = await answers(app, { ...proof, answers: { how: { how: "Duplicate" } } });
    expect(textIn(other)).toContain("This call has moved on.");
    const last = { ...proof, decline: ["sure"] };
    const text = "#7 closed as Fixed, told: false";
    for (const args of [last, last, proof]) expect(textIn(await answers(app, args))).toBe(text);
    expect(ran).toEqual(["close Fixed", "tell false"]);
  });

  test("sends an empty form of one field, and is told what does not fit", async () => {
    const { app } = made();
    const Note = z.object({ note: z.string().optional() });
    app.tool("notes", { ui: "form" }, async (ctx) => {
      const { note = "none" } = await ctx.ask("note", "A note?", Note);
      return note;
    });
    const first = await callTool(app, "notes", {}, host);
    const proof = { call: handleIn(first), secret: secretOf(first) };
    const again = await answers(app, { ...proof, answers: { note: { note: 5 } } });
    expect(blocksIn(again)[1]).toContain("The last answer did not fit");
    expect(textIn(await answers(app, { ...proof, answers: { note: {} } }))).toBe("none");
  });

  test("gets a page for a secret, because no App may ask for one", async () => {
    const { app } = made({ relay: true, url: "https://desk.example" });
    app.tool("signs_in", { ui: "form" }, async (ctx) => {
      const password = await ctx.ask("password", "Password?", undefined, { sensitive: true });
      const where = await ctx.ask("where", "Where to?");
      return `${password.length} ${where}`;
    });
    const first = await callTool(app, "signs_in", {}, host);
    const proof = { call: handleIn(first), secret: secretOf(first) };
    expect(pauseOf(first)).toMatchObject({ questions: { password: { way: "link" } } });
    const tried = await answers(app, { ...proof, answers: { password: { password: "x" } } });
    expect(blocksIn(tried)[1]).toContain('"ignoredAnswers":["password"]');
    const url = /"url":"([^"]+)"/.exec(blocksIn(first)[1] ?? "")?.[1] ?? "";
    await app.deliver(url.split("/").at(-1) ?? "", { password: "s3cret" });
    const second = await goesOn(app, { call: proof.call });
    expect(blocksIn(second)[0]).toContain("A form is shown to the user. Wait.");
    const last = await answers(app, { ...proof, answers: { where: { where: "Oslo" } } });
    expect(textIn(last)).toBe("6 Oslo");
  });

  test("answers the questions of a task that it cannot follow, which it asks about from the start", async () => {
    const { app, ran } = made({ relay: true, limits: { inlineMs: 1 } });
    await app.work();
    app.tool("trip", { task: "optional", ui: "form" }, async (ctx) => {
      await ctx.background();
      const to = await ctx.ask("to", "Where to?");
      await ctx.step("book", () => void ran.push(to));
      return `Booked ${to}`;
    });
    const first = await callTool(app, "trip", {}, host);
    const proof = { call: handleIn(first), secret: secretOf(first) };
    await expect
      .poll(async () => own(pauseOf(await answers(app, proof)), "questions"), patience)
      .toMatchObject({ to: { way: "app" } });
    await goesOn(app, { call: proof.call, answers: { to: "Rome" } });
    await answers(app, { ...proof, answers: { to: { to: "Oslo" } } });
    await expect.poll(async () => textIn(await answers(app, proof)), patience).toBe("Booked Oslo");
    expect(ran).toEqual(["Oslo"]);
  });
});

describe("who cannot answer", () => {
  test("a model, which has the handle and not the secret", async () => {
    const { app, ran } = tracker({ relay: true });
    const first = await bug(app);
    const call = handleIn(first);
    const tried = await goesOn(app, { call, answers: { how: "Fixed" }, decline: ["how"] });
    expect(detailsIn(tried)).toMatchObject({ ignoredAnswers: ["how"] });
    const how = { how: { how: "Fixed" } };
    for (const secret of [undefined, "", call, "a".repeat(22), secretOf(first).toLowerCase(), 7]) {
      isGone(await answers(app, { call, secret, answers: how }));
      isGone(await answers(app, { call, secret, decline: ["how"] }));
      isGone(await answers(app, { call, secret, cancel: true }));
    }
    expect(ran).toEqual([]);
    const on = await answers(app, { call, secret: secretOf(first), answers: how });
    expect(Object.keys(own(pauseOf(on), "questions") ?? {})).toEqual(["sure"]);
  });

  test("the App of another call or another caller", async () => {
    const { app, ran } = tracker();
    const [ada, bo] = [as(app, "ada"), as(app, "bo")];
    const first = await bug(ada);
    const [call, secret] = [handleIn(first), secretOf(first)];
    const how = { how: { how: "Fixed" } };
    for (const thief of [bo, app]) {
      isGone(await answers(thief, { call, secret, answers: how }));
      isGone(await answers(thief, { call, secret }));
    }
    isGone(await answers(ada, { call, secret: secretOf(await bug(ada)), answers: how }));
    isGone(await answers(ada, { call: handleIn(await bug(ada)), secret, answers: how }));
    expect(ran).toEqual([]);
    expect(blocksIn(await answers(ada, { call, secret, answers: how }))[1]).toContain("sure");
  });

  test("an App whose caller has lost the scopes of the tool", async () => {
    const { app, ran } = made();
    const scopeChallenge = requireScopes("bugs:write");
    app.tool("resolve_bug", { scopeChallenge, ui: "form" }, async (ctx) => {
      ran.push(await ctx.ask("how", "How?"));
      return "done";
    });
    const able = as(app, "ada", ["bugs:write"]);
    const first = await callTool(able, "resolve_bug", {}, host);
    const args = { call: handleIn(first), secret: secretOf(first), answers: { how: { how: "x" } } };
    const message = envelope("tools/call", { name: "answer_call", arguments: args }, host);
    expect((await post(as(app, "ada"), message)).status).toBe(403);
    expect(ran).toEqual([]);
    expect(textIn(await answers(able, args))).toBe("done");
  });

  test("an App, where the model is to relay the question", async () => {
    const { app } = made({ relay: true });
    app.tool("asks", { ui: "form" }, (ctx) => ctx.ask("who", "Who?", undefined, { relay: true }));
    const first = await callTool(app, "asks", {}, chat);
    const args = { call: handleIn(first), secret: secretOf(first), answers: { who: "Ada" } };
    expect(blocksIn(await answers(app, args))[1]).toContain('"ignoredAnswers":["who"]');
  });
});

test("a client that can show forms is asked as ever, and one that shows neither is refused", async () => {
  const { app } = tracker();
  const both = { capabilities: { extensions, elicitation: { form: {} } } };
  const asked = await callTool(app, "resolve_bug", { id: 7 }, both);
  expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests: { how: {} } });
  expect((await callTool(app, "resolve_bug", { id: 7 }, chat)).error?.code).toBe(-32_021);
});

test("a client that can show forms costs the store nothing", async () => {
  const store = memoryStore();
  const used: string[] = [];
  const watched = new Proxy(store, {
    get: (of, name) => {
      const operation: unknown = Reflect.get(of, name, of);
      // To look for an operation that this store does not have costs it nothing.
      if (operation !== undefined) used.push(String(name));
      return operation;
    },
  });
  // The audit is kept for every client.
  const audit = { store: false };
  const { app } = tracker({ store: watched, relay: true, url: "https://desk.example", audit });
  const able = { capabilities: { extensions, elicitation: { form: {}, url: {} } } };
  const first = await callTool(app, "resolve_bug", { id: 7 }, able);
  used.length = 0;
  const answered = (requestState: unknown, inputResponses: object) =>
    callTool(app, "resolve_bug", { id: 7 }, { ...able, requestState, inputResponses });
  const how = { how: { action: "accept", content: { how: "Fixed" } } };
  const second = await answered(first.result?.["requestState"], how);
  const sure = { sure: { action: "accept", content: {} } };
  expect(textIn(await answered(second.result?.["requestState"], sure))).toContain("told: true");
  await callTool(app, "resolve_bug", { id: 8 }, able);
  expect(used).toEqual([]);
});

test.each([
  ["2025-11-25", {}],
  ["2026-07-28", { versionNegotiation: { mode: "auto" } }],
] as const)(
  "an official client of %s that renders Apps comes to the end",
  async (_era, options) => {
    const { app, ran } = tracker();
    const { url } = await app.listen(0);
    const capabilities = { extensions };
    const client = new Client({ name: "host", version: "1.0.0" }, { capabilities, ...options });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());
    const first = await client.callTool({ name: "resolve_bug", arguments: { id: 7 } });
    const pause = own(first._meta, "io.github.mcp-parley/pause");
    const proof = { call: own(pause, "call"), secret: own(pause, "secret") };
    const answer = (given: object) =>
      client.callTool({ name: "answer_call", arguments: { ...proof, answers: given } });
    await answer({ how: { how: "Fixed" } });
    const { content } = await answer({ sure: true });
    expect(content).toEqual([{ type: "text", text: "#7 closed as Fixed, told: true" }]);
    expect(ran).toEqual(["close Fixed", "tell true"]);
    const { contents } = await client.readResource({ uri: "ui://parley/form" });
    expect(contents).toMatchObject([{ mimeType: "text/html;profile=mcp-app" }]);
  },
);
