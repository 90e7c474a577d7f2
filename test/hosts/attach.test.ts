// app.attach: an app on a server that already has tools of its own.

import { createMcpHandler, InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { connectV2, legacy, modern } from "../interop/clients.ts";
import { keys, quiet } from "../interop/errands.ts";
import { People } from "../interop/people.ts";
import { oven } from "../wire/oven.ts";
import { callTool, textIn, tokenIn } from "../wire/post.ts";
import { begun, listen, until } from "../wire/task-calls.ts";
import { desk } from "./desk.ts";

/** A server with a tool, a prompt and a resource of its own. */
function own(): McpServer {
  const server = new McpServer({ name: "own", version: "1.0.0" });
  server.registerTool("add", { inputSchema: z.object({ a: z.int(), b: z.int() }) }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  server.registerTool("fails", {}, () => {
    throw new Error("out of paper");
  });
  return server;
}

/** Served as an author would: with a new server for each request. */
function attached() {
  const { app, stamped } = desk();
  const handler = createMcpHandler(() => app.attach(own()));
  return { stamped, to: (request: Request) => handler.fetch(request) };
}

describe("over HTTP", () => {
  test("the server's own tools and the app's tools both work", async () => {
    const { to, stamped } = attached();
    const people = new People();
    const fetch = (url: string | URL, init?: RequestInit) => to(new Request(url, init));
    const place = { url: "http://own.example/mcp", fetch: fetch as typeof globalThis.fetch };
    const client = await connectV2(place, people, modern);
    expect(await client.toolNames()).toEqual(["add", "fails", "stamp", "whoami"]);
    expect(await client.tool("add", { a: 2, b: 3 })).toMatchObject({ text: "5" });
    expect(await client.tool("stamp", { page: "one" })).toMatchObject({
      text: "one stamped for Ada",
    });
    expect(stamped()).toBe(1);
    await client.close();
  });

  test("errors of its own tools stay results, and those of the app are proper errors", async () => {
    const { to } = attached();
    expect((await callTool(to, "fails")).result).toMatchObject({
      isError: true,
      content: [{ text: "out of paper" }],
    });
    const asked = await callTool(to, "stamp", { page: "one" });
    const leg = { requestState: tokenIn(asked) };
    expect((await callTool(to, "stamp", { page: "two" }, leg)).error).toMatchObject({
      code: -32602,
      data: { reason: "invalid_request_state" },
    });
    const unable = await callTool(to, "stamp", { page: "one" }, { capabilities: {} });
    expect([unable.status, unable.error?.code]).toEqual([400, -32021]);
  });

  test("a token of the app is valid on any server that it is attached to, and on the app itself", async () => {
    const asked = await callTool(attached().to, "stamp", { page: "one" });
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
    };
    expect(textIn(await callTool(attached().to, "stamp", { page: "one" }, leg))).toBe(
      "one stamped for Ada",
    );
    expect(textIn(await callTool(desk().app, "stamp", { page: "one" }, leg))).toBe(
      "one stamped for Ada",
    );
  });
});

test("a 2025-11-25 client is asked over a connection that the author opens", async () => {
  const { app, stamped } = desk();
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = app.attach(own());
  await server.connect(far);
  const client = await connectV2({ transport: near }, new People(), legacy);
  expect(await client.tool("add", { a: 2, b: 3 })).toMatchObject({ text: "5" });
  expect(await client.tool("stamp", { page: "one" })).toMatchObject({
    text: "one stamped for Ada",
  });
  expect(stamped()).toBe(1);
  await client.close();
});

test("attach is refused after connect", async () => {
  const [, far] = InMemoryTransport.createLinkedPair();
  const server = own();
  await server.connect(far);
  expect(() => desk().app.attach(server)).toThrow("Call app.attach before the server connects.");
  await server.close();
});

test("attach returns the server, and refuses a name that is taken", () => {
  const server = own();
  const app = parley({ name: "second", version: "1.0.0" });
  app.tool("add", {}, () => "mine");
  expect(() => app.attach(server)).toThrow(/add.*already registered/);
  const another = own();
  expect(desk().app.attach(another)).toBe(another);
});

test("an empty app adds nothing to what the server offers", async () => {
  const capabilities = async (server: McpServer) => {
    const [one, other] = InMemoryTransport.createLinkedPair();
    const heard = new Promise((resolve) => {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
      one.onmessage = resolve;
    });
    await Promise.all([one.start(), server.connect(other)]);
    const clientInfo = { name: "by hand", version: "1.0.0" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    await one.send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const { result } = (await heard) as { result: { capabilities: object } };
    await server.close();
    return result.capabilities;
  };
  const empty = parley({ name: "empty", version: "1.0.0", keys, logger: quiet });
  expect(await capabilities(empty.attach(own()))).toEqual(await capabilities(own()));
  expect(await capabilities(desk().app.attach(own()))).toHaveProperty("logging");
});

test("a subscription to a task of the app is acknowledged without the task, because only the SDK serves it", async () => {
  const { app } = oven();
  await app.work();
  onTestFinished(() => app.close());
  const handler = createMcpHandler(() => app.attach(own()));
  const to = (request: Request) => handler.fetch(request);
  const task = await begun(to, "weigh");
  expect((await until(to, task, "completed")).status).toBe("completed");
  const heard = await (await listen(to, { taskIds: [task] })).rest();
  expect(heard.map(({ method }) => method)).toEqual([
    "notifications/subscriptions/acknowledged",
    undefined,
  ]);
  expect(heard[0]?.params["notifications"]).toEqual({});
});
