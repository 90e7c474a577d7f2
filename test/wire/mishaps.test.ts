// Lost responses, repeated requests, and clients that disconnect.

import { memoryStore, parley } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { overEntry } from "../entry.ts";
import { keys } from "../interop/errands.ts";
import { deferred } from "./deferred.ts";
import { accept, callTool, envelope, post, textIn, tokenIn } from "./post.ts";
import { served } from "./served.ts";
import { started } from "./stdio-process.ts";
import { keepingLogger, till } from "./till.ts";

const amount = { amount: 5 };
const sure = { sure: accept() };
/** Signals that Node derives from others are held weakly, so an abort must arrive even after this. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let times = 0; times < 3; times += 1) {
    collect();
    await new Promise(setImmediate);
  }
}

const stepIn = (idempotencyKey: string) => idempotencyKey.split("/").at(-1);

describe("a lost response", () => {
  test("a lost response repeats only the steps of its round, under the same idempotency key", async () => {
    const { to, ran } = await served();
    const leg = { requestState: tokenIn(await callTool(to, "pay", amount)), inputResponses: sure };
    await callTool(to, "pay", amount, leg);
    expect(textIn(await callTool(to, "pay", amount, leg))).toBe("nobody paid 5");
    expect(ran.map(stepIn)).toEqual(["quote", "pay", "pay"]);
    expect(ran[2]).toBe(ran[1]);
  });

  test("a lost response of the first round starts a new call, with its own keys", async () => {
    const { to, ran } = await served();
    await callTool(to, "pay", amount);
    await callTool(to, "pay", amount);
    expect(ran.map(stepIn)).toEqual(["quote", "quote"]);
    expect(ran[1]).not.toBe(ran[0]);
  });

  test("a lost response of a state-only round repeats nothing that was in its token", async () => {
    const { to, ran } = await served();
    const leg = { requestState: tokenIn(await callTool(to, "halves")) };
    await callTool(to, "halves", {}, leg);
    await callTool(to, "halves", {}, leg);
    expect(ran.map(stepIn)).toEqual(["first", "second", "second"]);
    expect(ran[2]).toBe(ran[1]);
  });
});

test("two simultaneous requests with one token both get a response, under one idempotency key", async () => {
  const { to, ran } = await served();
  const leg = { requestState: tokenIn(await callTool(to, "pay", amount)), inputResponses: sure };
  const both = await Promise.all([
    callTool(to, "pay", amount, { ...leg, id: 2 }),
    callTool(to, "pay", amount, { ...leg, id: 3 }),
  ]);
  expect(both.map(textIn)).toEqual(["nobody paid 5", "nobody paid 5"]);
  expect(both.map(({ id }) => id)).toEqual([2, 3]);
  expect(ran.map(stepIn)).toEqual(["quote", "pay", "pay"]);
  expect(new Set(ran).size).toBe(2);
});

test("two simultaneous requests with one token and different answers each end as they were answered", async () => {
  const { to } = await served();
  const requestState = tokenIn(await callTool(to, "pay", amount));
  const both = await Promise.all([
    callTool(to, "pay", amount, { requestState, inputResponses: sure }),
    callTool(to, "pay", amount, { requestState, inputResponses: { sure: { action: "decline" } } }),
  ]);
  expect(both.map(textIn)).toEqual(["nobody paid 5", "not paid"]);
});

test("many simultaneous calls do not mix: each has its own answers and its own keys [S15]", async () => {
  const { to, ran } = await served();
  const amounts = Array.from({ length: 20 }, (_, index) => ({ amount: index }));
  const texts = await Promise.all(
    amounts.map(async (args) => {
      const requestState = tokenIn(await callTool(to, "pay", args));
      return textIn(await callTool(to, "pay", args, { requestState, inputResponses: sure }));
    }),
  );
  expect(texts).toEqual(amounts.map((args) => `nobody paid ${args.amount}`));
  expect(new Set(ran).size).toBe(40);
});

describe("a client that disconnects", () => {
  /** A tool that runs until it is stopped or released. */
  function waiting() {
    const { logger, logged } = keepingLogger();
    const app = parley({ name: "waiting", version: "1.0.0", keys, logger });
    const begun = deferred<{ whole: AbortSignal; body: AbortSignal }>();
    const letGo = deferred();
    const released = deferred();
    const after: string[] = [];
    app.tool("wait", {}, async (ctx) => {
      ctx.onRunEnd(() => released.resolve());
      ctx.progress(1);
      await ctx.step("wait", async ({ signal }) => {
        begun.resolve({ whole: ctx.signal, body: signal });
        await letGo.promise;
      });
      after.push("went on");
      await ctx.step("later", () => void after.push("later"));
      return "done";
    });
    onTestFinished(() => app.close());
    return {
      app,
      begun: begun.promise,
      letGo: letGo.resolve,
      released: released.promise,
      after,
      logged,
    };
  }

  const aborted = (signal: AbortSignal) =>
    signal.aborted
      ? Promise.resolve()
      : new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });

  test("a client that disconnects aborts ctx.signal and the body's signal, and nothing runs afterwards [S56] [S32]", async () => {
    const { app, begun, letGo, released, after, logged } = waiting();
    const { url } = await app.listen(0, overEntry());
    const leaving = new AbortController();
    const request = envelope("tools/call", { name: "wait", arguments: {} });
    const answer = post(url, request, { signal: leaving.signal });
    const { whole, body } = await begun;
    expect(whole.aborted).toBe(false);
    await collectGarbage();
    leaving.abort();
    await expect(answer).rejects.toThrow("aborted");
    await Promise.all([aborted(whole), aborted(body), released]);
    expect(whole.reason).toMatchObject({ reason: "Disconnected" });
    letGo();
    // The server still serves, and by now the handler would have continued if it could.
    expect((await post(url, envelope("tools/list"))).status).toBe(200);
    expect(after).toEqual([]);
    expect(logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a client that disconnects during a stream has the same effect [S56]", async () => {
    const { app, begun, letGo, after } = waiting();
    const { url } = await app.listen(0, overEntry());
    const leaving = new AbortController();
    const meta = { progressToken: 1 };
    const call = envelope("tools/call", { name: "wait", arguments: {} }, { meta });
    const { headers, body } = await post(url, call, { signal: leaving.signal });
    expect(headers.get("content-type")).toBe("text/event-stream");
    const reader = body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"progress":1');
    const { whole } = await begun;
    await collectGarbage();
    leaving.abort();
    await aborted(whole);
    letGo();
    expect((await post(url, envelope("tools/list"))).status).toBe(200);
    expect(after).toEqual([]);
  });
});

