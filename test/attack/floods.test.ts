// One caller sends very many requests of one kind, while calls of another caller are under way: one in rounds, one in a
// session of 2025-11-25, and one as a task. The other caller's calls complete, and a flood leaves no more in memory and
// in the store than its limits say. Attackers do not care about their own connections.

import { beforeAll, describe, expect, test, vi } from "vitest";
import { patience } from "../patience.ts";
import {
  accept,
  callTool,
  envelope,
  exchange,
  messagesIn,
  post,
  textIn,
  tokenIn,
} from "../wire/post.ts";
import type { Message, Sending } from "../wire/post.ts";
import { isFull, mib, noted, printHead, warmUp } from "./measure.ts";
import { plain, sendTo, sent, startTarget, whole } from "./target.ts";
import type { Connection, Target } from "./target.ts";

const follows = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: { form: {} } };
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const sure = { sure: accept({ sure: true }) };

/** Less than the defaults, so that a flood reaches them soon. */
const limits = {
  storedBytesPerPrincipal: 4 * mib,
  tasksPerPrincipal: 50,
  endedTasksPerPrincipal: 50,
};

const initialize = {
  ...envelope("initialize"),
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: "by hand", version: "1.0.0" },
  },
};

const legacy = (token: string, session?: string): Sending => ({
  headers: {
    ...as(token).headers,
    "mcp-method": undefined,
    "mcp-name": undefined,
    "mcp-protocol-version": "2025-11-25",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  },
});

// ---------------------------------------------------------------- the victim

/** Begins three calls for ada. Returns a function that completes them. */
async function victim({ url }: Target): Promise<() => Promise<void>> {
  const requestState = tokenIn(await callTool(url, "ask", {}, as("ada")));
  const opened = await post(url, initialize, legacy("ada"));
  await opened.text();
  const session = opened.headers.get("mcp-session-id") ?? "";
  const call: Message = { ...plain, id: 2, params: { name: "ask", arguments: {} } };
  const running = await post(url, call, legacy("ada", session));
  const events = textsOf(running);
  const [question] = messagesIn(await events.until(/data: .*elicitation/));
  const long = envelope("tools/call", { name: "long", arguments: {} }, { capabilities: follows });
  const taskId = (await exchange(url, long, as("ada"))).result?.["taskId"];
  const about = (method: string, more: object = {}) =>
    exchange(url, envelope(method, { taskId, ...more }, { capabilities: follows }), as("ada"));
  return async () => {
    const inputResponses = sure;
    const done = await callTool(url, "ask", {}, { ...as("ada"), requestState, inputResponses });
    expect(textIn(done)).toBe("yes");
    const answer = { jsonrpc: "2.0", id: question?.id, result: accept({ sure: true }) };
    await post(url, call, { ...legacy("ada", session), body: JSON.stringify(answer) });
    expect(await events.until(/"text":"(yes|no)"/)).toContain("yes");
    await vi.waitUntil(
      async () => (await about("tasks/get")).result?.["status"] === "input_required",
      patience,
    );
    await about("tasks/update", { inputResponses: sure });
    await vi.waitUntil(
      async () => (await about("tasks/get")).result?.["status"] === "completed",
      patience,
    );
    expect(JSON.stringify((await about("tasks/get")).result)).toContain("yes");
  };
}

/** Reads a stream until an expected event arrives. */
function textsOf({ body }: Response) {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    until: async (awaited: RegExp): Promise<string> => {
      while (!awaited.test(text)) {
        const { done = true, value = "" } = (await reader?.read()) ?? {};
        if (done) throw new Error(`The stream ended after: ${text}`);
        text += value;
      }
      return text;
    },
  };
}

// ---------------------------------------------------------------- the floods

interface Flood {
  readonly name: string;
  readonly count: number;
  /** What the flood as a whole may leave in the store, in bytes. */
  readonly stored: number;
  /** How many plain calls one of its requests may cost. */
  readonly factor: number;
  /** What one request may leave in memory, in bytes, while the attacker holds on. */
  readonly held: number;
  /** Returns a function that sends one request of the flood and keeps what it gets. */
  readonly prepare: (target: Target, held: Held) => Promise<() => Promise<unknown>>;
}

type Held = (Response | Connection)[];

const many = isFull ? 1_100 : 150;
const kib = 1_024;

/** The most that one caller may store, plus what the file needs besides. */
const share = limits.storedBytesPerPrincipal * 2;

