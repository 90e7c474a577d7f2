// app.attach(server, { adopt }): tools of a plain official server, which await the SDK's own questions.

import { createServer } from "node:http";
import { once as occurs } from "node:events";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { memoryStore, parley } from "mcp-parley";
import { connect } from "mcp-parley/client";
import type { App, ParleyOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectV1, connectV2, legacy, modern } from "../interop/clients.ts";
import type { Connected } from "../interop/clients.ts";
import { keys, quiet } from "../interop/errands.ts";
import { People } from "../interop/people.ts";
import { callTool, textIn, tokenIn } from "../wire/post.ts";
import { desk } from "./desk.ts";
import { inn, nightSchema } from "./inn.ts";
import type { Inn } from "./inn.ts";

const all = ["book", "pair", "restless", "silent", "fails"];

function appOf(options: Partial<ParleyOptions> = {}): App {
  return parley({
    keys,
    logger: quiet,
    ...options,
    name: "inn",
    version: "1.0.0",
    auth: undefined,
  });
}

/** One app that adopts the tools of a server that is made for each request. */
function adopted(options: Partial<ParleyOptions> = {}, once = false) {
  const made = inn();
  const app = appOf(options);
  const handler = createMcpHandler(() => app.attach(made.server(), { adopt: all, once }));
  const to = (request: Request) => handler.fetch(request);
  return { ...made, app, handler, to };
}

type Way = (inn: Inn, people: People) => Promise<Connected>;

const overFetch: Way = (made, people) => {
  const app = appOf();
  const handler = createMcpHandler(() => app.attach(made.server(), { adopt: ["book"] }));
  const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
  const place = { url: "http://inn.example/mcp", fetch: fetch as typeof globalThis.fetch };
  return connectV2(place, people, modern);
};

const overNode: Way = async (made, people) => {
  const app = appOf();
  const handler = createMcpHandler(() => app.attach(made.server(), { adopt: ["book"] }));
  const handle = toNodeHandler(handler);
  const http = createServer((req, res) => void handle(req as Parameters<typeof handle>[0], res));
  http.listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await occurs(http, "listening");
  const address = http.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return connectV2({ url: `http://127.0.0.1:${port}/` }, people, modern);
};

/** The app's own entry. `onServer` adds the tools, after the app has installed its own. */
async function listening(made: Inn, fast = true): Promise<{ readonly url: string }> {
  const { app } = desk();
  app.onServer((server) => app.attach(made.register(server), { adopt: ["book"] }));
  const { url } = await app.listen(0, { fast });
  onTestFinished(() => app.close());
  return { url };
}

/** A connection like one over stdio: the SDK's entry finds out which version the client speaks. */
function overStdio(negotiation: typeof modern): Way {
  return (made, people) => {
    const app = appOf();
    const [near, far] = InMemoryTransport.createLinkedPair();
    const served = serveStdio(() => app.attach(made.server(), { adopt: ["book"] }), {
      transport: far,
    });
    onTestFinished(() => served.close());
    return connectV2({ transport: near }, people, negotiation);
  };
}

const inRounds: Readonly<Record<string, Way>> = {
  "the SDK's web-standard entry": overFetch,
  "the SDK's entry for node:http": overNode,
  "the SDK's entry for stdio": overStdio(modern),
  "app.listen": async (made, people) => connectV2(await listening(made), people, modern),
  "app.listen without the fast entry": async (made, people) =>
    connectV2(await listening(made, false), people, modern),
};

const inSessions: Readonly<Record<string, Way>> = {
  "the SDK's entry for stdio": overStdio(legacy),
  "app.listen": async (made, people) => connectV2(await listening(made), people, legacy),
  "app.listen, with the v1 client": async (made, people) =>
    connectV1(await listening(made), people),
};

const booked = "MAY 1: Ada, accept, greet, said the model, file:///home/ada";

