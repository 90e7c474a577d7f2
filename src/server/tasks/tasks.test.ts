// Calls that leave something in the store: tasks, spilled states, rounds that run once.

import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { ParleyError } from "../../errors.ts";
import type { Json } from "../../util/json.ts";
import { Stop } from "../../replay/stop.ts";
import type { Store } from "../../tasks/store.ts";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import { newKey } from "../../token/keyring.ts";
import { registeredAs } from "../define/handles.ts";
import { parley } from "../parley.ts";
import type { App } from "../app.ts";
import type { Logger } from "../ops/logger.ts";
import { serveRound } from "../round/round.ts";
import type { RoundResponse, RoundRequest } from "../round/request.ts";
import type { Tool } from "../define/tool.ts";

const keys = newKey("test");
const secret = "hunter2-is-my-secret";
let ran: string[] = [];
let tickets: string[] = [];
let hold: Promise<void> | undefined;
let beforeStep: () => void;
let onNotify: (ticket: string) => void | Promise<void>;
let logged: string[] = [];
const logger: Logger = {
  debug: () => {},
  info: (message) => void logged.push(message),
  warn: (message) => void logged.push(message),
  error: (message) => void logged.push(message),
};

interface Replica {
  readonly app: App;
  readonly tools: Readonly<Record<string, Tool>>;
}

const replicas: Replica[] = [];

beforeEach(() => {
  ran = [];
  tickets = [];
  logged = [];
  hold = undefined;
  beforeStep = () => {};
  onNotify = (ticket) => void tickets.push(ticket);
});

afterEach(async () => {
  await Promise.all(replicas.splice(0).map(({ app }) => app.close()));
});

function replica(store: Store | undefined, limits = {}): Replica {
  const app = parley({ name: "tasks-test", version: "1.0.0", keys, store, limits, logger });
  const tools = {
    provision: app.tool(
      "provision",
      { inputSchema: z.object({ size: z.string() }), task: "optional" },
      async ({ size }, ctx) => {
        const cost = await ctx.step("quote", () => (ran.push("quote"), 7));
        if (!(await ctx.confirm("ok", `${size} for ${cost}?`))) return "not made";
        const before = await ctx.step("request", () => ctx.request !== undefined);
        await ctx.background({ ttlMs: 60_000 });
        ctx.progress(1, 2, "making it");
        await ctx.step("make", () => void ran.push("make"));
        const name = await ctx.ask("name", "What is it called?");
        return JSON.stringify({
          before,
          inTask: ctx.task?.id !== undefined,
          after: ctx.request,
          name,
          can: ctx.can("task"),
        });
      },
    ),
    approve: app.tool("approve", { task: "required" }, async (ctx) => {
      await ctx.background();
      const said = await ctx.waitFor("boss", z.object({ ok: z.boolean() }), {
        notify: ({ ticket }) => void tickets.push(ticket),
        timeoutMs: 3_600_000,
      });
      return said.ok ? "approved" : "refused";
    }),
    budget: app.tool("budget", { task: "optional" }, async (ctx) => {
      await ctx.background();
      const limit = await ctx.step("limit", () => (ran.push("limit"), 7));
      const spent = await ctx.waitFor("spent", z.int().max(limit), {
        notify: ({ ticket }) => onNotify(ticket),
      });
      return `${spent} of ${limit}`;
    }),
    even: app.tool("even", { task: "optional" }, async (ctx) => {
      const isEven = z.int().refine((n) => n % 2 === 0, "be even");
      return String(
        await ctx.waitFor("even", isEven, { notify: ({ ticket }) => void tickets.push(ticket) }),
      );
    }),
    nap: app.tool("nap", { task: "optional" }, async (ctx) => {
      await ctx.step("before", () => void ran.push("before"));
      await ctx.sleep("nap", 10);
      return "slept";
    }),
    broken: app.tool("broken", { task: "optional" }, async (ctx) => {
      await ctx.background();
      throw new Error("no such disk");
    }),
    keep: app.tool(
      "keep",
      { inputSchema: z.object({ word: z.string() }), task: "optional" },
      async (_args, ctx) => {
        await ctx.step("log", () => secret);
        await ctx.background();
        ctx.progress(1, 2, secret);
        return ctx.ask("more", `Is it ${secret}?`);
      },
    ),
    large: app.tool("large", {}, async (ctx) => {
      const data = await ctx.step("data", () => (ran.push("data"), "x".repeat(50_000)));
      return `${await ctx.ask("name", "Name?")} ${data.length}`;
    }),
    pay: app.tool("pay", { once: true }, async (ctx) => {
      const sum = await ctx.ask("sum", "How much?", z.int());
      beforeStep();
      const first = await ctx.step("first", () => (ran.push("first"), ran.length));
      await ctx.step("pay", async () => {
        ran.push("pay");
        await hold;
      });
      const thanks = await ctx.confirm("thanks", "Thanks?");
      return `paid ${sum} ${first} ${thanks}`;
    }),
    seize: app.tool("seize", { once: true }, async (ctx) => {
      await ctx.step("first", () => void ran.push("first"));
      await ctx.step("pay", async () => {
        ran.push("pay");
        await hold;
      });
      return "seized";
    }),
    direct: app.tool("direct", { once: true }, async (ctx) => {
      await ctx.step("charge", () => void ran.push("charge"));
      return "charged";
    }),
  };
  const made = { app, tools };
  replicas.push(made);
  return made;
}

