// Rounds of `app.listen` wait while others are between two turns (src/server/http/fast/lockstep.ts). Here the test decides
// when a turn is over.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { parley } from "mcp-parley";
import { expect, onTestFinished, test } from "vitest";
import type { Turns } from "../../src/replay/turns.ts";
import type { Core } from "../../src/server/core.ts";
import { insideOf } from "../../src/server/inside.ts";
import { callTool, textIn } from "./post.ts";

/** Turns that end when the test says so. */
class HandMade implements Turns {
  readonly #waiting: (() => void)[] = [];

  readonly full = (callback: () => void): void => void this.#waiting.push(callback);
  readonly brief = (callback: () => void): void => this.full(callback);

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Ends the oldest of the turns that are waited for. */
  end(): void {
    this.#waiting.shift()?.();
  }
}

/** Lets everything run that does not wait for a turn of the test's own. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

async function served() {
  const began: string[] = [];
  const app = parley({ name: "held", version: "1.0.0", keys: `k:${"A".repeat(43)}` });
  app.tool("steps", {}, async (ctx) => {
    began.push("steps");
    return ctx.step("one", () => "stepped");
  });
  app.tool("plain", {}, async () => {
    began.push("plain");
    return "plain";
  });
  const turns = new HandMade();
  const { core } = insideOf(app) ?? {};
  Object.assign(core as Core, { environment: { ...(core as Core).environment, turns } });
  const { url, close } = await app.listen(0);
  onTestFinished(close);
  let arrived = 0;
  let lastSocket: Socket | undefined;
  const onRequest = (message: unknown) => {
    arrived += 1;
    lastSocket = (message as { readonly socket: Socket }).socket;
  };
  subscribe("http.server.request.start", onRequest);
  onTestFinished(() => void unsubscribe("http.server.request.start", onRequest));
  /** Resolves when the server has the request, to what will come back. */
  const call = async (name: string, signal?: AbortSignal) => {
    const before = arrived;
    const answer = callTool(url, name, {}, signal === undefined ? {} : { signal }).then(textIn);
    answer.catch(() => {});
    for (let turn = 0; turn < 100_000 && arrived === before; turn += 1) await setImmediate();
    await settled();
    const socket = lastSocket;
    const closed = async () => {
      for (let turn = 0; turn < 100_000 && socket?.closed === false; turn += 1)
        await setImmediate();
      await settled();
    };
    return { answer, closed };
  };
  /** Ends turns until nothing waits for one. */
  const endAll = async () => {
    for (let ended = 0; ended < 100 && turns.waiting > 0; ended += 1) {
      turns.end();
      await settled();
    }
  };
  return { began, turns, call, endAll };
}

test("a call that comes while a round is between two turns begins when that round needs no more", async () => {
  const { began, turns, call, endAll } = await served();
  const steps = await call("steps");
  // The end of the round's turn, and before it the count of the turns.
  expect([began, turns.waiting]).toEqual([["steps"], 2]);
  turns.end();
  const plain = await call("plain");
  expect(began).toEqual(["steps"]);
  await endAll();
  expect(await Promise.all([steps.answer, plain.answer])).toEqual(["stepped", "plain"]);
});

test("a call that comes before the turn has begun does not wait", async () => {
  const { began, call, endAll } = await served();
  const steps = await call("steps");
  const plain = await call("plain");
  expect(began).toEqual(["steps", "plain"]);
  await endAll();
  expect(await Promise.all([steps.answer, plain.answer])).toEqual(["stepped", "plain"]);
});

test("a call whose client disconnects while it waits does not run", async () => {
  const { began, turns, call, endAll } = await served();
  const steps = await call("steps");
  turns.end();
  const leaving = new AbortController();
  const plain = await call("plain", leaving.signal);
  leaving.abort();
  await expect(plain.answer).rejects.toThrow("aborted");
  await plain.closed();
  await endAll();
  expect(await steps.answer).toBe("stepped");
  expect(began).toEqual(["steps"]);
});