describe("a tool that asks through the SDK", () => {
  test.each(Object.entries(inRounds))("works in rounds over %s", async (_name, join) => {
    const made = inn();
    const people = new People();
    const client = await join(made, people);
    expect(await client.tool("book", { night: "May 1" })).toMatchObject({
      text: booked,
      isError: false,
    });
    expect(people.shown.map(({ kind }) => kind)).toEqual(["form", "url", "sampling", "roots"]);
    // Once for each question, and once to the end.
    expect(made.did).toEqual([...Array.from({ length: 5 }, () => "began"), "booked"]);
    await client.close();
  });

  test.each(Object.entries(inSessions))(
    "is asked by the SDK itself in a 2025-11-25 session over %s",
    async (_name, join) => {
      const made = inn();
      const people = new People();
      const client = await join(made, people);
      expect(await client.tool("book", { night: "May 1" })).toMatchObject({ text: booked });
      expect(people.shown.map(({ kind }) => kind)).toEqual(["form", "url", "sampling", "roots"]);
      expect(made.did).toEqual(["began", "booked"]);
      await client.close();
    },
  );

  test("a tool that is not named is not changed, and cannot ask a 2026-07-28 client", async () => {
    const made = inn();
    const app = appOf();
    const handler = createMcpHandler(() => app.attach(made.server(), { adopt: ["book"] }));
    const said = textIn(await callTool((request) => handler.fetch(request), "restless"));
    expect(said).toContain("Server-to-client requests are not available");
  });

  test("two calls at once on one server do not get each other's answers", async () => {
    const made = inn();
    const app = appOf();
    const [near, far] = InMemoryTransport.createLinkedPair();
    const served = serveStdio(() => app.attach(made.server(), { adopt: ["book"] }), {
      transport: far,
    });
    onTestFinished(() => served.close());
    const people = new People();
    let asked = 0;
    let meet = () => {};
    const met = new Promise<void>((resolve) => void (meet = resolve));
    const client = await connect(near, {
      elicit: async ({ kind, message }) => {
        if (kind === "url") return people.url(message);
        asked += 1;
        const name = `guest ${asked}`;
        if (asked === 2) meet();
        await met;
        return { action: "accept", content: { name } };
      },
      sample: () => ({
        role: "assistant",
        content: { type: "text", text: "hello" },
        model: "pocket",
      }),
      roots: [{ uri: "file:///home" }],
    });
    onTestFinished(() => client.close());
    const texts = await Promise.all(
      ["May 1", "May 2"].map(async (night) => (await client.call("book", { night })).text),
    );
    expect(texts.toSorted()).toEqual([
      expect.stringMatching(/^MAY 1: guest [12], accept, hello, file:/),
      expect.stringMatching(/^MAY 2: guest [12], accept, hello, file:/),
    ]);
    expect(new Set(texts.map((text) => text.split(",")[0]?.slice(-7))).size).toBe(2);
  });

  test("a refusal reaches the tool as the SDK reports it", async () => {
    const { to } = adopted();
    const asked = await callTool(to, "book", { night: "May 1" });
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { "sdk-1": { action: "decline" } },
    };
    expect(textIn(await callTool(to, "book", { night: "May 1" }, leg))).toBe("not booked: decline");
  });
});

describe("the questions", () => {
  test("are keyed by their order, and are shown as the tool wrote them", async () => {
    const { to } = adopted();
    const asked = await callTool(to, "pair");
    expect(asked.result).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        "sdk-1": { method: "elicitation/create", params: { mode: "form", message: "Name?" } },
        "sdk-2": {
          params: {
            message: "Which mood?",
            requestedSchema: { properties: { mood: { type: "string", pattern: "^g" } } },
          },
        },
      },
    });
  });

  test("an answer that does not fit its schema is asked for again", async () => {
    const { to, did } = adopted();
    const asked = await callTool(to, "pair");
    const answer = (content: object) => ({ action: "accept", content });
    const again = await callTool(
      to,
      "pair",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { "sdk-1": answer({ name: "Ada" }), "sdk-2": answer({ mood: "bad" }) },
      },
    );
    expect(Object.keys(again.result?.["inputRequests"] ?? {})).toEqual(["sdk-2"]);
    const done = await callTool(
      to,
      "pair",
      {},
      {
        requestState: tokenIn(again),
        inputResponses: { "sdk-2": answer({ mood: "good" }) },
      },
    );
    expect(textIn(done)).toBe("Ada is good");
    expect(did).toHaveLength(3);
  });

  test("a client that cannot be asked is told what it lacks", async () => {
    const { to } = adopted();
    const refused = await callTool(to, "book", { night: "May 1" }, { capabilities: {} });
    expect([refused.status, refused.error?.code]).toEqual([400, -32021]);
  });

  test("a question that has changed since it was asked ends the call with one clear error", async () => {
    const { to } = adopted();
    const asked = await callTool(to, "restless");
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { "sdk-1": { action: "accept", content: {} } },
    };
    expect((await callTool(to, "restless", {}, leg)).error).toMatchObject({
      code: -32603,
      message:
        '"restless" asks a different question as "sdk-1" than it did in an earlier round of this call, so the answer cannot be matched to it.\n' +
        "An adopted tool runs from its beginning in each round, and must ask the same questions in the same order. Do not let them depend on anything that varies, such as the time or data from outside. If they must, register the tool with app.tool, and get such data in a ctx.step.",
      data: { reason: "unstable_question" },
    });
  });

  test("so does a question that a deployment changes after it was answered", async () => {
    const { to } = adopted();
    const named = { action: "accept", content: { name: "Ada" } };
    const asked = await callTool(to, "book", { night: "May 1" });
    const first = { requestState: tokenIn(asked), inputResponses: { "sdk-1": named } };
    const paying = await callTool(to, "book", { night: "May 1" }, first);
    const second = {
      requestState: tokenIn(paying),
      inputResponses: { "sdk-2": { action: "accept" } },
    };
    const app = appOf();
    const changed = createMcpHandler(() => {
      const server = new McpServer({ name: "inn", version: "2.0.0" });
      server.registerTool("book", { inputSchema: nightSchema }, async () => {
        const { roots } = await server.server.listRoots();
        return { content: [{ type: "text", text: String(roots.length) }] };
      });
      return app.attach(server, { adopt: ["book"] });
    });
    const refused = await callTool(
      (request) => changed.fetch(request),
      "book",
      { night: "May 1" },
      second,
    );
    expect(refused.error).toMatchObject({ data: { reason: "unstable_question" } });
  });
});

