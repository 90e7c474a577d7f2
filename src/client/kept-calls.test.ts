// Which errors end a call for good, and which leave it in the journal with all answers that were given.

import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { failure } from "./failure.fixture.ts";
import { form, hostile, taskOf } from "./hostile.fixture.ts";
import type { Hostile, Saying } from "./hostile.fixture.ts";
import { connect } from "./index.ts";
import type { Call, ClientJournal, Connection, ConnectOptions } from "./index.ts";
import { referenceTo, stateOf } from "./reference.ts";
import type { CallState } from "./reference.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** A journal in memory, and what it holds. */
function memoryJournal() {
  const kept = new Map<string, string>();
  const journal: ClientJournal = {
    put: async (id, ref) => void kept.set(id, ref),
    delete: async (id) => void kept.delete(id),
    list: async () => [...kept.values()],
  };
  return { kept, journal };
}

async function met(
  say: Saying,
  options: ConnectOptions,
): Promise<{ server: Hostile; connection: Connection }> {
  const server = await hostile(say);
  open.push(server.close);
  return { server, connection: await opened(server, options) };
}

async function opened(server: Hostile, options: ConnectOptions): Promise<Connection> {
  const connection = await connect(server.url, { elicit: "events", ...options });
  open.push(() => connection.close());
  return connection;
}

const text = { content: [{ type: "text", text: "ok" }] };
const asking = {
  resultType: "input_required",
  inputRequests: { q: form("Name?") },
  requestState: "s",
};
const created = { resultType: "task", ...taskOf("t1", {}) };
const isFirst = (params: object) => !("requestState" in params);

/** Answers the only question of the call. Resolves when the call has accepted the answer. */
async function answered(call: Call): Promise<void> {
  for await (const event of call) {
    if (event.type !== "asked") continue;
    await call.answer("q", { action: "accept", content: { name: "Ada" } });
    return;
  }
}

type Trouble = (response: ServerResponse) => object | undefined;
const http =
  (status: number, body = ""): Trouble =>
  (response) => {
    response.writeHead(status, { "content-type": "text/plain" }).end(body);
    return undefined;
  };
const rpc =
  (code: number, data?: object): Trouble =>
  () => ({ code, message: "no", ...(data && { data }) });
const rpcIn =
  (status: number, code: number): Trouble =>
  (response) => {
    response.statusCode = status;
    return { code, message: "no" };
  };
const body =
  (type: string, content: string): Trouble =>
  (response) => {
    response.writeHead(200, { "content-type": type }).end(content);
    return undefined;
  };

/** Trouble that may soon be over: nothing says that the call has ended, or even that it has begun. */
const passing: [string, Trouble][] = [
  ["−32603, the store is unavailable", rpc(-32_603, { reason: "store_unavailable" })],
  ["−32603, a mistake in the handler", rpc(-32_603, { reason: "history_changed" })],
  ["−32000, a code of a gateway", rpc(-32_000)],
  ...[404, 408, 425, 429, 499, 500, 502, 503, 504, 529].map((status): [string, Trouble] => [
    `HTTP ${status}`,
    http(status),
  ]),
  ["HTTP 429 with a JSON-RPC error", rpcIn(429, -32_602)],
  ["HTTP 503 with a JSON-RPC error of its own", rpcIn(503, 17)],
  [
    "a cut connection",
    (response) => {
      response.destroy();
      return undefined;
    },
  ],
  ["the page of a proxy", body("text/html", "<html>")],
  ["JSON that is cut off", body("application/json", "{")],
  ["a stream without a response", body("text/event-stream", "\n")],
  ["a result of an unknown type", () => ({ resultType: "later" })],
  ["a response that is too large", () => ({ ...text, _meta: { x: "x".repeat(40_000) } })],
];

/** What the server says about this call to this client. With other keys or another token it may say otherwise. */
const refusals: [string, Trouble][] = [
  ["−32602, the state is refused", rpc(-32_602, { reason: "invalid_request_state" })],
  ["−32602, a later round has begun", rpc(-32_602, { reason: "superseded_round" })],
  ["−32602 without a reason", rpc(-32_602)],
  ["−32601", rpc(-32_601)],
  ["−32021, a capability is missing", rpc(-32_021, { requiredCapabilities: { sampling: {} } })],
  ["HTTP 400", http(400)],
  ["HTTP 401", http(401)],
  ["HTTP 403", http(403)],
  ["HTTP 413", http(413)],
  ["HTTP 431", http(431)],
];

