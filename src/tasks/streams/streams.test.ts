// The streams of tasks, from the bodies that produce them to readers in any process.

import { expect, onTestFinished, test, vi } from "vitest";
import { patience } from "../../../test/patience.ts";
import type { Entry } from "../../replay/journal.ts";
import { Engine, openSealer } from "../engine.fixture.ts";
import { cutRecord, entryRecord } from "../execution/log-records.ts";
import { StorageShares } from "../shares.ts";
import { defaultTaskLimits } from "../limits.ts";
import { MemoryStore } from "../stores/memory.ts";
import type { TaskStore } from "../store.ts";
import type { ClaimRef, TaskRecord } from "../task.ts";
import type { ExecutionDeps } from "../execution/dependencies.ts";
import { PartWriter } from "./part-writer.ts";
import { partRecord, storedKey } from "./part-records.ts";
import type { Piece, StreamPart } from "./pieces.ts";
import { RunningStreams } from "./running-streams.ts";
import type { StreamsRead } from "./stream-reading.ts";

const text = (block: string, said: string): StreamPart => ({
  block,
  content: [{ type: "text", text: said }],
});

/** What a client holds, from the parts that it was sent. */
class Client {
  readonly blocks = new Map<string, string>();
  readonly parts: StreamPart[] = [];
  end: StreamsRead | undefined;
  readonly #stop = new AbortController();
  done: Promise<void> = Promise.resolve();

  read(engine: Engine, task: Pick<TaskRecord, "id" | "callId">): this {
    const reading = engine.runtime.readStreams(task, this.end?.cursor, this.#stop.signal);
    this.done = (async () => {
      for (;;) {
        const next = await reading.next();
        if (next.done === true) {
          this.end = next.value;
          return;
        }
        this.#take(next.value);
      }
    })();
    onTestFinished(() => this.stop());
    return this;
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.done;
  }

  #take(part: StreamPart): void {
    this.parts.push(part);
    const { block, op = "append", content = [] } = part;
    const said = content.map((one) => (one as { text: string }).text).join("");
    if (op === "reset") this.blocks.delete(block);
    else this.blocks.set(block, (op === "append" ? (this.blocks.get(block) ?? "") : "") + said);
  }

  holds(block: string, wanted: string | undefined): Promise<void> {
    return vi.waitFor(() => expect(this.blocks.get(block)).toBe(wanted), patience);
  }
}

const leaseMs = 10_000;

/** The store, with some of its operations replaced. */
const withOperations = (store: TaskStore, replaced: Partial<TaskStore>): TaskStore =>
  Object.assign(Object.create(store) as TaskStore, replaced);

/** A task on a store whose clock the test moves, written by hand as a worker would. */
async function heldTask() {
  let now = 1_800_000_000_000;
  const store = new MemoryStore({ now: () => now });
  const engine = new Engine(store, {});
  const { id } = await engine.create("tool");
  const claim = async (worker: string) => {
    const { claimed } = await store.claim({ worker, tools: ["tool"], most: 1, leaseMs });
    return claimed[0]!.task;
  };
  const task = await claim("w");
  let length = 0;
  return {
    store,
    engine,
    task,
    takeOver: async () => {
      now += leaseMs;
      return claim("v");
    },
    say: (ref: ClaimRef, n: number, block: string, at: number, ...pieces: Piece[]) =>
      store.addParts(ref, [
        partRecord(openSealer, task.callId, ref.epoch, { n, block, at, pieces }),
      ]),
    record: async (ref: ClaimRef, entry: Entry) => {
      const records = [entryRecord(openSealer, task.callId, length, entry)];
      const streamed = storedKey(entry.key);
      length += 1;
      return store.append(ref, { at: length - 1, records, taken: [], returned: [], streamed });
    },
    cut: async (ref: ClaimRef, from: number) => {
      const records = [cutRecord(openSealer, task.callId, length, from)];
      length += 1;
      return store.append(ref, { at: length - 1, records, taken: [], returned: [] });
    },
    ask: (ref: ClaimRef, wire: string) => {
      const wait = { kind: "question", key: wire, wire, digest: "", request: undefined } as const;
      return store.publish(ref, { waits: [wait], asked: {}, taken: [] });
    },
    cancel: () => store.cancel(id, 60_000),
  };
}

const whole = (key: string, value: string): Entry => ({ kind: "step", key, value, isStream: true });

