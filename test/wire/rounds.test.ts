// What goes over the wire when a handler asks, member by member, and what a client can do with it.

import { describe, expect, test } from "vitest";
import { streamingExtension } from "../../src/protocol/streaming.ts";
import { parley } from "mcp-parley";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { accept, callTool, envelope, exchange, post, textIn, tokenIn } from "./post.ts";
import { served } from "./served.ts";

const token = expect.stringMatching(/^v1\.interop\.[\w-]{100,}$/) as unknown;
const _meta = { "io.modelcontextprotocol/serverInfo": { name: "till", version: "1.0.0" } };

describe("a result that asks", () => {
  test("has resultType, inputRequests, requestState and the server's name, and nothing else [S2] [S9] [S21]", async () => {
    const response = await post(
      (await served()).to,
      envelope("tools/call", { name: "pay", arguments: { amount: 5 } }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    const text = await response.text();
    expect(JSON.parse(text)).toStrictEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "input_required",
        inputRequests: {
          sure: {
            method: "elicitation/create",
            params: {
              mode: "form",
              message: "Pay 5?",
              requestedSchema: { type: "object", properties: {} },
            },
          },
        },
        requestState: token,
        _meta,
      },
    });
  });

  test("carries each kind as the bare request of the specification, with flat forms [S22] [S41]", async () => {
    const { result } = await callTool((await served()).to, "every_kind");
    expect(result?.["inputRequests"]).toStrictEqual({
      form: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Who?",
          requestedSchema: {
            type: "object",
            properties: {
              name: { type: "string", minLength: 1, maxLength: 40, description: "In full" },
              mail: { type: "string", format: "email" },
              seats: { type: "integer", minimum: 1, maximum: 9, default: 1 },
              extras: {
                type: "array",
                items: { type: "string", enum: ["bike", "dog"] },
                maxItems: 2,
              },
              news: { type: "boolean" },
            },
            required: ["name", "extras", "news"],
          },
        },
      },
      by: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "How?",
          requestedSchema: {
            type: "object",
            properties: {
              by: {
                type: "string",
                oneOf: [
                  { const: "Cash", title: "Cash" },
                  { const: "card", title: "By card" },
                ],
              },
            },
            required: ["by"],
          },
        },
      },
      sure: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Sure?",
          requestedSchema: { type: "object", properties: {} },
        },
      },
      page: {
        method: "elicitation/create",
        params: { mode: "url", message: "Sign in", url: "https://example.com/in" },
      },
      motto: {
        method: "sampling/createMessage",
        params: {
          systemPrompt: "Be brief.",
          messages: [{ role: "user", content: { type: "text", text: "A motto" } }],
          maxTokens: 50,
        },
      },
      roots: { method: "roots/list", params: {} },
    });
  });

  test("has only a token if nothing is asked [S21]", async () => {
    const { result } = await callTool((await served()).to, "halves");
    expect(result).toStrictEqual({ resultType: "input_required", requestState: token, _meta });
  });

  test("is the same for a prompt and a resource, and carries no caching hints [S20] [S39]", async () => {
    const { to } = await served();
    const prompt = await exchange(
      to,
      envelope("prompts/get", { name: "letter", arguments: { tone: "stern" } }),
    );
    expect(Object.keys(prompt.result ?? {}).toSorted()).toEqual([
      "_meta",
      "inputRequests",
      "requestState",
      "resultType",
    ]);
    for (const uri of ["diary://today", "diary://days/monday"]) {
      const { result } = await exchange(to, envelope("resources/read", { uri }));
      expect(Object.keys(result ?? {}).toSorted()).toEqual([
        "_meta",
        "inputRequests",
        "requestState",
        "resultType",
      ]);
    }
  });

  test("has each key once: a handler that uses one twice gets an error, and nothing is asked [S23]", async () => {
    const app = parley({ name: "twice", version: "1.0.0", keys, logger: quiet });
    app.tool("twice", {}, async (ctx) => {
      await Promise.all([ctx.ask("name", "First?"), ctx.ask("name", "Second?")]);
      return "never";
    });
    expect((await callTool(app, "twice")).error).toMatchObject({
      code: -32603,
      data: { reason: "duplicate_key" },
    });
  });

  test("has no tool_use without its results: the author gets an error, and nothing is asked [S42]", async () => {
    const app = parley({ name: "history", version: "1.0.0", keys, logger: quiet });
    const call = { type: "tool_use", id: "t", name: "n", input: {} } as const;
    const outcome = { type: "tool_result" as const, toolUseId: "t", content: [] };
    const text = { type: "text", text: "and now?" } as const;
    app.tool("ask", { inputSchema: z.object({ isComplete: z.boolean() }) }, async (args, ctx) => {
      const { text: said } = await ctx.sample("x", {
        messages: [
          { role: "assistant", content: [call] },
          { role: "user", content: args.isComplete ? [outcome] : [text] },
        ],
      });
      return said;
    });
    expect((await callTool(app, "ask", { isComplete: false })).error).toMatchObject({
      code: -32603,
      data: { reason: "not_askable" },
    });
    const { result } = await callTool(app, "ask", { isComplete: true });
    expect(result?.["resultType"]).toBe("input_required");
  });

  test("does not let a client read the contents of its token [D4]", async () => {
    const { to } = await served();
    const { requestState = "" } = (await callTool(to, "by_hand")).result as {
      requestState?: string;
    };
    const inside = Buffer.from(requestState.split(".").at(-1) ?? "", "base64url").toString(
      "latin1",
    );
    expect(inside).not.toMatch(/secret|kept|name|by_hand/);
  });
});

