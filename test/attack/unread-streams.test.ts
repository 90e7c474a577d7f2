// Clients of a stream that never read, that read one byte a second, and that disconnect at every part. Node itself counts
// what is left of them, in our code and in the SDK: bytes, timers, sockets, listeners.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, parley } from "mcp-parley";
import type { Store } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { gate } from "../gate.fixture.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { envelope } from "../wire/post.ts";
import { extension } from "../wire/task-calls.ts";
import { send, unreadCall } from "../wire/unread-call.ts";
import { census, memory } from "./census.ts";
import type { Census, Count } from "./census.ts";
import { mib } from "./measure.ts";

const id = "io.github.mcp-parley/streaming";
const streaming = {
  capabilities: { extensions: { [id]: {}, [extension]: {} } },
  meta: { [id]: { token: "s" } },
};
const read = `${id}/read`;
const piece = "x".repeat(16 * 1024);
const pieces = 4096;
const streamStallMs = 30_000;
/** What a client that does not read may cost. The 64 MiB that are streamed are far above it. */
const bound = 8 * mib;

/** The clock that limits how long a client may read nothing. It moves when the test says so. */
function stallClock() {
  const { eventually } = nodeEnvironment;
  let now = 0;
  const waiting = new Map<() => void, number>();
  // A spy would keep what it is called with.
  const ours: typeof eventually = (ms, callback) => {
    if (ms !== streamStallMs) return eventually(ms, callback);
    const due = () => {
      waiting.delete(due);
      callback();
    };
    waiting.set(due, now + ms);
    return () => void waiting.delete(due);
  };
  Object.assign(nodeEnvironment, { eventually: ours });
  onTestFinished(() => void Object.assign(nodeEnvironment, { eventually }));
  return {
    get isWaiting() {
      return waiting.size > 0;
    },
    pass: (ms: number) => {
      now += ms;
      for (const [due, at] of waiting) if (at <= now) due();
    },
  };
}

interface Server {
  readonly to: string;
  /** What the tool "flood", or "blocks", has done in its last call. */
  readonly flood: { made: number; hasEnded: boolean; isReturned: boolean };
  /** How each body of the tool "endless" has ended. */
  readonly ends: string[];
  /** Waits until nothing is left of the clients. */
  readonly isAtRest: () => Promise<void>;
  readonly listeners: Census["listeners"];
}

/** A server that has served a client, and whose process counts from then on. */
async function server(fast: boolean, store?: Store): Promise<Server> {
  const counts = census();
  onTestFinished(counts.end);
  const limits = { streamStallMs, taskLogBytes: 128 * mib };
  const app = parley({ name: "streams", version: "1.0.0", keys, logger: quiet, limits, store });
  onTestFinished(() => app.close());
  const flood = { made: 0, hasEnded: false, isReturned: false };
  const ends: string[] = [];
  const done = gate();
  onTestFinished(done.open);
  app.tool("flood", {}, async (ctx) => {
    const text = await ctx.stream("draft", async function* () {
      try {
        for (; flood.made < pieces; flood.made += 1) yield piece;
      } finally {
        flood.hasEnded = true;
      }
    });
    flood.isReturned = true;
    return String(text.length);
  });
  app.tool("endless", {}, (ctx) =>
    ctx.stream("draft", async function* ({ signal }) {
      try {
        for (;;) {
          yield "more ";
          await new Promise<void>((resolve) => void setImmediate(resolve));
        }
      } finally {
        ends.push(signal.aborted ? "aborted" : "not aborted");
      }
    }),
  );
  app.tool("blocks", { task: "optional" }, async (ctx) => {
    await ctx.background();
    for (let n = 0; n < 40; n += 1) await ctx.emit(`block ${n}`, "x".repeat(mib));
    flood.isReturned = true;
    return "done";
  });
  app.tool("waits", { task: "optional" }, async (ctx) => {
    await ctx.background();
    return ctx.stream("draft", async function* () {
      yield "first";
      await done.opened;
    });
  });
  app.tool("short", {}, (ctx) =>
    ctx.stream("draft", async function* () {
      yield "a";
      yield "b";
    }),
  );
  const { url: to } = await app.listen(0, { fast });
  const first = await unreadCall(to, "tools/call", "short", call("short"), closing);
  await first.toArray();
  // What is left of the first client goes when its memory is collected, which can take some turns.
  const listeners = await vi.waitFor(() => {
    const all = counts.listeners();
    expect(Object.keys(all()).filter((one) => one.startsWith("ServerResponse"))).toEqual([]);
    return all;
  }, patience);
  const before = listeners();
  const isAtRest = async () => {
    await vi.waitFor(
      () => expect(ofClients(counts.held())).toEqual({ TCPServerWrap: 1 }),
      patience,
    );
    expect(listeners()).toEqual(before);
    await vi.waitFor(() => expect(counts.signals()).toEqual({}), patience);
  };
  return { to, flood, ends, isAtRest, listeners: counts.listeners };
}

const closing = "connection: close\r\n";
const call = (name: string) => envelope("tools/call", { name, arguments: {} }, streaming);
const unread = (to: string, name: string) => unreadCall(to, "tools/call", name, call(name));