const limits = { messageBytes: 20_000 };

describe("after an answer was accepted, the journal and the error keep the call", () => {
  test.each([...passing, ...refusals])("%s", async (_, trouble) => {
    let isWell = false;
    const { kept, journal } = memoryJournal();
    const { connection, server } = await met(
      ({ params }, response) => {
        if (isFirst(params)) return asking;
        return isWell ? text : trouble(response);
      },
      { journal, limits },
    );
    const call = connection.start("any");
    await answered(call);
    const { ref = "" } = await failure(call.result());
    expect(ref).toMatch(/^parley1\./);
    expect([...kept.values()]).toEqual([ref]);
    expect(await connection.unfinished()).toMatchObject([{ ref, phase: "asked" }]);
    isWell = true;
    // The person does not answer again, because the answer is in the journal.
    expect((await connection.resume(ref).result()).text).toBe("ok");
    expect(server.heard.at(-1)?.params["inputResponses"]).toEqual({
      q: { action: "accept", content: { name: "Ada" } },
    });
    expect(kept.size).toBe(0);
  });

  test("an auth provider's own error, which gets the reference", async () => {
    let isWell = false;
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      ({ params }, response) => {
        if (isFirst(params)) return asking;
        return isWell ? text : http(401)(response);
      },
      { journal, authProvider: { token: async () => "old" } },
    );
    const call = connection.start("any");
    await answered(call);
    const error = await failure(call.result());
    expect(error.name).toBe("UnauthorizedError");
    expect([...kept.values()]).toEqual([error.ref]);
    isWell = true;
    expect((await connection.resume(error.ref ?? "").result()).text).toBe("ok");
  });
});

describe("after the first request", () => {
  test.each(passing)("the call is kept: %s", async (_, trouble) => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met((_message, response) => trouble(response), {
      journal,
      limits,
    });
    const { ref } = await failure(connection.call("any"));
    expect([...kept.values()]).toEqual([ref]);
    expect(await connection.unfinished()).toMatchObject([{ ref, phase: "started" }]);
  });

  test.each([
    ...refusals.filter(([name]) => !name.includes("state")),
    ["a code of the handler's own", rpc(1_234)] as const,
    ["a result that cannot be read", () => ({ content: "ok" })] as const,
  ])("the call has ended, and is forgotten: %s", async (_, trouble) => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met((_message, response) => trouble(response), { journal });
    expect(await failure(connection.call("any"))).toMatchObject({ ref: undefined });
    expect(kept.size).toBe(0);
  });

  test.each(refusals)("a resumed call is kept all the same: %s", async (_, trouble) => {
    let isGone = true;
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      (_message, response) => (isGone ? http(503)(response) : trouble(response)),
      { journal },
    );
    const { ref = "" } = await failure(connection.call("any"));
    isGone = false;
    expect(await failure(connection.resume(ref).result())).toMatchObject({ ref });
    expect([...kept.values()]).toEqual([ref]);
  });
});

describe("a call that needs the list of tools", () => {
  test.each<[string, Trouble, string]>([
    ["HTTP 503", http(503), "server_down"],
    ["a JSON-RPC error", rpc(-32_603), "refused"],
  ])("fails if it does not get the list: %s", async (_, trouble, code) => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      ({ method }, response) =>
        method === "tools/list" ? trouble(response) : { code: -32_020, message: "headers" },
      { journal },
    );
    const error = await failure(connection.call("any"));
    expect(error).toMatchObject({ name: "CallError", code });
    expect([...kept.values()]).toEqual([error.ref]);
  });
});