describe("the retry", () => {
  test("has the same params, the answers and the token, under its own id, and ends the call [S1]", async () => {
    const { to, called, ran } = await served();
    const asked = await callTool(to, "pay", { amount: 5 }, { id: "first" });
    expect(asked.id).toBe("first");
    const paid = await callTool(
      to,
      "pay",
      { amount: 5 },
      { id: 2, requestState: tokenIn(asked), inputResponses: { sure: accept() } },
    );
    expect(paid).toMatchObject({ status: 200, id: 2 });
    expect(paid.result).toStrictEqual({
      content: [{ type: "text", text: "nobody paid 5" }],
      resultType: "complete",
      _meta,
    });
    expect(called).toEqual(["pay", "pay"]);
    expect(ran).toEqual([expect.stringMatching(/\/quote$/), expect.stringMatching(/\/pay$/)]);
  });

  test("answers of every kind at once are parsed as they were asked, with defaults [S34]", async () => {
    const { to } = await served();
    const asked = await callTool(to, "every_kind");
    const told = await callTool(
      to,
      "every_kind",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: {
          form: accept({ name: "Ada", extras: ["dog"], news: false, unasked: 1 }),
          by: accept({ by: "card" }),
          sure: { action: "decline" },
          page: { action: "accept" },
          motto: { role: "assistant", model: "m", content: { type: "text", text: "Onwards" } },
          roots: { roots: [{ uri: "file:///home/ada" }] },
        },
      },
    );
    expect(JSON.parse(textIn(told))).toEqual({
      form: { name: "Ada", seats: 1, extras: ["dog"], news: false },
      by: "card",
      isSure: false,
      sample: "Onwards",
      roots: [{ uri: "file:///home/ada" }],
    });
  });

  test("is the same request with the members of the arguments in another order [S30]", async () => {
    const { to } = await served();
    const asked = await exchange(
      to,
      envelope("prompts/get", { name: "letter", arguments: { tone: "stern" } }),
    );
    const told = await exchange(
      to,
      envelope("prompts/get", {
        requestState: tokenIn(asked),
        inputResponses: { to: accept({ to: "Byron" }) },
        arguments: { tone: "stern" },
        name: "letter",
      }),
    );
    expect(told.result?.["messages"]).toEqual([
      { role: "user", content: { type: "text", text: "A stern letter to Byron" } },
    ]);
  });

  test("the retry of a resource returns its contents, with caching hints [S39]", async () => {
    const { to } = await served();
    const uri = "diary://today";
    const asked = await exchange(to, envelope("resources/read", { uri }));
    const inputResponses = { mood: accept({ mood: "good" }) };
    const read = await exchange(
      to,
      envelope("resources/read", { uri, requestState: tokenIn(asked), inputResponses }),
    );
    expect(read.result).toMatchObject({
      contents: [{ uri, mimeType: "text/plain", text: "a good day" }],
      ttlMs: expect.any(Number) as number,
      cacheScope: "private",
    });
  });

  test("the retry of a state-only round needs no answers [S36]", async () => {
    const { to, ran } = await served();
    const yielded = await callTool(to, "halves");
    const done = await callTool(to, "halves", {}, { requestState: tokenIn(yielded) });
    expect(textIn(done)).toBe("both");
    expect(ran.map((key) => key.split("/").at(-1))).toEqual(["first", "second"]);
  });

  test("may go to another instance that shares only the keys [S15] [S16] [S32] [S38]", async () => {
    const asked = await callTool((await served()).to, "pay", { amount: 5 });
    const other = await served();
    const paid = await callTool(
      other.to,
      "pay",
      { amount: 5 },
      { requestState: tokenIn(asked), inputResponses: { sure: accept() } },
    );
    expect(textIn(paid)).toBe("nobody paid 5");
    expect(other.ran).toEqual([expect.stringMatching(/\/pay$/)]);
  });

  test("opens under an older key of the ring, and seals under the newest [D6]", async () => {
    const old = `old:${"A".repeat(43)}`;
    const fresh = `fresh:${"Q".repeat(42)}A`;
    const asked = await callTool((await served({ keys: old })).to, "form_then_sample");
    const again = await callTool(
      (await served({ keys: [fresh, old] })).to,
      "form_then_sample",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { name: accept({ name: "Ada" }) },
      },
    );
    expect(tokenIn(again)).toMatch(/^v1\.fresh\./);
  });
});