test("a reader gets what a body says, then what is recorded, and then the task", async () => {
  const store = new MemoryStore();
  let end = () => {};
  const gate = new Promise<void>((resolve) => void (end = resolve));
  const writer = new Engine(store, {
    tool: async (_input, ops, _report, stream) => {
      const draft = await ops.step(
        "draft",
        async () => {
          stream(text("draft", "Reve"));
          await gate;
          stream(text("draft", "nue"));
          return "Revenue";
        },
        { streams: "stream" },
      );
      return { draft: draft as string };
    },
  });
  // Its runtime has no worker, so it reads from the store.
  const elsewhere = new Engine(store, {});
  await writer.start();
  onTestFinished(() => writer.close());
  const task = await writer.create("tool");
  const [near, far] = [new Client().read(writer, task), new Client().read(elsewhere, task)];
  for (const client of [near, far]) await client.holds("draft", "Reve");
  end();
  for (const client of [near, far]) {
    await client.done;
    expect(client.blocks.get("draft")).toBe("Revenue");
    expect(client.parts.at(-1)).toMatchObject({ op: "replace" });
    expect(client.end?.task).toMatchObject({ status: "completed", result: { draft: "Revenue" } });
  }
  // Nothing is left to say.
  const again = new Client();
  again.end = far.end;
  await again.read(elsewhere, task).done;
  expect(again.parts).toEqual([]);
  expect(again.end?.task.status).toBe("completed");
});

test("a reading ends when the task asks something, and the next one goes on from there", async () => {
  const { engine, task, say, record, ask, store } = await heldTask();
  await record(task, whole("intro", "Hello"));
  await say(task, 0, "draft", 0, "Reve");
  await ask(task, "sure");
  const client = new Client().read(engine, task);
  await client.done;
  expect(client.end?.task.status).toBe("input_required");
  expect(Object.fromEntries(client.blocks)).toEqual({ intro: "Hello", draft: "Reve" });
  await store.answer(task.id, [{ wire: "sure", value: "yes" }]);
  await say(task, 1, "draft", 1, "nue");
  client.read(engine, task);
  await client.holds("draft", "Revenue");
  expect(client.parts).toHaveLength(3);
});

test("a reader follows a task that another worker takes over, and discards what the first one said", async () => {
  const { engine, task, say, takeOver, record } = await heldTask();
  await say(task, 0, "draft", 0, "lost");
  const client = new Client().read(engine, task);
  await client.holds("draft", "lost");
  const taken = await takeOver();
  // A takeover makes no hint. The next part does.
  await say(taken, 0, "other", 0, "x");
  await client.holds("draft", undefined);
  expect(await say(task, 1, "draft", 1, " words")).toBe(false);
  await say(taken, 1, "draft", 0, "found");
  await client.holds("draft", "found");
  await record(taken, whole("draft", "found it"));
  await client.holds("draft", "found it");
});

test("a cursor from before a takeover discards what it covered", async () => {
  const { engine, task, say, takeOver, ask, store } = await heldTask();
  await say(task, 0, "draft", 0, "lost");
  await ask(task, "sure");
  const client = new Client().read(engine, task);
  await client.done;
  await store.answer(task.id, [{ wire: "sure", value: "yes" }]);
  const taken = await takeOver();
  await say(taken, 0, "other", 0, "x");
  client.read(engine, task);
  await client.holds("other", "x");
  expect(client.blocks.has("draft")).toBe(false);
});

test("a stream that fails is discarded, and so is one that was cut", async () => {
  const { engine, task, say, record, cut } = await heldTask();
  await record(task, whole("kept", "1"));
  await record(task, whole("cut", "2"));
  await say(task, 0, "failing", 0, "3");
  const client = new Client().read(engine, task);
  await client.holds("failing", "3");
  await record(task, { kind: "threw", key: "failing", error: { name: "Error", message: "no" } });
  await client.holds("failing", undefined);
  await cut(task, 1);
  await say(task, 1, "other", 0, "4");
  await client.holds("other", "4");
  expect(Object.fromEntries(client.blocks)).toEqual({ kept: "1", other: "4" });
});

test("a reader that misses a part waits for the record, or for a new attempt", async () => {
  const { engine, task, say, record } = await heldTask();
  await say(task, 0, "draft", 0, "a");
  const client = new Client().read(engine, task);
  await client.holds("draft", "a");
  await say(task, 1, "draft", 2, "c");
  await say(task, 2, "other", 0, "x");
  await client.holds("other", "x");
  expect(client.blocks.get("draft")).toBe("a");
  await say(task, 3, "draft", 3, 0, "new");
  await client.holds("draft", "new");
  await say(task, 4, "draft", 5, "gap");
  await record(task, whole("draft", "new words"));
  await client.holds("draft", "new words");
});