const everything = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

function call(
  { tools }: Replica,
  tool: string,
  more: Partial<RoundRequest> = {},
): Promise<RoundResponse> {
  const { core, definition } = registeredAs(tools[tool]!);
  return serveRound(core, definition, {
    target: tool,
    arguments: {},
    capabilities: everything,
    principal: "ada",
    facts: { meta: {} },
    ...more,
  });
}

const runtimeOf = ({ tools }: Replica) => registeredAs(tools["nap"]!).core.tasks!;

async function stateAfter(answer: Promise<RoundResponse>): Promise<string> {
  const given = await answer;
  if (given.kind !== "input_required") throw new Error(JSON.stringify(given));
  return given.result.requestState;
}

async function taskAfter(answer: Promise<RoundResponse>): Promise<string> {
  const given = await answer;
  if (given.kind !== "task") throw new Error(JSON.stringify(given));
  return given.task.id;
}

async function until(
  at: Replica,
  id: string,
  isIt: (status: string, questions: number) => boolean,
) {
  for await (const task of runtimeOf(at).watch(id, 0, AbortSignal.timeout(60_000))) {
    if (isIt(task.status, task.questions.size)) return task;
  }
  throw new Error("it did not come to that");
}

const over = (at: Replica, id: string) =>
  until(at, id, (status) => !["working", "input_required"].includes(status));

const textOf = (answer: RoundResponse) =>
  answer.kind === "complete" ? (answer.result["content"] as { text: string }[])[0]?.text : answer;

const accept = (content: Readonly<Record<string, Json>> = {}) => ({ action: "accept", content });

