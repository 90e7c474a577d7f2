// `withTasks` between an official client and a server that responds with whatever a test wants.

import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { TaskLeftError, withTasks } from "../index.ts";
import type { WithTasksOptions } from "../index.ts";
import { LegacyByDefault } from "./no-effect.ts";
import {
  asks,
  completed,
  connected,
  created,
  form,
  inTurn,
  PretendServer,
  task,
  taskId,
  textIn,
} from "./with-tasks.fixture.ts";
import type { Answer, Said } from "./with-tasks.fixture.ts";

const extension = "io.modelcontextprotocol/tasks";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const subscriptionKey = "io.modelcontextprotocol/subscriptionId";
const ack = () => ({ result: { resultType: "complete" } });
const call = { name: "long", arguments: {} };

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** Advances the clock, and runs everything that is due. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** The text or the error that a call has ended with after this time. */
async function after(ms: number, promise: Promise<{ content: Said[] }>): Promise<unknown> {
  const settled = promise.then(textIn, (error: unknown) => error);
  await pass(ms);
  return Promise.race([settled, Promise.resolve("nothing yet")]);
}

const reasonOf = (error: unknown) =>
  error instanceof ProtocolError ? (error.data as { reason?: string } | undefined)?.reason : error;

describe("a task", () => {
  test("is polled at its interval until it is completed, and the call gets its result", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(task("working"), task("working"), completed("done")),
      }),
      { listen: false },
    );
    const calling = client.callTool(call);
    expect(await after(599, calling)).toBe("nothing yet");
    expect(await after(1, calling)).toBe("done");
    expect(server.methods()).toEqual([
      "server/discover",
      "tools/call",
      "tasks/get",
      "tasks/get",
      "tasks/get",
    ]);
  });

  test("is polled with the envelope of the call, without its progress token", async () => {
    const { client, server } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => completed("done") }),
    );
    const calling = client.callTool(call, { onprogress: () => {} });
    expect(await after(500, calling)).toBe("done");
    const [called] = server.of("tools/call");
    const [got] = server.of("tasks/get");
    const { progressToken, ...meta } = called!.params!._meta!;
    expect(progressToken).toBeDefined();
    expect(got!.params).toEqual({ taskId, _meta: meta });
    expect(called!.id).not.toBe(got!.id);
  });

  test("a task is polled at the newest interval, within bounds [C81]", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created({ pollIntervalMs: 1 }),
        "tasks/get": inTurn(
          task("working", { pollIntervalMs: 1e13 }),
          task("working", { pollIntervalMs: 400 }),
          completed("done"),
        ),
      }),
      { listen: false },
    );
    const calling = client.callTool(call, { timeout: 1e6 });
    await pass(99);
    expect(server.of("tasks/get")).toHaveLength(0);
    await pass(1);
    expect(server.of("tasks/get")).toHaveLength(1);
    await pass(299_999);
    expect(server.of("tasks/get")).toHaveLength(1);
    await pass(1);
    expect(server.of("tasks/get")).toHaveLength(2);
    expect(await after(400, calling)).toBe("done");
  });

  test("a task without an interval is polled less and less often [G26]", async () => {
    const chance = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => chance.mockRestore());
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created({ pollIntervalMs: undefined }),
        "tasks/get": () => task("working", { pollIntervalMs: undefined }),
      }),
      { listen: false },
    );
    client.callTool(call, { timeout: 1e6 }).catch(() => {});
    const polls = async (ms: number) => {
      const before = server.of("tasks/get").length;
      await pass(ms);
      return server.of("tasks/get").length - before;
    };
    // The waits double from one second to ten, and half of each is random. This chance makes each three quarters long.
    expect(await polls(740)).toBe(0);
    expect(await polls(10_520)).toBe(4);
    expect(await polls(75_000)).toBe(10);
  });

  test("is polled at once if its first status is not working", async () => {
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created({ status: "completed", pollIntervalMs: 60_000 }),
        "tasks/get": () => completed("done"),
      }),
    );
    expect(await after(0, client.callTool(call))).toBe("done");
  });

  test.each([
    ["with its error", { error: { code: 4711, message: "Fuse", data: { fuse: 3 } } }, 4711, "Fuse"],
    ["without an error", {}, -32603, "The task failed, and the server gave no reason."],
    [
      "with an invalid error",
      { error: "x" },
      -32603,
      "The task failed, and the server gave no reason.",
    ],
  ])("is an error when it failed %s", async (_, more, code, message) => {
    const { client } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => task("failed", more) }),
    );
    const error = await after(500, client.callTool(call));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test("is a different error when it was cancelled", async () => {
    const { client } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => task("cancelled") }),
    );
    const error = await after(500, client.callTool(call));
    expect(error).toMatchObject({ data: { reason: "task_cancelled", taskId } });
  });

  test("ends the call with the message of the server when the server does not know it", async () => {
    const gone = { code: -32602, message: "No such task", data: { reason: "unknown_task" } };
    const { client, server } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => ({ error: gone }) }),
    );
    expect(await after(500, client.callTool(call))).toMatchObject(gone);
    expect(server.of("tasks/get")).toHaveLength(1);
  });

  test("does not make the client call again when it ends with the code for wrong headers", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": () => task("failed", { error: { code: -32020, message: "headers" } }),
      }),
    );
    const error = await after(500, client.callTool(call));
    expect(error).toMatchObject({ code: -32603, data: { code: -32020 } });
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test("is not given up while the server is away for a short time", async () => {
    const fails = new Error("ECONNREFUSED");
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(
          { fails },
          { error: { code: -32603, message: "the store is away" } },
          { fails },
          completed("done"),
        ),
      }),
      { listen: false },
    );
    expect(await after(15_000, client.callTool(call))).toBe("done");
  });

  test("is given up when the server is away for too long", async () => {
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": () => ({ fails: new Error("ECONNREFUSED") }),
      }),
      { listen: false, outageMs: 5_000 },
    );
    const error = await after(5_500, client.callTool(call));
    expect(reasonOf(error)).toBe("server_down");
    expect(String(error)).toContain("ECONNREFUSED");
  });

  test("is not polled again after the server refuses the credentials", async () => {
    const fails = new SdkHttpError(SdkErrorCode.ClientHttpForbidden, "Forbidden", { status: 403 });
    const { client, server } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => ({ fails }) }),
      { listen: false },
    );
    expect(reasonOf(await after(500, client.callTool(call)))).toBe("refused");
    expect(server.of("tasks/get")).toHaveLength(1);
  });

  test("a task whose time is long over is given up, even if the server says that it is working [C89]", async () => {
    const working = task("working", { ttlMs: 10_000, pollIntervalMs: 1_000 });
    const { client } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => working }),
      { listen: false },
    );
    const calling = client.callTool(call, { timeout: 1e6 });
    expect(await after(39_000, calling)).toBe("nothing yet");
    expect(reasonOf(await after(3_000, calling))).toBe("task_expired");
  });
});

