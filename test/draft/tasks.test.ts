// Tasks in the draft: a client requests one with `task`, gets a result with a `task` member, fetches questions with
// `tasks/result` and answers them with `tasks/input_response`.

import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { drafts } from "mcp-parley/drafts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { oven } from "../wire/oven.ts";
import { accept } from "../wire/post.ts";
import { call as finalCall } from "../wire/task-calls.ts";
import {
  about,
  draftOverHttp,
  draftOverStdio,
  endStdio,
  respond,
  said,
  taskIn,
  untilTask,
} from "./peer.ts";
import type { DraftPeer } from "./peer.ts";

afterAll(endStdio);

const ways: [string, () => Promise<DraftPeer>][] = [
  [
    "HTTP",
    async () => {
      const { app } = oven({ drafts: drafts({ deferTasks: ["order", "ferment"] }) });
      const { url } = await app.listen(0);
      onTestFinished(() => app.close());
      return draftOverHttp(url);
    },
  ],
  ["stdio", () => draftOverStdio("oven")],
];

const sampled = { role: "assistant", content: { type: "text", text: "onwards" }, model: "m" };
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
const rye = { name: "bake", arguments: { loaf: "rye" } };

/** Starts a task that asks, and fetches its questions. */
async function asking(peer: DraftPeer, call: object) {
  const { taskId } = taskIn(await peer.ask("tools/call", { ...call, task: { ttl: 60_000 } }));
  await untilTask(peer, taskId, "input_required");
  const { result } = await peer.ask("tasks/result", { taskId });
  return { taskId, questions: result?.["inputRequests"] };
}