describe("the call", () => {
  test("its state is bound to the arguments as they were sent", async () => {
    const { to } = adopted();
    const asked = await callTool(to, "book", { night: "May 1" });
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { "sdk-1": { action: "accept", content: { name: "Ada" } } },
    };
    expect((await callTool(to, "book", { night: "May 2" }, leg)).error).toMatchObject({
      code: -32602,
      data: { reason: "invalid_request_state" },
    });
    // The SDK still checks the arguments with the tool's own schema, and words the error itself.
    expect(textIn(await callTool(to, "book", { night: 1 }))).toContain(
      "Input validation error: Invalid arguments for tool book",
    );
  });

  test("errors of the tool stay results", async () => {
    const { to } = adopted();
    const failing = async (how: string) => (await callTool(to, "fails", { how })).result;
    expect(await failing("plain")).toMatchObject({
      isError: true,
      content: [{ text: "out of soap" }],
    });
    expect(await failing("protocol")).toMatchObject({
      isError: true,
      content: [{ text: "out of keys" }],
    });
    const asked = await callTool(to, "fails", { how: "late" });
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { "sdk-1": { action: "accept", content: { name: "Ada" } } },
    };
    expect((await callTool(to, "fails", { how: "late" }, leg)).result).toMatchObject({
      isError: true,
      content: [{ text: "no room for Ada" }],
    });
  });

  test("a tool that drives its rounds itself, or returns nothing, is told so", async () => {
    const { to } = adopted();
    const failing = async (how: string) => (await callTool(to, "fails", { how })).error?.message;
    expect(await failing("by hand")).toContain("so take it out of adopt");
    expect(await failing("nothing")).toBe(
      'Tool "fails" returned no result. Return { content: […] }.',
    );
  });

  test("in development the log says once that the tool runs again", async () => {
    const warned: string[] = [];
    const logger = { ...quiet, warn: (message: string) => void warned.push(message) };
    const { to } = adopted({ logger });
    await callTool(to, "silent");
    expect(warned).toEqual([]);
    await callTool(to, "pair");
    await callTool(to, "pair");
    expect(warned).toEqual([
      expect.stringContaining(
        '"pair" is adopted and asks a question, so it runs from its beginning in each round, and what it does before a question is repeated.',
      ),
    ]);
  });
});

describe("once: true", () => {
  test("what a tool returned is not computed twice, even if it asks nothing", async () => {
    const store = memoryStore();
    onTestFinished(() => store.close());
    const { to, did } = adopted({ store }, true);
    const first = await callTool(to, "silent");
    expect(first.result).toMatchObject({ resultType: "input_required" });
    expect(did).toEqual([]);
    const leg = { requestState: tokenIn(first) };
    const responses = await Promise.all([
      callTool(to, "silent", {}, leg),
      callTool(to, "silent", {}, leg),
    ]);
    expect(responses.map(textIn)).toEqual(["no question", "no question"]);
    expect(did).toEqual(["began"]);
  });

  test("a first request with an idempotency key needs no extra round", async () => {
    const { to, did } = adopted({ store: memoryStore() }, true);
    const meta = { "io.github.mcp-parley/idempotencyKey": "a-key-of-22-characters-or-more" };
    const [one, other] = await Promise.all([
      callTool(to, "silent", {}, { meta }),
      callTool(to, "silent", {}, { meta }),
    ]);
    expect([one, other].map(textIn)).toEqual(["no question", "no question"]);
    expect(did).toEqual(["began"]);
  });

  test("needs a store", () => {
    expect(() => appOf().attach(inn().server(), { adopt: ["book"], once: true })).toThrow(
      /app\.attach\(server, \{ once: true \}\) needs a store/,
    );
  });
});

