// Without a key to seal with, the app says so at once if it can know, and otherwise responds with an error. It never crashes.

import { parley } from "mcp-parley";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
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
        /^There is no key to seal state with\. Set PARLEY_KEYS [^]* app\.fetch[^]* with NODE_ENV test\.$/,
      ) as string,
      fields: { handler: "ask", code: "no_keys" },
    });
  });

  test("serves a tool that asks nothing, and keeps doing so", async () => {
    const { app } = keyless();
    await callTool(app, "ask");
    expect(textIn(await callTool(app, "free"))).toBe("asks nothing");
  });

  test("refuses a token as it does any other error of its own", async () => {
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
