// What the audit in the store says about calls over the wire: who answered and how, and what was cancelled.

import { parley } from "mcp-parley";
import type { App, AuditOptions, Store } from "mcp-parley";
import type { TaskStore } from "mcp-parley/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { openChain } from "../../src/server/audit/open-chain.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { accept, callTool, tokenIn } from "./post.ts";
import { ask, begun, until } from "./task-calls.ts";
import { testStore } from "./test-store.ts";

const url = "https://desk.example";

async function desk(store: Store, audit: AuditOptions = {}) {
  const links: string[] = [];
  const app = parley({
    name: "desk",
    version: "1.0.0",
    keys,
    logger: quiet,
    store,
    url,
    audit,
    pages: { authorize: (request) => ({ principal: request.headers.get("x-user") ?? "" }) },
  });
  app.tool("quote", { task: "required" }, async (ctx) => {
    const { price } = await ctx.waitFor("price", z.object({ price: z.int() }), {
      about: { Item: "desk" },
      notify: (notice) => links.push(notice.url, notice.ticket),
    });
    return `It costs ${price}.`;
  });
  app.tool("sign_in", { task: "optional" }, async (ctx) => {
    await ctx.ask("secret", "Your key?", undefined, { sensitive: true });
    return "signed in";
  });
  app.tool("sure", { task: "required" }, async (ctx) => {
    await ctx.background();
    return (await ctx.confirm("sure", "Go on?")) ? "went on" : "stopped";
  });
  await app.work();
  onTestFinished(() => app.close());
  return { app, links };
}

const keyring = parseKeys(keys);

/** Every chain of the store, opened. */
async function chains({ audit }: TaskStore) {
  const entries = (await audit?.readAfter(undefined, 1_000)) ?? [];
  const names = [...new Set(entries.map(({ chain }) => chain))];
  return Promise.all(
    names.map(async (name) => openChain((await audit?.readChain(name)) ?? [], keyring)),
  );
}

async function lines(store: TaskStore): Promise<string[]> {
  return (await chains(store)).flatMap(({ records, problems }) => [
    ...records.map(({ action, key, via, who }) => [action, key, via, who].join(" ").trim()),
    ...problems,
  ]);
}

const send = (app: App, page: string, fields: Record<string, string>, user: string) =>
  app.pages(
    new Request(page, {
      method: "POST",
      body: new URLSearchParams({ action: "accept", ...fields }),
      headers: { origin: url, "x-user": user },
    }),
  );

test("an answer in a round is recorded, even if nothing else has used the store before", async () => {
  const store = testStore();
  const migrated = vi.spyOn(store, "migrate");
  const written = vi.spyOn(store.audit!, "append");
  const app = parley({ name: "till", version: "1.0.0", keys, logger: quiet, store });
  onTestFinished(() => app.close());
  app.tool("pay", {}, (ctx) => ctx.ask("sum", "How much?"));
  const requestState = tokenIn(await callTool(app, "pay"));
  const inputResponses = { sum: accept({ sum: "3" }) };
  await callTool(app, "pay", {}, { requestState, inputResponses });
  expect(await lines(store)).toEqual(["asked sum form", "answered sum form"]);
  const [first = 0] = migrated.mock.invocationCallOrder;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(written.mock.invocationCallOrder[0] ?? 0);
});

test("a visitor of a page is recorded by name, with what the page showed", async () => {
  const store = testStore();
  const { app, links } = await desk(store, { values: true });
  const id = await begun(app, "quote");
  await vi.waitFor(() => expect(links).toHaveLength(2), patience);
  await vi.waitFor(async () => {
    expect((await send(app, links[0] ?? "", { "f.price": "20" }, "bo")).status).toBe(303);
  }, patience);
  await until(app, id, "completed");
  expect(await lines(store)).toEqual(["asked price", "answered price link bo"]);
  const [chain] = await chains(store);
  expect(chain).toMatchObject({
    isEnded: true,
    records: [
      { message: "Price", about: { Item: "desk" }, taskId: id, tool: "quote" },
      { message: "Price", value: { price: 20 } },
    ],
  });
});

test("what app.deliver brings is recorded as a delivery", async () => {
  const store = testStore();
  const { app, links } = await desk(store);
  const id = await begun(app, "quote");
  await vi.waitFor(() => expect(links).toHaveLength(2), patience);
  await app.deliver(links[1] ?? "", { price: 20 });
  await until(app, id, "completed");
  expect((await lines(store)).at(-1)).toBe("answered price delivery");
});

test("the answer to a sensitive question is never recorded", async () => {
  const store = testStore();
  const { app } = await desk(store, { values: true });
  const capabilities = { elicitation: { url: {} } };
  const { result } = await callTool(app, "sign_in", {}, { capabilities });
  const { inputRequests, requestState } = result as {
    inputRequests: { secret: { params: { url: string } } };
    requestState: string;
  };
  const page = inputRequests.secret.params.url;
  const inputResponses = { secret: { action: "accept" } };
  // Nobody is signed in, so the caller of the tool and the visitor are both unknown.
  const door = parley({ name: "desk", version: "1.0.0", keys, logger: quiet, store, url });
  expect((await send(door, page, { "f.secret": "tr0ub4dor" }, "")).status).toBe(303);
  await callTool(app, "sign_in", {}, { capabilities, requestState, inputResponses });
  expect(await lines(store)).toEqual(["asked secret url", "answered secret url"]);
  expect(JSON.stringify(await chains(store))).not.toContain("tr0ub4dor");
});

test("a task that its client cancels is recorded as cancelled, and its record has an end", async () => {
  const store = testStore();
  const { app } = await desk(store);
  const id = await begun(app, "sure");
  await until(app, id, "input_required");
  await ask(app, "tasks/cancel", id);
  await ask(app, "tasks/cancel", id);
  expect(await lines(store)).toEqual(["asked sure form", "call_cancelled"]);
  expect(await chains(store)).toMatchObject([{ isEnded: true }]);
});
