// An app with a handler for every kind of outcome. Nothing in it changes between calls, so that the same request can be
// sent to both entries.

import { fromJsonSchema, ProtocolError, requireScopes } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { inputRequired, memoryStore, parley } from "mcp-parley";
import type { App, FullResult, ParleyOptions } from "mcp-parley";
import { z } from "zod";
import { keys } from "../interop/errands.ts";

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The valid bearer tokens and their scopes. */
const bearers = { ada: ["read", "write"], bob: ["read"] } as const;

type Verify = (token: string) => Promise<AuthInfo>;

export const verifyAccessToken: Verify = async (token) => {
  if (token === "broken") throw new Error("The verifier is out of order");
  const scopes = Object.entries(bearers).find(([name]) => name === token)?.[1];
  return {
    token,
    clientId: "an application",
    scopes: [...(scopes ?? [])],
    expiresAt: scopes === undefined ? 1 : 4_000_000_000,
    ...(token === "bob" ? {} : { extra: { sub: token } }),
  };
};

export const authenticated = (verify: Verify = verifyAccessToken): Partial<ParleyOptions> => ({
  auth: {
    verifier: { verifyAccessToken: verify },
    requiredScopes: ["read"],
    resourceMetadataUrl: "https://server.example/.well-known/oauth-protected-resource",
  },
  principal: ({ extra }) => (typeof extra?.["sub"] === "string" ? extra["sub"] : ""),
});

export function everything(options: Partial<ParleyOptions> = {}): App {
  const info = {
    name: "everything",
    version: "1.0.0",
    title: "All “of” it",
    websiteUrl: "https://a.example",
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `auth` and `principal` come together or not at all
  const app = parley({
    ...info,
    keys,
    logger: silent,
    store: memoryStore(),
    ...options,
  } as ParleyOptions);
  addTools(app);
  addFullResults(app);
  addQuestions(app);
  addPrompts(app);
  addResources(app);
  return app;
}

const Text = z.object({ text: z.string(), times: z.int().min(1).max(9).default(1) });

function addTools(app: App): void {
  app.tool("echo", { inputSchema: Text }, ({ text, times }) => text.repeat(times));
  app.tool("loose", { inputSchema: z.looseObject({}) }, (args) => JSON.stringify(args));
  const raw = fromJsonSchema({ type: "object" });
  app.tool("raw", { inputSchema: raw }, (args) => JSON.stringify(Object.entries(Object(args))));
  app.tool("bare", {}, () => "no arguments");
  app.prompt("“quoted” ünïcode", {}, () => "named");
  app.tool("facts", {}, ({ request, principal, can }) =>
    JSON.stringify({
      meta: request?.meta,
      clientInfo: request?.clientInfo,
      principal,
      scopes: request?.authInfo?.scopes,
      host: request?.headers?.has("host"),
      accept: request?.headers?.get("accept"),
      can: (["form", "url", "sampling", "roots", "task"] as const).filter((one) => can(one)),
    }),
  );
  app.tool(
    "sum",
    {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ sum: a + b }),
  );
  app.tool("unfit", { outputSchema: z.object({ sum: z.number() }) }, () => ({ sum: Number.NaN }));
  app.tool("throws", {}, () => {
    throw new Error("It does.");
  });
  for (const code of [-32_602, -32_603, -32_042, -32_002, -32_021, -32_000, 7]) {
    app.tool(`error${code}`, {}, () => {
      throw new ProtocolError(code, `Code ${code}`, { of: "the author's" });
    });
    app.prompt(`error${code}`, {}, () => {
      throw new ProtocolError(code, `Code ${code}`, { of: "the author's" });
    });
  }
  app.tool("progress", {}, (ctx) => {
    for (const done of [1, 1, 2, 3]) ctx.progress(done, 3, `at ${done}`);
    ctx.progress(4);
    return "all done";
  });
  app.tool("log", {}, (ctx) => {
    for (const level of ["debug", "info", "warning", "emergency"] as const)
      ctx.log(level, { level });
    return "told";
  });
  app.tool("progress_then_odd", {}, (ctx) => {
    ctx.progress(1);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is none
    return { content: [{ type: "hologram" }] } as unknown as FullResult;
  });
  app.tool("progress_then_error", {}, (ctx) => {
    ctx.progress(1);
    throw new ProtocolError(-32_021, "Later than that");
  });
  app.tool("log_no_json", {}, (ctx) => {
    ctx.log("info", { n: 1n });
    ctx.log("info", "and on");
    return "told";
  });
  app.tool(
    "headers",
    { inputSchema: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }) },
    ({ region }) => region,
  );
  app.tool("scoped", { scopeChallenge: requireScopes("write") }, () => "may write");
  app.tool("task", { task: "required" }, async (ctx) => {
    await ctx.background();
    return "in the background";
  });
  app.tool("maybe_a_task", { task: "optional" }, async (ctx) => {
    await ctx.background();
    return "wherever that was";
  });
}

const image = { type: "image", data: "aGVsbG8=", mimeType: "image/png" } as const;
const text = { type: "text", text: "text" } as const;

