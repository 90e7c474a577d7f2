// One handler, three phases: rounds, then a task, then a question in the task; and clients that cannot follow tasks.

import { afterEach, describe, expect, test, vi } from "vitest";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { deferred } from "./deferred.ts";
import { accept, envelope, textIn, tokenIn } from "./post.ts";
import type { Answer, Leg, To } from "./post.ts";
import { stdioHere } from "./stdio-here.ts";
import {
  ask,
  begun,
  call,
  extension,
  follows,
  ovenHere,
  servedOven,
  stays,
  taskIdIn,
  textOf,
  until,
} from "./task-calls.ts";

afterEach(() => vi.restoreAllMocks());

const rye = { loaf: "rye" };

/** The three rounds of `order`: two that ask, and one that creates the task. */
async function ordered(to: To, ...legs: readonly Leg[]): Promise<Answer[]> {
  const first = await call(to, "order", rye, legs[0]);
  const second = await call(to, "order", rye, {
    requestState: tokenIn(first),
    inputResponses: { sure: accept() },
    ...legs[1],
  });
  const third = await call(to, "order", rye, {
    requestState: tokenIn(second),
    inputResponses: { name: accept({ name: "Ada" }) },
    ...legs[2],
  });
  return [first, second, third];
}

describe("rounds, a task, and a question in it", () => {
  test("over HTTP, each phase has its own messages, and each body runs once [S87] [A10]", async () => {
    const { to, ran } = await servedOven();
    const [first, second, third] = await ordered(to);
    for (const round of [first!, second!]) {
      expect(Object.keys(round.result!).toSorted()).toEqual([
        "_meta",
        "inputRequests",
        "requestState",
        "resultType",
      ]);
      expect(round.result).toMatchObject({ resultType: "input_required" });
    }
    expect(third!.result).not.toHaveProperty("requestState");
    expect(third!.result).not.toHaveProperty("inputRequests");
    const task = taskIdIn(third!);
    const asked = await until(to, task, "input_required");
    expect(Object.keys(asked.inputRequests!)).toEqual(["slices"]);
    expect(asked).not.toHaveProperty("requestState");
    await ask(to, "tasks/update", task, { inputResponses: { slices: accept({ slices: 9 }) } });
    expect(textOf(await until(to, task, "completed"))).toBe("rye for Ada in 9 slices");
    expect(ran).toEqual(["price", "bake"]);
  });

  test("over stdio, the same holds [S87]", async () => {
    const here = await stdioHere();
    const params = { name: "order", arguments: rye };
    const [first] = await here.ask("tools/call", params);
    const [second] = await here.ask("tools/call", {
      ...params,
      requestState: first!.result!["requestState"],
      inputResponses: { sure: accept() },
    });
    const [third] = await here.ask("tools/call", {
      ...params,
      requestState: second!.result!["requestState"],
      inputResponses: { name: accept({ name: "Ada" }) },
    });
    expect(third!.result).toMatchObject({ resultType: "task", status: "working" });
    const taskId = third!.result!["taskId"];
    const get = async () => (await here.ask("tasks/get", { taskId }))[0]?.result;
    await expect
      .poll(get)
      .toMatchObject({ status: "input_required", inputRequests: { slices: {} } });
    const inputResponses = { slices: accept({ slices: 9 }) };
    const [ack] = await here.ask("tasks/update", { taskId, inputResponses });
    expect(Object.keys(ack!.result!).toSorted()).toEqual(["_meta", "resultType"]);
    await expect.poll(get).toMatchObject({ status: "completed" });
    expect(await get()).toMatchObject({
      result: { content: [{ text: "rye for Ada in 9 slices" }] },
    });
    expect(here.ran).toEqual(["price", "bake"]);
  });

  test("a key is used once in a call, in either phase [S93]", async () => {
    const { to } = await ovenHere();
    const first = await call(to, "same_key");
    const task = taskIdIn(
      await call(
        to,
        "same_key",
        {},
        {
          requestState: tokenIn(first),
          inputResponses: { name: accept({ name: "Ada" }) },
        },
      ),
    );
    expect(await until(to, task, "failed")).toMatchObject({
      error: { code: -32603, data: { reason: "duplicate_key" } },
    });
  });

  test("a question of the rounds cannot be answered again in the task [S93] [S95]", async () => {
    const { to } = await ovenHere();
    const [, , third] = await ordered(to);
    const task = taskIdIn(third!);
    await until(to, task, "input_required");
    const inputResponses = { sure: { action: "decline" }, name: accept({ name: "Eve" }) };
    expect((await ask(to, "tasks/update", task, { inputResponses })).error).toBeUndefined();
    await ask(to, "tasks/update", task, { inputResponses: { slices: accept({ slices: 9 }) } });
    expect(textOf(await until(to, task, "completed"))).toBe("rye for Ada in 9 slices");
  });

  test("an abandoned first round has left nothing in the store [S32] [S86]", async () => {
    const { to, store } = await ovenHere();
    for (let n = 0; n < 5; n += 1) expect(tokenIn(await call(to, "order", rye))).toBeDefined();
    expect(await store.list({ principal: undefined, after: undefined, limit: 10 })).toEqual([]);
    expect(await store.figures()).toMatchObject({ live: 0, due: 0 });
  });

  test("the round that creates the task gets the same task when it is sent again, at any time [S86]", async () => {
    const { to, ran, store } = await ovenHere();
    const [, second, third] = await ordered(to);
    const task = taskIdIn(third!);
    const leg = {
      requestState: tokenIn(second!),
      inputResponses: { name: accept({ name: "Ada" }) },
    };
    const again = await Promise.all([1, 2, 3].map(() => call(to, "order", rye, leg)));
    expect(again.map(taskIdIn)).toEqual([task, task, task]);
    await until(to, task, "input_required");
    // This response has no room for what has happened since. `tasks/get` shows it.
    const asking = await call(to, "order", rye, leg);
    expect(asking.result).toMatchObject({ taskId: task, resultType: "task", status: "working" });
    expect(asking.result).not.toHaveProperty("inputRequests");
    await ask(to, "tasks/update", task, { inputResponses: { slices: accept({ slices: 9 }) } });
    await until(to, task, "completed");
    const over = await call(to, "order", rye, leg);
    expect(over.result).toMatchObject({ taskId: task, resultType: "task", status: "working" });
    expect(over.result).not.toHaveProperty("result");
    // The same holds with another answer, because the call has become that task.
    const other = { ...leg, inputResponses: { name: accept({ name: "Eve" }) } };
    expect(taskIdIn(await call(to, "order", rye, other))).toBe(task);
    expect(ran).toEqual(["price", "bake"]);
    const all = await store.list({ principal: undefined, after: undefined, limit: 10 });
    expect(all).toHaveLength(1);
  });
});

