// What the protocol requires of a client in every request, checked by a server that records everything.

import { afterEach, describe, expect, test } from "vitest";
import { deferred } from "../../test/wire/deferred.ts";
import { streamingExtension } from "../protocol/streaming.ts";
import { failure } from "./failure.fixture.ts";
import { form, hostile, taskOf } from "./hostile.fixture.ts";
import type { Hostile, Saying } from "./hostile.fixture.ts";
import { connect } from "./index.ts";
import type { Connection, ConnectOptions } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const yes: ConnectOptions = { elicit: () => ({ action: "accept", content: { name: "Ada" } }) };
const text = { content: [{ type: "text", text: "ok" }] };
const created = { resultType: "task", ...taskOf("t1", {}) };
const asking = (...keys: string[]) => ({
  resultType: "input_required",
  // Made with Object.fromEntries, because an assignment to a key such as "__proto__" would set no member.
  inputRequests: Object.fromEntries(keys.map((key) => [key, form(`${key}?`)])),
  requestState: "s",
});
const isFirst = (params: object) => !("requestState" in params);

async function met(
  say: Saying,
  options: ConnectOptions = yes,
): Promise<{ server: Hostile; connection: Connection }> {
  const server = await hostile(say);
  open.push(server.close);
  const connection = await connect(server.url, options);
  open.push(() => connection.close());
  return { server, connection };
}

/** Asks one question in a round, then another in a task, and then returns a result. */
const roundsAndTask = (): Saying => {
  let isAnswered = false;
  return ({ method, params }) => {
    if (method === "tools/call") return isFirst(params) ? asking("q") : created;
    if (method === "tasks/update") isAnswered = true;
    if (method !== "tasks/get") return { resultType: "complete" };
    const asks = { status: "input_required", inputRequests: { q: form("In the task?") } };
    return taskOf("t1", isAnswered ? { status: "completed", result: text } : asks);
  };
};

const metaKey = (name: string) => `io.modelcontextprotocol/${name}`;

describe("every request", () => {
  test("names the client, its revision and its capabilities, including retries and tasks/* [C2] [C3]", async () => {
    const { connection, server } = await met(roundsAndTask(), { ...yes, name: "me", roots: [] });
    expect((await connection.call("any")).text).toBe("ok");
    const methods = new Set(server.heard.map(({ method }) => method));
    expect([...methods]).toEqual(["tools/call", "tasks/get", "tasks/update"]);
    for (const { params } of server.heard) {
      expect(params["_meta"]).toMatchObject({
        [metaKey("protocolVersion")]: "2026-07-28",
        [metaKey("clientInfo")]: { name: "me" },
        [metaKey("clientCapabilities")]: {
          elicitation: { form: {}, url: {} },
          roots: {},
          extensions: { [metaKey("tasks")]: {}, [streamingExtension]: {} },
        },
      });
    }
  });

  test("has a unique id and a unique progress token [C1] [C10] [C24]", async () => {
    const { connection, server } = await met(roundsAndTask());
    await connection.call("any");
    await Promise.all([connection.prompt("any").catch(() => {}), connection.call("any")]);
    const ids = server.heard.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => typeof id === "string" && id !== "")).toBe(true);
    const tokens = server.heard
      .map(({ params }) => (params["_meta"] as Record<string, unknown>)["progressToken"])
      .filter((token) => token !== undefined);
    expect(tokens.length).toBeGreaterThan(2);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test("has headers that name its method and target; for a task, the target is its id [C61]", async () => {
    const { connection, server } = await met(roundsAndTask());
    await connection.call("any");
    for (const { method, headers } of server.heard) {
      expect(headers).toMatchObject({
        "mcp-method": method,
        "mcp-protocol-version": "2026-07-28",
        "mcp-name": method === "tools/call" ? "any" : "t1",
      });
      expect(headers["accept"]).toContain("application/json");
      expect(headers["accept"]).toContain("text/event-stream");
    }
  });

  test.each<[string, ConnectOptions, object]>([
    ["nothing", {}, {}],
    ["forms and pages", { elicit: "events" }, { elicitation: { form: {}, url: {} } }],
    ["a model", { sample: "events" }, { sampling: {} }],
    ["roots", { roots: () => [] }, { roots: {} }],
  ])(
    "declares what the client has a handler for, and nothing else: %s [C4]",
    async (_, options, has) => {
      const { connection, server } = await met(() => text, options);
      await connection.call("any");
      const meta = server.heard[0]?.params["_meta"] as Record<string, unknown>;
      expect(meta[metaKey("clientCapabilities")]).toEqual({
        ...has,
        extensions: { [metaKey("tasks")]: {}, [streamingExtension]: {} },
      });
    },
  );

  test("is sent even if the same request was sent before, because results are not cached [C29]", async () => {
    const { connection, server } = await met(({ method }) =>
      method === "resources/read"
        ? { contents: [{ uri: "a://b", text: "x" }], ttlMs: 60_000, cacheScope: "public" }
        : text,
    );
    for (let times = 0; times < 2; times += 1) {
      await connection.call("any");
      await connection.read("a://b");
    }
    expect(server.heard).toHaveLength(4);
  });
});

