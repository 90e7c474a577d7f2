// Without a key to seal with, the app says so at once if it can know, and otherwise responds with an error. It never crashes.

import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { callTool, textIn } from "./post.ts";
import { keepingLogger } from "./till.ts";

beforeEach(() => void vi.stubEnv("PARLEY_KEYS", undefined));
afterEach(() => void vi.unstubAllEnvs());

function keyless() {
  const { logger, logged } = keepingLogger();
  const app = parley({ name: "keyless", version: "1.0.0", logger });
  app.tool("ask", {}, async (ctx) => ctx.ask("name", "Name?"));
  app.tool("free", {}, () => "asks nothing");
  return { app, logged };
}

describe("app.fetch without keys", () => {
  test("responds to a tool that asks with an error, and logs what to do [D6]", async () => {
    const { app, logged } = keyless();
    const { status, error } = await callTool(app, "ask");
    expect(status).toBe(200);
    expect(error).toMatchObject({ code: -32603, data: { reason: "no_keys" } });
    expect(logged).toContainEqual({
      level: "error",
      message: expect.stringMatching(
        /^There is no key to seal state with\. Set PARLEY_KEYS [^]* app\.fetch[^]*$/,
      ) as string,
      fields: { handler: "ask", call: expect.any(String) as string, code: "no_keys" },
    });
  });

  test("serves a tool that asks nothing, and keeps doing so", async () => {
    const { app } = keyless();
    await callTool(app, "ask");
    expect(textIn(await callTool(app, "free"))).toBe("asks nothing");
  });

  test("responds to a token with an internal error, because the missing key is the server's own fault", async () => {
    const { app } = keyless();
    const { error } = await callTool(app, "ask", {}, { requestState: "v1.some.thing" });
    expect(error?.code).toBe(-32603);
  });

  test("uses PARLEY_KEYS, several separated by commas [D6]", async () => {
    vi.stubEnv("PARLEY_KEYS", `new:${"A".repeat(43)}, old:${"B".repeat(42)}A`);
    const { result } = await callTool(keyless().app, "ask");
    expect(result?.["requestState"]).toMatch(/^v1\.new\./);
  });
});

describe("what is missing shows at the start, before the first call", () => {
  /** The codes of the log so far, once all code of this turn has run. */
  const codes = async (logged: { readonly fields: Record<string, unknown> | undefined }[]) => {
    await new Promise((resolve) => setImmediate(resolve));
    return logged.map(({ fields }) => fields?.["code"]);
  };

  test.each([
    ["app.fetch is exported", (app: App) => app.fetch],
    ["app.handle is exported", (app: App) => app.handle],
    ["app.node is mounted", (app: App) => createServer(app.node)],
    [
      "app.attach is called",
      (app: App) => app.attach(new McpServer({ name: "own", version: "1.0.0" })),
    ],
  ])("if %s, even before the tools are registered", async (_, mount) => {
    const { logger, logged } = keepingLogger();
    const app = parley({ name: "keyless", version: "1.0.0", logger });
    mount(app);
    app.tool("bake", { task: "optional" }, () => "baked");
    expect(await codes(logged)).toEqual(["no_keys", "no_store"]);
    expect(logged[1]?.message).toContain('Tool "bake" needs a store');
    mount(parley({ name: "another", version: "1.0.0", logger }));
    mount(app);
    app.tool("roast", { task: "optional" }, () => "roasted");
    // Once for each app.
    expect(await codes(logged)).toEqual(["no_keys", "no_store", "no_keys"]);
  });

  test("in production, however the app is called", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const { logger, logged } = keepingLogger();
    const app = parley({ name: "keyless", version: "1.0.0", logger });
    expect(await codes(logged)).toEqual(["no_keys"]);
    app.tool("bake", { task: "optional" }, () => "baked");
    expect(await codes(logged)).toEqual(["no_keys", "no_store"]);
    // The first request has nothing to add.
    await callTool(app, "free");
    expect(await codes(logged)).toEqual(["no_keys", "no_store"]);
  });

  test("and the log says nothing in development, or if nothing is missing", async () => {
    const { logger, logged } = keepingLogger();
    const app = parley({ name: "keyless", version: "1.0.0", logger });
    app.tool("bake", { task: "optional" }, () => "baked");
    vi.stubEnv("NODE_ENV", "production");
    vi.stubEnv("PARLEY_KEYS", `k:${"A".repeat(43)}`);
    const whole = parley({ name: "whole", version: "1.0.0", logger, store: new MemoryStore() });
    whole.tool("bake", { task: "optional" }, () => "baked");
    createServer(whole.node);
    expect(await codes(logged)).toEqual([]);
  });
});

test.each([
  ["a short key", "k:AAAA", /3 bytes\. A key has 32/],
  ["a key without an id", "A".repeat(43), /no key id/],
])(
  "%s is refused when the app begins to listen, and the error does not show it",
  async (_, keys, message) => {
    const app = parley({ name: "keyless", version: "1.0.0", keys });
    const failure = await app.listen(0).catch((error: unknown) => error);
    expect(String(failure)).toMatch(message);
    expect(String(failure)).not.toContain(keys);
  },
);