describe("declaring tasks", () => {
  const bare = { capabilities: stays };

  test("a client that declares tasks only when one is needed gets a task then [S81]", async () => {
    const { to } = await ovenHere();
    const [first, second, third] = await ordered(to, bare, bare, {});
    expect([first, second].map((round) => round?.result?.["resultType"])).toEqual([
      "input_required",
      "input_required",
    ]);
    await until(to, taskIdIn(third!), "input_required");
  });

  test("a client that declares tasks only at first gets none, and continues in rounds [S81] [S84]", async () => {
    const { to, ran, store } = await ovenHere();
    const [, , third] = await ordered(to, {}, {}, bare);
    expect(third!.result).toMatchObject({ resultType: "input_required" });
    const last = await call(to, "order", rye, {
      requestState: tokenIn(third!),
      inputResponses: { slices: accept({ slices: 9 }) },
      ...bare,
    });
    expect(textIn(last)).toBe("rye for Ada in 9 slices");
    expect(ran).toEqual(["price", "bake"]);
    expect((await store.figures()).live).toBe(0);
  });

  test("a client that stops declaring tasks while a third party is awaited gets an error that says what is needed [S83] [S17]", async () => {
    const { to, store } = await ovenHere();
    const first = await call(to, "ask_boss");
    const leg = { requestState: tokenIn(first), inputResponses: { name: accept({ name: "Ada" }) } };
    const without = await call(to, "ask_boss", {}, { ...leg, ...bare });
    expect([without.status, without.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { extensions: { [extension]: {} } } } },
    ]);
    expect((await store.figures()).live).toBe(0);
    // The round still works for a client that can follow tasks.
    expect((await call(to, "ask_boss", {}, leg)).result).toMatchObject({ resultType: "task" });
  });

  test("a client that never declares tasks is refused work that it cannot wait for [S83]", async () => {
    const { to, tickets } = await ovenHere();
    const { status, error } = await call(to, "approve", {}, bare);
    expect([status, error?.code]).toEqual([400, -32021]);
    expect(tickets).toEqual([]);
  });
});