test("a part that arrives after the record of its stream is passed over", async () => {
  const { engine, task, say, record } = await heldTask();
  await record(task, whole("draft", "all of it"));
  await say(task, 0, "draft", 0, "all ");
  await say(task, 1, "other", 0, "x");
  const client = new Client().read(engine, task);
  await client.holds("other", "x");
  expect(client.blocks.get("draft")).toBe("all of it");
});

test("a reader that is sent away learns where to go on", async () => {
  const { engine, task, say } = await heldTask();
  await say(task, 0, "draft", 0, "a");
  const client = new Client().read(engine, task);
  await client.holds("draft", "a");
  await client.stop();
  expect(client.end?.task.status).toBe("working");
  await say(task, 1, "draft", 1, "b");
  const next = new Client();
  next.end = client.end;
  next.read(engine, task);
  await next.holds("draft", "b");
});

test("a cursor of another task is refused", async () => {
  const [one, other] = [await heldTask(), await heldTask()];
  const client = new Client().read(one.engine, one.task);
  await client.stop();
  expect(() =>
    other.engine.runtime.readStreams(other.task, client.end!.cursor, new AbortController().signal),
  ).toThrow("The cursor is not one of this task.");
});

test("what is recorded while a reader looks is read before the reading ends", async () => {
  const { store, task, record } = await heldTask();
  let looks = 0;
  const readParts: TaskStore["readParts"] = async (id, after) => {
    const page = await store.readParts(id, after);
    looks += 1;
    if (looks > 1) return page;
    await record(task, whole("draft", "at last"));
    const result = openSealer.seal('"done"', `${task.callId}/result`);
    await store.finish(task, { status: "completed", result, statusMessage: undefined, keepMs: 1 });
    return page;
  };
  const client = new Client().read(new Engine(withOperations(store, { readParts }), {}), task);
  await client.done;
  expect([client.end?.task.status, client.blocks.get("draft")]).toEqual(["completed", "at last"]);
});

test("a reader that is sent away when the task has ended gets the rest first", async () => {
  const { store, task, record } = await heldTask();
  const client = new Client();
  const readParts: TaskStore["readParts"] = async (id, after) => {
    const page = await store.readParts(id, after);
    if (client.isStopped) return page;
    void client.stop();
    await record(task, whole("draft", "at last"));
    const result = openSealer.seal('"done"', `${task.callId}/result`);
    await store.finish(task, { status: "completed", result, statusMessage: undefined, keepMs: 1 });
    return page;
  };
  client.read(new Engine(withOperations(store, { readParts }), {}), task);
  await client.done;
  expect([client.end?.task.status, client.blocks.get("draft")]).toEqual(["completed", "at last"]);
});

test("a long log is read piece by piece, in order, before what runs, and from a cursor in the middle", async () => {
  const { engine, task, say, record, ask, cancel } = await heldTask();
  const long = (n: number) => String(n).repeat(200 * 1024);
  const keys = ["1", "2", "3", "4", "5", "6"];
  for (const key of keys.slice(0, 3)) await record(task, whole(key, long(Number(key))));
  await ask(task, "q");
  const client = new Client().read(engine, task);
  await client.done;
  expect([...client.blocks.keys()]).toEqual(["1", "2", "3"]);
  for (const key of keys.slice(3)) await record(task, whole(key, long(Number(key))));
  await say(task, 0, "running", 0, "now");
  // A reading ends when the task has asked something, with everything that came before.
  await client.read(engine, task).done;
  const all = [...keys.map((key) => [key, long(Number(key))]), ["running", "now"]];
  expect([...client.blocks]).toEqual(all);
  expect(client.parts.map(({ block }) => block)).toEqual([...keys, "running"]);
  const late = new Client().read(engine, task);
  await late.done;
  expect([...late.blocks]).toEqual(all);
  await cancel();
});

test("a task that ends in any way ends its readings", async () => {
  const { engine, task, cancel } = await heldTask();
  const client = new Client().read(engine, task);
  await cancel();
  await client.done;
  expect(client.end?.task.status).toBe("cancelled");
});

// ---------------------------------------------------------------- the writer