describe("a refused call", () => {
  const dayMs = 86_400_000;

  /** Resumes a call that the server refuses to continue. `changes` can set when the call last changed. */
  async function refusedAfter(changes: Partial<CallState>, refusedMs?: number) {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      ({ params }) => (isFirst(params) ? asking : { code: -32_602, message: "no" }),
      { journal, limits: { refusedMs } },
    );
    const call = connection.start("any");
    await answered(call);
    const { ref = "" } = await failure(call.result());
    const older = referenceTo({ ...stateOf(ref), ...changes });
    const error = await failure(connection.resume(older).result());
    return { isKept: kept.size === 1, isReferred: error.ref !== undefined };
  }

  test("is kept for seven days, for limits.refusedMs, or as long as its task", async () => {
    const ago = (days: number) => ({ changedAt: Date.now() - days * dayMs });
    const kept = { isKept: true, isReferred: true };
    const forgotten = { isKept: false, isReferred: false };
    expect(await refusedAfter(ago(6))).toEqual(kept);
    expect(await refusedAfter(ago(8))).toEqual(forgotten);
    expect(await refusedAfter(ago(8), 9 * dayMs)).toEqual(kept);
    expect(await refusedAfter({ ...ago(8), expiresAt: Date.now() + dayMs })).toEqual(kept);
    // A reference of an earlier version says only when the call began.
    const old = { changedAt: undefined, since: Date.now() - 8 * dayMs };
    expect(await refusedAfter(old)).toEqual(forgotten);
  });

  test("is not forgotten while it is running", async () => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(() => asking, { journal });
    const call = connection.start("any");
    for await (const event of call) {
      if (event.type !== "asked") continue;
      await expect(connection.forget(event.ref)).rejects.toThrow("Cancel it instead");
      break;
    }
    expect(kept.size).toBe(1);
    await call.cancel();
    await failure(call.result());
    expect(kept.size).toBe(0);
  });
});

describe("a result", () => {
  test("reaches the application even if the journal can no longer be written or deleted", async () => {
    let isFull = false;
    const full = () => (isFull ? Promise.reject(new Error("disk full")) : Promise.resolve());
    const journal = { put: full, delete: full, list: async () => [] };
    const { connection } = await met(
      () => {
        isFull = true;
        return text;
      },
      { journal },
    );
    const call = connection.start("any");
    const types: string[] = [];
    for await (const { type } of call) types.push(type);
    expect(types).toEqual(["done"]);
    expect((await call.result()).text).toBe("ok");
  });
});

describe("a handler's own protocol error", () => {
  test("ends the call after any number of rounds", async () => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      ({ params }) => (isFirst(params) ? asking : { code: 1_234, message: "sold out" }),
      { journal },
    );
    const call = connection.start("any");
    await answered(call);
    expect(await failure(call.result())).toMatchObject({ code: "refused", ref: undefined });
    expect(kept.size).toBe(0);
  });
});