describe("a client that cannot be asked", () => {
  test.each([
    ["pay", { amount: 5 }, {}, { elicitation: { form: {} } }],
    ["pay", { amount: 5 }, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ["sampler", {}, { elicitation: {} }, { sampling: {} }],
  ] as const)(
    "gets -32021 and HTTP 400 for %s %j with %j, naming what is missing [S11] [S24] [S25]",
    async (tool, args, capabilities, requiredCapabilities) => {
      const { status, error } = await callTool((await served()).to, tool, args, { capabilities });
      expect(status).toBe(400);
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
    },
  );

  test("is not asked for sampling with tools if it declares only sampling [S26]", async () => {
    const app = parley({ name: "tools", version: "1.0.0", keys, logger: quiet });
    app.tool("ask", {}, async (ctx) => (await ctx.sample("x", { prompt: "x", tools: [] })).text);
    const { status, error } = await callTool(app, "ask", {}, { capabilities: { sampling: {} } });
    expect([status, error?.code]).toEqual([400, -32021]);
    expect(error?.data).toEqual({ requiredCapabilities: { sampling: { tools: {} } } });
    const capabilities = { sampling: { tools: {} } };
    const { result } = await callTool(app, "ask", {}, { capabilities });
    expect(result?.["resultType"]).toBe("input_required");
  });

  test("is not asked to include context that it has not declared [S26]", async () => {
    const app = parley({ name: "context", version: "1.0.0", keys, logger: quiet });
    app.tool("ask", {}, async (ctx) => {
      return (await ctx.sample("x", { prompt: "x", includeContext: "thisServer" })).text;
    });
    const asked = async (sampling: object) => {
      const { result = {} } = await callTool(app, "ask", {}, { capabilities: { sampling } });
      return (result["inputRequests"] as { x: { params: object } }).x.params;
    };
    expect(await asked({})).not.toHaveProperty("includeContext");
    expect(await asked({ context: {} })).toHaveProperty("includeContext", "thisServer");
  });

  test("gets the same error for a prompt and a resource", async () => {
    const { to } = await served();
    const none = { capabilities: {} };
    const requests = [
      envelope("prompts/get", { name: "letter", arguments: { tone: "x" } }, none),
      envelope("resources/read", { uri: "diary://today" }, none),
      envelope("resources/read", { uri: "diary://days/monday" }, none),
    ];
    for (const request of requests) {
      const { status, error } = await exchange(to, request);
      expect([status, error?.code]).toEqual([400, -32021]);
      expect(error?.data).toEqual({ requiredCapabilities: { elicitation: { form: {} } } });
    }
  });

  test("`elicitation: {}` declares support for forms [S25]", async () => {
    const { result } = await callTool(
      (await served()).to,
      "pay",
      { amount: 5 },
      {
        capabilities: { elicitation: {} },
      },
    );
    expect(result?.["resultType"]).toBe("input_required");
  });

  test("can be asked something else by a handler that checks first [S24]", async () => {
    const { to } = await served();
    const { result } = await callTool(to, "chooser", {}, { capabilities: { sampling: {} } });
    expect(result?.["inputRequests"]).toMatchObject({ name: { method: "sampling/createMessage" } });
    expect(textIn(await callTool(to, "chooser", {}, { capabilities: {} }))).toBe("asked nobody");
  });

  test("a client that loses a capability in a later round is not asked, because each request speaks for itself [S6] [S24]", async () => {
    const { to } = await served();
    const asked = await callTool(to, "form_then_sample");
    const later = await callTool(
      to,
      "form_then_sample",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { name: accept({ name: "Ada" }) },
        capabilities: { elicitation: {} },
      },
    );
    expect(later).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
  });
});