describe("an invalid state of a task", () => {
  const good = { resultType: "complete", taskId, status: "completed", result: { content: [] } };
  test.each<[string, Said]>([
    ["a state of another task", { ...good, taskId: "t-2" }],
    ["a state without a task", { ...good, taskId: undefined }],
    ["a second task", { ...good, resultType: "task" }],
    ["a result of an unknown type", { ...good, resultType: "nonsense" }],
    ["an unknown status", { ...good, status: "sleeping" }],
    ["a completed task without a result", { ...good, result: undefined }],
    ["a result that is a task", { ...good, result: { resultType: "task", content: [] } }],
    ["a result that asks", { ...good, result: { resultType: "input_required" } }],
    ["questions that are a list", { ...good, status: "input_required", inputRequests: ["x"] }],
    ["a question that is text", { ...good, status: "input_required", inputRequests: { a: "x" } }],
  ])("is refused: %s", async (_, result) => {
    const { client, shown } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => ({ result }) }),
      { listen: false },
    );
    expect(reasonOf(await after(500, client.callTool(call)))).toBe("bad_response");
    expect(shown).toEqual([]);
  });

  test.each([undefined, "", 7, "x".repeat(5_000)])(
    "a task with the id %j is refused",
    async (id) => {
      const { client, server } = await connected(
        new PretendServer({ "tools/call": () => created({ taskId: id }) }),
      );
      expect(reasonOf(await after(500, client.callTool(call)))).toBe("bad_response");
      expect(server.of("tasks/get")).toHaveLength(0);
    },
  );

  test("a second response to the call does not count as its result", async () => {
    const { client, server, errors } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => completed("first") }),
      { listen: false },
    );
    const calling = client.callTool(call);
    await pass(100);
    const { id } = server.of("tools/call")[0]!;
    server.say({ id, result: { resultType: "complete", content: [{ type: "text", text: "no" }] } });
    expect(await after(500, calling)).toBe("first");
    expect(String(errors)).toContain(
      "The server responded a second time to a call that has become a task",
    );
  });

  test("a result without a type is complete", async () => {
    const { client } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => completed("done") }),
    );
    expect(await after(500, client.callTool(call))).toBe("done");
  });
});