describe("background()", () => {
  test("the answers of the rounds become the task's log, and nothing is asked or run again on any replica", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const args = { arguments: { size: "XL" } };
    const requestState = await stateAfter(call(a, "provision", args));
    const leg = { ...args, requestState, inputResponses: { ok: accept() } };
    const id = await taskAfter(call(b, "provision", leg));
    expect(await taskAfter(call(a, "provision", leg))).toBe(id);
    await a.app.work();
    const asking = await until(b, id, (_status, questions) => questions > 0);
    expect(asking.statusMessage).toBe("making it (1/2)");
    expect(asking.principal).toBe("ada");
    expect(asking.questions.get("name")).toMatchObject({ method: "elicitation/create" });
    expect(asking.expiresAt - asking.createdAt).toBe(60_000);
    await runtimeOf(b).update(id, new Map([["name", accept({ name: "vm-1" })]]));
    const { result } = await over(b, id);
    const [{ text }] = (result as { content: [{ text: string }] }).content;
    expect(JSON.parse(text)).toEqual({ before: true, inTask: true, name: "vm-1", can: true });
    expect(ran).toEqual(["quote", "make"]);
  });

  test("a client that does not support tasks is served in rounds", async () => {
    const a = replica(new MemoryStore());
    const args = { arguments: { size: "S" }, capabilities: { elicitation: { form: {} } } };
    const requestState = await stateAfter(call(a, "provision", args));
    const leg = { ...args, requestState, inputResponses: { ok: accept() } };
    const more = await stateAfter(call(a, "provision", leg));
    const last = {
      ...args,
      requestState: more,
      inputResponses: { name: accept({ name: "vm-1" }) },
    };
    expect(textOf(await call(a, "provision", last))).toContain('"name":"vm-1","can":false');
    expect(ran).toEqual(["quote", "make"]);
  });

  test("a wait that the client cannot end turns the call into a task automatically", async () => {
    const a = replica(new MemoryStore());
    const id = await taskAfter(call(a, "nap"));
    await a.app.work();
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "slept" }] });
    expect(ran).toEqual(["before"]);
  });

  test("a handler that throws completes with an error result, as in rounds", async () => {
    const a = replica(new MemoryStore());
    await a.app.work();
    const id = await taskAfter(call(a, "broken"));
    expect(await over(a, id)).toMatchObject({
      status: "completed",
      result: { isError: true, content: [{ text: "no such disk" }] },
    });
  });

  test("a tool that needs a store says so when there is none", async () => {
    const answer = await call(replica(undefined), "nap");
    expect(answer).toMatchObject({ kind: "error", data: { reason: "no_store" } });
    expect(ran).toEqual([]);
    await expect(replica(undefined).app.work()).rejects.toThrow("app.work() needs a store.");
  });

  test("does not exceed the limits of the caller", async () => {
    const a = replica(new MemoryStore(), { tasksPerPrincipal: 1 });
    await taskAfter(call(a, "approve"));
    expect(await call(a, "approve")).toMatchObject({
      kind: "error",
      data: { reason: "too_many_tasks" },
    });
    await taskAfter(call(a, "approve", { principal: "bob" }));
  });

  test("stored data is sealed", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    await a.app.work();
    const args = { arguments: { word: secret } };
    const id = await taskAfter(call(a, "keep", args));
    await until(a, id, (_status, questions) => questions > 0);
    await runtimeOf(a).update(id, new Map([["more", accept({ more: secret })]]));
    const answered = JSON.stringify([await store.read(id), await store.readLog(id)]);
    await over(a, id);
    const kept = JSON.stringify([await store.read(id), await store.readLog(id)]);
    expect(answered + kept).not.toContain(secret);
    expect(answered + kept).not.toContain(Buffer.from(secret).toString("base64url").slice(2, 20));
    expect((await store.readLog(id)).length).toBeGreaterThan(2);
  });
});