describe.each([
  ["the fast entry", true],
  ["the SDK's entry", false],
])("over %s", (_, fast) => {
  test("a client that never reads", async () => {
    const clock = stallClock();
    const { to, flood, isAtRest } = await server(fast);
    const before = memory();
    const socket = await unread(to, "flood");
    await vi.waitFor(() => expect(clock.isWaiting).toBe(true), patience);
    expect(flood.made).toBeLessThan(pieces / 2);
    clock.pass(streamStallMs);
    await vi.waitFor(() => expect(flood.isReturned).toBe(true), patience);
    expect(flood.made).toBe(pieces);
    expect(memory() - before).toBeLessThan(bound);
    socket.destroy();
    await isAtRest();
  });

  test("a client that reads one byte a second", async () => {
    const clock = stallClock();
    const { to, flood, isAtRest } = await server(fast);
    const before = memory();
    const socket = await unread(to, "flood");
    let seconds = 0;
    // Its system may take more while it reads, and then the time counts from there.
    while (!flood.isReturned && seconds < 300) {
      await vi.waitFor(() => expect(clock.isWaiting || flood.isReturned).toBe(true), patience);
      if (socket.readableLength === 0) await once(socket, "readable");
      expect(socket.read(1)).toHaveLength(1);
      clock.pass(1_000);
      seconds += 1;
    }
    expect(flood).toEqual({ made: pieces, hasEnded: true, isReturned: true });
    expect(seconds).toBeGreaterThanOrEqual(streamStallMs / 1_000);
    expect(memory() - before).toBeLessThan(bound);
    socket.destroy();
    await isAtRest();
  });

  test("a client that stays connected after each of its calls", async () => {
    const { to, isAtRest, listeners } = await server(fast);
    const socket = await unread(to, "short");
    await until(socket, '"result"', 1);
    const counted = listeners();
    const before = counted();
    for (let calls = 2; calls <= 12; calls += 1) {
      send(socket, to, "tools/call", "short", call("short"));
      await until(socket, '"result"', 1);
    }
    expect(counted()).toEqual(before);
    socket.destroy();
    await isAtRest();
  });

  test("a client that disconnects while the body waits for it", async () => {
    const clock = stallClock();
    const { to, flood, isAtRest } = await server(fast);
    const socket = await unread(to, "flood");
    await vi.waitFor(() => expect(clock.isWaiting).toBe(true), patience);
    socket.destroy();
    await vi.waitFor(() => expect(flood.hasEnded).toBe(true), patience);
    expect(flood.made).toBeLessThan(pieces / 2);
    expect(clock.isWaiting).toBe(false);
    await isAtRest();
  });

  test("a client that disconnects at every part", async () => {
    const { to, ends, isAtRest } = await server(fast);
    for (let parts = 1; parts <= 5; parts += 1) {
      const socket = await unread(to, "endless");
      await until(socket, '"content"', parts);
      socket.destroy();
      await vi.waitFor(() => expect(ends).toHaveLength(parts), patience);
    }
    expect(new Set(ends)).toEqual(new Set(["aborted"]));
    await isAtRest();
  });

  test("a reader of a task that never reads", async () => {
    const clock = stallClock();
    const folder = mkdtempSync(join(tmpdir(), "parley-unread-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = sqliteStore(join(folder, "tasks.db"));
    const { to, flood, isAtRest } = await server(fast, store);
    const taskId = await started(to, "blocks");
    await vi.waitFor(() => expect(flood.isReturned).toBe(true), patience);
    const before = memory();
    const socket = await unreadCall(to, read, taskId, envelope(read, { taskId }, streaming));
    await vi.waitFor(() => expect(clock.isWaiting).toBe(true), patience);
    expect(memory() - before).toBeLessThan(bound);
    clock.pass(streamStallMs);
    socket.destroy();
    await isAtRest();
  });

  test("readers of a task that disconnect", async () => {
    const { to, isAtRest } = await server(fast, memoryStore());
    const taskId = await started(to, "waits");
    for (let readers = 0; readers < 20; readers += 1) {
      const socket = await unreadCall(to, read, taskId, envelope(read, { taskId }, streaming));
      await until(socket, "first", 1);
      socket.destroy();
    }
    await isAtRest();
  });
});

/** Without the timers of the worker, which runs the tasks whether anyone reads them or not. */
const ofClients = (held: Count): Count =>
  Object.fromEntries(
    Object.entries(held).filter(([one]) => !/src\/tasks\/(?!streams\/stream-reading)/.test(one)),
  );

/** Starts a task, and disconnects. Resolves to its id. */
async function started(to: string, name: string): Promise<string> {
  const socket = await unreadCall(to, "tools/call", name, call(name), closing);
  const text = Buffer.concat(await socket.toArray()).toString();
  return /"taskId":"([^"]+)"/.exec(text)?.[1] ?? text;
}

/** Reads until this text has arrived so often. */
async function until(socket: Socket, text: string, times: number): Promise<void> {
  let all = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    all += String(chunk);
    if (all.split(text).length > times) return;
  }
}
