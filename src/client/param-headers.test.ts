// Arguments that a tool's schema asks for in HTTP headers.

import { afterEach, expect, test } from "vitest";
import { hostile } from "./hostile.fixture.ts";
import { connect } from "./index.ts";
import { ParamHeaders } from "./param-headers.ts";

const inputSchema = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    size: { type: "integer", "x-mcp-header": "Size" },
    deep: { type: "object", properties: { on: { type: "boolean", "x-mcp-header": "On" } } },
    price: { type: "number", "x-mcp-header": "Price" },
    bad: { type: "string", "x-mcp-header": "no spaces" },
    plain: { type: "string" },
  },
};

test("endless lists are forgotten beyond a limit, and tools without headers take no memory", () => {
  const headers = new ParamHeaders();
  const args = { region: "eu" };
  headers.learn(Array.from({ length: 20_000 }, (_, nth) => ({ name: `plain ${nth}` })));
  headers.learn(Array.from({ length: 20_000 }, (_, nth) => ({ name: `${nth}`, inputSchema })));
  expect(headers.of("9999", args)).toEqual({ "Mcp-Param-Region": "eu" });
  expect(headers.of("10000", args)).toEqual({});
  headers.learn([{ name: "9999" }]);
  expect(headers.of("9999", args)).toEqual({});
});

test("arguments that are present and fit in a header are sent as headers [C62]", () => {
  const headers = new ParamHeaders();
  headers.learn([{ name: "t", inputSchema }, { name: 5 }, null]);
  const args = { region: "eu", size: 3, deep: { on: false }, price: 1.5, bad: "x", plain: "y" };
  expect(headers.of("t", args)).toEqual({
    "Mcp-Param-Region": "eu",
    "Mcp-Param-Size": "3",
    "Mcp-Param-On": "false",
  });
  expect(headers.of("t", { region: null })).toEqual({});
  expect(headers.of("t", { region: " é" })).toEqual({ "Mcp-Param-Region": "=?base64?IMOp?=" });
  expect(headers.of("t", { region: "=?base64?x?=" })["Mcp-Param-Region"]).toMatch(/^=\?base64\?PT/);
  expect(headers.of("unknown", args)).toEqual({});
});

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

test("if a call is refused for a missing header, the client reads the list of tools once [C63]", async () => {
  const server = await hostile(({ method }, response) => {
    if (method === "tools/list") {
      return {
        resultType: "complete",
        tools: [{ name: "t", inputSchema }],
        ttlMs: 0,
        cacheScope: "private",
      };
    }
    const header = response.req.headers["mcp-param-region"];
    if (header === undefined) return { code: -32_020, message: "Mcp-Param-Region is missing" };
    return { content: [{ type: "text", text: String(header) }] };
  });
  open.push(server.close);
  const connection = await connect(server.url);
  open.push(() => connection.close());
  expect((await connection.call("t", { region: "eu" })).text).toBe("eu");
  expect((await connection.call("t", { region: "us" })).text).toBe("us");
  const methods = server.heard.map(({ method }) => method);
  expect(methods).toEqual(["tools/call", "tools/list", "tools/call", "tools/call"]);
});