describe("questions", () => {
  test("are answered by the client's own handler, each once", async () => {
    const { client, server, shown } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("a"), asks("a"), asks("a", "b"), asks("b"), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    expect(await after(3_000, client.callTool(call))).toBe("done");
    expect(shown).toEqual(["a", "b"]);
    expect(server.of("tasks/update").map(({ params }) => params!["inputResponses"])).toEqual([
      { a: { action: "accept", content: { said: "a!" } } },
      { b: { action: "accept", content: { said: "b!" } } },
    ]);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test("are refused when they differ under a key that has been answered", async () => {
    const other = task("input_required", { inputRequests: { a: form("Your password?") } });
    const { client, server, shown } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("a"), other),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    expect(reasonOf(await after(1_000, client.callTool(call)))).toBe("bad_response");
    expect(shown).toEqual(["a"]);
    expect(server.of("tasks/update")).toHaveLength(1);
  });

  test("exceed the client's limit of rounds when they never end", async () => {
    const endless = (_: Said, nth: number) => asks(`key-${nth}`);
    const { client, shown } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": endless,
        "tasks/update": ack,
      }),
      { listen: false },
    );
    const error = await after(10_000, client.callTool(call));
    expect(error).toBeInstanceOf(SdkError);
    expect(String(error)).toContain("10");
    expect(shown).toHaveLength(10);
  });

  test("may have keys that name members of every object", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("__proto__", "constructor"), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    expect(await after(1_000, client.callTool(call))).toBe("done");
    const { inputResponses } = server.of("tasks/update")[0]!.params!;
    expect(Object.keys(inputResponses as object)).toEqual(["__proto__", "constructor"]);
  });

  test("a question that cannot be answered ends the call, cancels the task, and is in the error", async () => {
    const question = { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } };
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": () => task("input_required", { inputRequests: { model: question } }),
        "tasks/cancel": ack,
      }),
      { listen: false },
    );
    const error = await after(1_000, client.callTool(call));
    expect(error).toMatchObject({
      message: expect.stringContaining("sampling"),
      data: {
        reason: "unhandled_question",
        question: { kind: "sampling", key: "model", params: question.params },
        taskId,
      },
    });
    expect(server.of("tasks/cancel")).toHaveLength(1);
  });

  test("questions that can be answered are answered first, even beside others that cannot", async () => {
    const inputRequests = { a: form("a"), roots: { method: "roots/list" } };
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(task("input_required", { inputRequests }), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    expect(await after(1_000, client.callTool(call))).toBe("done");
    expect(Object.keys(server.of("tasks/update")[0]!.params!["inputResponses"]!)).toEqual(["a"]);
  });

  test("a question that cannot be answered waits for an answer that is on its way", async () => {
    const both = { a: form("a"), roots: { method: "roots/list" } };
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(
          task("input_required", { inputRequests: both }),
          task("input_required", { inputRequests: both }),
          completed("done"),
        ),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    expect(await after(1_000, client.callTool(call))).toBe("done");
  });

  test("a person who takes an hour to answer does not use up the time of the call", async () => {
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("a"), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    client.setRequestHandler("elicitation/create", async () => {
      await new Promise((resolve) => {
        setTimeout(resolve, 3_000_000);
      });
      return { action: "decline" };
    });
    expect(await after(3_001_000, client.callTool(call))).toBe("done");
  });

  describe("whose handler throws", () => {
    const server = () =>
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": () => asks("a"),
        "tasks/cancel": ack,
      });
    const throwing = async (options: WithTasksOptions) => {
      const all = await connected(server(), { listen: false, ...options });
      all.client.setRequestHandler("elicitation/create", () => {
        throw new Error("no terminal");
      });
      expect(String(await after(1_000, all.client.callTool(call)))).toContain("no terminal");
      return all;
    };

    test("cancel the task after `answerMs`", async () => {
      const all = await throwing({ answerMs: 5_000 });
      expect(all.server.of("tasks/cancel")).toHaveLength(0);
      await pass(5_000);
      expect(all.server.of("tasks/cancel")).toHaveLength(1);
      await all.client.close();
      expect(all.errors).toEqual([]);
    });

    test("otherwise leave the task, and closing the connection reports it", async () => {
      const { client, server: served, errors } = await throwing({});
      await pass(3_600_000);
      expect(served.of("tasks/cancel")).toHaveLength(0);
      await client.close();
      expect(errors).toEqual([expect.any(TaskLeftError)]);
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  test("cancel nothing when they are answered in time", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("a"), task("working"), task("working"), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false, answerMs: 100 },
    );
    expect(await after(5_000, client.callTool(call))).toBe("done");
    expect(server.of("tasks/cancel")).toHaveLength(0);
  });

  test("with `allowInputRequired`, the caller answers the questions, and only once", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("a", "b"), asks("b"), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    const byHand = async (params: Said) => {
      const request = { method: "tools/call" as const, params: { ...call, ...params } };
      const settled = client.request(request, { allowInputRequired: true }).catch(String);
      await pass(1_000);
      return (await settled) as never as Said;
    };
    const first = await byHand({});
    expect(Object.keys(first["inputRequests"]!)).toEqual(["a", "b"]);
    const { requestState } = first;
    // An answer to a question that was not asked is not sent on.
    const answers = { a: { action: "accept" }, z: { action: "accept" } };
    const second = await byHand({ requestState, inputResponses: answers });
    expect(server.of("tasks/update")[0]!.params!["inputResponses"]).toEqual({ a: answers.a });
    // The question without an answer is asked again.
    expect(Object.keys(second["inputRequests"]!)).toEqual(["b"]);
    expect(await byHand({ requestState, inputResponses: answers })).toContain("already");
    expect(server.of("tasks/update")).toHaveLength(1);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test("a question whose answer was lost is answered again only while it is asked", async () => {
    const fails = new Error("ECONNRESET");
    const lost = (arrived: boolean) =>
      connected(
        new PretendServer({
          "tools/call": () => created(),
          "tasks/get": arrived
            ? inTurn(asks("a"), task("working"), completed("done"))
            : inTurn(asks("a"), asks("a"), completed("done")),
          "tasks/update": inTurn({ fails }, ack()),
        }),
        { listen: false },
      );
    const one = await lost(true);
    expect(await after(5_000, one.client.callTool(call))).toBe("done");
    expect(one.server.of("tasks/update")).toHaveLength(1);
    const two = await lost(false);
    expect(await after(5_000, two.client.callTool(call))).toBe("done");
    expect(two.server.of("tasks/update")).toHaveLength(2);
    expect(two.shown).toEqual(["a"]);
  });

  test("are answered even if every other request is lost", async () => {
    let requests = 0;
    const everyOther = (answer: Answer) => {
      requests += 1;
      return requests % 2 === 0 ? { fails: new Error("ECONNREFUSED") } : answer;
    };
    let isAnswered = false;
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": () => everyOther(isAnswered ? completed("done") : asks("a")),
        "tasks/update": () => {
          const answer = everyOther(ack());
          isAnswered ||= answer !== undefined && "result" in answer;
          return answer;
        },
      }),
      { listen: false },
    );
    expect(await after(30_000, client.callTool(call))).toBe("done");
  });

  test("leave the result in place when their task ends in the meantime", async () => {
    const { client } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": inTurn(asks("a"), completed("done without you")),
        "tasks/update": () => ({ error: { code: -32602, message: "it is over" } }),
      }),
      { listen: false },
    );
    expect(await after(1_000, client.callTool(call))).toBe("done without you");
  });

  test("questions of the call itself, before it becomes a task, pass unchanged", async () => {
    const round = {
      resultType: "input_required",
      inputRequests: { first: form("first") },
      requestState: `{"theirs": "parley-\\u0000/1"}`,
    };
    const { client, server, shown } = await connected(
      new PretendServer({
        "tools/call": inTurn({ result: round }, created()),
        "tasks/get": inTurn(asks("first"), completed("done")),
        "tasks/update": ack,
      }),
      { listen: false },
    );
    expect(await after(1_000, client.callTool(call))).toBe("done");
    // A task may use a key that a round has used for another question.
    expect(shown).toEqual(["first", "first"]);
    expect(server.of("tools/call")[1]!.params!["requestState"]).toBe(round.requestState);
  });
});