/** A writer whose store is real, except for what the test replaces. */
async function writerOn(replaced: Partial<TaskStore> = {}, limits = {}) {
  const { store, task } = await heldTask();
  const failures: unknown[] = [];
  const observer = {
    limitReached: (...told: unknown[]) => void failures.push(told[1]),
    storeFailed: (error: unknown) => void failures.push(error),
  };
  const allLimits = { ...defaultTaskLimits, ...limits };
  const writes: number[] = [];
  const addParts: TaskStore["addParts"] = (ref, parts) => {
    writes.push(parts.length);
    return (replaced.addParts ?? store.addParts)(ref, parts);
  };
  const timers = new Set<() => void>();
  const deps = {
    store: withOperations(store, { addParts }),
    sealer: openSealer,
    limits: allLimits,
    observer,
    shares: new StorageShares(store, allLimits, observer),
    streams: new RunningStreams(store),
    clock: {
      now: Date.now,
      after: (_ms: number, call: () => void) => {
        timers.add(call);
        return () => void timers.delete(call);
      },
    },
  } as unknown as ExecutionDeps;
  const writer = new PartWriter(task, task, deps);
  const tick = () => {
    const due = [...timers];
    for (const call of due) {
      timers.delete(call);
      call();
    }
  };
  const parts = async () => (await store.readParts(task.id, { epoch: 0, n: -1 }))!.parts;
  return { writer, tick, parts, writes, failures, timers, deps, task };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("pieces that come together are written together, and a large one at once", async () => {
  const { writer, tick, parts, timers } = await writerOn();
  for (const piece of ["a", "b", "c"]) writer.add(text("draft", piece));
  writer.add(text("other", "x"));
  await settled();
  expect(await parts()).toEqual([]);
  tick();
  await settled();
  expect(await parts()).toHaveLength(2);
  writer.add(text("draft", "x".repeat(20_000)));
  await settled();
  expect([timers.size, (await parts()).length]).toEqual([0, 3]);
});

test("beyond limits.streamBytes nothing more of a block is written, until it starts again", async () => {
  const { writer, tick, parts } = await writerOn({}, { streamBytes: 100 });
  const say = async (part: StreamPart) => {
    writer.add(part);
    tick();
    await settled();
    return (await parts()).length;
  };
  expect(await say(text("draft", "a".repeat(50)))).toBe(1);
  expect(await say(text("draft", "b".repeat(50)))).toBe(1);
  expect(await say(text("draft", "c"))).toBe(1);
  expect(await say(text("other", "x"))).toBe(2);
  expect(await say({ block: "draft", op: "reset" })).toBe(3);
  expect(await say(text("draft", "again"))).toBe(4);
});

test("a store that fails delays no body, and gets the parts when it is back", async () => {
  let isDown = true;
  const { writer, tick, parts, failures } = await writerOn({
    addParts: async () => {
      if (isDown) throw new Error("down");
      return true;
    },
  });
  writer.add(text("draft", "a"));
  tick();
  await settled();
  expect(failures).toEqual([new Error("down")]);
  expect(await parts()).toEqual([]);
  isDown = false;
  tick();
  await settled();
  expect(failures).toHaveLength(1);
});

test("a writer whose claim is lost, or whose caller has no room left, writes no more", async () => {
  const lost = await writerOn({ addParts: async () => false });
  const full = await writerOn({}, { storedBytes: 10 });
  for (const { writer, tick, writes } of [lost, full]) {
    for (let n = 0; n < 3; n += 1) {
      writer.add(text("draft", "a"));
      tick();
      await vi.waitFor(settled, patience);
    }
    expect(writes.length).toBeLessThanOrEqual(1);
  }
  expect(full.failures).toContain("storedBytesPerPrincipal");
});

test("streams that collect pieces wait for one timer, and the one that is due first takes the others along", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
  onTestFinished(() => now.mockRestore());
  const one = await writerOn();
  const other = await heldTask();
  const second = new PartWriter(other.task, other.task, { ...one.deps, store: other.store });
  const both = [one.writer, second];
  for (const writer of both) writer.add(text("draft", "a"));
  // The first pieces go out at once.
  expect(one.timers.size).toBe(2);
  one.tick();
  for (const writer of both) writer.add(text("draft", "b"));
  expect(one.timers.size).toBe(1);
  one.tick();
  const batches = [one.task, other.task].map(({ id }) => one.deps.streams?.get(id)?.batches);
  expect(batches.map((each) => each?.map(({ pieces }) => pieces))).toEqual([
    [["a"], ["b"]],
    [["a"], ["b"]],
  ]);
  second.add(text("draft", "c"));
  one.writer.add(text("draft", "c"));
  second.close();
  expect(one.timers.size).toBe(1);
  one.writer.close();
  expect(one.timers.size).toBe(0);
});

test("a closed writer leaves no timer and nothing in memory", async () => {
  const { writer, tick, timers, deps, task } = await writerOn();
  writer.add(text("draft", "a"));
  tick();
  writer.add(text("draft", "b"));
  expect(deps.streams?.get(task.id)?.batches).toHaveLength(1);
  writer.close();
  writer.add(text("draft", "c"));
  expect(timers.size).toBe(0);
  expect(deps.streams?.get(task.id)).toBeUndefined();
});
