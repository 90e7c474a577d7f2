// Calls that are continued by their reference, or from the journal.

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keys, quiet } from "../../test/interop/errands.ts";
import { failure } from "./failure.fixture.ts";
import { hostile, taskOf } from "./hostile.fixture.ts";
import { connect } from "./index.ts";
import type { Call, CallEvent, Connection, ConnectOptions } from "./index.ts";

const done: string[] = [];
let app: App;
let url: string;
let folder: string;

beforeAll(async () => {
  const did = (what: string) => void done.push(what);
  app = parley({ name: "parted", version: "1.0.0", keys, logger: quiet, store: memoryStore() });
  app.tool("pair", { description: "Two at once, then one" }, async (ctx) => {
    const [a, b] = await Promise.all([ctx.ask("a", "A?"), ctx.ask("b", "B?")]);
    await ctx.step("first", () => did("first"));
    const c = await ctx.ask("c", "C?");
    await ctx.step("second", () => did("second"));
    return a + b + c;
  });
  app.tool("task_pair", { description: "The same in a task", task: "required" }, async (ctx) => {
    await ctx.background();
    const [a, b] = await Promise.all([ctx.ask("a", "A?"), ctx.ask("b", "B?")]);
    await ctx.step("first", () => did("first"));
    return a + b;
  });
  app.tool("plain", { description: "Asks nothing" }, async (ctx) => {
    await ctx.step("plain", () => did("plain"));
    return "plain";
  });
  ({ url } = await app.listen(0));
});

afterAll(() => app.close());

beforeEach(() => {
  done.length = 0;
  folder = mkdtempSync(join(tmpdir(), "parley-client-"));
});

const open: Connection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connected(options: ConnectOptions = {}): Promise<Connection> {
  const connection = await connect(url, { elicit: "events", ...options });
  open.push(connection);
  return connection;
}

const say = (call: Call, key: string) =>
  call.answer(key, { action: "accept", content: { [key]: key.toUpperCase() } });

/** The events of a call up to this one. The call itself continues. */
async function until(call: Call, type: CallEvent["type"]): Promise<CallEvent> {
  for await (const event of call) if (event.type === type) return event;
  throw new Error(`there was no ${type}`);
}

const keysOf = (event: CallEvent) =>
  event.type === "asked" ? event.questions.map(({ key }) => key) : [];
const refOf = (event: CallEvent) => ("ref" in event ? event.ref : "");

describe("a reference", () => {
  test("is one plain string, which is enough for another connection", async () => {
    const first = await connected();
    const asked = await until(first.start("pair"), "asked");
    expect(refOf(asked)).toMatch(/^parley1\.[\w-]+$/);
    await first.close();
    const call = (await connected()).resume(refOf(asked));
    expect(keysOf(await until(call, "asked"))).toEqual(["a", "b"]);
    await say(call, "a");
    await say(call, "b");
    expect(keysOf(await until(call, "asked"))).toEqual(["c"]);
    await say(call, "c");
    expect((await call.result()).text).toBe("ABC");
    expect(done).toEqual(["first", "second"]);
  });

  test("works for a task, too", async () => {
    const first = await connected();
    const ref = refOf(await until(first.start("task_pair"), "task"));
    await first.close();
    const call = (await connected()).resume(ref);
    expect(keysOf(await until(call, "asked"))).toEqual(["a", "b"]);
    await Promise.all([say(call, "a"), say(call, "b")]);
    expect((await call.result()).text).toBe("AB");
  });

  test("is not sent to another server, and other strings are refused", async () => {
    const first = await connected();
    const ref = refOf(await until(first.start("pair"), "asked"));
    const other = parley({ name: "parted", version: "1.0.0", keys, logger: quiet });
    other.tool("pair", { description: "Another" }, () => "another");
    const { url: elsewhere } = await other.listen(0);
    const stranger = await connect(elsewhere);
    try {
      expect(() => stranger.resume(ref)).toThrow(`That call belongs to ${url}`);
      for (const bad of ["", "parley1.", "parley1.e30", `${ref}x`.slice(0, 40), "parley9.e30"]) {
        expect(() => stranger.resume(bad)).toThrow("That is not a reference to a call");
      }
    } finally {
      await stranger.close();
      await other.close();
    }
  });

  test("is refused while its call is under way on this connection", async () => {
    const connection = await connected();
    const ref = refOf(await until(connection.start("pair"), "asked"));
    expect(() => connection.resume(ref)).toThrow("already running on this connection");
  });
});