describe("waitFor", () => {
  test("is answered once, by the holder of the ticket", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    await a.app.work();
    const id = await taskAfter(call(a, "approve"));
    await until(a, id, () => tickets.length > 0);
    const [ticket = ""] = tickets;
    expect(b.app.readTicket(ticket)).toMatchObject({ key: "boss", principal: "ada" });
    expect(await b.app.deliver(ticket, { ok: true })).toEqual({ status: "delivered" });
    const { status } = await b.app.deliver(ticket, { ok: "a second one is not looked at" });
    expect(["already_answered", "gone"]).toContain(status);
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "approved" }] });
    expect(await b.app.deliver(ticket, { ok: false })).toEqual({ status: "gone" });
    expect(tickets).toHaveLength(1);
  });

  test("a value that does not fit is refused on every replica, and the question stays open", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    await a.app.work();
    const id = await taskAfter(call(a, "approve"));
    await until(a, id, () => tickets.length > 0);
    const [ticket = ""] = tickets;
    for (const { app } of [a, b, a]) {
      const refused = await app.deliver(ticket, { ok: "perhaps" });
      expect(refused).toEqual({
        status: "invalid",
        reason: expect.stringContaining('"ok"') as string,
      });
    }
    expect(await store.read(id)).toMatchObject({ inbox: [], status: "working" });
    expect(await b.app.deliver(ticket, { ok: true })).toEqual({ status: "delivered" });
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "approved" }] });
    expect(tickets).toHaveLength(1);
  });

  test("the current handler checks a value, with what it has learned so far and without running its steps", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    await a.app.work();
    const id = await taskAfter(call(a, "budget"));
    await until(a, id, () => tickets.length > 0);
    const [ticket = ""] = tickets;
    const refused = await a.app.deliver(ticket, 8);
    expect(refused).toMatchObject({ status: "invalid" });
    expect(await a.app.deliver(ticket, 7)).toEqual({ status: "delivered" });
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "7 of 7" }] });
    expect(ran).toEqual(["limit"]);
  });

  test("a delivery from notify itself is checked, too", async () => {
    const a = replica(new MemoryStore());
    await a.app.work();
    const outcomes: unknown[] = [];
    onNotify = async (ticket) => {
      for (const value of [9, 3]) outcomes.push(await a.app.deliver(ticket, value));
    };
    const id = await taskAfter(call(a, "budget"));
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "3 of 7" }] });
    expect(outcomes).toMatchObject([{ status: "invalid" }, { status: "delivered" }]);
  });

  test("an app without the tool checks with the schema that is kept with the question", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    await a.app.work();
    const page = parley({ name: "tasks-test", version: "1.0.0", keys, store, logger });
    const id = await taskAfter(call(a, "approve"));
    await until(a, id, () => tickets.length > 0);
    const [ticket = ""] = tickets;
    expect(await page.deliver(ticket, { ok: "perhaps" })).toMatchObject({ status: "invalid" });
    await expect.poll(() => page.deliver(ticket, { ok: true })).toEqual({ status: "delivered" });
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "approved" }] });
  });

  test("the worker ignores a value that only the handler's own schema can judge", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    await a.app.work();
    const page = parley({ name: "tasks-test", version: "1.0.0", keys, store, logger });
    const id = await taskAfter(call(a, "even"));
    await until(a, id, () => tickets.length > 0);
    const [ticket = ""] = tickets;
    expect(await page.deliver(ticket, 3)).toEqual({ status: "delivered" });
    await expect.poll(() => logged.join("\n")).toContain('The value for "even" was ignored');
    await expect.poll(() => page.deliver(ticket, 4)).toEqual({ status: "delivered" });
    expect((await over(a, id)).result).toMatchObject({ content: [{ text: "4" }] });
  });

  test("accepts only its own ticket and only JSON values", async () => {
    const a = replica(new MemoryStore());
    await a.app.work();
    const id = await taskAfter(call(a, "approve"));
    await until(a, id, () => tickets.length > 0);
    const [ticket = ""] = tickets;
    const flipped = `${ticket.slice(0, -1)}${ticket.endsWith("A") ? "B" : "A"}`;
    await expect(a.app.deliver(flipped, 1)).rejects.toThrow(ParleyError);
    await expect(a.app.deliver(ticket, new Map())).rejects.toThrow("a Map at");
    const stranger = parley({
      name: "other",
      version: "1",
      keys,
      store: new MemoryStore(),
      logger,
    });
    await expect(stranger.deliver(ticket, 1)).rejects.toThrow(ParleyError);
    const empty = replica(new MemoryStore());
    expect(await empty.app.deliver(ticket, { ok: true })).toEqual({ status: "gone" });
  });

  test("is refused for a client that does not support tasks", async () => {
    const a = replica(new MemoryStore());
    const answer = await call(a, "approve", { capabilities: {} });
    expect(answer).toMatchObject({
      kind: "error",
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    });
    expect(tickets).toEqual([]);
  });
});

describe("a state too large for its token", () => {
  test("is kept in the store, sealed, and the call goes on anywhere", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const requestState = await stateAfter(call(a, "large"));
    expect(requestState.length).toBeLessThan(1_000);
    const leg = { requestState, inputResponses: { name: accept({ name: "Ada" }) } };
    expect(textOf(await call(b, "large", leg))).toBe("Ada 50000");
    expect(ran).toEqual(["data"]);
  });

  test("is lost if the store is lost, and then the token is refused", async () => {
    const requestState = await stateAfter(call(replica(new MemoryStore()), "large"));
    const leg = { requestState, inputResponses: { name: accept({ name: "Ada" }) } };
    expect(await call(replica(new MemoryStore()), "large", leg)).toMatchObject({
      kind: "error",
      code: -32602,
      data: { reason: "invalid_request_state" },
    });
  });

  test("has a limit in the store, too", async () => {
    const a = replica(new MemoryStore(), { taskLogBytes: 10_000 });
    expect(await call(a, "large")).toMatchObject({
      kind: "error",
      data: { reason: "token_too_large" },
    });
  });
});

