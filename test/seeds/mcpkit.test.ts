// 002, the mcpkit tutorial, point by point.

import type { App } from "mcp-parley";
import { describe, expect, test, vi } from "vitest";
import {
  composition,
  greet,
  multiRound,
  searchRoots,
  summarize,
} from "../../examples/seeds/mcpkit.ts";
import { accept, callTool, envelope, exchange, post, textIn, tokenIn } from "../wire/post.ts";
import { ask, call, listen, taskIdIn, textOf, until } from "../wire/task-calls.ts";
import { connected, serving, servingWith } from "./serving.ts";
import { patience } from "../patience.ts";

const tool = "test_tool_with_elicitation";

describe("keys", () => {
  test("a wrong key is tolerated: the question is asked again, and it is not an error", async () => {
    const app = await serving(greet);
    const asked = await callTool(app, tool);
    const again = await callTool(
      app,
      tool,
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { wrong_key: accept({ name: "Alice" }) },
      },
    );
    expect(again.result).toMatchObject({
      resultType: "input_required",
      inputRequests: { user_name: { params: { message: "What is your name?" } } },
    });
    const done = await callTool(
      app,
      tool,
      {},
      {
        requestState: tokenIn(again),
        inputResponses: { user_name: accept({ name: "Alice" }) },
      },
    );
    expect(textIn(done)).toBe("Hello, Alice!");
  });

  test("are chosen by the server, and the client sends them back unchanged, whatever they are", async () => {
    const key = "…/user name?[0] &amp; \u0000 constructor";
    const app = await serving((to) =>
      to.tool("odd", {}, async (ctx) => (await ctx.elicit(key, form)).action),
    );
    const form = {
      message: "Name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    } as const;
    const connection = await connected(app, { elicit: () => ({ action: "decline" }) });
    expect((await connection.call("odd")).text).toBe("decline");
  });

  test("keys of rounds and of a task never mix: an answer that is sent the other way does not count", async () => {
    const app = await serving(composition);
    const asked = await call(app, "composition");
    const inputResponses = {
      user_name: accept({ name: "Alice" }),
      colour: accept({ colour: "red" }),
    };
    // An answer to the task's question, sent before there is a task.
    const made = await call(
      app,
      "composition",
      {},
      { requestState: tokenIn(asked), inputResponses },
    );
    const task = taskIdIn(made);
    const open = await until(app, task, "input_required");
    expect(Object.keys(open.inputRequests ?? {})).toEqual(["colour"]);
    // An answer to the round's question, sent to the task.
    const late = { user_name: accept({ name: "Eve" }) };
    await ask(app, "tasks/update", task, { inputResponses: late });
    await ask(app, "tasks/update", task, {
      inputResponses: { colour: accept({ colour: "blue" }) },
    });
    expect(textOf(await until(app, task, "completed"))).toBe("a house for Alice, blue");
  });

  test("the token of the rounds does not go into the task, and nothing in a task has one", async () => {
    const app = await serving(composition);
    const asked = await call(app, "composition");
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { user_name: accept({ name: "Alice" }) },
    };
    const made = await call(app, "composition", {}, leg);
    expect(made.result).not.toHaveProperty("requestState");
    const open = await until(app, taskIdIn(made), "input_required");
    expect(open).not.toHaveProperty("requestState");
  });
});