describe("the journal", () => {
  test("keeps the answers of an incomplete round, and their questions are not asked again", async () => {
    const first = await connected({ journal: folder });
    const call = first.start("pair");
    await until(call, "asked");
    await say(call, "a");
    await first.close();
    expect(await failure(call.result())).toMatchObject({ code: "closed" });

    const second = await connected({ journal: folder });
    const [left] = await second.unfinished();
    expect(left).toMatchObject({ tool: "pair", phase: "asked" });
    const again = second.resume(left?.ref ?? "");
    expect(keysOf(await until(again, "asked"))).toEqual(["b"]);
    await say(again, "b");
    await until(again, "asked");
    await say(again, "c");
    expect((await again.result()).text).toBe("ABC");
    expect(await second.unfinished()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("keeps an answer to a task that may not have arrived", async () => {
    const first = await connected({ journal: folder });
    const call = first.start("task_pair");
    await until(call, "asked");
    await say(call, "b");
    await first.close();

    const second = await connected({ journal: folder });
    const [left] = await second.unfinished();
    expect(left).toMatchObject({ tool: "task_pair", phase: "task" });
    const again = second.resume(left?.ref ?? "");
    expect(keysOf(await until(again, "asked"))).toEqual(["a"]);
    await say(again, "a");
    expect((await again.result()).text).toBe("AB");
  });

  test("records a call before it is sent, and removes it with the result", async () => {
    const kept = new Map<string, string>();
    const sizes: number[] = [];
    const journal = {
      put: async (id: string, ref: string) => {
        kept.set(id, ref);
        sizes.push(done.length);
      },
      delete: async (id: string) => void kept.delete(id),
      list: async () => [...kept.values()],
    };
    const connection = await connected({ journal });
    expect((await connection.call("plain")).text).toBe("plain");
    expect(sizes).toEqual([0, 1]);
    expect(kept.size).toBe(0);
  });

  test("returns a result that was not collected yet, without repeating anything", async () => {
    const first = await connected({ journal: folder });
    // Leaving the loop here is like a crash: the result was seen but not taken.
    await until(first.start("plain"), "done");
    await first.close();
    const second = await connected({ journal: folder });
    const [left] = await second.unfinished();
    expect(left).toMatchObject({ tool: "plain", phase: "done" });
    expect((await second.resume(left?.ref ?? "").result()).text).toBe("plain");
    expect(done).toEqual(["plain"]);
    expect(await second.unfinished()).toEqual([]);
  });

  test("has removed a call by the time its events end", async () => {
    const connection = await connected({ journal: folder });
    const seen: string[] = [];
    for await (const { type } of connection.start("plain")) {
      seen.push(type);
      expect(readdirSync(folder)).toHaveLength(1);
    }
    expect(seen).toEqual(["done"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is readable only by its owner, and forgets cancelled calls", async () => {
    const connection = await connected({ journal: join(folder, "new") });
    const call = connection.start("pair");
    await until(call, "asked");
    const [file = ""] = readdirSync(join(folder, "new"));
    expect(statSync(join(folder, "new")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "new", file)).mode & 0o777).toBe(0o600);
    await call.cancel();
    expect(await failure(call.result())).toMatchObject({ code: "cancelled" });
    expect(readdirSync(join(folder, "new"))).toEqual([]);
  });

  test("keeps a task that could not be cancelled, and the error says so", async () => {
    const created = { resultType: "task", ...taskOf("t1", {}) };
    let isDown = false;
    const server = await hostile(({ method }, response) => {
      if (method === "tools/call") return created;
      if (isDown) response.destroy();
      else if (method === "tasks/cancel") return { resultType: "complete" };
      return isDown ? undefined : taskOf("t1", {});
    });
    try {
      const connection = await connect(server.url, { journal: folder });
      open.push(connection);
      const call = connection.start("any");
      const ref = refOf(await until(call, "task"));
      isDown = true;
      const error = await failure(call.cancel());
      expect(error).toMatchObject({ code: "server_down", taskId: "t1", ref });
      expect(error.message).toContain("could not be cancelled and may still be running");
      expect(await failure(call.result())).toMatchObject({ code: "server_down", ref });
      const [left] = await connection.unfinished();
      expect(left).toMatchObject({ phase: "task", ref });
      isDown = false;
      const again = connection.resume(ref);
      await again.cancel();
      expect(await failure(again.result())).toMatchObject({ code: "cancelled" });
      expect(await connection.unfinished()).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test("is created again if it is deleted while a call is running", async () => {
    const connection = await connected({ journal: folder });
    const call = connection.start("pair");
    await until(call, "asked");
    rmSync(folder, { recursive: true });
    await say(call, "a");
    expect(readdirSync(folder)).toHaveLength(1);
    await call.cancel();
  });

  test("ends the call and refuses the answer when it can no longer be written", async () => {
    let isFull = false;
    const journal = {
      put: async () => {
        if (isFull) throw new Error("disk full");
      },
      delete: async () => {},
      list: async () => [],
    };
    const connection = await connected({ journal });
    const call = connection.start("pair");
    await until(call, "asked");
    isFull = true;
    await expect(say(call, "a")).rejects.toThrow("disk full");
    await expect(call.result()).rejects.toThrow("disk full");
  });

  test("ends the call before anything is sent when it cannot be written", async () => {
    const journal = {
      put: () => Promise.reject(new Error("disk full")),
      delete: async () => {},
      list: async () => [],
    };
    const connection = await connected({ journal });
    await expect(connection.call("plain")).rejects.toThrow("disk full");
    expect(done).toEqual([]);
  });
});