describe("a response of the server", () => {
  test("may be a stream with comments and unknown events [C60]", async () => {
    const { connection } = await met(({ id }, response) => {
      response.setHeader("content-type", "text/event-stream");
      const note = { jsonrpc: "2.0", method: "notifications/of-tomorrow", params: {} };
      response.write(
        `: hello\n\nevent: message\ndata: ${JSON.stringify(note)}\n\n: still here\n\n`,
      );
      response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text })}\n\n`);
      return undefined;
    });
    expect((await connection.call("any")).text).toBe("ok");
  });

  test("gets no reply to a request in its stream, whose question is not asked [C8]", async () => {
    const asked: unknown[] = [];
    const elicit: ConnectOptions["elicit"] = (question) => {
      asked.push(question);
      return { action: "accept", content: { name: "Ada" } };
    };
    const { connection, server } = await met(
      ({ id, params }, response) => {
        if (params["name"] !== "pushy") return text;
        response.setHeader("content-type", "text/event-stream");
        const request = { jsonrpc: "2.0", id: 7, ...form("Your password?") };
        response.write(`data: ${JSON.stringify(request)}\n\n`);
        response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text })}\n\n`);
        return undefined;
      },
      { elicit },
    );
    expect((await connection.call("pushy")).text).toBe("ok");
    // A response to the pushed request would have been sent before this call.
    expect((await connection.call("plain")).text).toBe("ok");
    expect(asked).toEqual([]);
    expect(server.heard.map(({ method }) => method)).toEqual(["tools/call", "tools/call"]);
  });

  test("leaves nothing open, even if the server leaves its stream open", async () => {
    const closed = deferred();
    const { connection } = await met(({ id }, response) => {
      response.setHeader("content-type", "text/event-stream");
      response.on("close", () => closed.resolve());
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text })}\n\n`);
      return undefined;
    });
    expect((await connection.call("any")).text).toBe("ok");
    await closed.promise;
  });

  test("is not requested again when it breaks off, because the call may have had its effect [C65] [G36]", async () => {
    const { connection, server } = await met((_, response) => {
      response.destroy();
      return undefined;
    });
    expect(await failure(connection.call("any"))).toMatchObject({ code: "server_down" });
    expect(server.heard).toHaveLength(1);
  });

  test("is requested again when it breaks off and the method is tasks/get [G36]", async () => {
    let gets = 0;
    const { connection } = await met(({ method }, response) => {
      if (method === "tools/call") return created;
      gets += 1;
      if (gets > 1) return taskOf("t1", { status: "completed", result: text });
      response.destroy();
      return undefined;
    });
    expect((await connection.call("any")).text).toBe("ok");
    expect(gets).toBe(2);
  });

  test.each([413, 431])(
    "HTTP %i is reported as a request that is too large [C66]",
    async (status) => {
      const { connection } = await met((_, response) => {
        response.statusCode = status;
        response.end("too much");
        return undefined;
      });
      expect(await failure(connection.call("any"))).toMatchObject({ code: "too_large" });
    },
  );
});

describe("rounds", () => {
  test("a retry is sent when all questions are answered, with an answer to each key [C20] [C27]", async () => {
    const keys = ["a", "__proto__", "constructor"];
    const { connection, server } = await met(
      ({ params }) => (isFirst(params) ? asking(...keys) : text),
      { elicit: "events" },
    );
    const call = connection.start("any");
    for await (const event of call) {
      if (event.type !== "asked") continue;
      for (const { key } of event.questions) {
        expect(server.heard).toHaveLength(1);
        await call.answer(key, { action: "decline" });
      }
    }
    const responses = server.heard[1]?.params["inputResponses"] ?? {};
    expect(Object.keys(responses)).toEqual(keys);
    expect(server.heard).toHaveLength(2);
  });

  test("no other request carries what a retry carries [C25]", async () => {
    const others = 5;
    const { connection, server } = await met(({ params }) =>
      params["name"] === "asks" && isFirst(params) ? asking("q") : text,
    );
    const names = ["asks", ...Array.from({ length: others }, (_, n) => `other-${n}`)];
    await Promise.all(names.map((name) => connection.call(name)));
    await connection.call("asks-not");
    const carrying = server.heard.filter(({ params }) => !isFirst(params));
    expect(carrying.map(({ params }) => params["name"])).toEqual(["asks"]);
    expect(server.heard).toHaveLength(others + 3);
    const withAnswers = server.heard.filter(({ params }) => "inputResponses" in params);
    expect(withAnswers).toEqual(carrying);
  });

  test("a question without a mode is a form [C40]", async () => {
    const { mode: _, ...params } = form("Name?").params;
    const question = { method: "elicitation/create", params };
    const { connection } = await met((message) =>
      isFirst(message.params) ? { ...asking(), inputRequests: { q: question } } : text,
    );
    expect((await connection.call("any")).text).toBe("ok");
  });

  test("a page that is asked for again is shown again, without assuming consent [C44] [G22]", async () => {
    const page = { mode: "url", message: "Sign in", url: "https://example.com/in" };
    let rounds = 0;
    let shown = 0;
    const elicit = () => {
      shown += 1;
      return { action: "accept" as const };
    };
    const { connection } = await met(
      () => {
        rounds += 1;
        if (rounds > 2) return text;
        const inputRequests = { page: { method: "elicitation/create", params: page } };
        return { ...asking(), inputRequests };
      },
      { elicit },
    );
    expect((await connection.call("any")).text).toBe("ok");
    expect(shown).toBe(2);
  });

  test("an abandoned round closes its request and is not sent again [C64]", async () => {
    const arrived = deferred();
    const closed = deferred();
    const { connection, server } = await met((_, response) => {
      response.on("close", () => closed.resolve());
      arrived.resolve();
      return undefined;
    });
    const call = connection.start("any");
    await arrived.promise;
    await call.cancel();
    expect(await failure(call.result())).toMatchObject({ code: "cancelled" });
    await closed.promise;
    expect(server.heard).toHaveLength(1);
  });
});

describe("tasks", () => {
  test("questions of a task are checked as those of rounds are [C49]", async () => {
    const page = { mode: "url", message: "?", url: "javascript:alert(1)" };
    const inputRequests = { q: { method: "elicitation/create", params: page } };
    const { connection, server } = await met(({ method }) =>
      method === "tools/call" ? created : taskOf("t1", { status: "input_required", inputRequests }),
    );
    expect(await failure(connection.call("any"))).toMatchObject({ code: "bad_response" });
    expect(server.heard.map(({ method }) => method)).not.toContain("tasks/update");
  });

  test("the same key before the task and in it names two questions [C92] [C28]", async () => {
    const asked: string[] = [];
    const elicit: ConnectOptions["elicit"] = ({ message }) => {
      asked.push(message);
      return { action: "accept", content: { name: message } };
    };
    const { connection, server } = await met(roundsAndTask(), { elicit });
    expect((await connection.call("any")).text).toBe("ok");
    expect(asked).toEqual(["q?", "In the task?"]);
    const update = server.heard.find(({ method }) => method === "tasks/update");
    expect(update?.params["inputResponses"]).toEqual({
      q: { action: "accept", content: { name: "In the task?" } },
    });
  });

  test("the first final state that the client sees is final [C82] [C95]", async () => {
    const ends = ["completed", "failed", "cancelled"];
    const { connection, server } = await met(({ method }) =>
      method === "tools/call" ? created : taskOf("t1", { status: ends.shift(), result: text }),
    );
    const call = connection.start("any");
    expect((await call.result()).text).toBe("ok");
    expect((await call.result()).text).toBe("ok");
    expect(server.heard.filter(({ method }) => method === "tasks/get")).toHaveLength(1);
  });

  test("a cancelled task gets tasks/cancel and is no longer polled [C88]", async () => {
    const { connection, server } = await met(({ method }) =>
      method === "tools/call" ? created : taskOf("t1", {}),
    );
    const call = connection.start("any");
    for await (const { type } of call) if (type === "task") break;
    await call.cancel();
    expect(await failure(call.result())).toMatchObject({ code: "cancelled", taskId: "t1" });
    const methods = server.heard.map(({ method }) => method);
    expect(methods.at(-1)).toBe("tasks/cancel");
    expect(methods).not.toContain("notifications/cancelled");
  });
});

describe("without a common revision", () => {
  test("the error names the revisions that the server speaks [C9]", async () => {
    const data = { supported: ["2099-01-01"], requested: "2026-07-28" };
    const stranger = {
      fetch: async (request: Request) => {
        const { id } = (await request.json()) as { id: number };
        const error = { code: -32_022, message: "Unsupported protocol version", data };
        return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
      },
    };
    const error = await failure(connect(stranger));
    expect(error).toMatchObject({ code: "era_not_shared" });
    expect(error.message).toContain("2099-01-01");
  });
});