describe("once", () => {
  async function leg(a: Replica): Promise<Partial<RoundRequest>> {
    const requestState = await stateAfter(call(a, "pay"));
    return { requestState, inputResponses: { sum: accept({ sum: 5 }) } };
  }

  test("the same round again gets the same response from any replica, and runs nothing", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const second = await leg(a);
    const response = await call(a, "pay", second);
    expect(await call(b, "pay", second)).toEqual(response);
    expect(ran).toEqual(["first", "pay"]);
    const third = {
      requestState: response.kind === "input_required" ? response.result.requestState : "",
      inputResponses: { thanks: accept() },
    };
    const [one, other] = await Promise.all([call(a, "pay", third), call(b, "pay", third)]);
    expect(textOf(one)).toBe("paid 5 1 true");
    expect(other).toEqual(one);
    expect(ran).toEqual(["first", "pay"]);
  });

  test("a round that is sent twice at once runs once, and both requests get the response", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const second = await leg(a);
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const both = [call(a, "pay", second), call(b, "pay", second)];
    await expect.poll(() => ran).toEqual(["first", "pay"]);
    release();
    const [one, other] = await Promise.all(both);
    expect(other).toEqual(one);
    expect(ran).toEqual(["first", "pay"]);
  });

  test("other answers to the same round, and a past round, are refused", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    const second = await leg(a);
    const response = await call(a, "pay", second);
    const refused = { kind: "error", code: -32602, data: { reason: "superseded_round" } };
    const changed = { ...second, inputResponses: { sum: accept({ sum: 500 }) } };
    expect(await call(a, "pay", changed)).toMatchObject(refused);
    await call(a, "pay", {
      requestState: response.kind === "input_required" ? response.result.requestState : "",
      inputResponses: { thanks: accept() },
    });
    expect(await call(a, "pay", second)).toMatchObject(refused);
    expect(ran).toEqual(["first", "pay"]);
  });

  test("a first request with a key runs once, for this caller, this tool and these arguments", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const keyed = { facts: { meta: { "io.github.mcp-parley/idempotencyKey": "k".repeat(22) } } };
    const done = await call(a, "direct", keyed);
    expect(textOf(done)).toBe("charged");
    expect(await call(b, "direct", keyed)).toEqual(done);
    expect(ran).toEqual(["charge"]);
    const other = await call(b, "direct", { ...keyed, arguments: { more: 1 } });
    expect(other).toMatchObject({ code: -32602, data: { reason: "idempotency_key_used" } });
    expect(ran).toEqual(["charge"]);
    expect(textOf(await call(b, "direct", { ...keyed, principal: "eve" }))).toBe("charged");
    expect(ran).toEqual(["charge", "charge"]);
    expect((await call(a, "pay", keyed)).kind).toBe("input_required");
  });

  test("a first request with a key, whose process died, continues from its recorded entries", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const [a, b] = [replica(store), replica(store)];
    const keyed = {
      facts: { meta: { "io.github.mcp-parley/idempotencyKey": "k".repeat(22) } },
    };
    hold = new Promise(() => {});
    void call(a, "seize", keyed);
    await expect.poll(() => ran).toEqual(["first", "pay"]);
    now += store.leaseMs + 1;
    hold = undefined;
    expect(textOf(await call(b, "seize", keyed))).toBe("seized");
    expect(ran).toEqual(["first", "pay", "pay"]);
  });

  test("a round whose process died continues from its recorded entries", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const [a, b] = [replica(store), replica(store)];
    const second = await leg(a);
    // Its process dies in the second body, so the lease is not renewed and no response is sent.
    hold = new Promise(() => {});
    void call(a, "pay", second);
    await expect.poll(() => ran).toEqual(["first", "pay"]);
    now += store.leaseMs + 1;
    hold = undefined;
    const response = await call(b, "pay", second);
    expect(response.kind).toBe("input_required");
    expect(ran).toEqual(["first", "pay", "pay"]);
  });

  test("after a client disconnects, the run goes on, and the round that is sent again waits for it", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    const second = await leg(a);
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const stop = new Stop();
    const first = call(a, "pay", { ...second, stop });
    await expect.poll(() => ran).toEqual(["first", "pay"]);
    stop.stop("Disconnected");
    expect((await first).kind).toBe("none");
    const again = call(a, "pay", second);
    release();
    expect((await again).kind).toBe("input_required");
    expect(ran).toEqual(["first", "pay"]);
  });

  test("after a client disconnects, the response is kept for the round that is sent again later", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const second = await leg(a);
    const stop = new Stop();
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const first = call(a, "pay", { ...second, stop });
    await expect.poll(() => ran).toEqual(["first", "pay"]);
    stop.stop("Disconnected");
    release();
    expect((await first).kind).toBe("none");
    expect((await call(b, "pay", second)).kind).toBe("input_required");
    expect(ran).toEqual(["first", "pay"]);
  });

  test("a round that its client cancels is given up when its running body has ended, and not before", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    const second = await leg(a);
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const stop = new Stop();
    const first = call(a, "pay", { ...second, stop });
    await expect.poll(() => ran).toEqual(["first", "pay"]);
    let hasEnded = false;
    const ended = first.then(() => hasEnded);
    stop.stop("Cancelled");
    for (let n = 0; n < 5; n += 1) await call(a, "direct");
    hasEnded = true;
    release();
    expect([(await first).kind, await ended]).toEqual(["none", true]);
    expect((await call(a, "pay", second)).kind).toBe("input_required");
    expect(ran).toEqual(["first", "pay", "pay"]);
  });

  test("a round that its client has cancelled before it is claimed runs nothing, and can be sent again", async () => {
    const a = replica(new MemoryStore());
    const second = await leg(a);
    const stop = new Stop();
    stop.stop("Cancelled");
    expect((await call(a, "pay", { ...second, stop })).kind).toBe("none");
    expect(ran).toEqual([]);
    expect((await call(a, "pay", second)).kind).toBe("input_required");
    expect(ran).toEqual(["first", "pay"]);
  });

  test("a process that was paused past its lease before a step claims the round again", async () => {
    const store = new MemoryStore();
    const a = replica(store);
    const second = await leg(a);
    const { now } = Date;
    let pausedMs = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + pausedMs);
    onTestFinished(() => clock.mockRestore());
    beforeStep = () => {
      pausedMs += store.leaseMs + 1;
      beforeStep = () => {};
    };
    expect((await call(a, "pay", second)).kind).toBe("input_required");
    expect(ran).toEqual(["first", "pay"]);
  });

  test("a process that was paused past its lease gets the response of the process that took the round over", async () => {
    const store = new MemoryStore();
    const [a, b] = [replica(store), replica(store)];
    const second = await leg(a);
    const { now } = Date;
    let pausedMs = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + pausedMs);
    onTestFinished(() => clock.mockRestore());
    let other: Promise<RoundResponse> | undefined;
    beforeStep = () => {
      beforeStep = () => {};
      pausedMs += store.leaseMs + 1;
      other = call(b, "pay", second);
    };
    const one = await call(a, "pay", second);
    expect(one.kind).toBe("input_required");
    expect(await other).toEqual(one);
    expect(ran).toEqual(["first", "pay"]);
  });

  test("a first request, which can be sent twice, starts no body", async () => {
    const a = replica(new MemoryStore());
    const first = await call(a, "direct");
    expect(first).toMatchObject({ kind: "input_required" });
    expect(first.kind === "input_required" && first.result.inputRequests).toBeUndefined();
    expect(ran).toEqual([]);
    const requestState = first.kind === "input_required" ? first.result.requestState : "";
    expect(textOf(await call(a, "direct", { requestState }))).toBe("charged");
    expect(textOf(await call(a, "direct", { requestState }))).toBe("charged");
    expect(ran).toEqual(["charge"]);
  });
});