describe("hints", () => {
  const slow = { pollIntervalMs: 60_000 };
  const subscribed = (over: () => Said, taskIds: unknown = [taskId], isHttp = true) => {
    const pretend = new PretendServer(
      {
        "tools/call": () => created(slow),
        "tasks/get": inTurn(task("working", slow), completed("done")),
        "subscriptions/listen": () => {
          const { id } = pretend.of("subscriptions/listen")[0]!;
          const _meta = { [subscriptionKey]: id };
          queueMicrotask(() => {
            pretend.say({
              method: "notifications/subscriptions/acknowledged",
              params: { notifications: { taskIds }, _meta },
            });
            pretend.say({ ...over(), params: { ...(over()["params"] as object), _meta } });
          });
          return undefined;
        },
      },
      { isHttp },
    );
    return pretend;
  };
  const hint = { method: "notifications/tasks", params: { taskId, status: "completed" } };

  test("make the next poll come sooner, and their content is not trusted", async () => {
    const server = subscribed(() => hint);
    const { client, errors } = await connected(server);
    const calling = client.callTool(call, { timeout: 1e6 });
    expect(await after(200, calling)).toBe("nothing yet");
    expect(server.of("tasks/get")).toHaveLength(1);
    const { id, params } = server.of("subscriptions/listen")[0]!;
    expect(params).toMatchObject({ notifications: { taskIds: [taskId] } });
    server.say({ ...hint, params: { ...hint.params, _meta: { [subscriptionKey]: id } } });
    expect(await after(200, calling)).toBe("done");
    // The subscription is closed, and the client has seen none of its messages.
    const listening = server.heard.findIndex((one) => "id" in one && one.id === id);
    expect(server.options[listening]!.requestSignal!.aborted).toBe(true);
    expect(errors).toEqual([]);
  });

  test("thousands of hints cause ten polls a second", async () => {
    const server = new PretendServer({
      "tools/call": () => created(slow),
      "tasks/get": () => task("working", slow),
    });
    const { client } = await connected(server);
    client.callTool(call, { timeout: 1e6 }).catch(() => {});
    await pass(0);
    const { id } = server.of("subscriptions/listen")[0]!;
    for (let passed = 0; passed < 50; passed += 1) {
      for (let times = 0; times < 20; times += 1) {
        server.say({ ...hint, params: { ...hint.params, _meta: { [subscriptionKey]: id } } });
      }
      await pass(20);
    }
    const looks = server.of("tasks/get").length;
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThanOrEqual(10);
  });

  test("hints over a shared channel end with a cancellation, and are not requested again after a refusal", async () => {
    const server = new PretendServer(
      {
        "tools/call": () => created(slow),
        "tasks/get": () => completed("done"),
        "subscriptions/listen": () => ({ error: { code: -32601, message: "Method not found" } }),
      },
      { isHttp: false },
    );
    const { client } = await connected(server);
    const first = client.callTool(call, { timeout: 1e6 });
    // The refusal is not a hint.
    expect(await after(200, first)).toBe("nothing yet");
    expect(await after(60_000, first)).toBe("done");
    expect(await after(60_000, client.callTool(call, { timeout: 1e6 }))).toBe("done");
    expect(server.of("subscriptions/listen")).toHaveLength(1);
    const kept = subscribed(() => hint, [taskId], false);
    const { client: other } = await connected(kept);
    const calling = other.callTool(call, { timeout: 1e6 });
    await pass(200);
    const { id } = kept.of("subscriptions/listen")[0]!;
    kept.say({ ...hint, params: { ...hint.params, _meta: { [subscriptionKey]: id } } });
    expect(await after(200, calling)).toBe("done");
    expect(kept.of("notifications/cancelled")[0]!.params).toMatchObject({ requestId: id });
  });

  test("hints whose stream breaks off are requested again a few times [C72]", async () => {
    const server = new PretendServer({
      "tools/call": () => created({ ...slow, ttlMs: 1e9 }),
      "tasks/get": () => task("working", { ...slow, ttlMs: 1e9 }),
    });
    const { client } = await connected(server);
    client.callTool(call, { timeout: 1e6 }).catch(() => {});
    for (let breaks = 0; breaks < 10; breaks += 1) {
      await pass(20_000);
      const { id } = server.of("subscriptions/listen").at(-1)!;
      const nth = server.heard.findIndex((one) => "id" in one && one.id === id);
      server.options[nth]!.onRequestStreamEnd?.();
    }
    expect(server.of("subscriptions/listen")).toHaveLength(5);
  });

  test("polling goes on if the server gives no hints [C70]", async () => {
    const server = subscribed(() => ({ method: "notifications/message", params: {} }), []);
    const { client } = await connected(server);
    const calling = client.callTool(call, { timeout: 1e6 });
    await pass(200);
    // The server accepts the subscription without this task, so the stream is closed.
    const listening = server.heard.findIndex(
      (one) => "method" in one && one.method === "subscriptions/listen",
    );
    expect(server.options[listening]!.requestSignal!.aborted).toBe(true);
    expect(await after(119_799, calling)).toBe("nothing yet");
    expect(await after(1, calling)).toBe("done");
  });

  test("hints of the client's own subscriptions belong to the client [C71]", async () => {
    const { client, server } = await connected(
      new PretendServer({ "tools/call": () => created(), "tasks/get": () => completed("done") }),
    );
    const heard: unknown[] = [];
    client.fallbackNotificationHandler = async (one) => void heard.push(one.params);
    server.say({ ...hint, params: { ...hint.params, _meta: { [subscriptionKey]: "listen:0" } } });
    await pass(1);
    expect(heard).toMatchObject([{ taskId }]);
  });
});

