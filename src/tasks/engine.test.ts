// The task engine as a whole: runs, cancels, deliveries, limits and workers, on the memory store and on SQLite.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { gate } from "../../test/gate.fixture.ts";
import { Engine, ask, external } from "./engine.fixture.ts";
import type { Handlers } from "./engine.fixture.ts";
import type { TaskStore } from "./store.ts";
import { MemoryStore } from "./stores/memory.ts";
import { newPath } from "./stores/sqlite/folder.fixture.ts";
import { SqliteStore } from "./stores/sqlite/sqlite-store.ts";

const engines: Engine[] = [];

function engineOn(
  store: TaskStore,
  handlers: Handlers,
  options?: ConstructorParameters<typeof Engine>[2],
): Engine {
  const engine = new Engine(store, handlers, options);
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

describe("a task", () => {
  test("does not fail if the store cannot count for a moment, and no step runs again", async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const asked: string[] = [];
    const shaky: TaskStore = Object.assign(Object.create(store) as MemoryStore, {
      usage: async (principal: string) => {
        asked.push(principal);
        throw new Error("The store cannot be reached");
      },
    });
    const tool: Handlers[string] = async (_input, ops) => {
      const text = await ops.step("large", () => (ran.push("large"), "x".repeat(50_000)));
      return typeof text === "string" ? text.length : text;
    };
    const engine = engineOn(shaky, { tool }, { limits: { storedBytes: 1_000_000 } });
    await engine.start();
    const { id } = await engine.create("tool");
    expect(await engine.over(id)).toMatchObject({ status: "completed", result: 50_000 });
    expect(ran).toEqual(["large"]);
    expect(asked).not.toEqual([]);
  });

  test("runs steps, asks, sleeps and ends", async () => {
    const ran: string[] = [];
    const engine = engineOn(new MemoryStore(), {
      tool: async (input, ops) => {
        const one = await ops.step("one", () => (ran.push("one"), 1));
        const name = await ask(ops, "name");
        await ops.sleep("nap", 5);
        const two = await ops.step("two", () => (ran.push("two"), 2));
        return { input, one, name, two };
      },
    });
    await engine.start();
    const { id } = await engine.create("tool", { a: 1 });
    const asked = await engine.asked(id, "name");
    expect(asked.status).toBe("input_required");
    expect(asked.questions.get("name")).toEqual({ ask: "name" });
    await engine.answer(id, { name: "Ada" });
    const over = await engine.over(id);
    expect(over).toMatchObject({
      status: "completed",
      result: { input: { a: 1 }, one: 1, name: "Ada", two: 2 },
    });
    expect(ran).toEqual(["one", "two"]);
  });

  test("asks in parallel and takes the answers one by one", async () => {
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => Promise.all([ask(ops, "a"), ask(ops, "b"), ask(ops, "c")]),
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a", "b", "c");
    await engine.answer(id, { b: "B" });
    const partly = await engine.until(id, ({ questions }) => !questions.has("b"));
    expect([...partly.questions.keys()].toSorted()).toEqual(["a", "c"]);
    expect(partly.status).toBe("input_required");
    await engine.answer(id, { a: "A", c: "C" });
    expect((await engine.over(id)).result).toEqual(["A", "B", "C"]);
  });

  test("an invalid answer is asked for again under a new wire key, and the old key no longer counts", async () => {
    const engine = engineOn(new MemoryStore(), { tool: (_input, ops) => ask(ops, "size") });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "size");
    await engine.answer(id, { size: "bad" });
    await engine.asked(id, "size~2");
    expect(await engine.answer(id, { size: "late" })).toEqual({ accepted: [] });
    await engine.answer(id, { "size~2": "bad" });
    await engine.asked(id, "size~3");
    await engine.answer(id, { "size~3": "XL" });
    expect((await engine.over(id)).result).toBe("XL");
  });

  test("the time limit of a question ends while the task is parked, and a late answer is not used", async () => {
    let now = 1_000_000;
    const engine = engineOn(new MemoryStore({ now: () => now }), {
      tool: async (_input, ops) => {
        try {
          return await ask(ops, "quick", { timeoutMs: 60_000 });
        } catch (error) {
          return String(error);
        }
      },
    });
    const { id } = await engine.create("tool");
    await engine.start({ pollMs: 20 });
    await engine.asked(id, "quick");
    now += 120_000;
    await engine.answer(id, { quick: "late" });
    expect((await engine.over(id)).result).toBe(
      'UnansweredError: Question "quick" was not answered in time.',
    );
  });

  test("an answer that came in time wins, however late a worker reads it", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const handlers: Handlers = { tool: (_input, ops) => ask(ops, "quick", { timeoutMs: 60_000 }) };
    const first = engineOn(store, handlers);
    await first.start();
    const { id } = await first.create("tool");
    await first.asked(id, "quick");
    await first.runtime.drain();
    now += 59_000;
    await first.answer(id, { quick: "in time" });
    now += 3_600_000;
    const second = engineOn(store, handlers);
    await second.start();
    expect((await second.over(id)).result).toBe("in time");
  });

  test("answers reach a handler whose step is still running", async () => {
    const { opened, open } = gate();
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => {
        const slow = ops.step("slow", () => opened);
        const answer = ask(ops, "while").then((value) => {
          open();
          return value;
        });
        const [, value] = await Promise.all([slow, answer]);
        return value;
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "while");
    await engine.answer(id, { while: "now" });
    expect((await engine.over(id)).result).toBe("now");
  });

  test("the first to settle wins a race, and wins it again on every replay", async () => {
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => {
        const first = await Promise.race([
          ask(ops, "a"),
          ops.sleep("nap", 3_600_000).then(() => "slept"),
        ]);
        const later = await ask(ops, "later");
        return [first, later];
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.asked(id, "later");
    await engine.answer(id, { later: "T" });
    expect((await engine.over(id)).result).toEqual(["A", "T"]);
  });

  test("reports its status", async () => {
    const { opened, open } = gate();
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops, report) => {
        report("10 %");
        await ops.step("slow", () => opened);
        return "done";
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.until(id, ({ statusMessage }) => statusMessage === "10 %");
    open();
    await engine.over(id);
  });

  test("fails with the error of the handler, and shows it", async () => {
    const engine = engineOn(new MemoryStore(), {
      tool: async () => {
        throw new Error("no disk");
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    expect(await engine.over(id)).toMatchObject({
      status: "failed",
      error: { message: "no disk" },
      statusMessage: "no disk",
    });
  });

  test("is the only task of its call, and creating it again returns the same task", async () => {
    const engine = engineOn(new MemoryStore(), { tool: (_input, ops) => ask(ops, "a") });
    const callId = "call-1";
    const one = await engine.create("tool", 1, { callId });
    const other = await engine.create("tool", 2, { callId });
    expect(other.id).toBe(one.id);
  });

  test("continues from the journal of the rounds, and nothing is asked or run again", async () => {
    let ran = 0;
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => {
        const name = await ask(ops, "name");
        const made = await ops.step("make", () => (ran += 1));
        await ops.background();
        return [name, made, await ask(ops, "more")];
      },
    });
    await engine.start();
    const { id } = await engine.create("tool", null, {
      entries: [
        { kind: "answer", key: "name", digest: "name", value: "Ada" },
        { kind: "step", key: "make", value: 7 },
        { kind: "background", key: "~background-1" },
      ],
      unused: [{ kind: "answer", key: "more", digest: "more", value: "early" }],
    });
    expect((await engine.over(id)).result).toEqual(["Ada", 7, "early"]);
    expect(ran).toBe(0);
  });
});