describe("health", () => {
  test("reports the tasks and what is missing", async () => {
    const a = replica(new MemoryStore());
    const id = await taskAfter(call(a, "approve"));
    const before = await a.app.health();
    expect(before).toMatchObject({ ready: true, tasks: { live: 1, due: 1, parked: 0, held: 0 } });
    expect(before.problems.join()).toContain("No worker has been seen");
    await a.app.work();
    await until(a, id, () => tickets.length > 0);
    await expect
      .poll(async () => (await a.app.health()).tasks)
      .toMatchObject({ parked: 1, due: 0, runningHere: 0 });
    expect((await a.app.health()).problems).toEqual([]);
  });

  test("is not ready when the store does not respond or keys are missing", async () => {
    const store = new MemoryStore();
    Object.assign(store, { figures: () => Promise.reject(new Error("connection refused")) });
    const { ready, problems } = await replica(store).app.health();
    expect(ready).toBe(false);
    expect(problems).toEqual(["The memory store cannot be used: connection refused"]);
    const keyless = parley({ name: "x", version: "1", logger });
    expect((await keyless.health()).ready).toBe(false);
  });

  test("logs that no worker will run a task", async () => {
    const a = replica(new MemoryStore());
    await taskAfter(call(a, "approve"));
    await expect
      .poll(() => logged.join("\n"))
      .toContain("no worker has been seen on this store for 30 s");
  });
});
