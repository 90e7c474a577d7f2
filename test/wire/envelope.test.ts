// What 2026-07-28 requires of any server, checked on a server made by app.listen. The official SDK does most of it; these
// tests check that it still holds with our layer on top.

import { parley } from "mcp-parley";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { callTool, envelope, exchange, post, textIn } from "./post.ts";
import { served } from "./served.ts";

const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";

describe("the envelope", () => {
  test.each([version, capabilities])("a request without %s is -32602 and 400 [S4]", async (key) => {
    const { to, called } = await served();
    const { status, error } = await callTool(to, "free", {}, { meta: { [key]: undefined } });
    expect([status, error?.code]).toEqual([400, -32602]);
    expect(called).toEqual([]);
  });

  test("an unsupported version is -32022 and 400, and the error names the supported ones [S7]", async () => {
    const { to } = await served();
    const { status, error } = await callTool(
      to,
      "free",
      {},
      {
        meta: { [version]: "2031-01-01" },
        headers: { "mcp-protocol-version": "2031-01-01" },
      },
    );
    expect([status, error?.code]).toEqual([400, -32022]);
    expect(error?.data).toMatchObject({ requested: "2031-01-01", supported: ["2026-07-28"] });
  });

  test("the id comes back with its type: a string as a string, a number as a number [S1]", async () => {
    const { to } = await served();
    for (const id of ["7", 7, 0]) expect((await callTool(to, "free", {}, { id })).id).toBe(id);
    expect((await callTool(to, "nothing", {}, { id: "e" })).id).toBe("e");
  });

  test("discovery returns the server's versions, capabilities and cache lifetime [S8]", async () => {
    const { to } = await served();
    const { result } = await exchange(to, envelope("server/discover"));
    expect(result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, prompts: {}, resources: {} },
      ttlMs: expect.any(Number) as number,
      cacheScope: expect.stringMatching(/^(public|private)$/) as string,
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "till", version: "1.0.0" } },
    });
  });
});

describe("the headers", () => {
  test.each([
    ["Mcp-Method", { "mcp-method": "tools/list" }],
    ["Mcp-Name", { "mcp-name": "pay" }],
    ["the version", { "mcp-protocol-version": "2025-11-25" }],
    ["the case of a value", { "mcp-name": "FREE" }],
  ])(
    "headers that contradict the body in %s are -32020 and 400 [S52] [S54] [D18]",
    async (_, headers) => {
      const { to, called } = await served();
      const { status, error } = await callTool(to, "free", {}, { headers });
      expect([status, error?.code]).toEqual([400, -32020]);
      expect(called).toEqual([]);
    },
  );

  test("may be in any case and have space around them [S54]", async () => {
    const { to } = await served();
    const headers = { "MCP-METHOD": "tools/call", "Mcp-Name": "  free " };
    expect((await callTool(to, "free", {}, { headers })).status).toBe(200);
  });

  test.each(["mcp-method", "mcp-name", "mcp-protocol-version"])(
    "must all be present: without %s it is -32020 [S52] [S60]",
    async (missing) => {
      const { to, called } = await served();
      const headers = { [missing]: undefined };
      const { status, error } = await callTool(to, "free", {}, { headers });
      expect([status, error?.code]).toEqual([400, -32020]);
      expect(called).toEqual([]);
    },
  );
});

test("a mirrored parameter must be in its header with the same value, by the author's own schema [S55]", async () => {
  const app = parley({ name: "regions", version: "1.0.0", keys, logger: quiet });
  const region = z.string().meta({ "x-mcp-header": "Region" }).optional();
  app.tool("put", { inputSchema: z.object({ region }) }, ({ region: where }) => `in ${where}`);
  const put = (args: Record<string, unknown>, headers: Record<string, string> = {}) =>
    callTool(app, "put", args, { headers });
  expect(textIn(await put({ region: "eu" }, { "mcp-param-region": "eu" }))).toBe("in eu");
  expect(textIn(await put({}))).toBe("in undefined");
  for (const headers of [{}, { "mcp-param-region": "us" }] as Record<string, string>[]) {
    const { status, error } = await put({ region: "eu" }, headers);
    expect([status, error?.code]).toEqual([400, -32020]);
  }
});

describe("HTTP", () => {
  test("a notification is accepted with 202 and no body [S50]", async () => {
    const { to } = await served();
    const message = envelope("notifications/cancelled", { requestId: 99 });
    const { id: _, ...notification } = message;
    const response = await post(to, notification as typeof message);
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  test("Mcp-Session-Id and Last-Event-ID of another era have no effect [S59]", async () => {
    const { to } = await served();
    const headers = { "mcp-session-id": "left over", "last-event-id": "7" };
    expect(textIn(await callTool(to, "free", {}, { headers }))).toBe("asks nothing");
  });

  test("a body that is not JSON is refused, and so is one that is not a request [S50]", async () => {
    const { to } = await served();
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    for (const body of ["{", "", "7", "{}"]) {
      const response = await fetch(to, { method: "POST", headers, body });
      expect(response.status).toBe(400);
      await response.text();
    }
  });

  test.each([
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "tasks/result",
    "tasks/list",
  ])("%s does not exist in 2026-07-28: -32601 and 404 [S12]", async (method) => {
    const { to } = await served();
    const { status, error } = await exchange(to, envelope(method));
    expect([status, error?.code]).toEqual([404, -32601]);
  });
});