test("a 2025-11-25 session that never ends keeps no process alive", async () => {
  const { exit } = started(new URL("idle-session.ts", import.meta.url));
  expect(await exit).toBe(0);
});

test("a client that never returns has left nothing behind [S32] [S37]", async () => {
  const { app } = till();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const asked = await Promise.all(Array.from({ length: 50 }, () => callTool(app, "pay", amount)));
  expect(asked.map(tokenIn)).toHaveLength(50);
  expect(timers()).toBeLessThanOrEqual(before);
});

test("with once: true, a round that a proxy gives up on and sends again runs once", async () => {
  const { logger } = keepingLogger();
  const store = memoryStore();
  const app = parley({ name: "impatient", version: "1.0.0", keys, logger, store });
  onTestFinished(() => app.close());
  const begun = deferred();
  const letGo = deferred();
  const ran: string[] = [];
  app.tool("charge", { once: true }, async (ctx) => {
    await ctx.confirm("sure", "Sure?");
    await ctx.step("charge", async ({ signal }) => {
      ran.push("charge");
      begun.resolve();
      await letGo.promise;
      ran.push(signal.aborted ? "aborted" : "charged");
    });
    return "charged";
  });
  const { url } = await app.listen(0, overEntry());
  const requestState = tokenIn(await callTool(url, "charge"));
  const leg = { requestState, inputResponses: sure };
  const impatient = new AbortController();
  const given = callTool(url, "charge", {}, { ...leg, signal: impatient.signal });
  await begun.promise;
  impatient.abort();
  await expect(given).rejects.toThrow("aborted");
  const again = callTool(url, "charge", {}, leg);
  letGo.resolve();
  expect(textIn(await again)).toBe("charged");
  expect(ran).toEqual(["charge", "charged"]);
});

test("with once: true, an app that closes records what a step returns after its client has gone", async () => {
  const { logger } = keepingLogger();
  const store = memoryStore();
  const begun = deferred();
  const letGo = deferred();
  const ran: string[] = [];
  const replica = (name: string) => {
    const app = parley({ name: "closing", version: "1.0.0", keys, logger, store });
    onTestFinished(() => app.close());
    app.tool("charge", { once: true }, async (ctx) => {
      await ctx.confirm("sure", "Sure?");
      await ctx.step("charge", async () => {
        ran.push(`charge in ${name}`);
        begun.resolve();
        await letGo.promise;
      });
      await ctx.step("thank", () => void ran.push(`thank in ${name}`));
      return "charged";
    });
    return app;
  };
  const first = replica("a");
  const { url } = await first.listen(0, overEntry());
  const requestState = tokenIn(await callTool(url, "charge"));
  const leg = { requestState, inputResponses: sure };
  const leaving = new AbortController();
  const given = callTool(url, "charge", {}, { ...leg, signal: leaving.signal });
  await begun.promise;
  leaving.abort();
  await expect(given).rejects.toThrow("aborted");
  let isClosed = false;
  const closed = first.close().then(() => {
    isClosed = true;
  });
  // The connection has gone, so only the round keeps the app from closing.
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  letGo.resolve();
  await closed;
  expect(textIn(await callTool(replica("b"), "charge", {}, leg))).toBe("charged");
  expect(ran).toEqual(["charge in a", expect.stringMatching(/^thank in [ab]$/)]);
});
