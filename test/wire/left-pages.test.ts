// Pages of questions that their call no longer waits for, and pages that are answered while the call becomes a task.

import { parley } from "mcp-parley";
import type { App, CommonOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { own } from "../../src/util/objects.ts";
import { keys, quiet } from "../interop/errands.ts";
import { chat, goesOn, handleIn, questionsIn } from "./model.ts";
import { callTool, textIn, tokenIn } from "./post.ts";
import type { Answer } from "./post.ts";
import { testStore } from "./test-store.ts";

const origin = "https://desk.example";

async function desk(options: CommonOptions = {}) {
  const store = testStore();
  const app = parley({
    name: "desk",
    version: "1.0.0",
    keys,
    logger: quiet,
    store,
    url: origin,
    relay: true,
    ...options,
  });
  await app.work();
  onTestFinished(() => app.close());
  app.tool("either", {}, async (ctx) => {
    const secret = ctx.ask("secret", "Your key?", undefined, { sensitive: true });
    const name = ctx.ask("name", "Or your name?", undefined, { relay: true });
    const first = await Promise.race([secret, name]);
    if (first === "nobody") throw new Error("Nobody is not a name.");
    return `It was ${first}`;
  });
  app.tool("later", { task: "optional" }, async (ctx) => {
    const secret = ctx.ask("secret", "Your key?", undefined, { sensitive: true });
    const name = async () => {
      const given = await ctx.ask("name", "And your name?", undefined, { relay: true });
      await ctx.background();
      return given;
    };
    return (await Promise.all([name(), secret])).join(" ");
  });
  return { app, store };
}

const get = async (app: App, url: string) => (await app.pages(new Request(url))).status;
function send(app: App, url: string, key = "k3y"): Promise<Response> {
  const body = new URLSearchParams({ action: "accept", "f.secret": key });
  return app.pages(new Request(url, { method: "POST", body, headers: { origin } }));
}

/** A call of a client that can be asked nothing, and the page of its secret. */
async function paused(app: App, tool: string) {
  const first = await callTool(app, tool, {}, chat);
  const { url = "" } = questionsIn(first)["secret"] ?? {};
  expect(await get(app, url)).toBe(200);
  return { call: handleIn(first), url };
}

describe("a page is too late", () => {
  const isTooLate = async (app: App, url: string) => {
    expect([await get(app, url), (await send(app, url)).status]).toEqual([410, 410]);
    expect(await app.deliver(url.split("/").at(-1) ?? "", { secret: "x" })).toEqual({
      status: "gone",
    });
  };

  test("if the call has ended without its answer", async () => {
    const { app } = await desk();
    const { call, url } = await paused(app, "either");
    expect(textIn(await goesOn(app, { call, answers: { name: "Ada" } }))).toBe("It was Ada");
    await isTooLate(app, url);
  });

  test("if the call has failed", async () => {
    const { app } = await desk();
    const { call, url } = await paused(app, "either");
    await goesOn(app, { call, answers: { name: "nobody" } });
    await isTooLate(app, url);
  });

  test("if the call was cancelled", async () => {
    const { app } = await desk();
    const { call, url } = await paused(app, "either");
    await goesOn(app, { call, cancel: true });
    await isTooLate(app, url);
  });

  test("and a round that is sent again asks under a new link", async () => {
    const { app } = await desk();
    const able = { capabilities: { elicitation: { form: {}, url: {} } } };
    const pageIn = ({ result }: Answer) =>
      String(own(own(own(own(result, "inputRequests"), "secret"), "params"), "url"));
    const asked = await callTool(app, "either", {}, able);
    const requestState = tokenIn(asked);
    const name = { name: { action: "accept", content: { name: "nobody" } } };
    await callTool(app, "either", {}, { ...able, requestState, inputResponses: name });
    await isTooLate(app, pageIn(asked));
    const again = await callTool(app, "either", {}, { ...able, requestState, inputResponses: {} });
    expect((await send(app, pageIn(again))).status).toBe(303);
    const sent = { ...able, requestState: tokenIn(again), inputResponses: {} };
    expect(textIn(await callTool(app, "either", {}, sent))).toBe("It was k3y");
  });

  test("but an answer that came in time is still said to be saved", async () => {
    const { app } = await desk();
    const { call, url } = await paused(app, "either");
    expect((await send(app, url)).status).toBe(303);
    await goesOn(app, { call });
    await goesOn(app, { call, cancel: true });
    expect(await (await app.pages(new Request(`${url}?saved`))).text()).toContain("Saved");
  });
});

describe("an answer on a page counts, although its call becomes a task at that moment", () => {
  const ends = async (app: App, call: string) => {
    await expect.poll(async () => textIn(await goesOn(app, { call }))).toBe("Ada k3y");
  };

  test("if it is sent before, and the call has looked already", async () => {
    const { app, store } = await desk();
    const { call, url } = await paused(app, "later");
    const { create } = store;
    vi.spyOn(store, "create").mockImplementationOnce(async (...made) => {
      expect((await send(app, url)).status).toBe(303);
      return create(...made);
    });
    await goesOn(app, { call, answers: { name: "Ada" } });
    await ends(app, call);
  });

  test("if it is sent after, from a page that was shown before", async () => {
    const { app, store } = await desk({ limits: { inlineMs: 1 } });
    const { call, url } = await paused(app, "later");
    const { fill } = store;
    vi.spyOn(store, "fill").mockImplementationOnce(async (...sent) => {
      await goesOn(app, { call, answers: { name: "Ada" } });
      return fill(...sent);
    });
    expect((await send(app, url)).status).toBe(303);
    await ends(app, call);
  });

  test("and the link of the round leads to the question of the task", async () => {
    const { app } = await desk({ limits: { inlineMs: 1 } });
    const { call, url } = await paused(app, "later");
    await goesOn(app, { call, answers: { name: "Ada" } });
    await expect.poll(async () => (await send(app, url)).status).toBe(303);
    await ends(app, call);
  });
});