describe("cancelling", () => {
  test("a parked task ends, and its answers are no longer accepted", async () => {
    const engine = engineOn(new MemoryStore(), { tool: (_input, ops) => ask(ops, "a") });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    expect((await engine.runtime.cancel(id))?.status).toBe("cancelled");
    expect(await engine.answer(id, { a: "A" })).toEqual({ accepted: [] });
    expect((await engine.runtime.get(id))?.status).toBe("cancelled");
  });

  test("a running body on another replica has its signal aborted within a third of a lease", async () => {
    const leaseMs = 30_000;
    const store = new MemoryStore({ leaseMs });
    const { opened: started, open: start } = gate();
    const { opened: aborted, open: abort } = gate();
    let reason: unknown;
    const handlers: Handlers = {
      tool: async (_input, ops) => {
        await ops.step("long", ({ signal }) => {
          signal.addEventListener("abort", () => {
            reason = (signal.reason as Error).name;
            abort();
          });
          start();
          return new Promise(() => {});
        });
      },
    };
    const b = engineOn(store, handlers);
    await b.start();
    const a = engineOn(store, {});
    const { id } = await b.create("tool");
    await started;
    const before = performance.now();
    await a.runtime.cancel(id);
    await aborted;
    expect(performance.now() - before).toBeLessThan(leaseMs / 3);
    expect(reason).toBe("Cancelled");
    expect((await a.runtime.get(id))?.status).toBe("cancelled");
  });
});

describe("waiting for a delivery from elsewhere", () => {
  test("a delivery answers it once, and the client cannot", async () => {
    const engine = engineOn(new MemoryStore(), { tool: (_input, ops) => external(ops, "boss") });
    await engine.start();
    const callId = "call-1";
    const { id } = await engine.create("tool", null, { callId });
    await engine.until(id, ({ revision }) => revision > 1);
    expect((await engine.runtime.get(id))?.status).toBe("working");
    expect(await engine.answer(id, { boss: "mine" })).toEqual({ accepted: [] });
    const deliver = (value: string) =>
      engine.runtime.deliver(callId, "boss", "external boss", value);
    expect(await deliver("yes")).toBe("delivered");
    expect(["already_answered", "gone"]).toContain(await deliver("no"));
    expect((await engine.over(id)).result).toBe("yes");
    expect(await deliver("no")).toBe("gone");
  });

  test("a delivery that comes before its question is kept for it", async () => {
    const callId = "call-1";
    const told: string[] = [];
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => {
        const wait = external(ops, "boss");
        const notice = ops.aside("boss", async () => {
          told.push(await engine.runtime.deliver(callId, "boss", "external boss", "at once"));
          told.push(await engine.runtime.deliver(callId, "boss", "external boss", "twice"));
        });
        const [value] = await Promise.all([wait, notice]);
        return value;
      },
    });
    await engine.start();
    const { id } = await engine.create("tool", null, { callId });
    expect((await engine.over(id)).result).toBe("at once");
    expect(told).toEqual(["delivered", "already_answered"]);
  });

  test("a value that is not valid is not used, and the wait goes on", async () => {
    const callId = "call-1";
    const engine = engineOn(new MemoryStore(), { tool: (_input, ops) => external(ops, "boss") });
    await engine.start();
    const { id } = await engine.create("tool", null, { callId });
    const first = await engine.until(id, ({ revision }) => revision > 1);
    await engine.runtime.deliver(callId, "boss", "external boss", "bad");
    await engine.until(id, ({ revision }) => revision > first.revision + 1);
    expect(await engine.runtime.deliver(callId, "boss", "external boss", "good")).toBe("delivered");
    expect((await engine.over(id)).result).toBe("good");
  });
});