describe("the names", () => {
  test("a name that the server does not have is refused", () => {
    expect(() => appOf().attach(inn().server(), { adopt: ["book", "delete_*", "pay"] })).toThrow(
      new TypeError(
        'app.attach(server, { adopt: ["delete_*", "pay"] }): the server has no such tool. Register its tools before app.attach.',
      ),
    );
  });

  test("from JavaScript: adopt that is not a list is refused", () => {
    const options = { adopt: true } as never;
    expect(() => appOf().attach(inn().server(), options)).toThrow(
      new TypeError(
        'app.attach(server, { adopt }): adopt is a list of names, such as ["book"]. An adopted tool runs again in each round, so name each tool that may.',
      ),
    );
  });

  test("* stands for any text", async () => {
    const isAdopted = async (pattern: string, tool: string): Promise<boolean> => {
      const made = inn();
      const app = appOf();
      const handler = createMcpHandler(() => app.attach(made.server(), { adopt: [pattern] }));
      const { result } = await callTool((request) => handler.fetch(request), tool, { night: "1" });
      return result?.["resultType"] === "input_required";
    };
    const matches = await Promise.all(
      ["*", "b*", "*k", "b*k", "b*o*k", "book*", "p*", "*oo"].map(async (pattern) => [
        pattern,
        await isAdopted(pattern === "*oo" ? "*oo*" : pattern, "book"),
      ]),
    );
    expect(matches.filter(([, isMatch]) => isMatch).map(([pattern]) => pattern)).toEqual([
      "*",
      "b*",
      "*k",
      "b*k",
      "b*o*k",
      "book*",
      "*oo",
    ]);
    expect(() => appOf().attach(inn().server(), { adopt: ["b*x*k"] })).toThrow(TypeError);
    expect(() => appOf().attach(inn().server(), { adopt: ["book*k"] })).toThrow(TypeError);
  });

  test("the app's own tools are never adopted", async () => {
    const { app, stamped } = desk();
    const made = inn();
    app.onServer((server) => app.attach(made.register(server), { adopt: ["*"] }));
    onTestFinished(() => app.close());
    const asked = await callTool(app, "stamp", { page: "one" });
    const leg = {
      requestState: tokenIn(asked),
      inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
    };
    expect(textIn(await callTool(app, "stamp", { page: "one" }, leg))).toBe("one stamped for Ada");
    expect(stamped()).toBe(1);
  });

  test("a server of another SDK is refused", () => {
    const stranger = { isConnected: () => false } as never;
    expect(() => appOf().attach(stranger, { adopt: ["book"] })).toThrow(
      "Pass an McpServer of @modelcontextprotocol/server.",
    );
  });
});

describe("a gate over an adopted tool", () => {
  /** An app with a gate over "book", and over a tool that is not adopted. */
  async function gated(negotiation: typeof modern) {
    const made = inn();
    const people = new People();
    const lines: string[] = [];
    const note = (line: string) => void lines.push(line);
    const app = appOf({ logger: { debug: note, info: note, warn: note, error: note } });
    app.gate("bookings", {
      tools: ["book", "pair"],
      message: ({ args }) => (args["night"] === "MAY 1" ? "Number 1?" : "Another?"),
    });
    const [near, far] = InMemoryTransport.createLinkedPair();
    const served = serveStdio(() => app.attach(made.server(), { adopt: ["book"] }), {
      transport: far,
    });
    onTestFinished(() => served.close());
    const client = await connectV2({ transport: near }, people, negotiation);
    onTestFinished(() => client.close());
    return { made, people, client, lines };
  }

  test.each(Object.entries({ "in rounds": modern, "in a 2025-11-25 session": legacy }))(
    "is asked before the tool runs, %s",
    async (_name, negotiation) => {
      const { made, people, client } = await gated(negotiation);
      const result = await client.tool("book", { night: "May 1" });
      expect(result).toMatchObject({ text: booked, isError: false });
      expect(people.shown[0]).toEqual({ kind: "form", message: "Number 1?" });
      expect(people.shown).toHaveLength(5);
      expect(made.did.at(-1)).toBe("booked");
    },
  );

  test.each(Object.entries({ "in rounds": modern, "in a 2025-11-25 session": legacy }))(
    "keeps the tool from running if the caller declines, %s",
    async (_name, negotiation) => {
      const { made, people, client } = await gated(negotiation);
      people.refuses = { message: "Number 1?", action: "decline" };
      expect(await client.tool("book", { night: "May 1" })).toMatchObject({ isError: true });
      expect(made.did).toEqual([]);
    },
  );

  test("a tool that is not adopted is named in the log, because its calls do not come by", async () => {
    const { lines, client } = await gated(modern);
    await client.tool("silent", {});
    expect(lines).toContain(
      'Gate "bookings" does not cover "pair", which is a tool of the attached server. Add it to adopt: app.attach(server, { adopt: ["pair"] }).',
    );
  });
});
