// 2025-11-25, with messages written by hand: in a session, where the server asks with its own requests, and without one.

import { UnansweredError } from "mcp-parley";
import { describe, expect, test } from "vitest";
import { messagesIn } from "./post.ts";
import type { Incoming } from "./post.ts";
import { served } from "./served.ts";

const common = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function send(to: string, message: object, session?: string): Promise<Response> {
  const headers = {
    ...common,
    "mcp-protocol-version": "2025-11-25",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return fetch(to, { method: "POST", headers, body });
}

const initialize = (capabilities: object) => ({
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities,
    clientInfo: { name: "by hand", version: "1.0.0" },
  },
});

const call = (name: string, args: object = {}) => ({
  id: 2,
  method: "tools/call",
  params: { name, arguments: args },
});

/** Reads a stream of events, message by message. */
async function* streamed(response: Response): AsyncGenerator<Incoming> {
  if (response.body === null) throw new Error("no stream");
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = `${rest}${chunk}`.split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) yield* messagesIn(frame);
  }
}

describe("with a session", () => {
  async function opened(capabilities: object = { elicitation: {} }) {
    const till = await served();
    const response = await send(till.to, initialize(capabilities));
    const session = response.headers.get("mcp-session-id") ?? "";
    expect(session).toMatch(/^[\w-]{22,}$/);
    const [answer] = messagesIn(await response.text());
    await send(till.to, { method: "notifications/initialized" }, session);
    return { ...till, session, initialized: answer?.result };
  }

  test("the server asks by a request on the stream of the call, and gets the answer in a response [E1.1] [E1.2] [E1.9]", async () => {
    const { to, session, ran } = await opened();
    const stream = streamed(await send(to, call("pay", { amount: 5 }), session));
    const { value: question } = (await stream.next()) as { value: Incoming };
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { message: "Pay 5?", requestedSchema: { type: "object", properties: {} } },
    });
    const answered = await send(
      to,
      { id: question.id, result: { action: "accept", content: {} } },
      session,
    );
    expect(answered.status).toBe(202);
    const { value: answer } = (await stream.next()) as { value: Incoming };
    expect(answer).toEqual({
      jsonrpc: "2.0",
      id: 2,
      result: { content: [{ type: "text", text: "nobody paid 5" }] },
    });
    expect(ran.map((key) => key.split("/").at(-1))).toEqual(["quote", "pay"]);
  });

  test("a client that names its method in a header, as 2026-07-28 clients do, has a session all the same [E1.1]", async () => {
    const { to } = await served();
    const naming = async (message: { readonly method: string }, session?: string) =>
      fetch(to, {
        method: "POST",
        headers: {
          ...common,
          "mcp-method": message.method,
          ...(session === undefined ? {} : { "mcp-session-id": session }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
    const begun = await naming(initialize({ elicitation: {} }));
    await begun.text();
    const session = begun.headers.get("mcp-session-id") ?? "";
    const stream = streamed(await naming(call("pay", { amount: 5 }), session));
    const { value: question } = (await stream.next()) as { value: Incoming };
    expect(question).toMatchObject({ method: "elicitation/create" });
    await stream.return(undefined);
  });

  test("the question for a page has the id that 2025-11-25 requires [E1.4]", async () => {
    const { to, session } = await opened({
      elicitation: { form: {}, url: {} },
      sampling: {},
      roots: {},
    });
    const stream = streamed(await send(to, call("every_kind"), session));
    const asked: Incoming[] = [];
    while (asked.length < 6) {
      const { value } = (await stream.next()) as { value: Incoming };
      asked.push(value);
    }
    await stream.return(undefined);
    expect(asked.find(({ params }) => params?.["mode"] === "url")?.params).toMatchObject({
      url: "https://example.com/in",
      elicitationId: expect.stringMatching(/^[\w-]{20,}$/) as string,
    });
  });

  test("progress increases strictly through all rounds of its one request [S70]", async () => {
    const { to, session } = await opened();
    const asking = {
      ...call("tells"),
      params: { ...call("tells").params, _meta: { progressToken: 1 } },
    };
    const stream = streamed(await send(to, asking, session));
    const seen: unknown[] = [];
    for await (const { id, method, params } of stream) {
      if (method === "notifications/progress") seen.push(params["progress"]);
      if (method !== "elicitation/create") continue;
      const result = { action: "accept", content: { name: "Ada" } };
      await send(to, { id, result }, session);
    }
    expect(seen).toEqual([2, 3]);
  });

  test("a client that declared nothing gets a result that says what it lacks, not -32021 [E1.3]", async () => {
    const { to, session, ran } = await opened({});
    const [answer] = messagesIn(await (await send(to, call("sampler"), session)).text());
    expect(answer?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("has not declared") as string }],
    });
    expect(JSON.stringify(answer)).not.toContain("stateless");
    expect(ran).toHaveLength(1);
  });

  describe("a client that answers a question with an error", () => {
    const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

    /** Calls the tool, answers every question in this way, and returns the result. */
    async function played(name: string, answer: (question: Incoming) => object) {
      const till = await opened(everything);
      till.app.tool("reasons", {}, async (ctx) => {
        const reason = (question: PromiseLike<unknown>) =>
          Promise.resolve(question).then(
            () => "answered",
            (error: unknown) => (error instanceof UnansweredError ? error.reason : "threw"),
          );
        const [asked, page, sample, roots, isSure] = await Promise.all([
          reason(ctx.ask("name", "Name?")),
          reason(ctx.openUrl("page", "Sign in", "https://example.com/in")),
          reason(ctx.sample("motto", "A motto")),
          reason(ctx.roots("folders")),
          ctx.confirm("sure", "Sure?"),
        ]);
        await ctx.step("undo", () => "undone");
        return JSON.stringify({ asked, page, sample, roots, isSure });
      });
      const response = await send(till.to, initialize(everything));
      const session = response.headers.get("mcp-session-id") ?? "";
      await response.text();
      const stream = streamed(await send(till.to, call(name, { amount: 5 }), session));
      for await (const message of stream) {
        if (message.method === undefined) return { ...till, result: message.result };
        await send(till.to, { id: message.id, ...answer(message) }, session);
      }
      throw new Error("no response");
    }

    const textIn = (result: Incoming["result"]) =>
      (result as { content: { text: string }[] }).content[0]?.text ?? "";

    test.each([
      [-32_601, "unsupported"],
      [-32_600, "unsupported"],
      [-32_602, "unsupported"],
      [-1, "declined"],
      [-32_603, "cancelled"],
    ])("with code %d leaves it unanswered: %s", async (code, reason) => {
      const error = { code, message: "Not here" };
      const { result, logged } = await played("reasons", () => ({ error }));
      expect(JSON.parse(textIn(result))).toEqual({
        asked: reason,
        page: reason,
        sample: reason,
        roots: reason,
        isSure: false,
      });
      const lines = logged.filter(({ message }) => message.includes("with an error"));
      expect(lines.map(({ level }) => level)).toEqual(Array(5).fill("warn"));
      expect(lines[0]).toMatchObject({
        message: expect.stringContaining("Not here") as string,
        fields: {
          handler: "reasons",
          call: expect.stringMatching(/^[\da-f]{32}$/) as string,
          question: "name",
          reason,
        },
      });
    });

    test("gets the handler's result, and an uncaught error says which question it was", async () => {
      const error = { code: -32_600, message: "Elicitation not supported" };
      const paid = await played("pay", () => ({ error }));
      expect(textIn(paid.result)).toBe("not paid");
      const { result } = await played("age", () => ({ error }));
      expect(result).toMatchObject({ isError: true });
      expect(textIn(result)).toContain('Question "age"');
    });

    test("or with something that is not an answer does not end the call either", async () => {
      const { result } = await played("reasons", () => ({ result: { nothing: true } }));
      expect(JSON.parse(textIn(result))).toMatchObject({ sample: "cancelled", isSure: false });
    });
  });

  test("an unknown session, and one that has ended, is 404", async () => {
    const { to, session } = await opened();
    expect((await send(to, call("free"), "no-such-session")).status).toBe(404);
    const headers = { ...common, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    expect((await fetch(to, { method: "DELETE", headers })).status).toBe(200);
    expect((await send(to, call("free"), session)).status).toBe(404);
  });

  test("the client gets 2025-11-25, and none of the vocabulary of later revisions [E1.9]", async () => {
    const { initialized, to, session } = await opened();
    expect(initialized).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "till" },
    });
    const text = await (await send(to, call("free"), session)).text();
    expect(text).not.toMatch(/resultType|requestState|inputRequests/);
  });
});