describe("answers", () => {
  test("the last round has the answers of earlier rounds, even if the client sends only the newest", async () => {
    const app = await serving(multiRound);
    const first = await callTool(app, "multi_round");
    const second = await callTool(
      app,
      "multi_round",
      {},
      {
        requestState: tokenIn(first),
        inputResponses: { step1: accept({ step1: "Alice" }) },
      },
    );
    expect(tokenIn(second)).not.toBe(tokenIn(first));
    const third = await callTool(
      app,
      "multi_round",
      {},
      {
        requestState: tokenIn(second),
        inputResponses: { step2: accept({ step2: "blue" }) },
      },
    );
    expect(textIn(third)).toBe("Hi Alice, your favourite colour is blue.");
  });

  test("answers to several questions are all in one round", async () => {
    const app = await serving((to) =>
      to.tool("both", {}, async (ctx) => {
        const both = await Promise.all([ctx.ask("a", "A?"), ctx.ask("b", "B?")]);
        return both.join(" ");
      }),
    );
    const asked = await callTool(app, "both");
    expect(Object.keys(asked.result?.["inputRequests"] as object)).toEqual(["a", "b"]);
    const done = await callTool(
      app,
      "both",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { a: accept({ a: "1" }), b: accept({ b: "2" }) },
      },
    );
    expect(textIn(done)).toBe("1 2");
  });
});

describe("the three errors of a token", () => {
  test("are distinguished in the log, and look alike on the wire", async () => {
    const limits = { tokenTtlMs: 60_000 };
    const { app, logged } = await servingWith({ limits }, greet, multiRound);
    const token = tokenIn(await callTool(app, tool));
    const expired = await expiredToken();
    const sent = [
      await callTool(app, tool, {}, { requestState: "no token at all" }),
      await callTool(app, tool, {}, { requestState: changed(token) }),
      await callTool(app, "multi_round", {}, { requestState: token }),
      await callTool(app, tool, {}, { requestState: expired }),
    ];
    for (const { error } of sent) {
      expect(error).toEqual({
        code: -32602,
        message: "Invalid or expired requestState",
        data: { reason: "invalid_request_state" },
      });
    }
    const warned = logged.filter(({ level }) => level === "warn");
    expect(warned.map(({ fields }) => fields?.["reason"])).toEqual([
      "malformed",
      "forged",
      "target",
      "expired",
    ]);
  });

  /** A token of the same server, where tokens live for only a millisecond. */
  async function expiredToken(): Promise<string> {
    const { app, logged } = await servingWith({ limits: { tokenTtlMs: 1 } }, greet);
    const token = tokenIn(await callTool(app, tool));
    await vi.waitFor(async () => {
      await callTool(app, tool, {}, { requestState: token });
      expect(logged.at(-1)?.fields).toMatchObject({ reason: "expired" });
    }, patience);
    return token;
  }

  function changed(token: string): string {
    const at = token.length - 20;
    return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
  }

  test("are not final, because the call can begin again from its first round", async () => {
    const app = await serving(greet);
    const refused = await callTool(app, tool, {}, { requestState: "no token" });
    expect(refused.error).toMatchObject({ code: -32602 });
    expect((await callTool(app, tool)).result).toMatchObject({ resultType: "input_required" });
  });
});

describe("the capabilities of a client", () => {
  test("are in every request of 2026-07-28, and nothing is remembered of the previous one", async () => {
    const app = await serving(greet, searchRoots);
    const asked = await callTool(app, tool);
    const retry = {
      requestState: tokenIn(asked),
      capabilities: { roots: {} },
      inputResponses: { other: accept() },
    };
    expect((await callTool(app, tool, {}, retry)).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
    expect(
      (await callTool(app, "search", {}, { capabilities: { roots: {} } })).result,
    ).toMatchObject({
      inputRequests: { client_roots: { method: "roots/list" } },
    });
  });

  test("missing capabilities are an error, not a client without capabilities", async () => {
    const app = await serving(greet);
    const { params, ...message } = envelope("tools/call", { name: tool });
    const { _meta, ...rest } = params;
    const bare = { ...message, params: rest };
    const response = await post(app, bare, { headers: { "mcp-name": tool } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32602 } });
  });

  test("are those of the session in 2025-11-25, for all its calls", async () => {
    const app = await serving(greet, searchRoots);
    const elicit = () => ({ action: "accept", content: { name: "Alice" } }) as const;
    const session = await connected(app, { era: "2025-11-25", elicit });
    for (const _ of [1, 2]) expect((await session.call(tool)).text).toBe("Hello, Alice!");
    const cannot = await session.call("search");
    expect(cannot.isError).toBe(true);
    expect(cannot.text).toMatch(/roots/);
  });

  const methods = {
    elicitation: "elicitation/create",
    sampling: "sampling/createMessage",
    roots: "roots/list",
  } as const;

  test.each(["elicitation", "sampling", "roots"] as const)(
    "a client that declares only %s is asked for nothing else",
    async (declared) => {
      const app = await serving((to) => {
        to.tool("elicitation", {}, (ctx) => ctx.ask("q", "?"));
        to.tool("sampling", {}, async (ctx) => (await ctx.sample("q", "?")).text);
        to.tool("roots", {}, async (ctx) => JSON.stringify(await ctx.roots("q")));
      });
      for (const [kind, method] of Object.entries(methods)) {
        const { result, error } = await callTool(
          app,
          kind,
          {},
          { capabilities: { [declared]: {} } },
        );
        if (kind === declared) expect(result).toMatchObject({ inputRequests: { q: { method } } });
        else {
          expect(error).toMatchObject({
            code: -32021,
            data: { requiredCapabilities: { [kind]: {} } },
          });
        }
      }
    },
  );
});