describe("a deployment that changes the handler", () => {
  test("a time limit that the code no longer has does not keep the task going in circles", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const before = engineOn(store, { tool: (_input, ops) => ask(ops, "k", { timeoutMs: 1_000 }) });
    await before.start();
    const { id } = await before.create("tool");
    await before.asked(id, "k");
    await before.runtime.drain();
    now += 2_000;
    const after = engineOn(store, { tool: (_input, ops) => ask(ops, "k") });
    await after.start({ pollMs: 5 });
    await expect.poll(async () => (await store.read(id))?.dueAt).toBeUndefined();
    await after.answer(id, { k: "late, and fine" });
    expect((await after.over(id)).result).toBe("late, and fine");
  });

  test("an answered question that has become a sleep sleeps, and the answer stays unused", async () => {
    const store = new MemoryStore();
    const before = engineOn(store, { tool: (_input, ops) => ask(ops, "k") });
    await before.start();
    const { id } = await before.create("tool");
    await before.asked(id, "k");
    await before.runtime.drain();
    await before.answer(id, { k: "too late" });
    const after = engineOn(store, {
      tool: async (_input, ops) => {
        await ops.sleep("k", 30);
        return "slept";
      },
    });
    await after.start();
    expect((await after.over(id)).result).toBe("slept");
    expect((await store.read(id))?.epoch).toBeLessThan(10);
  });
});

