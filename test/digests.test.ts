// How often the server computes the digest of a call's arguments: once if something needs it, and otherwise never.

import type * as Crypto from "node:crypto";
import { fromJsonSchema } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { keys, quiet } from "./interop/errands.ts";
import { accept, callTool, textIn, tokenIn } from "./wire/post.ts";

const digested = vi.hoisted((): string[] => []);

vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof Crypto>();
  const hash = (...args: Parameters<typeof crypto.hash>) => {
    if (typeof args[1] === "string") digested.push(args[1]);
    return crypto.hash(...args);
  };
  const mocked = { ...crypto, hash };
  return { ...mocked, default: mocked };
});

const nested = { list: [{ deep: "needle" }], ["__proto__x"]: { a: 1 } };

function served() {
  const app = parley({ name: "desk", version: "1.0.0", keys, logger: quiet });
  const inputSchema = fromJsonSchema<{ list: { deep: string }[] }>({ type: "object" });
  app.tool("plain", { inputSchema }, ({ list }) => String(list.length));
  app.tool("asks", { inputSchema }, async ({ list }, ctx) => {
    // A handler may write to its arguments. The call is still identified by what was sent.
    const [first] = list.splice(0);
    return `${await ctx.confirm("sure", "Sure?")} ${first?.deep}`;
  });
  onTestFinished(() => app.close());
  digested.length = 0;
  return app;
}

const ofArguments = () => digested.filter((text) => text.includes("needle"));

test("the arguments of a tool that asks nothing are not digested, however nested they are", async () => {
  const app = served();
  expect(textIn(await callTool(app, "plain", nested))).toBe("1");
  expect(ofArguments()).toEqual([]);
});

test("the arguments of a tool that asks are digested once in each round", async () => {
  const app = served();
  const requestState = tokenIn(await callTool(app, "asks", nested));
  expect(ofArguments()).toHaveLength(1);
  const inputResponses = { sure: accept({ sure: true }) };
  await callTool(app, "asks", nested, { requestState, inputResponses });
  expect(ofArguments()).toHaveLength(2);
  expect(ofArguments()[1]).toBe(ofArguments()[0]);
});
