// The entry of an answer may be written with the next write of its run (R3). Until then the answer is an arrival, so nothing is
// lost, and nothing outside depends on the entry.

import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { gate } from "../../test/gate.fixture.ts";
import type { Operations } from "../replay/operations.ts";
import { ask, Engine, openSealer } from "./engine.fixture.ts";
import type { Handlers } from "./engine.fixture.ts";
import { readRecords } from "./execution/log-records.ts";
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

const writing = new Set<unknown>(
  "create answer append publish park report release finish undo".split(" "),
);

type Write = (...args: never[]) => Promise<unknown>;

/** A store that notes each write before it makes it. `around` may do something else instead. */
function watched(
  store: TaskStore,
  around: (name: string, write: () => Promise<unknown>) => Promise<unknown> = (_, write) => write(),
): { readonly store: TaskStore; readonly writes: string[] } {
  const writes: string[] = [];
  const seen = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (!writing.has(name)) return member.bind(target) as unknown;
      return (...args: never[]) => {
        writes.push(String(name));
        return around(String(name), () => Reflect.apply(member as Write, target, args));
      };
    },
  });
  return { store: seen, writes };
}

/** What the log of a task says. */
async function logOf(store: TaskStore, id: string) {
  const task = await store.read(id);
  const { entries, version } = readRecords(openSealer, task!.callId, await store.readLog(id));
  return { entries: entries.map(({ kind, key }) => `${kind} ${key}`), version };
}

const never = () => new Promise<never>(() => {});

const three: Handlers = {
  tool: async (_input, ops) => [await ask(ops, "a"), await ask(ops, "b"), await ask(ops, "c")],
};

const stores = [
  ["memory", () => new MemoryStore()],
  [
    "sqlite",
    () => {
      const store = new SqliteStore({ path: newPath() });
      onTestFinished(() => store.close());
      return store;
    },
  ],
] as const;