describe("limits", () => {
  test("the live tasks of one principal are limited", async () => {
    const engine = engineOn(
      new MemoryStore(),
      { tool: (_input, ops) => ask(ops, "a") },
      { limits: { tasksPerPrincipal: 2 } },
    );
    const { id } = await engine.create("tool", null, { principal: "ada" });
    await engine.create("tool", null, { principal: "ada" });
    await expect(engine.create("tool", null, { principal: "ada" })).rejects.toThrow(
      '"tool" cannot become a task, because this caller already has 2 live tasks, which is the limit.',
    );
    await engine.create("tool", null, { principal: "bob" });
    await engine.runtime.cancel(id);
    await engine.create("tool", null, { principal: "ada" });
  });

  test("a task whose time is up fails at that moment, without a sweep: no answer, delivery or body counts any more", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now, leaseMs: 300 });
    const unswept: TaskStore = Object.assign(Object.create(store), {
      sweep: async () => ({
        expired: 0,
        removed: 0,
        forgotten: 0,
        spills: 0,
        rounds: 0,
        isMore: false,
      }),
    });
    const body = gate();
    const stopped: unknown[] = [];
    const handlers: Handlers = {
      asking: async (_input, ops) => Promise.all([ask(ops, "a"), external(ops, "e")]),
      working: (_input, ops) =>
        ops.step("body", async ({ signal }) => {
          signal.addEventListener("abort", () => stopped.push(signal.reason));
          await body.opened;
          return "late";
        }),
    };
    const engine = engineOn(unswept, handlers, { limits: { drainMs: 0 } });
    await engine.start({ pollMs: 10 });
    const callId = "call";
    const asking = await engine.create("asking", null, { ttlMs: 1_000, callId });
    const working = await engine.create("working", null, { ttlMs: 1_000 });
    await engine.asked(asking.id, "a");
    now += 1_000;
    expect(await engine.answer(asking.id, { a: "yes" })).toEqual({ accepted: [] });
    expect(await engine.runtime.deliver(callId, "e", "external e", "yes")).toBe("gone");
    expect(await engine.runtime.cancel(asking.id)).toMatchObject({ status: "failed" });
    const expired = { status: "failed", error: { data: { reason: "task_expired" } } };
    expect(await engine.over(asking.id)).toMatchObject(expired);
    expect(await engine.over(working.id)).toMatchObject(expired);
    await expect.poll(() => stopped).toMatchObject([{ reason: "Cancelled" }]);
    body.open();
    await engine.close();
    expect(await store.readLog(working.id)).toEqual([]);
    expect(engine.told.filter(({ event }) => event === "cancelled")).toEqual([]);
  });

  test.each([0, -1, 1.5, Number.NaN, 10_001])("a lifetime of %s ms is refused", async (ttlMs) => {
    const engine = engineOn(
      new MemoryStore(),
      { tool: () => 1 },
      { limits: { taskTtlMs: 10_000 } },
    );
    await expect(engine.create("tool", null, { ttlMs })).rejects.toThrow(
      "a whole number from 1 to 10000",
    );
  });

  test("a log that grows too large fails the task, and its body does not run again", async () => {
    let ran = 0;
    const engine = engineOn(
      new MemoryStore(),
      {
        tool: async (_input, ops) => {
          await ops.step("big", () => {
            ran += 1;
            return "x".repeat(2_000);
          });
        },
      },
      { limits: { logBytes: 1_000 } },
    );
    await engine.start();
    const { id } = await engine.create("tool");
    expect((await engine.over(id)).error?.message).toContain("over the limit of 1000");
    expect(ran).toBe(1);
  });

  test("the questions that are open at once are limited", async () => {
    const engine = engineOn(
      new MemoryStore(),
      { tool: (_input, ops) => Promise.all(["a", "b", "c"].map((key) => ask(ops, key))) },
      { limits: { questions: 2 } },
    );
    await engine.start();
    const { id } = await engine.create("tool");
    expect((await engine.over(id)).error?.message).toContain("has 3 questions open at once");
  });

  test("an unfinished task fails when its time is up, is kept for a while, and is then forgotten", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const engine = engineOn(
      store,
      { tool: (_input, ops) => ask(ops, "a") },
      { limits: { keepMs: 5_000 } },
    );
    await engine.start({ sweepMs: 10, pollMs: 10 });
    const { id } = await engine.create("tool", null, { ttlMs: 1_000 });
    await engine.asked(id, "a");
    now += 1_001;
    expect((await engine.over(id)).error).toMatchObject({ data: { reason: "task_expired" } });
    await expect.poll(() => engine.told).toContainEqual({ event: "expired", error: 1 });
    expect(await store.readLog(id)).toEqual([]);
    now += 5_001;
    await expect.poll(() => store.read(id)).toBeUndefined();
  });

  test("a task whose id reached no client ends sooner, and one that any client has read does not", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const engine = engineOn(
      store,
      { tool: (_input, ops) => ask(ops, "a") },
      { limits: { unreadMs: 1_000 } },
    );
    await engine.start({ sweepMs: 10, pollMs: 10 });
    const [lost, polled, listed, followed] = await Promise.all(
      [0, 1, 2, 3].map(async (n) => {
        const { id } = await engine.create("tool", null, { principal: n === 2 ? "ann" : "bob" });
        await expect.poll(async () => (await store.read(id))?.status).toBe("input_required");
        return id;
      }),
    );
    await engine.runtime.get(polled!);
    await engine.runtime.list("ann", undefined, 10);
    await engine.asked(followed!, "a");
    // Nobody waits for the notes, and they share statements.
    for (const id of [polled, listed, followed]) {
      await expect.poll(async () => (await store.read(id!))?.isUnread).toBe(false);
    }
    now += 1_001;
    await expect.poll(async () => (await store.read(lost!))?.rest).toBe("expired");
    expect((await engine.runtime.get(lost!))?.error).toMatchObject({
      data: { reason: "task_expired" },
    });
    for (const id of [polled, listed, followed]) {
      await engine.answer(id!, { a: "here" });
      expect(await engine.over(id!)).toMatchObject({ status: "completed", result: "here" });
    }
  });

  test("a worker deletes old audit records, however long tasks are kept", async () => {
    let time = 0;
    const store = new MemoryStore({ now: () => time });
    const entry = { id: "a", app: "shop", record: "sealed" };
    await store.audit.append("old", 0, [entry]);
    time = 365 * 24 * 3_600_000;
    await store.audit.append("new", 0, [entry]);
    await engineOn(store, { tool: () => 1 }).start({ sweepMs: 3_600_000 });
    await expect.poll(() => store.audit.readChain("old")).toEqual([]);
    expect(await store.audit.readChain("new")).toHaveLength(1);
  });

  test("a worker that is behind with sweeping catches up at once", async () => {
    const store = new MemoryStore();
    let left = 5;
    const behind: TaskStore = Object.assign(Object.create(store), {
      sweep: async (...given: Parameters<TaskStore["sweep"]>) => {
        left -= 1;
        return { ...(await store.sweep(...given)), isMore: left > 0 };
      },
    });
    const engine = engineOn(behind, { tool: () => 1 });
    // The next sweep would come in an hour.
    await engine.start({ sweepMs: 3_600_000 });
    await expect.poll(() => left).toBe(0);
  });
});