describe("a task", () => {
  /** A task that asks until it is answered. `polled` replaces what it says. */
  const tasked = (polled: Saying): Saying => {
    return (message, response) =>
      message.method === "tools/call" ? created : polled(message, response);
  };

  test.each([
    ...passing.filter(([name]) => !/result|page|JSON that|large|stream/.test(name)),
    ...refusals,
  ])("that cannot be read is kept: %s", async (_, trouble) => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      tasked((_message, response) => trouble(response)),
      { journal, limits: { ...limits, outageMs: 0 } },
    );
    const { ref, taskId } = await failure(connection.call("any"));
    expect(taskId).toBe("t1");
    expect([...kept.values()]).toEqual([ref]);
  });

  test.each<[string, object]>([
    ["failed", { status: "failed", error: { code: -32_603, message: "no" } }],
    [
      "failed because a capability is missing",
      { status: "failed", error: { code: -32_021, message: "" } },
    ],
    ["was cancelled", { status: "cancelled" }],
    [
      "has expired",
      { status: "failed", error: { code: -32_000, message: "", data: { reason: "task_expired" } } },
    ],
    ["has a result that cannot be read", { status: "completed", result: { content: "ok" } }],
  ])("that %s is forgotten", async (_, end) => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      tasked(() => taskOf("t1", end)),
      { journal },
    );
    expect(await failure(connection.call("any"))).toMatchObject({ ref: undefined, taskId: "t1" });
    expect(kept.size).toBe(0);
  });

  test.each([408, 425, 429, 499])("is polled again after HTTP %i", async (status) => {
    let polls = 0;
    const { connection } = await met(
      tasked((_message, response) => {
        polls += 1;
        return polls === 1
          ? http(status)(response)
          : taskOf("t1", { status: "completed", result: text });
      }),
      {},
    );
    expect((await connection.call("any")).text).toBe("ok");
  });

  test("is kept if an answer to it is refused without an error that says it is gone", async () => {
    const { kept, journal } = memoryJournal();
    const { connection } = await met(
      tasked(({ method }) =>
        method === "tasks/update"
          ? { code: -32_602, message: "Malformed inputResponses" }
          : taskOf("t1", { status: "input_required", inputRequests: { q: form("Name?") } }),
      ),
      { journal },
    );
    const call = connection.start("any");
    await answered(call);
    const error = await failure(call.result());
    expect(error).toMatchObject({ code: "refused", taskId: "t1" });
    expect([...kept.values()]).toEqual([error.ref]);
  });

  test("gets an answer from the journal, even if it asks for it only later", async () => {
    const { journal } = memoryJournal();
    let isDown = true;
    let isAsking = true;
    let polls = 0;
    const heard: unknown[] = [];
    const { connection } = await met(
      tasked(({ method, params }, response) => {
        if (method === "tasks/update") {
          if (isDown) return http(400)(response);
          heard.push(params["inputResponses"]);
          isAsking = false;
          return { resultType: "complete" };
        }
        polls += 1;
        // The first run after the outage has not come to its question yet.
        if (!isDown && polls === 1) return taskOf("t1", {});
        return isAsking
          ? taskOf("t1", { status: "input_required", inputRequests: { q: form("Name?") } })
          : taskOf("t1", { status: "completed", result: text });
      }),
      { journal },
    );
    const call = connection.start("any");
    await answered(call);
    const { ref = "" } = await failure(call.result());
    isDown = false;
    polls = 0;
    const again = connection.resume(ref);
    const types: string[] = [];
    for await (const { type } of again) types.push(type);
    expect(types).toEqual(["done"]);
    expect(heard).toEqual([{ q: { action: "accept", content: { name: "Ada" } } }]);
  });

  test("that another client left is not cancelled because of a question without a handler", async () => {
    const { kept, journal } = memoryJournal();
    const { connection, server } = await met(
      tasked(() => taskOf("t1", { status: "input_required", inputRequests: { q: form("Name?") } })),
      { journal },
    );
    const call = connection.start("any");
    for await (const event of call) if (event.type === "asked") break;
    await connection.close();
    const poor = await opened(server, { journal, elicit: undefined });
    const [left] = await poor.unfinished();
    const error = await failure(poor.resume(left?.ref ?? "").result());
    expect(error).toMatchObject({ code: "unhandled_question", taskId: "t1" });
    expect([...kept.values()]).toEqual([error.ref]);
    expect(server.heard.map(({ method }) => method)).not.toContain("tasks/cancel");
  });

  test("that asks an unhandled question is kept if it cannot be cancelled, and forgotten if it is", async () => {
    for (const isDown of [true, false]) {
      const { kept, journal } = memoryJournal();
      const { connection } = await met(
        tasked(({ method }, response) => {
          if (method === "tasks/cancel" && isDown) return http(503)(response);
          return taskOf("t1", { status: "input_required", inputRequests: { q: form("Name?") } });
        }),
        { journal, elicit: undefined },
      );
      const error = await failure(connection.call("any"));
      expect(error).toMatchObject({ code: "unhandled_question", taskId: "t1" });
      expect([...kept.values()]).toEqual(isDown ? [error.ref] : []);
      expect(error.ref !== undefined).toBe(isDown);
    }
  });

  test("of another process does not count as cancelled when the server does not show it", async () => {
    const { kept, journal } = memoryJournal();
    let isMine = true;
    const { connection: first, server } = await met(
      tasked(() => (isMine ? taskOf("t1", {}) : { code: -32_602, message: "No such task" })),
      { journal },
    );
    for await (const event of first.start("any")) if (event.type === "task") break;
    await first.close();
    isMine = false;
    const second = await opened(server, { journal });
    const [left] = await second.unfinished();
    const call = second.resume(left?.ref ?? "");
    const error = await failure(call.cancel());
    expect(error).toMatchObject({ code: "task_gone", taskId: "t1" });
    expect(error.message).toContain("forget(error.ref)");
    await failure(call.result());
    expect(await second.unfinished()).toMatchObject([{ ref: error.ref, phase: "task" }]);
    await second.forget(error.ref ?? "");
    expect(kept.size).toBe(0);
  });
});