/** Full results: those an author can return, and some that the types forbid. */
export const fullResults: Readonly<Record<string, unknown>> = {
  texts: { content: [text, text] },
  none: { content: [] },
  image: { content: [image] },
  audio: { content: [{ ...image, type: "audio", mimeType: "audio/wav" }] },
  bad_image: { content: [{ ...image, data: "*" }] },
  link: { content: [{ type: "resource_link", uri: "a://b", name: "b", size: 3 }] },
  embedded: { content: [{ type: "resource", resource: { uri: "a://b", text: "b", more: 1 } }] },
  annotated: {
    content: [{ ...text, annotations: { audience: ["user"], priority: 0.5 }, _meta: {} }],
  },
  badly_annotated: { content: [{ ...text, annotations: { priority: 5 } }] },
  extended: { content: [{ ...text, more: true }], more: { than: "asked" } },
  unknown_block: { content: [{ type: "hologram" }] },
  no_block: { content: ["text"] },
  no_text: { content: [{ type: "text" }] },
  error: { content: [text], isError: true },
  no_error: { content: [text], isError: false },
  odd_error: { content: [text], isError: "yes" },
  structured: { content: [text], structuredContent: { a: [1, { b: null }] } },
  structured_list: { content: [], structuredContent: [1, 2] },
  structured_null: { content: [image], structuredContent: null },
  meta: { content: [text], _meta: { own: 1 } },
  own_server: {
    content: [text],
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "x", version: "1" } },
  },
  odd_server: { content: [text], _meta: { "io.modelcontextprotocol/serverInfo": 5 } },
  odd_meta: { content: [text], _meta: 5 },
  typed: { content: [text], resultType: "complete" },
  typed_otherwise: { content: [text], resultType: "something/else" },
  undefineds: {
    content: [text],
    isError: undefined,
    structuredContent: undefined,
    _meta: undefined,
  },
};

function addFullResults(app: App): void {
  for (const [name, result] of Object.entries(fullResults)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- not all of them are
    app.tool(`full_${name}`, {}, () => result as FullResult);
  }
}

function addQuestions(app: App): void {
  app.tool("ask", { inputSchema: Text }, async (args, ctx) => {
    const name = await ctx.ask("name", `Who says ${args.text}?`);
    const isSure = await ctx.confirm("sure", `Really ${name}?`);
    return `${name} ${isSure}`;
  });
  app.tool("ask_the_model", {}, async (ctx) => (await ctx.sample("q", "What?")).text);
  app.tool("ask_for_roots", {}, async (ctx) => `${(await ctx.roots()).length}`);
  app.tool("send_to_a_page", {}, async (ctx) => {
    await ctx.openUrl("page", "Look", "https://a.example");
    return "seen";
  });
  app.tool("ask_by_hand", {}, (ctx) => {
    if (Object.keys(ctx.answers).length > 0) return JSON.stringify(ctx.answers);
    const form = inputRequired.elicit({
      message: "Who?",
      requestedSchema: z.object({ name: z.string() }),
    });
    return inputRequired({ inputRequests: { form }, state: { n: 1 } });
  });
  app.tool("state_alone", {}, async (ctx) => {
    await ctx.step("one", () => 1);
    await ctx.checkpoint();
    return "past it";
  });
}

function addPrompts(app: App): void {
  app.prompt("greeting", {}, () => "Hello");
  app.prompt(
    "greet",
    { argsSchema: z.object({ name: z.string().min(2) }) },
    ({ name }) => `Hello ${name}`,
  );
  app.prompt("full", {}, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Hello" } }],
    description: "A greeting",
    _meta: { own: true },
  }));
  app.prompt("asking", {}, async (ctx) => `Hello ${await ctx.ask("name", "Who?")}`);
  app.prompt("failing", {}, () => {
    throw new Error("It does.");
  });
}

/** Options that Parley's types do not have, but the SDK accepts. */
const kept = (cacheHint: object): object => ({ cacheHint });

function addResources(app: App): void {
  app.resource("fixed", "note://fixed", { mimeType: "text/plain" }, () => "fixed");
  app.resource("bytes", "note://bytes", {}, () => new Uint8Array([1, 2, 3]));
  app.resource("kept", "note://kept", kept({ ttlMs: 1_000, cacheScope: "public" }), () => "kept");
  app.resource("own", "note://own", kept({ ttlMs: 1_000 }), () => ({
    contents: [{ uri: "note://own", text: "own" }],
    ttlMs: 5,
    cacheScope: "nobody",
    _meta: { own: 1 },
  }));
  app.resource(
    "scoped",
    "note://scoped",
    { scopeChallenge: requireScopes("write") },
    () => "scoped",
  );
  app.resource("page", "page://{id}", {}, (uri, { id }) => `${uri.href} ${id}`);
  app.resource(
    "asking",
    "asking://{id}",
    {},
    async (_, { id }, ctx) => `${id} ${await ctx.ask("q", "?")}`,
  );
  app.resource("failing", "failing://it", {}, () => {
    throw new Error("It does.");
  });
}

/** The same app with handlers of the author's own on the official server, which only the SDK serves. */
export function withForeign(app: App): App {
  app.onServer((server) => {
    server.registerTool("foreign", { inputSchema: z.object({ a: z.string() }) }, ({ a }) => ({
      content: [{ type: "text", text: `foreign ${a}` }],
    }));
    server.registerPrompt("foreign", {}, () => ({ messages: [] }));
    server.registerResource("foreign", "page://foreign", {}, ({ href }) => ({
      contents: [{ uri: href, text: "foreign" }],
    }));
  });
  return app;
}