describe("workers", () => {
  test("claim only tasks of tools that they know", async () => {
    const store = new MemoryStore();
    const other = engineOn(store, { other: () => 1 });
    await other.start();
    const knows = engineOn(store, { tool: () => "here" });
    const { id } = await other.create("tool");
    await other.create("other").then(({ id: known }) => other.over(known));
    expect((await other.runtime.get(id))?.status).toBe("working");
    await knows.start();
    expect((await knows.over(id)).result).toBe("here");
  });

  test("record what a running body returns while they drain, and start nothing new", async () => {
    const store = new MemoryStore({ leaseMs: 60_000 });
    const working = gate();
    const { opened: started, open: start } = gate();
    const ran: string[] = [];
    const handlers = (name: string): Handlers => ({
      tool: async (_input, ops) => {
        const first = await ops.step("first", async () => {
          ran.push(`first in ${name}`);
          start();
          await working.opened;
          return name;
        });
        await ops.step("second", () => void ran.push(`second in ${name}`));
        return first;
      },
    });
    const a = engineOn(store, handlers("a"));
    await a.start();
    const { id } = await a.create("tool");
    await started;
    const drained = a.runtime.drain();
    working.open();
    await drained;
    expect(await store.read(id)).toMatchObject({ worker: undefined, logLength: 1, fruitless: 0 });
    const b = engineOn(store, handlers("b"));
    await b.start();
    expect((await b.over(id)).result).toBe("a");
    expect(ran).toEqual(["first in a", "second in b"]);
  });

  test("finish a task whose last body ends while they drain", async () => {
    const store = new MemoryStore({ leaseMs: 60_000 });
    const working = gate();
    const { opened: started, open: start } = gate();
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await ops.step("body", () => {
          start();
          return working.opened;
        });
        return "end";
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await started;
    const drained = engine.runtime.drain();
    working.open();
    await drained;
    expect(await engine.runtime.get(id)).toMatchObject({ status: "completed", result: "end" });
  });

  test("hand over a body that takes too long: its signal aborts, which is not a failure", async () => {
    const store = new MemoryStore({ leaseMs: 60_000 });
    const { opened: started, open: start } = gate();
    const attempts: string[] = [];
    const handlers = (name: string): Handlers => ({
      tool: async (_input, ops) =>
        ops.step("body", ({ signal }) => {
          attempts.push(name);
          if (name === "b") return name;
          start();
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error));
          });
        }),
    });
    const a = engineOn(store, handlers("a"), { limits: { drainMs: 500 } });
    const b = engineOn(store, handlers("b"));
    await a.start();
    const { id } = await a.create("tool");
    await started;
    await b.start();
    await a.runtime.drain();
    expect((await b.over(id)).result).toBe("b");
    expect(attempts).toEqual(["a", "b"]);
  });

  test("do not run more tasks at once than they may", async () => {
    const { opened, open } = gate();
    let running = 0;
    let most = 0;
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => {
        await ops.step("slow", async () => {
          running += 1;
          most = Math.max(most, running);
          await opened;
          running -= 1;
        });
        return "done";
      },
    });
    await engine.start({ concurrency: 2 });
    const tasks = await Promise.all([1, 2, 3, 4, 5].map(() => engine.create("tool")));
    open();
    await Promise.all(tasks.map(({ id }) => engine.over(id)));
    expect(most).toBeLessThanOrEqual(2);
  });

  test("claim tasks that arrived while there was no room, once there is room", async () => {
    const { opened, open } = gate();
    const engine = engineOn(new MemoryStore(), {
      slow: (_input, ops) => ops.step("s", () => opened),
      quick: () => "ok",
    });
    await engine.start({ concurrency: 1, pollMs: 3_600_000 });
    const slow = await engine.create("slow");
    const quick = await engine.create("quick");
    await expect.poll(async () => (await engine.runtime.figures()).due).toBe(1);
    open();
    await engine.over(slow.id);
    expect((await engine.over(quick.id)).result).toBe("ok");
  });

  test("a task that was given up continues after a requeue, and what is recorded is not done again", async () => {
    const store = new MemoryStore();
    let isBroken = true;
    const ran: string[] = [];
    const engine = engineOn(
      store,
      {
        tool: async (_input, ops) => {
          const made = await ops.step("make", () => ran.push("make"));
          const size = await ask(ops, "size");
          const sent = await ops.step("send", () => {
            ran.push("send");
            return isBroken ? new Promise<never>(() => {}) : "sent";
          });
          return [made, size, sent].join(" ");
        },
      },
      { limits: { fruitlessClaims: 1, drainMs: 0 } },
    );
    await engine.start({ pollMs: 10 });
    const { id } = await engine.create("tool");
    await engine.asked(id, "size");
    await engine.answer(id, { size: "L" });
    await expect.poll(() => ran).toEqual(["make", "send"]);
    // Its process is stopped in the middle of the step, and the next one dies.
    await engine.close();
    expect(
      (await store.claim({ worker: "doomed", tools: ["tool"], most: 1, leaseMs: 1 })).claimed,
    ).toHaveLength(1);
    await engine.start({ pollMs: 10 });
    expect((await engine.over(id)).error).toMatchObject({ data: { reason: "task_stuck" } });
    isBroken = false;
    const which = { stuckAfter: 1, keepMs: 1_000 };
    expect(await store.requeue(id, which)).toMatchObject({ isRequeued: true });
    expect((await engine.over(id)).result).toBe("1 L sent");
    expect(ran).toEqual(["make", "send", "send"]);
    expect(await store.requeue(id, which)).toMatchObject({ isRequeued: false });
  });

  test("a task that makes no progress, claim after claim, fails with the last cause", async () => {
    const engine = engineOn(
      new MemoryStore(),
      { tool: async (_input, ops) => ops.step("crash", () => new Promise(() => {})) },
      { limits: { fruitlessClaims: 3, drainMs: 0 } },
    );
    // This worker dies: it neither renews nor releases what it holds.
    const { id } = await engine.create("tool");
    for (let claim = 0; claim < 3; claim += 1) {
      await expect
        .poll(
          async () =>
            (await engine.store.claim({ worker: "doomed", tools: ["tool"], most: 1, leaseMs: 1 }))
              .claimed.length,
        )
        .toBe(1);
    }
    await engine.start({ pollMs: 10 });
    const { error } = await engine.over(id);
    expect(error).toMatchObject({ data: { reason: "task_stuck" } });
    expect(error?.message).toBe(
      "The task was given up after 3 attempts without progress. The last cause was: worker doomed disappeared without notice: " +
        "its process ended, or a step blocked its event loop for longer than the lease of 10 s.",
    );
  });

  test("report a cancelled task once, and expired ones when they sweep", async () => {
    let now = 1_000_000;
    const engine = engineOn(new MemoryStore({ now: () => now }), {});
    const [one] = await Promise.all([engine.create("tool"), engine.create("tool")]);
    await engine.runtime.cancel(one.id);
    await engine.runtime.cancel(one.id);
    now += 8 * 24 * 3_600_000;
    await engine.start({ sweepMs: 5 });
    const told = () => engine.told.filter(({ event }) => /cancelled|expired/.test(event));
    await expect.poll(told).toEqual([
      { event: "cancelled", error: undefined },
      { event: "expired", error: 1 },
    ]);
  });

  describe("a body that blocks the event loop past its lease", () => {
    const leaseMs = 200;
    const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * leaseMs);

    test.each(["synchronous", "asynchronous"] as const)(
      "runs once if no other worker has come, and the process says what happened (%s)",
      async (kind) => {
        let ran = 0;
        const engine = engineOn(new MemoryStore({ leaseMs }), {
          tool: async (_input, ops) => {
            const other = ops.step("other", () => new Promise((done) => setTimeout(done, 1)));
            const crunched = await ops.step("crunch", () => {
              ran += 1;
              block();
              return kind === "synchronous" ? "crunched" : Promise.resolve("crunched");
            });
            await other;
            return crunched;
          },
        });
        await engine.start({ pollMs: 5 });
        const { id } = await engine.create("tool");
        expect((await engine.over(id)).result).toBe("crunched");
        expect(ran).toBe(1);
        const said = engine.told.filter(({ event }) => event === "blocked");
        expect(said.map(({ error }) => error)).toContainEqual(
          expect.stringMatching(
            /^this process did not respond for at least [\d.]+ s while .*step "crunch" of "tool".* ran: its event loop was blocked, or the process was paused$/,
          ),
        );
      },
    );

    test("has its outcome recorded when this process claims the task again, instead of running again", async () => {
      let ran = 0;
      const store = new MemoryStore({ leaseMs });
      const engine = engineOn(
        store,
        {
          tool: async (_input, ops) => {
            const value = await ops.step("crunch", async () => {
              ran += 1;
              block();
              // Another replica takes the task over, and makes no progress either.
              void store.claim({ worker: "other", tools: ["tool"], most: 1, leaseMs });
              return "crunched";
            });
            return value;
          },
        },
        { limits: { fruitlessClaims: 1 } },
      );
      await engine.start({ pollMs: 5 });
      const { id } = await engine.create("tool");
      expect((await engine.over(id)).result).toBe("crunched");
      expect(ran).toBe(1);
      expect(engine.told.map(({ event }) => event)).toContain("leaseLost");
    });

    test("is named as the cause if the task is given up", async () => {
      const store = new MemoryStore({ leaseMs });
      const engine = engineOn(
        store,
        {
          tool: (_input, ops) =>
            ops.step(
              "crunch",
              async () => {
                block();
                void store.claim({ worker: "other", tools: ["tool"], most: 1, leaseMs });
                throw new Error("no outcome");
              },
              { retries: 1_000 },
            ),
        },
        { limits: { fruitlessClaims: 1 } },
      );
      await engine.start({ pollMs: 5 });
      const { id } = await engine.create("tool");
      expect((await engine.over(id)).error?.message).toMatch(
        /^The task was given up after 1 attempt without progress\. The last cause was: this process did not respond for at least [\d.]+ s while step "crunch" of "tool" ran/,
      );
    });
  });

  test("a record that cannot be opened does not run and is not counted, because another replica may have the key", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const { id } = await engineOn(store, {}).create("tool");
    let ran = 0;
    const handlers: Handlers = { tool: () => (ran += 1) };
    const blind = engineOn(store, handlers, {
      sealer: {
        seal: (text) => `sealed ${text}`,
        open: () => {
          throw new Error("key 2026 is not in the ring");
        },
      },
      limits: { fruitlessClaims: 1 },
    });
    await blind.start({ pollMs: 5 });
    for (let claim = 1; claim <= 3; claim += 1) {
      const tries = () => blind.told.filter(({ event }) => event === "couldNotRun").length;
      await expect.poll(tries).toBe(claim);
      await expect.poll(async () => (await store.read(id))?.worker).toBeUndefined();
      expect(await store.read(id)).toMatchObject({ status: "working", fruitless: 0 });
      now += 15_000;
    }
    await blind.close();
    expect(ran).toBe(0);
    const sighted = engineOn(store, handlers);
    now += 15_000;
    await sighted.start({ pollMs: 5 });
    expect((await sighted.over(id)).result).toBe(1);
  });

  test("a record that no worker can open is found among the stuck ones, and never given up", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    const { id } = await engineOn(store, {}).create("tool");
    const handlers: Handlers = { tool: () => "read" };
    const unknown = Object.assign(new Error("Invalid"), { keyId: "other" });
    const blind = engineOn(store, handlers, {
      sealer: {
        seal: (text) => `sealed ${text}`,
        open: () => {
          throw unknown;
        },
      },
    });
    await blind.start({ pollMs: 5 });
    const counted: number[] = [];
    for (let claim = 1; claim <= 12; claim += 1) {
      const tries = () => blind.told.filter(({ event }) => event === "couldNotRun").length;
      await expect.poll(tries).toBe(claim);
      await expect.poll(async () => (await store.read(id))?.worker).toBeUndefined();
      const task = await store.read(id);
      expect(task?.status).toBe("working");
      counted.push(task?.fruitless ?? -1);
      now += 15_000;
    }
    await blind.close();
    expect(counted).toEqual([0, 1, ...Array.from({ length: 10 }, () => 2)]);
    expect((await store.read(id))?.cause).toBe(
      'sealed its record cannot be opened: it is sealed with the key "other", which this worker does not have',
    );
    expect(await store.reader.find({ limit: 9, stuckMs: 30_000 })).toMatchObject([{ id }]);
    const sighted = engineOn(store, handlers);
    await sighted.start({ pollMs: 5 });
    expect((await sighted.over(id)).result).toBe("read");
  });

  test("a write that the store keeps refusing is given up, and the task fails with the error of the store", async () => {
    // The worker gives up after one lease. The lease is long enough for a busy machine to renew it in time.
    const store = new MemoryStore({ leaseMs: 3_000 });
    Object.assign(store, { append: () => Promise.reject(new Error("value out of range")) });
    let ran = 0;
    const engine = engineOn(
      store,
      { tool: (_input, ops) => ops.step("s", () => (ran += 1)) },
      { limits: { fruitlessClaims: 1 } },
    );
    await engine.start({ pollMs: 10 });
    const { id } = await engine.create("tool");
    const { error } = await engine.over(id);
    expect(error?.message).toContain("The last cause was: value out of range.");
    expect(ran).toBe(1);
  });

  test("back off while the store is down, and continue when it is back", async () => {
    const store = new MemoryStore();
    let isDown = true;
    const claim = store.claim;
    Object.assign(store, {
      claim: (wanted: Parameters<typeof claim>[0]) =>
        isDown ? Promise.reject(new Error("down")) : claim(wanted),
    });
    const engine = engineOn(store, { tool: () => "back" });
    await engine.start({ concurrency: 1 });
    const other = engineOn(store, {});
    const { id } = await other.create("tool");
    await expect
      .poll(() => engine.told.filter(({ event }) => event === "storeFailed").length)
      .toBeGreaterThan(1);
    isDown = false;
    expect((await engine.over(id)).result).toBe("back");
    expect(engine.told.map(({ event }) => event)).toContain("storeBack");
  });
});

