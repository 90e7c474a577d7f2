// Servers that break the rules: each costs bounded time and memory, and ends in one clear error.

import { afterEach, describe, expect, test } from "vitest";
import { deferred } from "../../test/wire/deferred.ts";
import { failure } from "./failure.fixture.ts";
import { form, hostile, taskOf } from "./hostile.fixture.ts";
import type { Hostile, Saying } from "./hostile.fixture.ts";
import { Answerers } from "./answerers.ts";
import { EventQueue } from "./events.ts";
import { connect } from "./index.ts";
import type { CallEvent, Connection, ConnectOptions } from "./index.ts";
import { LegacySession } from "./legacy-session.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const yes: ConnectOptions = { elicit: () => ({ action: "accept", content: { name: "Ada" } }) };

async function met(
  say: Saying,
  options: ConnectOptions = yes,
  listen?: Saying,
): Promise<{ server: Hostile; connection: Connection }> {
  const server = await hostile(say, listen);
  open.push(server.close);
  const connection = await connect(server.url, options);
  open.push(() => connection.close());
  return { server, connection };
}

const text = { content: [{ type: "text", text: "ok" }] };
const asking = (key: string, state?: string) => ({
  resultType: "input_required",
  inputRequests: { [key]: form("Name?") },
  ...(state !== undefined && { requestState: state }),
});

