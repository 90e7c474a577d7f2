// What a handler learns about its client, and that it stays the same for the whole call: `ctx.era` and `ctx.can`.

import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { play } from "mcp-parley/testing";
import { drafts } from "mcp-parley/drafts";
import { expect, onTestFinished, test } from "vitest";
import { registeredAs } from "../../src/server/define/handles.ts";
import { serveRound } from "../../src/server/round/round.ts";
import { unpackState } from "../../src/server/round/state.ts";
import { keys } from "../interop/errands.ts";
import { accept, callTool, messagesIn, textIn, tokenIn } from "./post.ts";
import { begun, extension, stays, textOf, until } from "./task-calls.ts";

const ext = "io.example/ext";
const rich = { ...stays, extensions: { [extension]: {}, [ext]: { depth: 1 } } };

function knowing() {
  const app = parley({
    name: "knowing",
    version: "1.0.0",
    keys,
    store: memoryStore(),
    drafts: drafts(),
  });
  onTestFinished(() => app.close());
  const asks = app.tool("asks", {}, async (ctx) => {
    await ctx.ask("name", "Name?");
    return `${ctx.era} ${ctx.can(ext)} ${ctx.can("io.example/other")}`;
  });
  app.tool("says", {}, (ctx) => `${ctx.era} ${ctx.can(ext)}`);
  app.tool("works", { task: "required" }, async (ctx) => {
    await ctx.background();
    return `${ctx.era} ${ctx.can(ext)} ${ctx.can(extension)}`;
  });
  app.tool("picky", { requires: [ext, "task", "form"] }, () => "served");
  const misspelt = app.tool("misspelt", {}, (ctx) => String(ctx.can("forms" as "form")));
  return { app, asks, misspelt };
}

async function legacy(app: App, method: string, params: object): Promise<string> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers, body });
  const text = await (await app.fetch(request)).text();
  const [answer] = text.startsWith("{") ? messagesIn(`data: ${text}`) : messagesIn(text);
  return JSON.stringify(answer?.result ?? answer?.error);
}

test("a later round sees the protocol version and the extensions of the first request", async () => {
  const { app, asks } = knowing();
  const first = await callTool(app, "asks", {}, { capabilities: rich });
  const leg = {
    requestState: tokenIn(first),
    inputResponses: { name: accept({ name: "Ada", value: "Ada" }) },
    capabilities: stays,
  };
  const second = await callTool(app, "asks", {}, leg);
  expect(textIn(second)).toBe("2026-07-28 true false");

  const { core, definition } = registeredAs(asks);
  const request = {
    target: "asks",
    arguments: {},
    capabilities: rich,
    principal: undefined,
    facts: { meta: {} },
  };
  const asked = await serveRound(core, definition, { ...request, era: "2026-06-XX" });
  if (asked.kind !== "input_required") throw new Error(`It is ${asked.kind}`);
  const { requestState } = asked.result;
  const ended = await serveRound(core, definition, {
    ...request,
    requestState,
    inputResponses: leg.inputResponses,
  });
  expect(JSON.stringify(ended)).toContain("2026-06-XX true false");
});

test("a task sees them too, and a client of 2025-11-25 has its own version", async () => {
  const { app } = knowing();
  await app.work();
  const task = await begun(app, "works", {}, { capabilities: rich });
  expect(textOf(await until(app, task, "completed"))).toBe("2026-07-28 true true");
  expect(await legacy(app, "tools/call", { name: "says", arguments: {} })).toContain(
    "2025-11-25 false",
  );
});

test("a token of version 0.1.0, which does not say it, counts as 2026-07-28", () => {
  expect(unpackState({ e: [], o: [], a: ["form"] }).era).toBe("2026-07-28");
});

test("requires takes the ids of extensions, and names all that are missing", async () => {
  const { app } = knowing();
  expect(textIn(await callTool(app, "picky", {}, { capabilities: rich }))).toBe("served");
  const { error } = await callTool(app, "picky", {}, { capabilities: {} });
  expect(error).toEqual({
    code: -32021,
    message:
      'Tool "picky" needs a client that supports the extension io.example/ext and tasks and forms, and this one does not. Nothing has run.',
    data: {
      requiredCapabilities: {
        elicitation: { form: {} },
        extensions: { [ext]: {}, [extension]: {} },
      },
    },
  });
});

test("an unknown word is a mistake, not a no", async () => {
  const { misspelt } = knowing();
  await expect(play(misspelt, {}, {})).rejects.toMatchObject({
    code: "bad_option",
    message:
      'ctx.can("forms"): unknown word. Use form, url, sampling, roots, task, ask, stream, or the id of an extension, such as io.example/ext.',
  });
});

test("a client cannot make a token large with extensions", async () => {
  const { app } = knowing();
  const many = Array.from({ length: 5_000 }, (_, n) => [`io.example/e${n}`, {}] as const);
  const capabilities = { ...stays, extensions: Object.fromEntries(many) };
  const asked = await callTool(app, "asks", {}, { capabilities });
  expect(tokenIn(asked).length).toBeLessThan(4_096);
});

test("the test kit plays a client of another protocol version and with extensions", async () => {
  const { asks } = knowing();
  const client = { can: ["form", ext] as const, era: "2025-11-25" as const };
  const { text } = await play(asks, {}, { name: "Ada" }, { client });
  expect(text).toBe("2025-11-25 true false");
});