describe.each(ways)("over %s", (_, open) => {
  test("the server declares tasks, and each tool says whether it can be one", async () => {
    const { opened, ask } = await open();
    expect(opened.result?.["capabilities"]).toEqual({
      tools: {},
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
    });
    const { result } = await ask("tools/list");
    const tools = result?.["tools"] as { name: string; execution?: unknown }[];
    const supports = new Map(tools.map(({ name, execution }) => [name, execution]));
    expect(supports.get("bake")).toEqual({ taskSupport: "optional" });
    expect(supports.get("proof")).toEqual({ taskSupport: "required" });
    expect(supports.get("plain")).toBeUndefined();
  });

  test("the whole flow works: task, poll, questions, answers, poll, result", async () => {
    const peer = await open();
    const { ask } = peer;
    const created = await ask("tools/call", { ...rye, task: { ttl: 60_000 } });
    const { taskId } = taskIn(created);
    expect(created.result).toEqual({
      task: {
        taskId,
        status: "working",
        createdAt: iso,
        lastUpdatedAt: iso,
        ttl: 60_000,
        pollInterval: 1_000,
      },
    });
    expect(await untilTask(peer, taskId, "input_required")).toEqual({
      taskId,
      status: "input_required",
      statusMessage: "kneading (1/2)",
      createdAt: iso,
      lastUpdatedAt: iso,
      ttl: 60_000,
      pollInterval: 1_000,
    });
    const asked = await ask("tasks/result", { taskId });
    expect(asked.result).toEqual({
      inputRequests: { crust: expect.objectContaining({ method: "elicitation/create" }) as object },
      _meta: about(taskId),
    });
    const acknowledged = await respond(peer, taskId, { crust: accept({ crust: "thin" }) });
    expect(acknowledged.result).toEqual({ _meta: about(taskId) });
    await untilTask(peer, taskId, "completed");
    expect((await ask("tasks/result", { taskId })).result).toEqual({
      ...said("rye with a thin crust"),
      _meta: about(taskId),
    });
  });

  test("missing and unexpected answers are acknowledged, and the task keeps asking", async () => {
    const peer = await open();
    const { taskId, questions } = await asking(peer, rye);
    for (const inputResponses of [
      {},
      { nobody: accept({ asked: "for this" }) },
      { crust: accept({ not_requested_parameter: "?" }) },
      { crust: { action: "accept" } },
    ]) {
      const { result } = await respond(peer, taskId, inputResponses);
      expect(result).toEqual({ _meta: about(taskId) });
      const { result: task } = await peer.ask("tasks/get", { taskId });
      expect(task?.["status"]).toBe("input_required");
      const { result: again } = await peer.ask("tasks/result", { taskId });
      expect(again?.["inputRequests"]).toEqual(questions);
    }
    await respond(peer, taskId, { crust: accept({ crust: "thick" }) });
    await untilTask(peer, taskId, "completed");
  });

  test("an answer that does not fit is asked for again, with the reason", async () => {
    const peer = await open();
    const { taskId } = await asking(peer, { name: "fussy" });
    await respond(peer, taskId, { age: accept({ age: 3 }) });
    await untilTask(peer, taskId, "input_required");
    const { result } = await peer.ask("tasks/result", { taskId });
    const [[key, question]] = Object.entries(result?.["inputRequests"] as object) as [
      [string, unknown],
    ];
    expect(JSON.stringify(question)).toContain("18");
    await respond(peer, taskId, { [key]: accept({ age: 30 }) });
    await untilTask(peer, taskId, "completed");
  });

  test("if only some questions are answered, the rest are still asked", async () => {
    const peer = await open();
    const { taskId } = await asking(peer, { name: "two" });
    await respond(peer, taskId, { one: accept({ one: "1" }) });
    const { result } = await peer.ask("tasks/result", { taskId });
    expect(Object.keys(result?.["inputRequests"] as object)).toEqual(["other"]);
    await respond(peer, taskId, { other: accept({ other: "2" }) });
    await untilTask(peer, taskId, "completed");
    expect((await peer.ask("tasks/result", { taskId })).result).toMatchObject({
      content: [{ text: "1 and 2" }],
    });
  });

  test("a task can ask every kind of question", async () => {
    const peer = await open();
    const { taskId, questions } = await asking(peer, { name: "every_kind" });
    const [form, page, motto, roots] = Object.keys(questions as object);
    await respond(peer, taskId, {
      [String(form)]: accept({ name: "Ada", news: true }),
      [String(page)]: { action: "accept" },
      [String(motto)]: sampled,
      [String(roots)]: { roots: [{ uri: "file:///home/ada" }] },
    });
    await untilTask(peer, taskId, "completed");
    const { result } = await peer.ask("tasks/result", { taskId });
    expect(JSON.stringify(result)).toContain("onwards");
  });

  test("a call that requests a task is a task from the start, whatever its handler does first", async () => {
    const peer = await open();
    // It asks before it could decide anything, and never asks for the background.
    const { taskId } = taskIn(await peer.ask("tools/call", { name: "inquire", task: {} }));
    await untilTask(peer, taskId, "input_required");
    await respond(peer, taskId, { size: accept({ size: "large" }) });
    await untilTask(peer, taskId, "completed");
    expect((await peer.ask("tasks/result", { taskId })).result).toEqual({
      ...said("a large one"),
      _meta: about(taskId),
    });
    const quick = taskIn(await peer.ask("tools/call", { name: "quick", task: {} }));
    await untilTask(peer, quick.taskId, "completed");
    // The same tool, without a requested task.
    const round = await peer.ask("tools/call", { name: "inquire" });
    expect(round.result).toHaveProperty("inputRequests");
  });

  test("arguments that do not fit make no task", async () => {
    const { ask } = await open();
    const { result } = await ask("tools/call", { name: "bake", arguments: { loaf: 7 }, task: {} });
    expect(result).toMatchObject({ isError: true });
  });

  test("a call of a tool that defers goes from rounds to a task, and never back", async () => {
    const peer = await open();
    const order = { name: "order", arguments: { loaf: "rye" }, task: {} };
    const first = await peer.ask("tools/call", order);
    expect(first.result).toHaveProperty("inputRequests");
    const second = await peer.ask("tools/call", {
      ...order,
      requestState: first.result?.["requestState"],
      inputResponses: { sure: accept() },
    });
    const third = await peer.ask("tools/call", {
      ...order,
      requestState: second.result?.["requestState"],
      inputResponses: { name: accept({ name: "Ada" }) },
    });
    const { taskId } = taskIn(third);
    await untilTask(peer, taskId, "input_required");
    await respond(peer, taskId, { slices: accept({ slices: 9 }) });
    await untilTask(peer, taskId, "completed");
    expect((await peer.ask("tasks/result", { taskId })).result).toMatchObject({
      content: [{ text: "rye for Ada in 9 slices" }],
    });
  });

  test("without `task` there is no task, and with it a tool that defers its task, or that never is one, creates none", async () => {
    const { ask } = await open();
    const inline = await ask("tools/call", rye);
    expect(inline.result).toHaveProperty("inputRequests");
    expect((await ask("tools/call", { name: "ferment", task: {} })).result).toEqual(
      said("no time for that"),
    );
    expect((await ask("tools/call", { name: "plain", task: {} })).result).toEqual(
      said("not a task"),
    );
    expect((await ask("tools/call", { name: "proof" })).error).toEqual({
      code: -32601,
      message:
        "This tool runs only as a task, and this client did not ask for one. Nothing has run. Use a client that supports tasks.",
    });
  });

  test("a request for the result waits while the task works", async () => {
    const peer = await open();
    const { taskId } = taskIn(await peer.ask("tools/call", { name: "weigh", task: {} }));
    expect((await peer.ask("tasks/result", { taskId })).result).toMatchObject({
      structuredContent: { grams: 500 },
      _meta: about(taskId),
    });
  });

  test("a tool that reports a failure has failed with a result, and any other error is an error", async () => {
    const peer = await open();
    const burnt = taskIn(await peer.ask("tools/call", { name: "burn", task: {} }));
    await untilTask(peer, burnt.taskId, "failed");
    expect((await peer.ask("tasks/result", { taskId: burnt.taskId })).result).toEqual({
      content: [{ type: "text", text: "It is burnt." }],
      isError: true,
      _meta: about(burnt.taskId),
    });
    const blown = taskIn(await peer.ask("tools/call", { name: "short", task: {} }));
    await untilTask(peer, blown.taskId, "failed");
    expect((await peer.ask("tasks/result", { taskId: blown.taskId })).error).toEqual({
      code: 4711,
      message: "The fuse is blown.",
      data: { fuse: 3 },
    });
  });

  test("a task is cancelled once, and reports it", async () => {
    const peer = await open();
    const { taskId } = await asking(peer, rye);
    const { result } = await peer.ask("tasks/cancel", { taskId });
    expect(result).toMatchObject({
      taskId,
      status: "cancelled",
      ttl: expect.any(Number) as number,
    });
    expect((await peer.ask("tasks/get", { taskId })).result).toMatchObject({ status: "cancelled" });
    expect((await peer.ask("tasks/cancel", { taskId })).error).toEqual({
      code: -32602,
      message: "Cannot cancel a task that is cancelled",
    });
    expect((await peer.ask("tasks/result", { taskId })).error).toEqual({
      code: -32602,
      message: "The task was cancelled",
    });
    // A late answer has no effect.
    expect((await respond(peer, taskId, { crust: accept({ crust: "thin" }) })).result).toEqual({
      _meta: about(taskId),
    });
  });

  test("the client says how long a task may last", async () => {
    const { ask } = await open();
    const ttlOf = async (call: object) => taskIn(await ask("tools/call", call))["ttl"];
    expect(await ttlOf({ name: "two", task: { ttl: 5_000 } })).toBe(5_000);
    expect(await ttlOf({ ...rye, task: { ttl: 5_000 } })).toBe(5_000);
    const week = 7 * 24 * 3_600_000;
    for (const ttl of [2 * week, -1, "long", null]) {
      expect(await ttlOf({ name: "two", task: { ttl } })).toBe(week);
    }
  });

  test("an unknown task, and a request that names none, is refused", async () => {
    const peer = await open();
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      for (const taskId of ["unknown", 7, undefined]) {
        expect((await peer.ask(method, { taskId })).error).toMatchObject({ code: -32602 });
      }
    }
    const { taskId } = await asking(peer, rye);
    const inputResponses = { crust: accept({ crust: "thin" }) };
    // The task is named in `_meta` and nowhere else.
    expect((await peer.ask("tasks/input_response", { taskId, inputResponses })).error?.code).toBe(
      -32602,
    );
    for (const malformed of [
      undefined,
      [],
      "thin",
      { crust: "thin" },
      { crust: { action: "maybe" } },
    ]) {
      expect((await respond(peer, taskId, malformed)).error?.code).toBe(-32602);
    }
    expect((await peer.ask("tools/call", { ...rye, task: "yes" })).error).toEqual({
      code: -32602,
      message: "task is not an object",
    });
  });
});

