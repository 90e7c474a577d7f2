// What a failing handler tells its client in production, and what it tells the log.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions, Tool } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { registeredAs } from "../../src/server/define/handles.ts";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { keys } from "../interop/errands.ts";
import { callTool, envelope, exchange, messagesIn, textIn } from "./post.ts";
import { begun, textOf, until } from "./task-calls.ts";
import { keepingLogger } from "./till.ts";

const secret = "hunter2";
const nobodys: Readonly<Record<string, () => unknown>> = {
  TypeError: () => {
    throw new TypeError(`Cannot read properties of ${secret}`);
  },
  SyntaxError: () => JSON.parse(`{${secret}`),
  "a system error": () => readFileSync(`/no/such/${secret}`),
  "a failed assertion": () => assert.equal(secret, ""),
  "several at once": () => {
    throw new AggregateError([new Error("one"), new RangeError(secret)], secret);
  },
};
class CardDeclined extends TypeError {}
const authors: Readonly<Record<string, () => unknown>> = {
  Error: () => {
    throw new Error("Out of paper");
  },
  "a class of the author": () => {
    throw new CardDeclined("Out of paper");
  },
  "a text": () => {
    throw "Out of paper";
  },
};
const ways = { ...nobodys, ...authors };

function failing(isDevelopment = false, options: Partial<ParleyOptions> = {}) {
  const { logger, logged } = keepingLogger();
  const app = parley({
    name: "failing",
    version: "1.0.0",
    keys,
    logger,
    store: memoryStore(),
    ...options,
  } as ParleyOptions);
  onTestFinished(() => app.close());
  let way = "TypeError";
  const fail = () => void ways[way]?.();
  const tool = app.tool("plain", {}, () => {
    fail();
    return "";
  });
  app.tool("stepped", {}, async (ctx) => {
    await ctx.step("body", fail);
    return "";
  });
  app.tool("tasked", { task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.step("body", fail);
    return "";
  });
  app.tool("careful", {}, async (ctx) => {
    await ctx.step("body", fail).catch(() => {});
    return "caught";
  });
  app.prompt("said", {}, () => {
    fail();
    return "";
  });
  app.resource("file", "test://file", {}, () => {
    fail();
    return "";
  });
  app.resource(
    "files",
    "test://files/{id}",
    {
      list: () => {
        fail();
        return [];
      },
    },
    () => "",
  );
  inEnvironment(tool, isDevelopment);
  return { app, logged, failsBy: (name: string) => void (way = name) };
}

/** The apps use the environment of the process, except one that is given its own. */
function inEnvironment(tool: Tool, isDevelopment: boolean): void {
  Object.assign(registeredAs(tool).core, { environment: { ...nodeEnvironment, isDevelopment } });
}

async function legacyText(app: App, name: string): Promise<string> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  };
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: {} },
  };
  const body = JSON.stringify(message);
  const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers, body });
  const text = await (await app.fetch(request)).text();
  const [answer] = text.startsWith("{") ? messagesIn(`data: ${text}`) : messagesIn(text);
  return JSON.stringify(answer?.result ?? answer?.error);
}

const hidden = /"(\w+)\\?" failed\. The server's log has the details for call ([\da-f]{32})\./;

describe.each(Object.keys(nobodys))(
  "in production, %s that the author did not write for the client",
  (way) => {
    test("reaches the client only as an id, which the log has with the error", async () => {
      const { app, logged, failsBy } = failing();
      failsBy(way);
      const heard = {
        plain: textIn(await callTool(app, "plain")),
        stepped: textIn(await callTool(app, "stepped")),
        legacy: await legacyText(app, "plain"),
        prompt: textIn(await exchange(app, envelope("prompts/get", { name: "said" }))),
        resource: textIn(await exchange(app, envelope("resources/read", { uri: "test://file" }))),
        list: textIn(await exchange(app, envelope("resources/list"))),
      };
      for (const [from, text] of Object.entries(heard)) {
        expect(`${from}: ${text}`).not.toContain(secret);
        const [, handler, call] = hidden.exec(text) ?? [];
        expect(`${text} ${call}`).not.toContain("undefined");
        const lines = logged.filter(({ fields }) => fields?.["call"] === call);
        expect(lines.at(-1)).toMatchObject({ level: "error", fields: { handler } });
        expect(lines.at(-1)?.message).toContain(`"${handler}" failed`);
        // One line has the stack, and it is the stack of what was thrown first.
        const stacks = lines.flatMap(({ fields }) => fields?.["stack"] ?? []);
        expect([from, stacks.length]).toEqual([from, 1]);
        expect(stacks[0]).toContain("failures.test.ts");
      }
    });
  },
);

test("in production, a task that fails with an unintended error shows only the id of its call", async () => {
  const { app, logged } = failing();
  await app.work();
  const task = await begun(app, "tasked");
  const ended = await until(app, task, "completed");
  expect(JSON.stringify(ended)).not.toContain(secret);
  const [, handler, call] = hidden.exec(textOf(ended)) ?? [];
  expect(handler).toBe("tasked");
  const about = { handler, call, task: `${task.slice(0, 6)}…` };
  const lines = logged.filter(({ fields }) => fields?.["call"] === call);
  expect(lines).toMatchObject([
    { level: "warn", fields: { ...about, step: "body" } },
    { level: "error", fields: about },
  ]);
});

test.each(Object.keys(authors))(
  "in production, %s that the author throws is sent unchanged",
  async (way) => {
    const { app, failsBy } = failing();
    failsBy(way);
    expect(textIn(await callTool(app, "plain"))).toBe("Out of paper");
    expect(textIn(await callTool(app, "stepped"))).toBe("Out of paper");
  },
);

test("in development, everything is sent", async () => {
  const { app } = failing(true);
  expect(textIn(await callTool(app, "plain"))).toContain(secret);
  expect(textIn(await callTool(app, "stepped"))).toContain(secret);
  expect(await legacyText(app, "plain")).toContain(secret);
});

test("a failed step that the handler catches is logged once, with the stack of its body", async () => {
  const { app, logged } = failing();
  expect(textIn(await callTool(app, "careful"))).toBe("caught");
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatchObject({
    level: "warn",
    message: `Step "body" of "careful" failed: Cannot read properties of ${secret}`,
    fields: { handler: "careful", step: "body", call: expect.stringMatching(/^[\da-f]{32}$/) },
  });
  const stack = String(logged[0]?.fields?.["stack"]);
  expect(stack).toContain("TypeError");
  expect(stack).toContain("failures.test.ts");
});
