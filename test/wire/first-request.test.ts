// The first request of a tool with `once: true`. With a key, the server recognises the request when it is sent again,
// and runs it once.

import type { AuthInfo } from "@modelcontextprotocol/server";
import { memoryStore, parley } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { drafts } from "mcp-parley/drafts";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { overEntry } from "../entry.ts";
import { keys, quiet } from "../interop/errands.ts";
import { deferred } from "./deferred.ts";
import { accept, callTool, textIn, tokenIn } from "./post.ts";

const meta = (key: unknown) => ({ meta: { "io.github.mcp-parley/idempotencyKey": key } });
const key = "k".repeat(22);
const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** Replicas that share a store, and the steps that ran in any of them. */
function bank() {
  const store = new MemoryStore();
  const ran: string[] = [];
  const hold = { until: Promise.resolve() };
  const begun = deferred();
  const replica = async (options: Partial<ParleyOptions> = {}) => {
    const given = { name: "bank", version: "1.0.0", keys, logger: quiet, store, ...options };
    const app = parley(given as ParleyOptions);
    onTestFinished(() => app.close());
    const inputSchema = z.object({ cents: z.int() });
    for (const name of ["transfer", "transfer_more"]) {
      app.tool(name, { inputSchema, once: true }, async ({ cents }, ctx) => {
        await ctx.step("transfer", async ({ idempotencyKey }) => {
          ran.push(idempotencyKey);
          begun.resolve();
          await hold.until;
        });
        if (cents > 100) await ctx.ask("thanks", "Any word of thanks?");
        return `${cents} cents transferred`;
      });
    }
    app.tool("book", { once: true, task: "optional" }, async (ctx) => {
      await ctx.step("begin", async () => {
        begun.resolve();
        await hold.until;
      });
      await ctx.background();
      await ctx.step("book", ({ idempotencyKey }) => void ran.push(idempotencyKey));
      return "booked";
    });
    return (await app.listen(0, overEntry())).url;
  };
  return { ran, hold, begun, replica };
}

test("without a key, no body starts in the first request", async () => {
  const { ran, replica } = bank();
  const to = await replica();
  const first = await callTool(to, "transfer", { cents: 1 });
  expect(first.result).toEqual({
    resultType: "input_required",
    requestState: expect.any(String),
    _meta: expect.anything(),
  });
  expect(ran).toEqual([]);
});

test("with a key the call is done in one request, and any replica gives a copy the same response", async () => {
  const { ran, replica } = bank();
  const [a, b] = [await replica(), await replica()];
  const one = await callTool(a, "transfer", { cents: 1 }, meta(key));
  expect(textIn(one)).toBe("1 cents transferred");
  expect((await callTool(b, "transfer", { cents: 1 }, meta(key))).result).toEqual(one.result);
  expect(ran).toHaveLength(1);
});

test("a copy that comes while the first one runs waits for it, even if that client has gone", async () => {
  const { ran, hold, begun, replica } = bank();
  const [a, b] = [await replica(), await replica()];
  const letGo = deferred();
  hold.until = letGo.promise;
  const leaving = new AbortController();
  const signal = leaving.signal;
  const lost = callTool(a, "transfer", { cents: 1 }, { ...meta(key), signal });
  await begun.promise;
  leaving.abort();
  await expect(lost).rejects.toThrow("aborted");
  const again = callTool(b, "transfer", { cents: 1 }, meta(key));
  letGo.resolve();
  expect(textIn(await again)).toBe("1 cents transferred");
  expect(ran).toHaveLength(1);
});

test("a call that asks goes on from either response, and after that its first request is refused", async () => {
  const { ran, replica } = bank();
  const [a, b] = [await replica(), await replica()];
  const cents = { cents: 200 };
  const asked = await callTool(a, "transfer", cents, meta(key));
  const copy = await callTool(b, "transfer", cents, meta(key));
  expect(tokenIn(copy)).toBe(tokenIn(asked));
  const inputResponses = { thanks: accept({ thanks: "thanks" }) };
  const leg = { requestState: tokenIn(copy), inputResponses };
  expect(textIn(await callTool(b, "transfer", cents, leg))).toBe("200 cents transferred");
  const late = await callTool(a, "transfer", cents, meta(key));
  expect(late.error).toMatchObject({ code: -32602, data: { reason: "idempotency_key_used" } });
  expect(ran).toHaveLength(1);
});