describe("rounds", () => {
  test("endless rounds with questions are stopped [C31] [G19]", async () => {
    let round = 0;
    const { connection, server } = await met(() => {
      round += 1;
      return asking(`q${round}`, `state ${round}`);
    });
    const error = await failure(connection.call("any"));
    expect(error.code).toBe("too_many_rounds");
    expect(server.heard).toHaveLength(11);
    expect(new Set(server.heard.map(({ id }) => id)).size).toBe(11);
  });

  test("endless rounds without questions are stopped [C21] [G19]", async () => {
    const { connection, server } = await met(
      () => ({ resultType: "input_required", requestState: "again" }),
      { limits: { stateRounds: 2 } },
    );
    const since = performance.now();
    expect(await failure(connection.call("any"))).toMatchObject({ code: "too_many_rounds" });
    expect(server.heard).toHaveLength(3);
    // The waits are a quarter and then half of a second, and up to half of each is left out by chance.
    expect(performance.now() - since).toBeGreaterThan(365);
  });

  test("the state goes back byte for byte, even if it is empty, and only if there is one [C22] [C23] [C26]", async () => {
    const states = ['{"a": 1,  "b":"\\u00e9"}', "", undefined];
    let round = -1;
    const { connection, server } = await met(() => {
      round += 1;
      return round < states.length ? asking(`q${round}`, states[round]) : text;
    });
    await connection.call("any", { x: 1 });
    expect(server.heard.map(({ params }) => params["requestState"])).toEqual([
      undefined,
      ...states,
    ]);
    expect(server.heard.map(({ params }) => Object.hasOwn(params, "requestState"))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    // Only the answers of the last round are sent.
    expect(server.heard.map(({ params }) => Object.keys(params["inputResponses"] ?? {}))).toEqual([
      [],
      ["q0"],
      ["q1"],
      ["q2"],
    ]);
    expect(
      server.heard.every(({ params }) => JSON.stringify(params["arguments"]) === '{"x":1}'),
    ).toBe(true);
  });

  test.each<[string, object]>([
    ["an unknown resultType", { ...text, resultType: "partial" }],
    ["neither questions nor state", { resultType: "input_required" }],
    ["a state that is not a string", { resultType: "input_required", requestState: 1 }],
    ["questions that are a list", { resultType: "input_required", inputRequests: [form("?")] }],
    ["a question that is not a request", asked({ method: "shell/run", params: {} })],
    [
      "an unknown mode",
      asked({ method: "elicitation/create", params: { mode: "voice", message: "?" } }),
    ],
    [
      "a page that is a script",
      asked({
        method: "elicitation/create",
        params: { mode: "url", message: "?", url: "javascript:1" },
      }),
    ],
    [
      "ten thousand questions",
      {
        resultType: "input_required",
        inputRequests: Object.fromEntries(
          Array.from({ length: 10_000 }, (_, i) => [`q${i}`, form("?")]),
        ),
      },
    ],
    ["content that is not a list", { content: "ok" }],
    ["a task without an id", { resultType: "task", status: "working" }],
  ])("is not accepted as a response to a call: %s [C6]", async (_, result) => {
    const { connection } = await met(() => result);
    const error = await failure(connection.call("any"));
    expect(error).toMatchObject({ name: "CallError", code: "bad_response" });
  });

  test("a result without resultType is complete [C5]", async () => {
    const { connection } = await met(() => text);
    expect((await connection.call("any")).text).toBe("ok");
  });

  test("a task is refused if the method cannot create one [C7]", async () => {
    const { connection } = await met(() => ({ resultType: "task", ...taskOf("t", {}) }));
    expect(await failure(connection.prompt("any"))).toMatchObject({ code: "bad_response" });
    expect(await failure(connection.read("a://b"))).toMatchObject({ code: "bad_response" });
  });

  test("a question of an undeclared kind is not answered, and the error contains it [G20]", async () => {
    const { connection } = await met(() => asking("q1", "s"), {});
    const error = await failure(connection.call("any"));
    expect(error.code).toBe("unhandled_question");
    expect(error.question).toMatchObject({ kind: "form", key: "q1", message: "Name?" });
    expect(error.message).toContain("elicit");
  });

  test("a key with an unusual name is treated like any other [D26]", async () => {
    const { connection, server } = await met(({ params }) =>
      params["inputResponses"] === undefined ? asking("constructor", "s") : text,
    );
    expect((await connection.call("any")).text).toBe("ok");
    expect(JSON.stringify(server.heard[1]?.params["inputResponses"])).toContain('{"constructor":{');
  });

  test("a host that looks like another is flagged [C45]", async () => {
    const page = { mode: "url", message: "?", url: "https://аpple.com/in" };
    const seen: unknown[] = [];
    const elicit: ConnectOptions["elicit"] = (question) => {
      seen.push(question);
      return { action: "decline" };
    };
    const { connection } = await met(
      ({ params }) =>
        params["requestState"] === undefined
          ? { ...asked({ method: "elicitation/create", params: page }), requestState: "s" }
          : text,
      { elicit },
    );
    await connection.call("any");
    expect(seen).toMatchObject([{ kind: "url", host: "xn--pple-43d.com", isPunycode: true }]);
  });
});

function asked(request: object): object {
  return { resultType: "input_required", inputRequests: { q: request } };
}

describe("tasks", () => {
  const created = { resultType: "task", ...taskOf("t1", {}) };

  test.each<[string, object]>([
    ["another id", taskOf("t2", {})],
    ["an unknown status", taskOf("t1", { status: "thinking" })],
    ["resultType task", { ...taskOf("t1", {}), resultType: "task" }],
    ["a missing result", taskOf("t1", { status: "completed" })],
    ["a result that asks", taskOf("t1", { status: "completed", result: asking("q1", "s") })],
    ["a result that is a task", taskOf("t1", { status: "completed", result: created })],
  ])("is not accepted as the state of a task: %s [C94]", async (_, task) => {
    const { connection } = await met(({ method }) => (method === "tools/call" ? created : task));
    expect(await failure(connection.call("any"))).toMatchObject({
      code: "bad_response",
      taskId: "t1",
    });
  });

  test("an inner result without resultType is accepted", async () => {
    const { connection } = await met(({ method }) =>
      method === "tools/call" ? created : taskOf("t1", { status: "completed", result: text }),
    );
    expect((await connection.call("any")).text).toBe("ok");
  });

  test("a key is answered once, however often it appears, and not for a different question [C85] [C87]", async () => {
    let polls = 0;
    const { connection, server } = await met(({ method }) => {
      if (method === "tools/call") return created;
      if (method === "tasks/update") return { resultType: "complete" };
      polls += 1;
      const message = polls < 5 ? "Name?" : "Password?";
      return taskOf("t1", { status: "input_required", inputRequests: { q1: form(message) } });
    });
    const error = await failure(connection.call("any"));
    expect(error.code).toBe("bad_response");
    expect(error.message).toContain('"q1"');
    expect(server.heard.filter(({ method }) => method === "tasks/update")).toHaveLength(1);
  });

  test("a question that is no longer asked is withdrawn, and its handler is aborted", async () => {
    const asks = { status: "input_required", inputRequests: { q1: form("Name?") } };
    const thought = deferred();
    let unwanted: AbortSignal | undefined;
    // The task ends only after the person's dialog was closed.
    const says = () => {
      if (unwanted === undefined) return taskOf("t1", asks);
      return taskOf("t1", unwanted.aborted ? { status: "completed", result: text } : {});
    };
    const { connection, server } = await met(
      ({ method }) => (method === "tools/call" ? created : says()),
      {
        elicit: async (_, { signal }) => {
          unwanted = signal;
          signal.addEventListener("abort", () => thought.resolve());
          await thought.promise;
          return { action: "accept", content: { name: "Ada" } };
        },
      },
    );
    const call = connection.start("any");
    await expect(call.result()).resolves.toMatchObject({ text: "ok" });
    expect(unwanted?.aborted).toBe(true);
    expect(server.heard.map(({ method }) => method)).not.toContain("tasks/update");
  });

  test("a withdrawn question produces an event and can no longer be answered", async () => {
    const asks = { status: "input_required", inputRequests: { q1: form("Name?") } };
    let polls = 0;
    let isAnswerTried = false;
    const { connection, server } = await met(
      ({ method }) => {
        if (method === "tools/call") return created;
        polls += 1;
        if (polls === 1) return taskOf("t1", asks);
        return taskOf("t1", isAnswerTried ? { status: "completed", result: text } : {});
      },
      { elicit: "events" },
    );
    const call = connection.start("any");
    const types: string[] = [];
    for await (const event of call) {
      types.push(event.type);
      if (event.type !== "withdrawn") continue;
      const answer = call.answer(event.key, { action: "decline" });
      expect(await failure(answer)).toMatchObject({ code: "bad_answer" });
      isAnswerTried = true;
    }
    expect(types).toEqual(["task", "asked", "withdrawn", "done"]);
    expect(server.heard.map(({ method }) => method)).not.toContain("tasks/update");
  });

  test("an answer arrives even if every other request is lost", async () => {
    let requests = 0;
    let isAnswered = false;
    const { connection, server } = await met(({ method }, response) => {
      if (method === "tools/call") return created;
      requests += 1;
      if (requests % 2 === 0) {
        response.destroy();
        return undefined;
      }
      isAnswered ||= method === "tasks/update";
      if (method === "tasks/update") return { resultType: "complete" };
      const asks = { status: "input_required", inputRequests: { q1: form("Name?") } };
      return taskOf("t1", isAnswered ? { status: "completed", result: text } : asks);
    });
    expect((await connection.call("any")).text).toBe("ok");
    const updates = server.heard.filter(({ method }) => method === "tasks/update");
    expect(updates.map(({ params }) => params["inputResponses"])).toEqual(
      updates.map(() => ({ q1: { action: "accept", content: { name: "Ada" } } })),
    );
  });

  test("an answer that has arrived is not sent again, even if its acknowledgement was lost [C86]", async () => {
    let updates = 0;
    const { connection } = await met(({ method }, response) => {
      if (method === "tools/call") return created;
      if (method === "tasks/update") {
        updates += 1;
        response.destroy();
        return undefined;
      }
      const asks = { status: "input_required", inputRequests: { q1: form("Name?") } };
      return taskOf("t1", updates > 0 ? { status: "completed", result: text } : asks);
    });
    expect((await connection.call("any")).text).toBe("ok");
    expect(updates).toBe(1);
  });

  test("if an answer is refused because the task is over, the call still gets the result", async () => {
    let isOver = false;
    const { connection } = await met(({ method }) => {
      if (method === "tools/call") return created;
      if (method === "tasks/update") {
        isOver = true;
        return { code: -32_602, message: "it is over" };
      }
      const asks = { status: "input_required", inputRequests: { q1: form("Name?") } };
      return taskOf("t1", isOver ? { status: "completed", result: text } : asks);
    });
    expect((await connection.call("any")).text).toBe("ok");
  });

  test.each<[string, Saying]>([
    ["JSON-RPC", () => ({ code: -32_601, message: "no" })],
    ["JSON-RPC, as a mistake", () => ({ code: -32_602, message: "no" })],
    ["HTTP 403", (_, response) => void response.writeHead(403).end()],
    ["HTTP 429", (_, response) => void response.writeHead(429).end()],
    ["HTTP 503", (_, response) => void response.writeHead(503).end()],
    ["a cut connection", (_, response) => void response.destroy()],
    ["a result at once", () => ({ resultType: "complete" })],
  ])("a refused subscription does not hasten the first poll: %s", async (_, listen) => {
    const pollIntervalMs = 600;
    let createdAt = 0;
    let polledAt = 0;
    const { connection } = await met(
      ({ method }) => {
        if (method === "tools/call") {
          createdAt = performance.now();
          return { resultType: "task", ...taskOf("t1", { pollIntervalMs }) };
        }
        polledAt = performance.now();
        return taskOf("t1", { status: "completed", result: text });
      },
      yes,
      listen,
    );
    expect((await connection.call("any")).text).toBe("ok");
    // A timer may fire a moment early.
    expect(polledAt - createdAt).toBeGreaterThan(pollIntervalMs - 20);
  });

  test("a question without a handler cancels the task", async () => {
    const { connection, server } = await met(({ method }) => {
      if (method === "tools/call") return created;
      if (method !== "tasks/get") return { resultType: "complete" };
      return taskOf("t1", { status: "input_required", inputRequests: { q1: form("Name?") } });
    }, {});
    expect(await failure(connection.call("any"))).toMatchObject({
      code: "unhandled_question",
      question: { key: "q1" },
    });
    expect(server.heard.at(-1)?.method).toBe("tasks/cancel");
  });

  test("endless questions are stopped", async () => {
    let polls = 0;
    const { connection } = await met(
      ({ method }) => {
        if (method === "tools/call") return created;
        if (method === "tasks/update") return { resultType: "complete" };
        polls += 1;
        return taskOf("t1", {
          status: "input_required",
          inputRequests: { [`q${polls}`]: form("?") },
        });
      },
      { ...yes, limits: { taskQuestions: 3 } },
    );
    expect(await failure(connection.call("any"))).toMatchObject({ code: "too_many_rounds" });
  });

  test("endless long questions are stopped", async () => {
    let polls = 0;
    const { connection } = await met(
      ({ method }) => {
        if (method === "tools/call") return created;
        if (method === "tasks/update") return { resultType: "complete" };
        polls += 1;
        const inputRequests = { [`q${polls}`]: form("x".repeat(6 * 1_024 * 1_024)) };
        return taskOf("t1", { status: "input_required", inputRequests });
      },
      { elicit: "events" },
    );
    expect(await failure(connection.start("any").result())).toMatchObject({ code: "too_large" });
    expect(polls).toBe(3);
  });

  test("a short interval does not make the client poll without pause [G26]", async () => {
    const { connection, server } = await met(({ method }) =>
      method === "tools/call" ? created : taskOf("t1", {}),
    );
    const error = await failure(connection.call("any", {}, { timeoutMs: 1_000 }));
    expect(error).toMatchObject({ code: "timed_out", taskId: "t1" });
    expect(server.heard.length).toBeLessThan(15);
  });

  test("a flood of pushes does not make the client poll without pause", async () => {
    let pushes = 0;
    const flood: Saying = ({ id }, response) => {
      response.setHeader("content-type", "text/event-stream");
      const params = { taskId: "t1", _meta: { "io.modelcontextprotocol/subscriptionId": id } };
      const note = { jsonrpc: "2.0", method: "notifications/tasks", params };
      const timer = setInterval(() => {
        pushes += 1;
        response.write(`data: ${JSON.stringify(note)}\n\n`);
      }, 1);
      response.on("close", () => clearInterval(timer));
      return undefined;
    };
    const slow = taskOf("t1", { pollIntervalMs: 60_000 });
    const still: Saying = ({ method }) =>
      method === "tools/call" ? { resultType: "task", ...slow } : slow;
    const { connection, server } = await met(still, yes, flood);
    const error = await failure(connection.call("any", {}, { timeoutMs: 1_000 }));
    expect(error).toMatchObject({ code: "timed_out", taskId: "t1" });
    expect(server.heard.length).toBeLessThan(15);
    expect(pushes).toBeGreaterThan(15);
  });

  test("a push makes the client poll at once, and only the polled state counts [C90]", async () => {
    let isDone = false;
    const slow = { pollIntervalMs: 60_000 };
    const { connection } = await met(
      ({ method }) => {
        if (method === "tools/call") return { resultType: "task", ...taskOf("t1", slow) };
        return taskOf("t1", isDone ? { status: "completed", result: text } : slow);
      },
      yes,
      ({ id }, response) => {
        response.setHeader("content-type", "text/event-stream");
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        const params = { ...taskOf("t1", { status: "cancelled" }), _meta };
        isDone = true;
        const note = { jsonrpc: "2.0", method: "notifications/tasks", params };
        response.write(`data: ${JSON.stringify(note)}\n\n`);
        return undefined;
      },
    );
    expect((await connection.call("any")).text).toBe("ok");
  });

  test.each([
    [{ code: -32_602, message: "No such task" }, "task_gone"],
    [{ code: -32_602, message: "over", data: { reason: "task_expired" } }, "task_expired"],
  ])("an error of tasks/get ends the call: %j", async (error, code) => {
    const { connection } = await met(({ method }) => (method === "tools/call" ? created : error));
    expect(await failure(connection.call("any"))).toMatchObject({ code, taskId: "t1" });
  });
});

describe("the stream", () => {
  test("a response under another id is refused", async () => {
    const { connection } = await met((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: "someone's", result: text }));
      return undefined;
    });
    expect(await failure(connection.call("any"))).toMatchObject({ code: "bad_response" });
  });

  test("responses that arrive out of order each reach their own call", async () => {
    const waiting: (() => void)[] = [];
    const { connection } = await met(async ({ params }) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 3) for (const each of waiting.toReversed()) each();
      });
      return { content: [{ type: "text", text: String(params["name"]) }] };
    });
    const results = await Promise.all(["a", "b", "c"].map((tool) => connection.call(tool)));
    expect(results.map((result) => result.text)).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["application/json", "{not json", "bad_response"],
    ["application/json", '{"hello":1}', "bad_response"],
    ["text/html", "<h1>Welcome</h1>", "bad_response"],
    ["text/event-stream", "data: {not json\n\ndata: 5\n\n\u0000\u0001", "server_down"],
    ["text/event-stream", "", "server_down"],
  ])("garbage is refused: %s %s", async (type, body, code) => {
    const { connection } = await met((_, response) => {
      response.setHeader("content-type", type);
      response.end(body);
      return undefined;
    });
    expect(await failure(connection.call("any"))).toMatchObject({ name: "CallError", code });
  });

  test.each(["application/json", "text/event-stream"])(
    "100 MB of %s are not read to the end",
    async (type) => {
      let sent = 0;
      const { connection } = await met((_, response) => {
        response.setHeader("content-type", type);
        const chunk = Buffer.alloc(1_048_576, "x");
        response.write(type === "application/json" ? '{"jsonrpc":"2.0","x":"' : "data: ");
        const pump = () => {
          while (sent < 100 && !response.destroyed) {
            sent += 1;
            if (!response.write(chunk)) return void response.once("drain", pump);
          }
          response.end();
        };
        pump();
        return undefined;
      });
      const error = await failure(connection.call("any"));
      expect(error).toMatchObject({ name: "CallError", code: "too_large" });
      expect(sent).toBeLessThan(60);
    },
  );

  test("a silent server times out", async () => {
    const { connection } = await met(() => undefined, { limits: { silenceMs: 200 } });
    expect(await failure(connection.call("any"))).toMatchObject({ code: "timed_out" });
  });

  test("keep-alive messages are not a response, and timeoutMs applies whatever they are [C11]", async () => {
    const { connection } = await met(({ params }, response) => {
      response.setHeader("content-type", "text/event-stream");
      const progressToken = (params["_meta"] as { progressToken: string }).progressToken;
      let progress = 0;
      const timer = setInterval(() => {
        progress += 1;
        const note = { method: "notifications/progress", params: { progressToken, progress } };
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...note })}\n\n`);
      }, 10);
      response.on("close", () => clearInterval(timer));
      return undefined;
    });
    const error = await failure(connection.call("any", {}, { timeoutMs: 300 }));
    expect(error).toMatchObject({ code: "timed_out" });
  });
});

describe("over stdio", () => {
  const script = (reply: string) => `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const say = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "server/discover") say({ resultType: "complete", supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" });
      else { ${reply} }
    });`;
  const told = async (reply: string) => {
    const target = { command: process.execPath, args: ["-e", script(reply)] };
    const connection = await connect(target, { limits: { messageBytes: 4_194_304 } });
    open.push(() => connection.close());
    return connection;
  };

  test("garbage between messages is skipped", async () => {
    const connection = await told(
      `console.log("Listening..."); console.log("{"); say({ content: [{ type: "text", text: "ok" }] });`,
    );
    expect((await connection.call("any")).text).toBe("ok");
  });

  test("a server that stops reading for a while causes no warning about listeners", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    open.push(async () => void process.off("warning", onWarning));
    const connection = await told(`
      if (globalThis.isAwake === undefined) for (const end = Date.now() + 300; Date.now() < end; );
      globalThis.isAwake = true;
      say({ content: [{ type: "text", text: "ok" }] });`);
    const calls = Array.from({ length: 50 }, () =>
      connection.call("any", { a: "x".repeat(9_000) }),
    );
    expect((await Promise.all(calls)).every((result) => result.text === "ok")).toBe(true);
    expect(warnings).toEqual([]);
  });

  test("an endless line ends the connection", async () => {
    const connection = await told(
      `for (let i = 0; i < 100; i++) process.stdout.write("x".repeat(1e6));`,
    );
    expect(await failure(connection.call("any"))).toMatchObject({ code: "server_down" });
    expect(await failure(connection.call("any"))).toMatchObject({ code: "server_down" });
  });

  test("an abandoned call is cancelled by a notification, and its late response is dropped [C12] [C64]", async () => {
    const connection = await told(`
      globalThis.slow ??= undefined;
      if (method === "notifications/cancelled") {
        console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).params.requestId, result: {} }));
        globalThis.cancelled = JSON.parse(line).params.requestId === globalThis.slow;
      } else if (JSON.parse(line).params.name === "slow") globalThis.slow = id;
      else say({ content: [{ type: "text", text: String(globalThis.cancelled) }] });`);
    const stop = new AbortController();
    const slow = connection.call("slow", {}, { signal: stop.signal });
    // This was written later to the same pipe, so its response shows that the earlier message has arrived.
    expect((await connection.call("status")).text).toBe("undefined");
    stop.abort();
    expect(await failure(slow)).toMatchObject({ code: "cancelled" });
    expect((await connection.call("status")).text).toBe("true");
  });

  test("a server that dies ends the call with an error", async () => {
    const connection = await told("process.exit(1);");
    expect(await failure(connection.call("any"))).toMatchObject({ code: "server_down" });
  });
});

describe("memory", () => {
  test("events that are not read share one reference", async () => {
    const queue = new EventQueue<CallEvent>();
    queue.push({ type: "asked", questions: [], ref: "first" });
    queue.push({ type: "answered", key: "q" });
    queue.push({ type: "task", taskId: "t", ref: "second" });
    const read = async () => (await queue.next()).value;
    expect(await read()).toEqual({ type: "asked", questions: [], ref: "second" });
    queue.push({ type: "asked", questions: [], ref: "third" });
    expect(await read()).toEqual({ type: "answered", key: "q" });
    expect(await read()).toEqual({ type: "task", taskId: "t", ref: "third" });
    expect(await read()).toEqual({ type: "asked", questions: [], ref: "third" });
  });

  test("a session that asks without end, and without a call, is refused", async () => {
    let shown = 0;
    const elicit = () => {
      shown += 1;
      return new Promise<never>(() => {});
    };
    const handlers = new Map<string, (request: object, context: object) => Promise<unknown>>();
    const sdk = {
      setRequestHandler: (method: string, handler: never) => void handlers.set(method, handler),
    };
    const session = new LegacySession(sdk as never, new Answerers({ elicit }), new Set());
    const ask = () => {
      const { signal } = new AbortController();
      return handlers.get("elicitation/create")?.(form("Name?"), { mcpReq: { signal } });
    };
    for (let nth = 0; nth < 100; nth += 1) void ask();
    await expect(ask()).rejects.toThrow("This client already answers 100 questions.");
    expect(shown).toBe(100);
    expect(session.isAsking).toBe(true);
  });
});