describe("for a client that does not support tasks", () => {
  const bare = { capabilities: stays };

  test("the call continues in its request, question by question [S84]", async () => {
    const { to, ran, store } = await ovenHere();
    const first = await call(to, "bake", rye, bare);
    expect(first.result).toMatchObject({ resultType: "input_required" });
    const last = await call(to, "bake", rye, {
      ...bare,
      requestState: tokenIn(first),
      inputResponses: { crust: accept({ crust: "thin" }) },
    });
    expect(last.result).toMatchObject({
      resultType: "complete",
      content: [{ text: "rye with a thin crust" }],
    });
    expect(ran).toEqual(["knead"]);
    expect((await store.figures()).live).toBe(0);
  });

  test("the call sleeps there, and each body runs once [S84]", async () => {
    const { to, ran } = await ovenHere();
    expect(textIn(await call(to, "nap", { ms: 30 }, bare))).toBe("slept");
    expect(ran).toEqual(["before"]);
  });

  test("a sleep that is too long is refused at once, with a message [S84]", async () => {
    const { to } = await ovenHere({ limits: { inlineMs: 30_000 } });
    const began = performance.now();
    const { result } = await call(to, "nap", { ms: 3_600_000 }, bare);
    expect(result).toMatchObject({ resultType: "complete", isError: true });
    expect(JSON.stringify(result)).toMatch(
      /needs to run in the background, and this client cannot follow a task\..*io\.modelcontextprotocol\/tasks/,
    );
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test("a body that takes too long is stopped, and the client gets an error [S84]", async () => {
    const { to, called } = await ovenHere({ limits: { inlineMs: 50 } });
    const { result } = await call(to, "rise", {}, bare);
    expect(result).toMatchObject({ resultType: "complete", isError: true });
    expect(JSON.stringify(result)).toContain("was stopped after 0.05 s");
    expect(called).toEqual(["rise"]);
  });

  test("a sleep that ended while a question was open is not repeated [S84]", async () => {
    const { to } = await ovenHere();
    const first = await call(to, "ask_and_nap", {}, bare);
    vi.spyOn(nodeEnvironment, "now").mockImplementation(() => Date.now() + 59_950);
    const answered = await call(
      to,
      "ask_and_nap",
      {},
      {
        ...bare,
        requestState: tokenIn(first),
        inputResponses: { name: accept({ name: "Ada" }) },
      },
    );
    // It sleeps only for the rest, a twentieth of a second. Another whole minute would be too long.
    expect(textIn(answered)).toBe("Ada slept");
  });

  test("disconnecting stops the call, and nothing runs afterwards [S56]", async () => {
    const { to, ran, stopped } = await ovenHere();
    const gone = new AbortController();
    void call(to, "heat", {}, { ...bare, signal: gone.signal }).catch(() => {});
    await expect.poll(() => ran).toEqual(["heat"]);
    gone.abort();
    await expect.poll(() => stopped).toEqual(["Disconnected"]);
  });
});

/** A store that reports when it is about to create a task, and waits. */
function slow() {
  const store = new MemoryStore();
  const [asked, go] = [deferred(), deferred()];
  const { create } = store;
  Object.assign(store, {
    create: async (...args: Parameters<typeof create>) => {
      asked.resolve();
      await go.promise;
      return create(...args);
    },
  });
  const all = () => store.list({ principal: undefined, after: undefined, limit: 10 });
  return { store, asked, go, all };
}

describe("a client that is gone when its task is created", () => {
  test("leaves no task, because no client would know its id [G18]", async () => {
    const { store, asked, go, all } = slow();
    const { to } = await ovenHere({ store });
    const gone = new AbortController();
    void call(to, "two", {}, { signal: gone.signal }).catch(() => {});
    await asked.promise;
    gone.abort();
    go.resolve();
    await expect.poll(async () => (await all()).map(({ status }) => status)).toEqual(["cancelled"]);
  });

  test("finds the task if a token leads back to it [G18] [S86]", async () => {
    const { store, asked, go, all } = slow();
    const { to } = await ovenHere({ store });
    const first = await call(to, "order", rye);
    const second = await call(to, "order", rye, {
      requestState: tokenIn(first),
      inputResponses: { sure: accept() },
    });
    const leg = {
      requestState: tokenIn(second),
      inputResponses: { name: accept({ name: "Ada" }) },
    };
    const gone = new AbortController();
    void call(to, "order", rye, { ...leg, signal: gone.signal }).catch(() => {});
    await asked.promise;
    gone.abort();
    go.resolve();
    const task = await begun(to, "order", rye, leg);
    expect((await all()).map(({ id }) => id)).toEqual([task]);
    await until(to, task, "input_required");
  });

  test("leaves nothing if it goes before anything is stored [G18]", async () => {
    const { to, store, ran, stopped } = await ovenHere();
    const gone = new AbortController();
    void call(to, "heat", {}, { signal: gone.signal }).catch(() => {});
    await expect.poll(() => ran).toEqual(["heat"]);
    gone.abort();
    await expect.poll(() => stopped).toEqual(["Disconnected"]);
    expect(await store.list({ principal: undefined, after: undefined, limit: 10 })).toEqual([]);
  });
});

test("over stdio, cancelling a request that returned a task cancels nothing [S110] [A14]", async () => {
  const here = await stdioHere();
  const [created] = await here.ask("tools/call", { name: "rise", arguments: {} }, { id: "call" });
  const taskId = created?.result?.["taskId"];
  const { _meta } = envelope("x", {}, { capabilities: follows }).params;
  here.send({ method: "notifications/cancelled", params: { requestId: "call", _meta } });
  here.done.resolve();
  const get = async () => (await here.ask("tasks/get", { taskId }))[0]?.result;
  await expect.poll(get).toMatchObject({ status: "completed" });
});

test("over stdio, a message for a cancelled request does not go to the next one with its id [S66]", async () => {
  const { store, asked, go, all } = slow();
  const here = await stdioHere({ store });
  const params = { name: "order", arguments: rye };
  const [first] = await here.ask("tools/call", params);
  const [second] = await here.ask("tools/call", {
    ...params,
    requestState: first!.result!["requestState"],
    inputResponses: { sure: accept() },
  });
  const third = {
    ...params,
    requestState: second!.result!["requestState"],
    inputResponses: { name: accept({ name: "Ada" }) },
  };
  here.send(envelope("tools/call", third, { id: "again", capabilities: follows }));
  await asked.promise;
  const { _meta } = envelope("x", {}, { capabilities: follows }).params;
  here.send({ method: "notifications/cancelled", params: { requestId: "again", _meta } });
  await here.ask("tools/list");
  go.resolve();
  await expect.poll(all).toHaveLength(1);
  await here.ask("tools/list");
  const [plain] = await here.ask("tools/call", { name: "plain", arguments: {} }, { id: "again" });
  expect(plain?.result).toMatchObject({
    resultType: "complete",
    content: [{ text: "not a task" }],
  });
});

test("with once: true a repeated round gets its first response, and a round with other answers gets none [S31] [D3]", async () => {
  const { to, ran } = await ovenHere();
  const first = await call(to, "charge");
  const leg = { requestState: tokenIn(first), inputResponses: { sum: accept({ sum: 5 }) } };
  const [one, other] = await Promise.all([
    call(to, "charge", {}, leg),
    call(to, "charge", {}, leg),
  ]);
  expect(textIn(one)).toBe("charged 5");
  expect(other.result).toEqual(one.result);
  const changed = { ...leg, inputResponses: { sum: accept({ sum: 500 }) } };
  expect((await call(to, "charge", {}, changed)).error).toMatchObject({
    code: -32602,
    data: { reason: "superseded_round" },
  });
  expect(ran).toEqual(["charge"]);
});