const floods: readonly Flood[] = [
  {
    name: "subscriptions",
    count: many,
    stored: 64 * kib,
    // The SDK serves each of them and reports its task.
    factor: 15,
    held: 100 * kib,
    prepare: async ({ url }, held) => {
      const long = envelope(
        "tools/call",
        { name: "long", arguments: {} },
        { capabilities: follows },
      );
      const taskId = (await exchange(url, long, as("eve"))).result?.["taskId"];
      const params = { notifications: { taskIds: [taskId], toolsListChanged: true } };
      const message = envelope("subscriptions/listen", params, { capabilities: follows });
      return async () => held.push(await post(url, message, as("eve")));
    },
  },
  {
    name: "sessions",
    count: many,
    stored: 0,
    // Each session has its own SDK server with all tools.
    factor: 15,
    held: 100 * kib,
    prepare:
      async ({ url }) =>
      async () =>
        (await post(url, initialize, legacy("eve"))).text(),
  },
  {
    name: "the same token again and again",
    count: isFull ? 200 : 40,
    stored: mib,
    // The state of 200 kB is read, opened, run again, sealed and written.
    factor: 100,
    held: 100 * kib,
    prepare: async ({ url }) => {
      const requestState = tokenIn(await callTool(url, "heavy", {}, as("eve")));
      const inputResponses = { first: accept({ first: true }) };
      return () => callTool(url, "heavy", {}, { ...as("eve"), requestState, inputResponses });
    },
  },
  {
    name: "states that are too large for their tokens",
    count: isFull ? 200 : 40,
    stored: share,
    // The state of 200 kB is sealed, encoded and written.
    factor: 60,
    held: 100 * kib,
    prepare:
      async ({ url }) =>
      () =>
        callTool(url, "heavy", {}, as("eve")),
  },
  {
    name: "rounds of a tool that runs once",
    count: isFull ? 200 : 40,
    stored: share,
    factor: 30,
    held: 50 * kib,
    prepare:
      async ({ url }) =>
      async () => {
        const requestState = tokenIn(await callTool(url, "paid", {}, as("eve")));
        return callTool(url, "paid", {}, { ...as("eve"), requestState, inputResponses: sure });
      },
  },
  {
    name: "tasks",
    count: isFull ? 500 : 100,
    stored: share,
    factor: 30,
    held: 50 * kib,
    prepare: async ({ url }) => {
      const long = envelope(
        "tools/call",
        { name: "long", arguments: {} },
        { capabilities: follows },
      );
      return () => exchange(url, long, as("eve"));
    },
  },
  {
    name: "bodies that never end",
    count: isFull ? 500 : 100,
    stored: 0,
    factor: 15,
    // All of them together hold 64 MiB at most.
    held: 1.5 * mib,
    prepare: async (target, held) => async () => {
      const head = whole(target, plain, "eve").replace(
        /content-length: \d+/,
        "content-length: 4000000",
      );
      held.push(await sendTo(target, head + " ".repeat(500_000)));
    },
  },
  {
    name: "connections that say nothing",
    count: isFull ? 1_000 : 200,
    stored: 0,
    factor: 5,
    held: 50 * kib,
    prepare: async (target, held) => async () => held.push(await sendTo(target, "")),
  },
];

/** The others are sent by `npm run test:attack`. */
const quick = new Set(["subscriptions", "sessions", "the same token again and again"]);
const chosen = floods.filter(({ name }) => isFull || quick.has(name));

function release(held: Held): void {
  for (const one of held) {
    if (one instanceof Response) one.body?.cancel().catch(() => {});
    else one.socket.destroy();
  }
}

async function callsCost(target: Target, calls: number): Promise<number> {
  const before = await target.cpu();
  for (let count = 0; count < calls; count += 1) await sent(target, whole(target, plain, "ada"));
  return ((await target.cpu()) - before) / calls;
}

describe.each(isFull ? (["fast", "sdk"] as const) : (["fast"] as const))(
  "over the %s entry",
  (entry) => {
    let target: Target;
    beforeAll(async () => {
      target = await startTarget({ entry, auth: true, limits });
      await warmUp(target, "ada");
      printHead(`${entry} entry, floods by a known caller`);
      return () => target.stop();
    });

    test.each(chosen)("a flood of $name does not disturb another caller's calls", async (flood) => {
      const { name, count, prepare, ...most } = flood;
      const finish = await victim(target);
      const held: Held = [];
      const once = await prepare(target, held);
      await once();
      const call = await callsCost(target, 20);
      const before = { stored: target.stored(), memory: await target.memory() };
      const used = await target.cpu();
      const atOnce = 50;
      for (let begun = 0; begun < count; begun += atOnce) {
        const attackers = Array.from({ length: atOnce }, () => once().catch(() => {}));
        await Promise.all(attackers);
      }
      const factor = ((await target.cpu()) - used) / count / call;
      const stored = target.stored() - before.stored;
      const memory = ((await target.memory()) - before.memory) / count;
      // The attacker holds on while the others' calls complete.
      await finish();
      release(held);
      const cost = { factor, held: memory, peak: 0, stored: stored / count };
      const bar = {
        factor: most.factor,
        // With few requests, what the process itself keeps meanwhile does not average out.
        held: isFull ? most.held : mib,
        peak: 0,
        stored: Math.round(most.stored / count),
      };
      expect(noted(`${count} ${name}`, cost, bar)).toEqual([]);
    });
  },
);

test("a caller cannot read, follow, answer or end another caller's task", async () => {
  const target = await startTarget({ entry: "fast", auth: true });
  try {
    const { url } = target;
    const long = envelope("tools/call", { name: "long", arguments: {} }, { capabilities: follows });
    const taskId = (await exchange(url, long, as("ada"))).result?.["taskId"];
    const get = envelope("tasks/get", { taskId }, { capabilities: follows });
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const message = envelope(method, { taskId, inputResponses: sure }, { capabilities: follows });
      expect((await exchange(url, message, as("eve"))).error?.code).toBe(-32_602);
    }
    const params = { notifications: { taskIds: [taskId], toolsListChanged: true } };
    const listen = envelope("subscriptions/listen", params, { capabilities: follows });
    const stream = await post(url, listen, as("eve"));
    expect(await textsOf(stream).until(/acknowledged/)).not.toContain(String(taskId));
    await vi.waitUntil(
      async () => (await exchange(url, get, as("ada"))).result?.["status"] === "input_required",
      patience,
    );
  } finally {
    target.stop();
  }
});
