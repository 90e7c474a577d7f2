// A `ctx.waitFor` that is answered on the server's own page, and what `notify` gets.

import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions, WaitOptions } from "mcp-parley";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { callTool, exchange, envelope } from "./post.ts";

const opened: App[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

const links: string[] = [];
const Quote = z.object({ price: z.int().min(1), note: z.string().optional() });
const Tree = z.object({ parts: z.array(z.object({ name: z.string() })) });

async function make(options: Partial<ParleyOptions> = {}, wait: Partial<WaitOptions> = {}) {
  links.length = 0;
  const settings = { store: memoryStore(), keys, logger: quiet, url: "https://desk.example.com" };
  const app = parley({ name: "desk", version: "1.0.0", ...settings, ...options } as ParleyOptions);
  opened.push(app);
  app.tool("quote", { task: "optional" }, async (ctx) => {
    const notify: WaitOptions["notify"] = ({ url }) => links.push(url);
    const about = { Amount: "$500", By: "ada", Urgent: true };
    const { price } = await ctx.waitFor("the-quote", Quote, { about, notify, ...wait });
    return `It costs ${price}.`;
  });
  app.tool("tree", { task: "optional" }, async (ctx) => {
    const { parts } = await ctx.waitFor("tree", Tree, { notify: ({ url }) => links.push(url) });
    return parts.map(({ name }) => name).join(" ");
  });
  app.tool("form", { task: "optional" }, async (ctx) => {
    await ctx.background();
    return (await ctx.confirm("sure", "Go on?")) ? "went on" : "stopped";
  });
  await app.work();
  return app;
}

const capabilities = {
  elicitation: { url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

async function start(app: App, tool: string): Promise<string> {
  const { result } = await callTool(app, tool, {}, { capabilities });
  expect(result).toMatchObject({ resultType: "task" });
  return String(result?.["taskId"]);
}

async function task(app: App, id: string): Promise<Record<string, unknown>> {
  const { result } = await exchange(app, envelope("tasks/get", { taskId: id }, { capabilities }));
  return result ?? {};
}

/** Waits until the task has these members. */
async function becomes(app: App, id: string, members: object): Promise<void> {
  await expect.poll(() => task(app, id)).toMatchObject(members);
}

async function link(): Promise<string> {
  await expect.poll(() => links.length).toBe(1);
  return links[0] ?? "";
}

const html = async (app: App, url: string) => (await app.pages(new Request(url))).text();
const origin = "https://desk.example.com";
const send = (app: App, url: string, fields: Record<string, string>) =>
  app.pages(
    new Request(url, {
      method: "POST",
      body: new URLSearchParams({ action: "accept", ...fields }),
      headers: { origin },
    }),
  );

describe("the page of a waitFor", () => {
  test("shows what the author says about it, and its form answers", async () => {
    const app = await make();
    const id = await start(app, "quote");
    const url = await link();
    await expect.poll(() => html(app, url)).toContain("$500");
    const text = await html(app, url);
    for (const shown of ["The quote", "Amount", "By", "ada", "Urgent", "Yes", 'name="f.price"']) {
      expect(text).toContain(shown);
    }
    expect(text).not.toContain("Decline");
    expect((await send(app, url, { "f.price": "0" })).status).toBe(422);
    expect((await send(app, url, { "f.price": "7" })).status).toBe(303);
    await becomes(app, id, { result: { content: [{ text: "It costs 7." }] } });
    expect(await html(app, `${url}?saved`)).toContain("You can close this page.");
    expect((await send(app, url, { "f.price": "8" })).status).toBe(410);
  });

  test("has a field for JSON if no form can show the value", async () => {
    const app = await make();
    const id = await start(app, "tree");
    const url = await link();
    await expect.poll(() => html(app, url)).toContain("as JSON");
    expect(await (await send(app, url, { json: "{" })).text()).toContain("This is not valid JSON.");
    expect((await send(app, url, { json: '{"parts":[{"name":3}]}' })).status).toBe(422);
    expect((await send(app, url, { json: '{"parts":[{"name":"leaf"}]}' })).status).toBe(303);
    await becomes(app, id, { result: { content: [{ text: "leaf" }] } });
  });
});

test("in a task, a question goes by the page too, and the client's word does not answer it", async () => {
  const app = await make();
  const id = await start(app, "form");
  await becomes(app, id, { status: "input_required" });
  const { inputRequests } = await task(app, id);
  const { sure } = inputRequests as { sure: { params: { mode: string; url: string } } };
  expect(sure.params.mode).toBe("url");
  const inputResponses = { sure: { action: "accept", content: {} } };
  await exchange(app, envelope("tasks/update", { taskId: id, inputResponses }, { capabilities }));
  expect(await task(app, id)).toMatchObject({ status: "input_required" });
  expect(await html(app, sure.params.url)).toContain("Go on?");
  expect((await send(app, sure.params.url, {})).status).toBe(303);
  await becomes(app, id, { result: { content: [{ text: "went on" }] } });
});

describe("mistakes", () => {
  test.each([
    [
      "url without a public address",
      { url: undefined },
      { notify: ({ url }) => void links.push(url) },
      'notify of "the-quote" uses url, but the app has no public address. Pass parley({ url: "https://…" }), or build a link from ticket.',
    ],
    [
      "a notice as text",
      {},
      // oxlint-disable-next-line typescript/no-base-to-string -- the mistake
      { notify: (notice) => void links.push(`https://example.com/${String(notice)}`) },
      'notify of "the-quote" gets an object. Write ({ url }) => … or ({ ticket }) => ….',
    ],
    [
      "an about that is too large",
      {},
      { about: { Text: "x".repeat(5_109) } },
      '"about" of "the-quote" is 5120 bytes; at most 4096 are kept.',
    ],
  ] as readonly [string, Partial<ParleyOptions>, Partial<WaitOptions>, string][])(
    "%s",
    async (_, options, wait, message) => {
      const logged: string[] = [];
      const log = (text: string) => void logged.push(text);
      const logger = { debug: log, info: log, warn: log, error: log };
      const app = await make({ ...options, logger }, wait);
      await callTool(app, "quote", {}, { capabilities });
      await expect.poll(() => logged.join("\n")).toContain(message);
    },
  );
});