test("a task whose time is up before it was answered has failed, and says why", async () => {
  const clock = { now: Date.now() };
  const store = new MemoryStore({ now: () => clock.now });
  const { app } = oven({ store, drafts: drafts() });
  await app.work();
  onTestFinished(() => app.close());
  const peer = await draftOverHttp(app);
  const { taskId } = taskIn(await peer.ask("tools/call", { name: "two", task: { ttl: 5_000 } }));
  await untilTask(peer, taskId, "input_required");
  clock.now += 4_999;
  await store.sweep(100, 3_600_000);
  expect((await peer.ask("tasks/get", { taskId })).result?.["status"]).toBe("input_required");
  clock.now += 1;
  // No sweep has passed. An answer that comes now is acknowledged, and changes nothing.
  const late = { one: accept({ one: "1" }), other: accept({ other: "2" }) };
  expect((await respond(peer, taskId, late)).result).toEqual({ _meta: about(taskId) });
  expect((await peer.ask("tasks/get", { taskId })).result?.["status"]).toBe("failed");
  expect((await peer.ask("tasks/result", { taskId })).error).toMatchObject({
    code: -32603,
    message: "The task expired before it was done.",
  });
});

test("a client that waits for a result when the server closes gets an error, and is not waited for", async () => {
  const { app, done } = oven({ drafts: drafts() });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const peer = await draftOverHttp(url);
  const { taskId } = taskIn(await peer.ask("tools/call", { name: "proof", task: {} }));
  const coming = peer.ask("tasks/result", { taskId });
  // The request waits, and a later one is served first.
  await peer.ask("tasks/get", { taskId });
  const from = performance.now();
  await app.close();
  // A closing server waits up to ten seconds for requests under way.
  expect(performance.now() - from).toBeLessThan(8_000);
  expect((await coming).error).toEqual({
    code: -32603,
    message: "The server is shutting down, and the task goes on: request its result again",
  });
  // The app serves again after close, and the task has gone on.
  await app.work();
  done.resolve();
  const again = await draftOverHttp(app);
  expect((await again.ask("tasks/result", { taskId })).result).toMatchObject(said("proofed"));
});

test("2026-07-28 ignores a requested lifetime of a task, with drafts or without", async () => {
  for (const options of [{ drafts: drafts() }, {}]) {
    const { app } = oven(options);
    await app.work();
    onTestFinished(() => app.close());
    const { result } = await finalCall(app, "two", {}, {});
    expect(result).toMatchObject({ resultType: "task", ttlMs: 7 * 24 * 3_600_000 });
  }
});