describe("without a session", () => {
  test("a tool that asks returns a result that says why it cannot, and what to use [E1.7]", async () => {
    const { to, called } = await served();
    const [answer] = messagesIn(await (await send(to, call("age"))).text());
    expect(answer?.result).toEqual({
      isError: true,
      content: [{ type: "text", text: expect.any(String) as string }],
    });
    const said = JSON.stringify(answer?.result);
    expect(said).toContain("Over stateless HTTP a 2025-11-25 client cannot be asked at all");
    expect(said).toMatch(/connect with a session .*, over stdio, or with a 2026-07-28 client\./);
    expect(called).toEqual(["age"]);
  });

  test("a prompt and a resource that ask return an error that says so [E1.7]", async () => {
    const { to } = await served();
    const requests = [
      { id: 2, method: "prompts/get", params: { name: "letter", arguments: { tone: "x" } } },
      { id: 2, method: "resources/read", params: { uri: "diary://today" } },
    ];
    for (const request of requests) {
      const [answer] = messagesIn(await (await send(to, request)).text());
      expect(answer?.error).toMatchObject({
        code: -32603,
        message: expect.stringContaining("connect with a session") as string,
      });
    }
  });

  test("a tool that asks nothing works", async () => {
    const { to } = await served();
    const [answer] = messagesIn(await (await send(to, call("free"))).text());
    expect(answer?.result).toEqual({ content: [{ type: "text", text: "asks nothing" }] });
  });

  test("a handler that checks first can do without asking", async () => {
    const { to } = await served();
    const [answer] = messagesIn(await (await send(to, call("chooser"))).text());
    expect(answer?.result).toEqual({ content: [{ type: "text", text: "asked nobody" }] });
  });
});
