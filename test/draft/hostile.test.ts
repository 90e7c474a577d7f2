// Peers of the draft that misbehave.

import { InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ParleyOptions } from "mcp-parley";
import { drafts } from "mcp-parley/drafts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { DraftTransport } from "../../src/draft/stdio.ts";
import type { DraftTasks } from "../../src/protocol/draft-plug-in.ts";
import { registeredAs } from "../../src/server/define/handles.ts";
import { oven } from "../wire/oven.ts";
import type { Oven } from "../wire/oven.ts";
import { accept } from "../wire/post.ts";
import { till } from "../wire/till.ts";
import {
  answerIn,
  draftOverHttp,
  draftVersion,
  everything,
  postDraft,
  respond,
  said,
  taskIn,
  untilTask,
} from "./peer.ts";
import type { Answer } from "./peer.ts";
import { patience } from "../patience.ts";

function tillHere(options?: Partial<ParleyOptions>) {
  const made = till({ drafts: drafts(), ...options });
  onTestFinished(() => made.app.close());
  return made;
}

const call = (name: string, more: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, ...more },
});

describe("over HTTP", () => {
  test.each<[string, unknown]>([
    ["a body that is not JSON", "{"],
    ["nothing", ""],
    ["a list of requests", [call("free")]],
    ["a response", { jsonrpc: "2.0", id: 1, result: { action: "accept" } }],
    ["an invalid request", { jsonrpc: "2.0", id: 1, method: 7 }],
    ["an invalid id", { jsonrpc: "2.0", id: {}, method: "ping" }],
    ["another version of JSON-RPC", { id: 1, method: "ping" }],
    ["null", "null"],
  ])("%s is refused", async (_, message) => {
    const { status, text } = await postDraft(tillHere().app, message);
    expect([status, JSON.parse(text)]).toEqual([
      400,
      {
        jsonrpc: "2.0",
        id: null,
        error: { code: -32600, message: "This is not a JSON-RPC request" },
      },
    ]);
  });

  test("params that are not an object are treated as absent", async () => {
    for (const params of [null, [], "free", 7]) {
      const posted = await postDraft(tillHere().app, {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params,
      });
      expect(answerIn(posted).error?.code).toBe(-32602);
    }
  });

  test("a request that is not sent as JSON is refused, however it opens", async () => {
    const { app } = tillHere();
    const opening = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: draftVersion, capabilities: {} },
    };
    for (const message of [call("free"), opening]) {
      const { status, headers } = await postDraft(app, message, { "content-type": "text/plain" });
      expect([status, headers.get("mcp-session-id")]).toEqual([415, null]);
    }
  });

  test.each(["unknown", "draft.", "draft.%%%", "draft.bm8ganNvbg", "DRAFT.e30"])(
    "the session %s is unknown",
    async (session) => {
      const { status } = await postDraft(tillHere().app, call("free"), {
        "mcp-session-id": session,
      });
      expect(status).toBe(404);
    },
  );

  test("a session may claim anything about its client, and is trusted no further", async () => {
    const { app, called } = tillHere();
    const claims = {
      capabilities: {
        elicitation: { form: {} },
        __proto__: { sampling: {} },
        extensions: { x: {} },
      },
      clientInfo: { name: 7 },
    };
    const session = `draft.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
    const { text } = await postDraft(app, call("age"), { "mcp-session-id": session });
    expect(JSON.parse(text)).toMatchObject({ result: { inputRequests: { age: {} } } });
    expect(called).toEqual(["age"]);
  });

  test("of a client's claims, only what can be asked for is kept", async () => {
    const long = "x".repeat(100_000);
    const { sessionId, ask } = await draftOverHttp(tillHere().app, {
      ...everything,
      elicitation: { form: { [long]: long }, url: {}, [long]: {} },
      extensions: { [long]: {} },
      [long]: {},
    });
    expect(sessionId.length).toBeLessThan(500);
    expect(sessionId).toMatch(/^draft\.[\w-]+$/);
    expect((await ask("tools/call", { name: "age" })).result).toHaveProperty("inputRequests");
  });

  test("a client that skips initialize can call tools, but is asked nothing", async () => {
    const { app } = tillHere();
    expect(answerIn(await postDraft(app, call("free"))).result).toMatchObject({
      content: [{ text: "asks nothing" }],
    });
    expect(answerIn(await postDraft(app, call("age"))).error?.code).toBe(-32021);
  });

  test("there is no stream to listen to, and no session to end", async () => {
    const { app } = tillHere();
    for (const method of ["GET", "DELETE"]) {
      const headers = { "mcp-protocol-version": draftVersion };
      const response = await app.fetch(new Request("http://127.0.0.1/mcp", { method, headers }));
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });

  test("an envelope of 2026-07-28 in a request of the draft changes nothing", async () => {
    const { app } = tillHere();
    const { ask } = await draftOverHttp(app, {});
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2099-01-01",
      "io.modelcontextprotocol/clientInfo": 7,
      "io.modelcontextprotocol/clientCapabilities": {
        extensions: { "io.modelcontextprotocol/tasks": {} },
      },
    };
    expect((await ask("tools/call", { name: "free", _meta })).result).toHaveProperty("content");
  });

  test("arguments that 2026-07-28 requires in headers are not required there", async () => {
    const { app } = tillHere();
    const inputSchema = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });
    app.tool("there", { inputSchema }, ({ region }) => region);
    const { ask } = await draftOverHttp(app);
    const { result } = await ask("tools/call", { name: "there", arguments: { region: "north" } });
    expect(result).toEqual(said("north"));
  });

  test("names that no header can hold are accepted", async () => {
    const { app } = tillHere();
    app.tool("größe", {}, () => "XL");
    const { ask } = await draftOverHttp(app);
    expect((await ask("tools/call", { name: "größe" })).result).toMatchObject({
      content: [{ text: "XL" }],
    });
  });

  test("a client that requests a result and disconnects is not waited for", async () => {
    const { app } = oven({ drafts: drafts() });
    const { url } = await app.listen(0);
    onTestFinished(() => app.close());
    const peer = await draftOverHttp(url);
    const { taskId } = taskIn(await peer.ask("tools/call", { name: "proof", task: {} }));
    const gone = new AbortController();
    const coming = fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": draftVersion,
        "mcp-session-id": peer.sessionId,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/result", params: { taskId } }),
      signal: gone.signal,
    });
    // The request waits, and a later one is served first.
    await peer.ask("tasks/get", { taskId });
    gone.abort();
    await expect(coming).rejects.toThrow("abort");
    expect((await peer.ask("tasks/cancel", { taskId })).result).toMatchObject({
      status: "cancelled",
    });
  });
});

describe("with callers", () => {
  const auth = {
    verifier: {
      verifyAccessToken: async (token: string) => ({
        token,
        clientId: "one-application",
        scopes: [],
        expiresAt: Date.now() / 1000 + 3_600,
        extra: { sub: token },
      }),
    },
  };
  const guarded = {
    drafts: drafts(),
    auth,
    principal: ({ extra }: { extra?: Record<string, unknown> }) => String(extra?.["sub"]),
  };

  test("a caller without a token is refused, and a state belongs to one caller", async () => {
    const { app } = tillHere(guarded);
    expect((await postDraft(app, call("free"))).status).toBe(401);
    const ada = await draftOverHttp(app, everything, { authorization: "Bearer ada" });
    const eve = await draftOverHttp(app, everything, { authorization: "Bearer eve" });
    const pay = { name: "pay", arguments: { amount: 5 } };
    const { result } = await ada.ask("tools/call", pay);
    const retry = {
      ...pay,
      requestState: result?.["requestState"],
      inputResponses: { sure: accept() },
    };
    expect((await eve.ask("tools/call", retry)).error).toMatchObject({
      code: -32602,
      data: { reason: "invalid_request_state" },
    });
    expect((await ada.ask("tools/call", retry)).result).toMatchObject({
      content: [{ text: "ada paid 5" }],
    });
  });

  test("a task belongs to one caller", async () => {
    const { app } = oven(guarded);
    await app.work();
    onTestFinished(() => app.close());
    const ada = await draftOverHttp(app, everything, { authorization: "Bearer ada" });
    const eve = await draftOverHttp(app, everything, { authorization: "Bearer eve" });
    const { taskId } = taskIn(await ada.ask("tools/call", { name: "two", task: {} }));
    await untilTask(ada, taskId, "input_required");
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      expect((await eve.ask(method, { taskId })).error?.message).toBe("No such task");
    }
    expect((await respond(eve, taskId, { one: accept({ one: "1" }) })).error?.code).toBe(-32602);
    await untilTask(ada, taskId, "input_required");
  });
});

/** The tasks, as the app passes them to the plug-in. */
const tasksOf = ({ proof }: Oven): DraftTasks => ({
  support: () => undefined,
  changes: (id, signal) => registeredAs(proof).core.tasks?.watch(id, 0, signal) ?? [],
});

describe("over one channel", () => {
  async function channel() {
    const made = oven({ drafts: drafts() });
    await made.app.work();
    const [client, server] = InMemoryTransport.createLinkedPair();
    const served = serveStdio(
      () => made.app.attach(new McpServer({ name: "oven", version: "1.0.0" })),
      { transport: new DraftTransport(server, tasksOf(made), new Set()) },
    );
    const answers: Answer[] = [];
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    client.onmessage = (message: object) => void answers.push(message);
    await client.start();
    onTestFinished(async () => {
      await served.close();
      await made.app.close();
    });
    const send = (message: object) => client.send({ jsonrpc: "2.0", ...message } as never);
    const answer = (id: unknown) =>
      vi.waitFor(() => {
        const found = answers.find((one) => one.id === id);
        if (found === undefined) throw new Error(`no answer to ${String(id)}`);
        return found;
      }, patience);
    await send({
      id: 0,
      method: "initialize",
      params: { protocolVersion: draftVersion, capabilities: everything },
    });
    await answer(0);
    return { ...made, send, answer, answers, client };
  }

  test("a request that is cancelled stops and gets no response", async () => {
    const { send, answer, answers, stopped, ran } = await channel();
    await send({ id: 1, method: "tools/call", params: { name: "heat" } });
    await vi.waitFor(() => expect(ran).toEqual(["heat"]), patience);
    await send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await vi.waitFor(() => expect(stopped).toEqual(["Cancelled"]), patience);
    await send({ id: 2, method: "tools/call", params: { name: "quick" } });
    await answer(2);
    expect(answers.map(({ id }) => id)).toEqual([0, 2]);
  });

  test("a client that cancels its wait for a result waits no longer", async () => {
    const { send, answer, answers } = await channel();
    await send({ id: 1, method: "tools/call", params: { name: "proof", task: {} } });
    const { taskId } = taskIn(await answer(1));
    await send({ id: 2, method: "tasks/result", params: { taskId } });
    await send({ method: "notifications/cancelled", params: { requestId: 2 } });
    await send({ id: 3, method: "tasks/cancel", params: { taskId } });
    await answer(3);
    await send({ id: 4, method: "tasks/result", params: { taskId } });
    expect((await answer(4)).error?.message).toBe("The task was cancelled");
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 3, 4]);
  });

  test("a result that is no longer awaited is no longer looked up", async () => {
    const [client, inner] = InMemoryTransport.createLinkedPair();
    const waiting: AbortSignal[] = [];
    const transport = new DraftTransport(
      inner,
      {
        support: () => undefined,
        async *changes(_, signal) {
          waiting.push(signal);
          yield "as it is";
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        },
      },
      new Set(),
    );
    // Stands in for the SDK, with a task that is never over.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    transport.onmessage = (message) => {
      if (!("id" in message) || !("method" in message)) return;
      void transport.send({ jsonrpc: "2.0", id: message.id, result: { status: "working" } });
    };
    await transport.start();
    const answers: Answer[] = [];
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    client.onmessage = (message: object) => void answers.push(message);
    const params = { taskId: "never" };
    await client.send({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: draftVersion },
    });
    await client.send({ jsonrpc: "2.0", id: 2, method: "tasks/result", params });
    await vi.waitFor(
      () => expect(waiting.map(({ aborted }) => aborted)).toEqual([false]),
      patience,
    );
    await client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 2 },
    });
    await vi.waitFor(() => expect(waiting.map(({ aborted }) => aborted)).toEqual([true]), patience);
    expect(answers.map(({ id }) => id)).toEqual([1]);
  });

  test("unexpected responses and cancellations of nothing are ignored", async () => {
    const { send, answer, answers } = await channel();
    await send({ id: 0, result: { action: "accept" } });
    await send({ id: "draft-2", result: { action: "accept" } });
    await send({ method: "notifications/cancelled", params: { requestId: "draft-1" } });
    await send({ method: "notifications/cancelled" });
    await send({ method: "notifications/roots/list_changed" });
    await send({ id: "draft-2", method: "tools/call", params: { name: "quick" } });
    expect((await answer("draft-2")).result).toHaveProperty("content");
    expect(answers).toHaveLength(2);
  });
});