describe("everything else of a request", () => {
  test("is served without clientInfo, and with any name of the client [S5] [S10]", async () => {
    const { to } = await served();
    const meta = { "io.modelcontextprotocol/clientInfo": undefined };
    expect(textIn(await callTool(to, "free", {}, { meta }))).toBe("asks nothing");
  });

  test.each(["tools/list", "prompts/list", "resources/list", "resources/templates/list"])(
    "%s asks nothing [S20]",
    async (method) => {
      const { result } = await exchange((await served()).to, envelope(method));
      expect(result?.["resultType"]).toBe("complete");
    },
  );

  test("lists are the same before, between and after the rounds of a call [S19]", async () => {
    const { to } = await served();
    const list = async () => (await exchange(to, envelope("tools/list"))).result;
    const before = await list();
    const asked = await callTool(to, "pay", { amount: 5 });
    expect(await list()).toEqual(before);
    await callTool(
      to,
      "pay",
      { amount: 5 },
      {
        requestState: tokenIn(asked),
        inputResponses: { sure: accept() },
      },
    );
    expect(await list()).toEqual(before);
  });

  test("declares streaming, and tasks only if there is a store [S3] [S17] [S18]", async () => {
    const { to } = await served();
    const { result } = await exchange(to, envelope("server/discover"));
    expect(result?.["capabilities"]).toHaveProperty("extensions", { [streamingExtension]: {} });
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    const answer = await callTool(to, "free", {}, { capabilities: { extensions } });
    expect(answer.result?.["resultType"]).toBe("complete");
  });

  test("unknown tools and prompts are -32602, unknown methods -32601 and 404 [S12] [S14]", async () => {
    const { to } = await served();
    expect((await callTool(to, "nothing")).error?.code).toBe(-32602);
    const missing = [
      envelope("prompts/get", { name: "nothing" }),
      envelope("resources/read", { uri: "diary://nowhere" }),
    ];
    for (const request of missing) {
      expect((await exchange(to, request)).error?.code).toBe(-32602);
    }
    const unknown = await exchange(to, envelope("nothing/at-all"));
    expect([unknown.status, unknown.error?.code]).toEqual([404, -32601]);
  });
});