describe("progress", () => {
  const progressOf = async (app: App, progressToken: unknown) => {
    const message = envelope("tools/call", { name: "summarize" }, { meta: { progressToken } });
    const { notifications, status, error } = await exchange(app, message);
    return { notifications: notifications.map(({ params }) => params), status, error };
  };

  test.each(["req-42", 42, 0, -1, "", "{}"])(
    "is sent under the token that the client made: %j",
    async (token) => {
      const { notifications } = await progressOf(await serving(summarize), token);
      expect(notifications).toEqual([
        { progressToken: token, progress: 47, total: 100, message: "Processing batch 47/100" },
      ]);
    },
  );

  test("is requested by our client, which makes the token, and arrives as an event", async () => {
    const connection = await connected(await serving(summarize));
    const events: unknown[] = [];
    for await (const event of connection.start("summarize")) events.push(event);
    expect(events).toMatchObject([
      { type: "progress", done: 47, total: 100, message: "Processing batch 47/100" },
      { type: "done", result: { text: "Summarized." } },
    ]);
  });

  test("has its token in the handler's view of the request", async () => {
    const app = await serving((to) =>
      to.tool("token", {}, (ctx) => JSON.stringify(ctx.request?.meta["progressToken"])),
    );
    const told = await callTool(app, "token", {}, { meta: { progressToken: "req-42" } });
    expect(textIn(told)).toBe('"req-42"');
  });

  test("is not sent if there is no token, and no token is made up", async () => {
    const app = await serving(summarize);
    expect((await callTool(app, "summarize")).notifications).toEqual([]);
  });

  test.each([null, true, { of: "mine" }, ["req-42"], 4.2])(
    "a token of %j is refused, because a token is a string or an integer",
    async (token) => {
      let runs = 0;
      const app = await serving((to) =>
        to.tool("summarize", {}, (ctx) => {
          ctx.progress((runs += 1));
          return "Summarized.";
        }),
      );
      const { notifications, status, error } = await progressOf(app, token);
      expect([notifications, status, error?.code]).toEqual([[], 400, -32600]);
      expect(runs).toBe(0);
    },
  );
});