describe("giving up", () => {
  const never = (isHttp: boolean) =>
    new PretendServer(
      {
        "tools/call": () => created(),
        "tasks/get": () => task("working"),
        "tasks/cancel": ack,
      },
      { isHttp },
    );

  describe.each([
    ["over HTTP", true],
    ["over a shared channel", false],
  ])("%s", (_, isHttp) => {
    test("a timeout leaves the task running, says so, and stops polling", async () => {
      const { client, server, errors } = await connected(never(isHttp), { listen: false });
      const error = await after(60_000, client.callTool(call));
      expect(String(error)).toContain("Request timed out");
      expect(errors).toEqual([expect.any(TaskLeftError)]);
      expect(errors[0]).toMatchObject({ taskId });
      expect(errors[0]!.message).toContain("resetTimeoutOnProgress");
      expect(errors[0]!.message).not.toContain(taskId);
      const polls = server.of("tasks/get").length;
      await pass(60_000);
      expect(server.of("tasks/get")).toHaveLength(polls);
      expect(server.of("tasks/cancel")).toHaveLength(0);
      expect(server.of("notifications/cancelled")).toHaveLength(0);
    });

    test("an abort cancels the task if that option is set", async () => {
      const { client, server } = await connected(never(isHttp), {
        listen: false,
        cancelOnAbort: true,
      });
      const given = new AbortController();
      const calling = client.callTool(call, { signal: given.signal });
      expect(await after(1_000, calling)).toBe("nothing yet");
      given.abort(new Error("enough"));
      expect(String(await after(0, calling))).toContain("enough");
      expect(server.of("tasks/cancel").map(({ params }) => params!["taskId"])).toEqual([taskId]);
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  test("giving up while the server still works on the call reaches the server, and a late task is not lost", async () => {
    const server = new PretendServer({ "tasks/cancel": ack }, { isHttp: false });
    const { client } = await connected(server, { cancelOnAbort: true });
    const given = new AbortController();
    const calling = client.callTool(call, { signal: given.signal });
    await pass(10);
    given.abort();
    await after(0, calling);
    expect(server.of("notifications/cancelled")).toHaveLength(1);
    const { id } = server.of("tools/call")[0]!;
    server.say({ id, ...created() });
    await pass(10);
    expect(server.of("tasks/cancel")).toHaveLength(1);
    expect(server.of("tasks/get")).toHaveLength(0);
  });

  test.each<[string, (server: PretendServer, client: Client) => Promise<void>]>([
    ["the client closes", (_, client) => client.close()],
    ["the server closes", async (server) => server.onclose?.()],
    [
      "closing takes time",
      (server, client) => {
        vi.spyOn(server, "close").mockReturnValueOnce(new Promise(() => {}));
        return Promise.race([client.close(), Promise.resolve()]);
      },
    ],
  ])("closing ends the polling (%s)", async (_, close) => {
    const server = never(true);
    const { client } = await connected(server);
    client.callTool(call).catch(() => {});
    await pass(1_000);
    const polls = server.of("tasks/get").length;
    expect(polls).toBeGreaterThan(1);
    await close(server, client);
    await pass(10_000);
    expect(server.of("tasks/get")).toHaveLength(polls);
  });
});

describe("progress", () => {
  test("keeps a long task alive if the caller resets the timeout; it always increases and carries the status message", async () => {
    const { client, server } = await connected(
      new PretendServer({
        "tools/call": () => undefined,
        "tasks/get": (_, nth) =>
          nth < 500 ? task("working", { statusMessage: `part ${nth >> 7}` }) : completed("done"),
      }),
      { listen: false },
    );
    const heard: { progress: number; message?: string | undefined }[] = [];
    const onprogress = (one: (typeof heard)[number]) => void heard.push(one);
    const calling = client.callTool(call, {
      onprogress,
      resetTimeoutOnProgress: true,
      timeout: 8_000,
    });
    await pass(10);
    const { id, params } = server.of("tools/call")[0]!;
    const { progressToken } = params!._meta!;
    server.say({ method: "notifications/progress", params: { progressToken, progress: 40 } });
    server.say({ id, ...created() });
    expect(await after(100_500, calling)).toBe("done");
    const told = heard.map(({ progress }) => progress);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(new Set(told).size).toBe(told.length);
    expect(told.length).toBeGreaterThan(20);
    expect(new Set(heard.map(({ message }) => message))).toEqual(
      new Set([undefined, "part 0", "part 1", "part 2", "part 3"]),
    );
  });

  test("is not delivered to a caller that did not ask for it", async () => {
    const { client, errors } = await connected(
      new PretendServer({
        "tools/call": () => created(),
        "tasks/get": (_, nth) => (nth < 100 ? task("working") : completed("done")),
      }),
      { listen: false },
    );
    expect(await after(21_000, client.callTool(call))).toBe("done");
    expect(errors).toEqual([]);
  });
});

describe("everything else", () => {
  test("the extension is declared in every request of 2026-07-28, as exactly {}, beside what the client declares", async () => {
    const capabilities = { elicitation: { form: {} }, extensions: { "com.example/x": { a: 1 } } };
    const list = { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" };
    const { client, server } = await connected(
      new PretendServer({ "tools/list": () => ({ result: list }), "tools/call": () => created() }),
      {},
      { capabilities },
    );
    await client.listTools();
    client.callTool(call).catch(() => {});
    await pass(0);
    for (const method of ["server/discover", "tools/list", "tools/call"]) {
      const meta = server.of(method)[0]!.params!._meta as Said;
      expect(meta[capabilitiesKey]).toEqual({
        ...capabilities,
        extensions: { ...capabilities.extensions, [extension]: {} },
      });
    }
  });

  const meta = { [versionKey]: "2026-07-28", [capabilitiesKey]: {} };
  const declared = { ...meta, [capabilitiesKey]: { extensions: { [extension]: {} } } };
  test.each<[string, Said]>([
    ["a request of another revision", { id: 1, method: "tools/call", params: { name: "x" } }],
    [
      "a request with another revision's envelope",
      { id: 1, method: "tools/list", params: { _meta: { ...meta, [versionKey]: "2027-01-01" } } },
    ],
    ["initialize", { id: 1, method: "initialize", params: { capabilities: {} } }],
    ["a notification", { method: "notifications/initialized", params: { _meta: meta } }],
    ["a cancellation", { method: "notifications/cancelled", params: { requestId: 9 } }],
    ["a response", { id: "x", result: { roots: [] } }],
    ["an error", { id: "x", error: { code: 1, message: "m" } }],
    [
      "a request that declares the extension itself",
      { id: 1, method: "tools/list", params: { _meta: declared } },
    ],
  ])("goes out unchanged: %s", async (_, message) => {
    const server = new PretendServer({});
    const send = vi.spyOn(server, "send");
    const sent = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    const options = { headers: { a: "b" } };
    await withTasks(server).send(sent, options);
    expect(send).toHaveBeenCalledExactlyOnceWith(sent, options);
    expect(send.mock.calls[0]![0]).toBe(sent);
    expect(send.mock.calls[0]![1]).toBe(options);
  });

  test.each<[string, Said]>([
    ["a result", { id: 1, result: { resultType: "complete", content: [] } }],
    ["a task without a call", { id: 77, result: { resultType: "task", taskId: "x" } }],
    ["an error", { id: 1, error: { code: 1, message: "m" } }],
    ["a notification", { method: "notifications/tools/list_changed" }],
    ["a request", { id: 1, method: "elicitation/create", params: {} }],
    ["garbage", { hello: "there" }],
  ])("comes in unchanged: %s", (_, message) => {
    const server = new PretendServer({});
    const wrapped = withTasks(server);
    const heard: unknown[] = [];
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    wrapped.onmessage = (...all) => void heard.push(...all);
    const extra = { request: new Request("http://localhost") };
    const sent = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    (server.onmessage as (...all: unknown[]) => void)(sent, extra);
    expect(heard[0]).toBe(sent);
    expect(heard[1]).toBe(extra);
  });

  test("another transport keeps its class, its members and its own fields", async () => {
    class Own extends PretendServer {
      readonly #secret = 42;
      kept = 1;
      get pid(): number {
        return this.#secret;
      }
      reveal(): number {
        return this.#secret;
      }
    }
    const own = new Own({});
    const wrapped = withTasks(own);
    expect(wrapped).toBeInstanceOf(Own);
    expect("pid" in wrapped && wrapped.pid).toBe(42);
    expect(wrapped.reveal()).toBe(42);
    expect(wrapped.constructor).toBe(Own);
    wrapped.kept = 2;
    expect(own.kept).toBe(2);
  });

  test("a legacy session is unchanged, and a task result is not followed there", async () => {
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      serverInfo: { name: "s", version: "1" },
    };
    const server = new PretendServer({
      initialize: () => ({ result }),
      "tools/call": () => created(),
    });
    const client = new Client(
      { name: "c", version: "1" },
      { versionNegotiation: { mode: "legacy" } },
    );
    onTestFinished(() => client.close());
    await client.connect(withTasks(server));
    await after(0, client.callTool(call));
    expect(JSON.stringify(server.heard)).not.toContain(extension);
    expect(server.of("tasks/get")).toHaveLength(0);
  });
});

test("a client that asked the server for its version first is not told that withTasks has no effect", () => {
  const noted = new LegacyByDefault();
  const request = (id: number, method: string) => ({ jsonrpc: "2.0" as const, id, method });
  noted.sent(request(1, "server/discover"));
  noted.sent(request(2, "initialize"));
  noted.sent(request(3, "tools/call"));
  const refused = { jsonrpc: "2.0" as const, id: 3, error: { code: -32601, message: "No" } };
  expect(noted.received(refused)).toEqual(refused);
});