// The chaos harness (test/chaos) found each of these.
describe("found by chaos", () => {
  function sqlite(): SqliteStore {
    const folder = mkdtempSync(join(tmpdir(), "parley-found-"));
    const store = new SqliteStore({ path: join(folder, "tasks.db") });
    onTestFinished(async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return store;
  }

  test("the time of a timer is a whole number, because SQLite takes no other", async () => {
    const engine = engineOn(sqlite(), {
      tool: async (_input, ops) => {
        await ops.sleep("nap", 5);
        return "slept";
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    expect((await engine.over(id)).result).toBe("slept");
  });

  test("a task that is released for a later try has a whole number as its time, too", async () => {
    const store = sqlite();
    const engine = engineOn(
      store,
      { tool: () => 1 },
      {
        sealer: {
          seal: (text) => text,
          open: () => {
            throw new Error("key 2026 is not in the ring");
          },
        },
        limits: { fruitlessClaims: 1_000 },
      },
    );
    const { id } = await engineOn(store, {}).create("tool");
    await engine.start({ pollMs: 20 });
    await expect.poll(async () => (await store.read(id))?.cause).toContain("2026");
  });

  test("an invalid answer among valid ones is asked for again under a new wire key", async () => {
    const engine = engineOn(new MemoryStore(), {
      tool: async (_input, ops) => Promise.all([ask(ops, "a"), ask(ops, "b"), ask(ops, "c")]),
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a", "b", "c");
    // b is read and found invalid before c is recorded, so that append takes both off the inbox.
    await engine.answer(id, { a: "A", b: "bad", c: "C" });
    const again = await engine.until(
      id,
      ({ questions, status }) => status === "input_required" && questions.size === 1,
    );
    expect([...again.questions.keys()]).toEqual(["b~2"]);
  });

  test("a delivery is not refused because its question is asked at that very moment", async () => {
    const callId = "call-1";
    const store = new MemoryStore();
    const engine = engineOn(store, { tool: (_input, ops) => external(ops, "boss") });
    const { id } = await engine.create("tool", null, { callId });
    // The question is asked between the read of the task and the answer.
    const racing: TaskStore = Object.assign(Object.create(store) as MemoryStore, {
      readByCall: async (wanted: string) => {
        const before = await store.readByCall(wanted);
        if (engine.runtime.worker === undefined) {
          await engine.start();
          await engine.until(id, ({ revision }) => revision > 1);
        }
        return before;
      },
    });
    const other = engineOn(racing, {});
    expect(await other.runtime.deliver(callId, "boss", "external boss", "yes")).toBe("delivered");
    expect((await engine.over(id)).result).toBe("yes");
  });

  test("an answer starts its task where it arrives, if the worker there has room, and it is not claimed", async () => {
    const store = new MemoryStore();
    const engine = engineOn(store, { tool: (_input, ops) => ask(ops, "size") });
    await engine.start({ pollMs: 3_600_000 });
    const { id } = await engine.create("tool");
    await engine.asked(id, "size");
    const claims = vi.spyOn(store, "claim");
    await engine.answer(id, { size: "large" });
    expect((await engine.over(id)).result).toBe("large");
    for (const { value } of claims.mock.results) expect(await value).toMatchObject({ claimed: [] });
  });

  test("an answer that comes as soon as its question is shown finds the place of its task free", async () => {
    const store = new SqliteStore({ path: newPath() });
    onTestFinished(() => store.close());
    const engine = engineOn(store, { tool: (_input, ops) => ask(ops, "size") });
    await engine.start({ pollMs: 3_600_000, concurrency: 1 });
    const claims = vi.spyOn(store, "claim");
    const { id } = await engine.create("tool");
    for await (const seen of engine.runtime.watch(id, 0, new AbortController().signal)) {
      if (seen.questions.has("size")) await engine.answer(id, { size: "large" });
    }
    expect((await engine.over(id)).result).toBe("large");
    for (const { value } of claims.mock.results) expect(await value).toMatchObject({ claimed: [] });
  });

  test("an answer leaves its task to others while the worker there has no room", async () => {
    const store = new MemoryStore();
    const { opened, open } = gate();
    const handlers: Handlers = {
      tool: (_input, ops) => ask(ops, "size"),
      slow: (_input, ops) => ops.step("s", () => opened),
    };
    const full = engineOn(store, handlers);
    await full.start({ concurrency: 1 });
    const { id } = await full.create("tool");
    await full.asked(id, "size");
    await full.create("slow");
    await full.answer(id, { size: "large" });
    expect(await store.read(id)).toMatchObject({ worker: undefined, inbox: [{ key: "size" }] });
    const other = engineOn(store, handlers);
    await other.start();
    expect((await other.over(id)).result).toBe("large");
    open();
  });

  test("an answer to what a follower was shown does not read the task, and any other answer does", async () => {
    const store = new MemoryStore();
    let reads = 0;
    const counted = Object.assign(Object.create(store), {
      read: (id: string) => {
        reads += 1;
        return store.read(id);
      },
    });
    const engine = engineOn(counted, { tool: (_input, ops) => ask(ops, "size") });
    await engine.start();
    const { id } = await engine.create("tool");
    const following = engine.runtime.watch(id, 0, new AbortController().signal);
    for await (const { questions } of following) {
      if (!questions.has("size")) continue;
      reads = 0;
      expect(await engine.answer(id, { colour: "red" })).toEqual({ accepted: [] });
      expect(reads).toBe(1);
      expect(await engine.answer(id, { size: "large" })).toEqual({ accepted: ["size"] });
      expect(reads).toBe(1);
      break;
    }
    expect((await engine.over(id)).result).toBe("large");
  });

  test("a worker that is drained while it starts does not start", async () => {
    const engine = engineOn(new MemoryStore(), { tool: () => 1 });
    const starting = engine.start();
    await engine.runtime.drain();
    await starting;
    expect(engine.runtime.worker).toBeUndefined();
  });

  test("a worker that could not start, because the store was down, can be started again", async () => {
    const store = new MemoryStore();
    let isDown = true;
    const engine = engineOn(
      Object.assign(store, {
        migrate: async () => {
          if (isDown) throw new Error("down");
        },
      }),
      { tool: () => "up" },
    );
    await expect(engine.start()).rejects.toThrow("down");
    isDown = false;
    await engine.start();
    const { id } = await engine.create("tool");
    expect((await engine.over(id)).result).toBe("up");
  });

  test("an answer that the store had in time counts, even if the worker learns of it late", async () => {
    let now = 1_000_000;
    const store = new MemoryStore({ now: () => now });
    // Hints come late, as they do from another process.
    const deaf = Object.assign(store, { subscribe: () => () => {} });
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const engine = engineOn(deaf, {
      tool: async (_input, ops) => {
        const slow = ops.step("slow", () => opened);
        const quick = ask(ops, "quick", { timeoutMs: 300 })
          .then(
            (value) => value,
            (error: unknown) => String(error),
          )
          .finally(open);
        const [, value] = await Promise.all([slow, quick]);
        return value;
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await expect.poll(async () => (await store.read(id))?.waits.length).toBe(1);
    await engine.answer(id, { quick: "in time" });
    now += 1_000;
    await expect
      .poll(async () => (await store.read(id))?.status, { timeout: 9_000 })
      .toBe("completed");
    expect((await engine.runtime.get(id))?.result).toBe("in time");
  });
});