describe("inside a task", () => {
  const told = (app: App) =>
    app.tool("told", { task: "optional" }, async (ctx) => {
      ctx.progress(1, 3, "before");
      ctx.log("info", "said before");
      await ctx.background();
      ctx.progress(2, 3, "within");
      ctx.log("warning", "for the log of the server");
      await ctx.ask("name", "Name?");
      return "with all that there is to say";
    });

  test("progress and log messages are silent, unlike before it; the status message and the result replace them", async () => {
    const { app, logged } = await servingWith({}, told);
    const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "debug" };
    const made = await call(app, "told", {}, { meta });
    expect(made.notifications.map(({ method, params }) => [method, params])).toMatchObject([
      ["notifications/progress", { message: "before" }],
      ["notifications/message", { level: "info", data: "said before" }],
    ]);
    const task = taskIdIn(made);
    // The client that follows the task asks for every kind of notification.
    const stream = await listen(app, { taskIds: [task] }, { meta });
    const open = await until(app, task, "input_required");
    expect(open["statusMessage"]).toBe("within (2/3)");
    const answered = await ask(app, "tasks/update", task, {
      inputResponses: { name: accept({ name: "Ada" }) },
      meta,
    });
    expect(answered.notifications).toEqual([]);
    const done = await until(app, task, "completed");
    expect(textOf(done)).toBe("with all that there is to say");
    const heard = await stream.rest();
    expect(new Set(heard.map(({ method }) => method))).toEqual(
      new Set(["notifications/subscriptions/acknowledged", "notifications/tasks", undefined]),
    );
    expect(JSON.stringify([made, open, answered, done, heard])).not.toContain("for the log");
    // It is not lost: the server's own log has it, at its level.
    expect(logged).toContainEqual({
      level: "warn",
      message: "for the log of the server",
      fields: { handler: "told", call: expect.any(String), task: `${task.slice(0, 6)}…` },
    });
  });

  test("progress and log messages are silent in a session of 2025-11-25 as well, which would have a channel", async () => {
    const app = await serving(told);
    const heard: string[] = [];
    const noting = async (request: Request) => {
      const response = await app.fetch(request);
      const decoder = new TextDecoder();
      const notes = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          heard.push(decoder.decode(chunk, { stream: true }));
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body?.pipeThrough(notes) ?? null, response);
    };
    const session = await connected(
      { fetch: noting },
      { era: "2025-11-25", elicit: () => ({ action: "accept", content: { name: "Ada" } }) },
    );
    const { text } = await session.call("told", {}, { task: true });
    expect(text).toBe("with all that there is to say");
    expect(heard.join("")).toContain("within");
    expect(heard.join("")).not.toMatch(/notifications\/(?:progress|message)/);
    expect(heard.join("")).not.toContain("for the log of the server");
  });
});

describe("three phases in one handler", () => {
  test("a round asks and creates no task, the next creates it, and the task works and asks its own question", async () => {
    const app = await serving(composition);
    const asked = await call(app, "composition");
    expect(asked.result).toMatchObject({
      resultType: "input_required",
      inputRequests: { user_name: { method: "elicitation/create" } },
    });
    const made = await call(
      app,
      "composition",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { user_name: accept({ name: "Alice" }) },
      },
    );
    expect(made.result).toMatchObject({ resultType: "task", status: "working" });
    const task = taskIdIn(made);
    const open = await until(app, task, "input_required");
    expect(open.inputRequests).toMatchObject({
      colour: { params: { message: "Which colour has a house for Alice?" } },
    });
    await ask(app, "tasks/update", task, {
      inputResponses: { colour: accept({ colour: "blue" }) },
    });
    expect(textOf(await until(app, task, "completed"))).toBe("a house for Alice, blue");
  });

  test("a call that is cancelled in its task stops waiting", async () => {
    const app = await serving(composition);
    const asked = await call(app, "composition");
    const made = await call(
      app,
      "composition",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { user_name: accept({ name: "Alice" }) },
      },
    );
    const task = taskIdIn(made);
    await until(app, task, "input_required");
    await ask(app, "tasks/cancel", task);
    expect(await until(app, task, "cancelled")).not.toHaveProperty("inputRequests");
  });
});

test("each expected error has its code", async () => {
  const app = await serving(greet);
  const [withoutEnvelope, badToken, cannot] = [
    await exchange(app, { ...envelope("tools/call"), params: { name: tool } }),
    await callTool(app, tool, {}, { requestState: "no token" }),
    await callTool(app, tool, {}, { capabilities: {} }),
  ];
  expect([withoutEnvelope, badToken, cannot].map(({ error }) => error?.code)).toEqual([
    -32602, -32602, -32021,
  ]);
});