describe.each(stores)("on %s", (_name, open) => {
  test("a task that asks once takes four writes", async () => {
    const { store, writes } = watched(open());
    const engine = engineOn(store, { tool: (_input, ops) => ask(ops, "a") });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    expect((await engine.over(id)).result).toBe("A");
    expect(writes).toEqual(["create", "park", "answer", "finish"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a"]);
    await engine.close();
  });

  test("each further question takes two writes", async () => {
    const { store, writes } = watched(open());
    const engine = engineOn(store, three);
    await engine.start();
    const { id } = await engine.create("tool");
    for (const key of ["a", "b", "c"]) {
      await engine.asked(id, key);
      await engine.answer(id, { [key]: key.toUpperCase() });
    }
    expect((await engine.over(id)).result).toEqual(["A", "B", "C"]);
    const leg = ["park", "answer"];
    expect(writes).toEqual(["create", ...leg, ...leg, ...leg, "finish"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a", "answer b", "answer c"]);
    await engine.close();
  });
});

test("what operators read of it is the same: who wrote it, and when", async () => {
  const store = new MemoryStore({ now: () => 1_000_000 });
  const engine = engineOn(store, three);
  await engine.start();
  const { id } = await engine.create("tool");
  await engine.asked(id, "a");
  await engine.answer(id, { a: "A" });
  await engine.asked(id, "b");
  const [run] = (await store.reader.runs(id)).filter(({ epoch }) => epoch === 2);
  expect(run).toMatchObject({ how: "parked" });
  expect(await store.reader.log(id, 0, 9)).toMatchObject([{ epoch: 2, at: run?.endedAt }]);
});

test("several answers are written together, in the order in which they came", async () => {
  const { store, writes } = watched(new MemoryStore());
  const engine = engineOn(store, {
    tool: async (_input, ops) => {
      const all = await Promise.all([ask(ops, "a"), ask(ops, "b"), ask(ops, "c")]);
      return [...all, await ask(ops, "d")];
    },
  });
  await engine.start();
  const { id } = await engine.create("tool");
  await engine.asked(id, "a", "b", "c");
  await engine.runtime.drain();
  for (const key of ["c", "a", "b"]) await engine.answer(id, { [key]: key });
  writes.length = 0;
  await engine.start();
  await engine.asked(id, "d");
  expect(writes).toEqual(["park"]);
  expect((await logOf(store, id)).entries).toEqual(["answer c", "answer a", "answer b"]);
  expect((await store.read(id))?.inbox).toEqual([]);
});

test("the note of the version comes first, and once", async () => {
  const store = new MemoryStore();
  const handlers: Handlers = {
    tool: async (_input, ops) => {
      await Promise.all([ask(ops, "a"), ask(ops, "b")]);
      return [await ask(ops, "c"), await ask(ops, "d")];
    },
  };
  const engine = engineOn(store, handlers, { version: "2" });
  await engine.start();
  const { id } = await engine.create("tool");
  await engine.asked(id, "a", "b");
  await engine.answer(id, { a: "A", b: "B" });
  await engine.asked(id, "c");
  expect(await store.readLog(id)).toHaveLength(3);
  await engine.answer(id, { c: "C" });
  await engine.asked(id, "d");
  expect(await store.readLog(id)).toHaveLength(4);
  const entries = ["answer a", "answer b", "answer c"];
  expect(await logOf(store, id)).toEqual({ entries, version: "2" });
});

describe("is written before", () => {
  test("a body starts", async () => {
    const { store, writes } = watched(new MemoryStore());
    const logs: Promise<readonly string[]>[] = [];
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await Promise.all([ask(ops, "a"), ask(ops, "b")]);
        return ops.step("step", () => {
          logs.push(store.readLog(id));
          return "done";
        });
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a", "b");
    await engine.answer(id, { a: "A", b: "B" });
    await engine.over(id);
    expect((await logs[0])?.length).toBe(2);
    expect(writes.slice(2)).toEqual(["answer", "append", "append", "finish"]);
  });

  test("a body that has an undo starts, together with its note", async () => {
    const { store, writes } = watched(new MemoryStore());
    const engine = engineOn(
      store,
      {
        tool: async (_input, ops) => {
          await ask(ops, "a");
          return ops.step("step", () => "done", { undo: "remove" });
        },
      },
      { undos: { remove: () => {} } },
    );
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.over(id);
    expect(writes.slice(2)).toEqual(["answer", "append", "append", "finish"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a", "begun step", "step step"]);
  });

  test("the handler has it, while a body runs that may use what the handler knows", async () => {
    const { store, writes } = watched(new MemoryStore());
    const { opened, open } = gate();
    const logs: Promise<readonly string[]>[] = [];
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        const slow = ops.step("slow", () => opened);
        await ask(ops, "a").then(() => {
          logs.push(store.readLog(id));
          open();
        });
        return slow;
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.over(id);
    expect((await logs[0])?.length).toBe(1);
    expect(writes).toEqual(["create", "publish", "answer", "append", "append", "finish"]);
  });

  test("a status message shows", async () => {
    const { store, writes } = watched(new MemoryStore());
    const engine = engineOn(store, {
      tool: async (_input, ops, report) => {
        report(`Got ${String(await ask(ops, "a"))}`);
        return ask(ops, "b");
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.asked(id, "b");
    expect(writes.slice(2)).toEqual(["answer", "append", "report", "park"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a"]);
  });

  test("a handler that does something else has run for longer than a lease", async () => {
    const store = new MemoryStore({ leaseMs: 1_500 });
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await ask(ops, "a");
        return never();
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await expect.poll(async () => (await logOf(store, id)).entries).toEqual(["answer a"]);
    expect(await store.read(id)).toMatchObject({ status: "working", inbox: [] });
  });

  test("a draining worker hands the task over", async () => {
    const { store, writes } = watched(new MemoryStore());
    const { opened, open } = gate();
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await ask(ops, "a");
        open();
        return never();
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await opened;
    await engine.close();
    expect(writes.slice(2)).toEqual(["answer", "append", "release"]);
    expect(await store.read(id)).toMatchObject({ worker: undefined, inbox: [], logLength: 1 });
  });

  test("a note of `patched`, in the same write", async () => {
    const { store, writes } = watched(new MemoryStore());
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await ask(ops, "a");
        return (await ops.patched("p")) && ask(ops, "b");
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.asked(id, "b");
    expect(writes.slice(2)).toEqual(["answer", "append", "park"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a", "patched p"]);
  });

  test("the outcome of a timer, in the same write", async () => {
    let now = 1_000_000;
    const { store, writes } = watched(new MemoryStore({ now: () => now }));
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await Promise.all([ask(ops, "a"), ops.sleep("nap", 50)]);
        return ask(ops, "b");
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.runtime.drain();
    await engine.answer(id, { a: "A" });
    // The clock of the worker may have been ahead of this one.
    now += 60_000;
    writes.length = 0;
    await engine.start({ pollMs: 10 });
    await engine.asked(id, "b");
    expect(writes).toEqual(["append", "park"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a", "timer nap"]);
  });
});

describe("is appended by itself", () => {
  const writesOf = async (store: TaskStore, handler: (ops: Operations) => unknown) => {
    const seen = watched(store);
    const engine = engineOn(seen.store, { tool: (_input, ops) => handler(ops) });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.over(id);
    return seen.writes.slice(2);
  };

  test("if the store does not take records along", async () => {
    const store = Object.assign(new MemoryStore(), { appendsWithNext: undefined });
    const writes = await writesOf(store, (ops) => ask(ops, "a"));
    expect(writes).toEqual(["answer", "append", "finish"]);
  });

  test("if its question looks at more than the answer, because that may change", async () => {
    const read = (value: unknown) => ({ kind: "value", value }) as const;
    const handler = (ops: Operations) =>
      ops.ask("a", { digest: "a", shown: "question", read, admit: read });
    expect(await writesOf(new MemoryStore(), handler)).toEqual(["answer", "append", "finish"]);
  });
});

describe("if the process dies before it is written", () => {
  /** A store whose process is killed when it would make such a write. */
  function mortal(store: TaskStore, last: string) {
    let isDead = false;
    const seen = watched(store, (name, write) => {
      isDead ||= name === last;
      return isDead ? never() : write();
    });
    const dead = new Proxy(seen.store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || name === "close") return member;
        return (...args: never[]) =>
          isDead ? never() : (Reflect.apply(member as Write, target, args) as unknown);
      },
    });
    return { store: dead, hasDied: () => isDead };
  }

  test("the next run gets the same answers in the same order", async () => {
    let now = 1_000_000;
    const kept = new MemoryStore({ now: () => now, leaseMs: 1_000 });
    const got: string[][] = [];
    const handlers: Handlers = {
      tool: async (_input, ops) => {
        const mine: string[] = [];
        got.push(mine);
        const each = async (key: string) => void mine.push(String(await ask(ops, key)));
        await Promise.all([each("a"), each("b"), each("c")]);
        return mine.join();
      },
    };
    const first = engineOn(kept, handlers);
    await first.start();
    const { id } = await first.create("tool");
    await first.asked(id, "a", "b", "c");
    await first.runtime.drain();
    for (const key of ["b", "c", "a"]) {
      now += 1;
      await first.answer(id, { [key]: key.toUpperCase() });
    }
    const { store, hasDied } = mortal(kept, "finish");
    // It never drains, because its store never answers.
    const dying = new Engine(store, handlers);
    await dying.start({ pollMs: 10 });
    await expect.poll(hasDied).toBe(true);
    expect(await kept.readLog(id)).toEqual([]);
    expect((await kept.read(id))?.inbox.map(({ key }) => key)).toEqual(["b", "c", "a"]);
    now += 1_000;
    const next = engineOn(kept, handlers);
    await next.start({ pollMs: 10 });
    expect((await next.over(id)).result).toBe("B,C,A");
    expect(got.slice(-2)).toEqual([
      ["B", "C", "A"],
      ["B", "C", "A"],
    ]);
    expect((await logOf(kept, id)).entries).toEqual(["answer b", "answer c", "answer a"]);
  });

  test("no body has started that depends on it", async () => {
    let now = 1_000_000;
    const kept = new MemoryStore({ now: () => now, leaseMs: 1_000 });
    const ran: string[] = [];
    const handlers = (name: string): Handlers => ({
      tool: async (_input, ops) => {
        const size = await ask(ops, "size");
        return ops.step("send", () => ran.push(`${name} ${String(size)}`));
      },
    });
    const first = engineOn(kept, handlers("first"));
    await first.start();
    const { id } = await first.create("tool");
    await first.asked(id, "size");
    await first.runtime.drain();
    await first.answer(id, { size: "L" });
    const { store, hasDied } = mortal(kept, "append");
    const dying = new Engine(store, handlers("dying"));
    await dying.start({ pollMs: 10 });
    await expect.poll(hasDied).toBe(true);
    expect(ran).toEqual([]);
    now += 1_000;
    const next = engineOn(kept, handlers("next"));
    await next.start({ pollMs: 10 });
    await next.over(id);
    expect(ran).toEqual(["next L"]);
  });
});

describe("if an acknowledgement is lost", () => {
  test.each(["park", "finish"])("of %s, it is written once", async (name) => {
    let lost = 0;
    const { store } = watched(new MemoryStore(), async (each, write) => {
      const result = await write();
      if (each !== name) return result;
      lost += 1;
      if (lost === 1) throw new Error("The connection is gone");
      return result;
    });
    const engine = engineOn(store, three);
    await engine.start({ pollMs: 10 });
    const { id } = await engine.create("tool");
    for (const key of ["a", "b", "c"]) {
      await engine.asked(id, key);
      await engine.answer(id, { [key]: key });
    }
    expect((await engine.over(id)).result).toEqual(["a", "b", "c"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a", "answer b", "answer c"]);
  });

  test("of the write before a body, it is written once, and the body runs once", async () => {
    let lost = 0;
    const ran: string[] = [];
    const { store } = watched(new MemoryStore(), async (each, write) => {
      const result = await write();
      if (each !== "append") return result;
      lost += 1;
      if (lost === 1) throw new Error("The connection is gone");
      return result;
    });
    const engine = engineOn(store, {
      tool: async (_input, ops) => {
        await ask(ops, "a");
        return ops.step("step", () => ran.push("step"));
      },
    });
    await engine.start();
    const { id } = await engine.create("tool");
    await engine.asked(id, "a");
    await engine.answer(id, { a: "A" });
    await engine.over(id);
    expect(ran).toEqual(["step"]);
    expect((await logOf(store, id)).entries).toEqual(["answer a", "step step"]);
  });
});

test("the end waits for a write that is under way, and brings nothing along twice", async () => {
  const { opened, open } = gate();
  const { store, writes } = watched(new MemoryStore(), async (name, write) => {
    if (name === "append") await opened;
    return write();
  });
  const engine = engineOn(store, {
    tool: async (_input, ops, report) => {
      report(`Got ${String(await ask(ops, "a"))}`);
      return "done";
    },
  });
  await engine.start();
  const { id } = await engine.create("tool");
  await engine.asked(id, "a");
  await engine.answer(id, { a: "A" });
  await expect.poll(() => writes).toContain("append");
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).not.toContain("finish");
  open();
  expect((await engine.over(id)).result).toBe("done");
  expect((await logOf(store, id)).entries).toEqual(["answer a"]);
  expect(engine.told.map(({ event }) => event)).not.toContain("leaseLost");
});

test("an answer for which the log has no room fails the task before the handler has it", async () => {
  const got: unknown[] = [];
  const engine = engineOn(
    new MemoryStore(),
    { tool: async (_input, ops) => void got.push(await ask(ops, "a")) },
    { limits: { logBytes: 1_000 } },
  );
  await engine.start();
  const { id } = await engine.create("tool");
  await engine.asked(id, "a");
  await engine.answer(id, { a: "x".repeat(1_000) });
  expect(await engine.over(id)).toMatchObject({ status: "failed" });
  expect(got).toEqual([]);
});