describe("a key", () => {
  test("with other arguments, or other answers, is refused, and nothing runs", async () => {
    const { ran, replica } = bank();
    const to = await replica();
    await callTool(to, "transfer", { cents: 1 }, meta(key));
    const other = await callTool(to, "transfer", { cents: 2 }, meta(key));
    expect(other.error).toEqual({
      code: -32602,
      message:
        "This idempotency key was used for a call with other arguments, or for a call that has gone further since. " +
        "Send the same arguments, continue that call from its newest requestState, or use a new key for a new call.",
      data: { reason: "idempotency_key_used" },
    });
    const inputResponses = { thanks: accept({ thanks: "no" }) };
    const answered = await callTool(to, "transfer", { cents: 1 }, { ...meta(key), inputResponses });
    expect(answered.error?.data).toEqual({ reason: "idempotency_key_used" });
    expect(ran).toHaveLength(1);
  });

  test("of another tool, or of another caller, begins another call", async () => {
    const { ran, replica } = bank();
    const principal = ({ token }: AuthInfo) => token;
    const verifyAccessToken = async (token: string): Promise<AuthInfo> => ({
      token,
      clientId: "an-application",
      scopes: [],
      expiresAt: Date.now() / 1000 + 3_600,
    });
    const to = await replica({ auth: { verifier: { verifyAccessToken } }, principal });
    const as = (who: string) => ({ ...meta(key), headers: { authorization: `Bearer ${who}` } });
    for (const who of ["ada", "eve", "ada"]) {
      await callTool(to, "transfer", { cents: 1 }, as(who));
      await callTool(to, "transfer_more", { cents: 1 }, as(who));
    }
    expect(new Set(ran).size).toBe(4);
    expect(ran).toHaveLength(4);
  });

  test.each([["k".repeat(21)], ["k".repeat(201)], [7], [null]])(
    "%j is refused, and nothing runs",
    async (bad) => {
      const { ran, replica } = bank();
      const refused = await callTool(await replica(), "transfer", { cents: 1 }, meta(bad));
      expect(refused.error).toEqual({
        code: -32602,
        message:
          '_meta["io.github.mcp-parley/idempotencyKey"] must be a text of 22 to 200 characters that cannot be guessed.',
        data: { reason: "bad_idempotency_key" },
      });
      expect(ran).toEqual([]);
    },
  );

  test("does not matter to a tool without once", async () => {
    const app = parley({
      name: "free",
      version: "1.0.0",
      keys,
      logger: quiet,
      store: memoryStore(),
    });
    onTestFinished(() => app.close());
    let runs = 0;
    app.tool("count", {}, async (ctx) => String(await ctx.step("count", () => (runs += 1))));
    const { url } = await app.listen(0, overEntry());
    expect(textIn(await callTool(url, "count", {}, meta(key)))).toBe("1");
    expect(textIn(await callTool(url, "count", {}, meta(7)))).toBe("2");
  });
});

test("a task whose first client has gone is found again by the key, and is not cancelled", async () => {
  const { ran, hold, begun, replica } = bank();
  const [a, b] = [await replica(), await replica()];
  const letGo = deferred();
  hold.until = letGo.promise;
  const leaving = new AbortController();
  const given = { ...meta(key), capabilities: tasks };
  const lost = callTool(a, "book", {}, { ...given, signal: leaving.signal });
  await begun.promise;
  leaving.abort();
  await expect(lost).rejects.toThrow("aborted");
  letGo.resolve();
  const found = await callTool(b, "book", {}, given);
  expect(found.result).toMatchObject({ resultType: "task", taskId: expect.any(String) });
  await expect.poll(() => ran).toHaveLength(1);
});

describe("Parley's client", () => {
  test("sends a new key with every call, so a once tool takes one request", async () => {
    const { ran, replica } = bank();
    const connection = await connect(await replica());
    onTestFinished(() => connection.close());
    for (let times = 0; times < 2; times += 1) {
      expect((await connection.call("transfer", { cents: 1 })).text).toBe("1 cents transferred");
    }
    expect(new Set(ran).size).toBe(2);
  });

  test("keeps the key in its journal, and resuming sends the same one", async () => {
    const { ran, hold, begun, replica } = bank();
    const to = await replica();
    const kept = new Map<string, string>();
    const journal = {
      put: async (id: string, ref: string) => void kept.set(id, ref),
      delete: async (id: string) => void kept.delete(id),
      list: async () => [...kept.values()],
    };
    const letGo = deferred();
    hold.until = letGo.promise;
    const doomed = await connect(to, { journal });
    const call = doomed.start("transfer", { cents: 1 });
    await begun.promise;
    await doomed.close();
    await expect(call.result()).rejects.toMatchObject({ code: "closed" });
    letGo.resolve();
    const next = await connect(to, { journal });
    onTestFinished(() => next.close());
    const [unfinished] = await next.unfinished();
    expect(unfinished?.phase).toBe("started");
    expect((await next.resume(unfinished?.ref ?? "").result()).text).toBe("1 cents transferred");
    expect(ran).toHaveLength(1);
  });

  test("sends the key in the draft, too", async () => {
    const { ran, replica } = bank();
    const era = "2026-06-XX" as const;
    const connection = await connect(await replica({ drafts: drafts() }), {
      era,
      drafts: drafts(),
    });
    onTestFinished(() => connection.close());
    for (let times = 0; times < 2; times += 1) {
      const { text } = await connection.call("transfer", { cents: 1 }, { idempotencyKey: key });
      expect(text).toBe("1 cents transferred");
    }
    expect(ran).toHaveLength(1);
  });

  test("sends the key that the application gives, and refuses one that is too short", async () => {
    const { ran, replica } = bank();
    const connection = await connect(await replica());
    onTestFinished(() => connection.close());
    for (let times = 0; times < 2; times += 1) {
      await connection.call("transfer", { cents: 1 }, { idempotencyKey: key });
    }
    expect(ran).toHaveLength(1);
    await expect(
      connection.call("transfer", { cents: 1 }, { idempotencyKey: "short" }),
    ).rejects.toThrow(
      new TypeError(
        "idempotencyKey must be a text of 22 to 200 characters that cannot be guessed, such as crypto.randomUUID().",
      ),
    );
    await expect(
      connection.call("transfer", { cents: 2 }, { idempotencyKey: key }),
    ).rejects.toMatchObject({ name: "CallError" });
    expect(ran).toHaveLength(1);
  });
});
