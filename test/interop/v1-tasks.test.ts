// 2025-11-25 tasks with the official v1 client: the same handlers, reached through the older methods.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  McpError,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { CallToolResult, Task } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { longErrands } from "./long-errands.ts";
import { stdioPlace } from "./stdio-place.ts";
import { patience } from "../patience.ts";

const server = new URL("stdio-long.ts", import.meta.url);

const related = "io.modelcontextprotocol/related-task";

interface Asked {
  readonly method: string;
  readonly params: { readonly [name: string]: unknown; readonly _meta?: Record<string, unknown> };
}

/** A client that accepts every question, and what it was asked and notified of. */
async function connected(transport: Transport, capabilities: object = everything) {
  const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities });
  const asked: Asked[] = [];
  const told: Task[] = [];
  const note = ({ method, params = {} }: { method: string; params?: object | undefined }) =>
    void asked.push({ method, params: { ...params } });
  if ("elicitation" in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      note(request);
      return request.params.mode === "url"
        ? { action: "accept" }
        : { action: "accept", content: { confirm: true, name: "Ada" } };
    });
    client.setRequestHandler(CreateMessageRequestSchema, async (request) => {
      note(request);
      const content = { type: "text" as const, text: "Bread first" };
      return { role: "assistant", model: "interop", content };
    });
    client.setRequestHandler(ListRootsRequestSchema, async (request) => {
      note(request);
      return { roots: [{ uri: "file:///home/ada" }] };
    });
  }
  client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
    told.push(params);
  });
  await client.connect(transport);
  return { client, asked, told };
}

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

type Connected = Awaited<ReturnType<typeof connected>>;

/** Calls a tool as a task, and returns when the server has created the task. */
async function begun({ client }: Connected, name: string, args: object = {}, ttl?: number) {
  const params = { name, arguments: { ...args }, task: ttl === undefined ? {} : { ttl } };
  const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
  return task;
}

const resultOf = ({ client }: Connected, { taskId }: Pick<Task, "taskId">) =>
  client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: unknown) => (error instanceof McpError ? error.code : error),
  );

describe.each([
  [
    "an HTTP session",
    async () => {
      const app = longErrands();
      const { url } = await app.listen(0);
      const open = () => new StreamableHTTPClientTransport(new URL(url)) as Transport;
      return { open, close: app.close };
    },
  ],
  [
    "stdio",
    async () => ({
      open: (): Transport => new StdioClientTransport({ ...stdioPlace(server), stderr: "ignore" }),
      close: async () => {},
    }),
  ],
] as const)("over %s", (_, serve) => {
  let open: () => Transport;
  let close: () => Promise<void>;
  let v1: Connected;

  beforeAll(async () => {
    ({ open, close } = await serve());
    v1 = await connected(open());
  });
  afterAll(async () => {
    await v1.client.close();
    await close();
  });

  test("the server declares tasks, and each tool says whether it may be one [E2.3]", async () => {
    expect(v1.client.getServerCapabilities()?.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    });
    const { tools } = await v1.client.listTools();
    const support = Object.fromEntries(
      tools.map(({ name, execution }) => [name, execution?.taskSupport]),
    );
    expect(support).toMatchObject({
      slow_compute: "optional",
      confirm_delete: "required",
      weigh_it: "optional",
    });
    // For tools that do not support tasks, the SDK says "forbidden" by itself.
    expect(support["greet"] ?? "forbidden").toBe("forbidden");
  });

  test("a call that requests a task is a task from its first line on, and asks while tasks/result waits [E2.2] [E2.4]", async () => {
    const task = await begun(v1, "confirm_delete", { filename: "x.txt" }, 60_000);
    expect(task).toMatchObject({ status: "working", ttl: 60_000, pollInterval: 1_000 });
    const result = await resultOf(v1, task);
    expect(result).toEqual({
      content: [{ type: "text", text: "x.txt is deleted." }],
      _meta: { [related]: { taskId: task.taskId } },
    });
    const question = v1.asked.find(({ params }) => params["message"] === "Delete x.txt?");
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { _meta: { [related]: { taskId: task.taskId } } },
    });
    const { taskId } = task;
    const after = await v1.client.experimental.tasks.getTask(taskId);
    expect(after).toMatchObject({ taskId, status: "completed" });
    expect(after).not.toHaveProperty("_meta");
    // The result can be fetched again.
    expect(await resultOf(v1, task)).toEqual(result);
  });

  test("a handler that asks first and goes to the background later is still one task [E2.2]", async () => {
    const task = await begun(v1, "test_tool_with_task");
    expect((await resultOf(v1, task)).content).toEqual([
      { type: "text", text: "Hello, Ada, from the background." },
    ]);
  });

  test("a task can also ask for the model, the roots and a page, and the page has the id that it needs [E2.4] [E1.4]", async () => {
    const [motto, filed, signed] = await Promise.all([
      begun(v1, "motto"),
      begun(v1, "file_it"),
      begun(v1, "sign_in"),
    ]);
    const texts = await Promise.all(
      [motto, filed, signed].map(async (task) => (await resultOf(v1, task)).content[0]),
    );
    expect(texts).toMatchObject([
      { text: "Bread first" },
      { text: "filed in file:///home/ada" },
      { text: "signed in" },
    ]);
    const of = ({ taskId }: Task) =>
      v1.asked.filter(
        ({ params }) => (params._meta?.[related] as { taskId: string })?.taskId === taskId,
      );
    expect(of(motto).map(({ method }) => method)).toEqual(["sampling/createMessage"]);
    expect(of(filed).map(({ method }) => method)).toEqual(["roots/list"]);
    expect(of(signed)).toMatchObject([
      { params: { mode: "url", elicitationId: expect.stringMatching(/^[\w-]{20,}$/) as string } },
    ]);
  });

  test("two questions at once are both asked, once [E2.4]", async () => {
    const task = await begun(v1, "multi_input");
    const { content } = await resultOf(v1, task);
    expect(content).toEqual([{ type: "text", text: "accept and accept" }]);
    const asked = v1.asked.filter(
      ({ params }) => (params._meta?.[related] as { taskId: string })?.taskId === task.taskId,
    );
    expect(asked.map(({ params }) => params["message"])).toEqual(["The first?", "The second?"]);
  });

  test("a client that waits twice gets the same result twice [E2.4]", async () => {
    const task = await begun(v1, "multi_input");
    const [one, other] = await Promise.all([resultOf(v1, task), resultOf(v1, task)]);
    expect(one).toEqual(other);
    expect(one.content).toEqual([{ type: "text", text: "accept and accept" }]);
  });

  test("the client's own flow works: created, status, result [E2.4]", async () => {
    const stream = v1.client.experimental.tasks.callToolStream(
      { name: "weigh_it", arguments: {} },
      CallToolResultSchema,
      { task: { ttl: 60_000 } },
    );
    const types: string[] = [];
    let result: CallToolResult | undefined;
    for await (const message of stream) {
      types.push(message.type);
      if (message.type === "result") result = message.result;
      if (message.type === "error") throw message.error;
    }
    expect(types[0]).toBe("taskCreated");
    expect(types.at(-1)).toBe("result");
    expect(result?.structuredContent).toEqual({ grams: 500 });
  });

  test("a tool that reports a failure has failed as a task, and its result is still available [E2.2]", async () => {
    const task = await begun(v1, "failing_job");
    const result = await resultOf(v1, task);
    expect(result).toMatchObject({ isError: true, content: [{ text: "The job has failed." }] });
    const after = await v1.client.experimental.tasks.getTask(task.taskId);
    expect(after.status).toBe("failed");
  });

  test("a protocol error is the response to tasks/result [E2.2]", async () => {
    const task = await begun(v1, "protocol_error_job");
    expect(await codeOf(resultOf(v1, task))).toBe(-32603);
    const after = await v1.client.experimental.tasks.getTask(task.taskId);
    expect(after).toMatchObject({ status: "failed", statusMessage: "The job has broken down." });
  });

  test("a question that the client does not support gives a result that says so, not -32021 [E1.3] [E2.1]", async () => {
    const bare = await connected(open(), {});
    const task = await begun(bare, "motto");
    const result = await resultOf(bare, task);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).toContain("has not declared");
    const after = await bare.client.experimental.tasks.getTask(task.taskId);
    expect(after.status).toBe("failed");
    await bare.client.close();
  });

  test("changes of status are announced as they happen [E2.2]", async () => {
    const task = await begun(v1, "confirm_delete", { filename: "told.txt" });
    await resultOf(v1, task);
    const of = () => v1.told.filter(({ taskId }) => taskId === task.taskId);
    await vi.waitFor(() => expect(of().at(-1)?.status).toBe("completed"), patience);
    const statuses = of().map(({ status }) => status);
    expect(statuses).toContain("input_required");
    for (const one of of()) expect(one).not.toHaveProperty("result");
  });

  test("tasks/cancel ends a task once, and gives -32602 when it is over [E2.5]", async () => {
    const { tasks } = v1.client.experimental;
    const task = await begun(v1, "slow_compute", { seconds: 600 });
    expect(await tasks.cancelTask(task.taskId)).toMatchObject({
      taskId: task.taskId,
      status: "cancelled",
    });
    expect(await codeOf(tasks.cancelTask(task.taskId))).toBe(-32602);
    expect(await codeOf(resultOf(v1, task))).toBe(-32602);
    const done = await begun(v1, "weigh_it");
    await resultOf(v1, done);
    expect(await codeOf(tasks.cancelTask(done.taskId))).toBe(-32602);
    expect((await tasks.getTask(done.taskId)).status).toBe("completed");
  });

  test("a client that waits for the result of a cancelled task gets an error [E2.5]", async () => {
    const task = await begun(v1, "slow_compute", { seconds: 600 });
    const waiting = codeOf(resultOf(v1, task));
    await v1.client.experimental.tasks.cancelTask(task.taskId);
    expect(await waiting).toBe(-32602);
  });

  test("a task-only tool gives -32601 if no task is requested; a tool that is never a task gives it if one is", async () => {
    // Sent as a plain request, because callTool of this client refuses it locally.
    const params = { name: "confirm_delete", arguments: { filename: "x" } };
    const plainly = v1.client.request({ method: "tools/call", params }, CallToolResultSchema);
    expect(await codeOf(plainly)).toBe(-32601);
    expect(await codeOf(begun(v1, "greet", { name: "Ada" }))).toBe(-32601);
  });

  test("a tool that may be a task can also be called without one", async () => {
    const { content } = await v1.client.callTool({ name: "weigh_it", arguments: {} });
    expect(content).toEqual([{ type: "text", text: '{"grams":500}' }]);
  });

  test("arguments that do not fit give an error and no task [E2.1]", async () => {
    expect(await codeOf(begun(v1, "slow_compute", { seconds: "long" }))).toBe(-32602);
  });

  test.each(["", "nobodys", "../x", "\u0000"])(
    "the id %j names no task and gives -32602",
    async (taskId) => {
      const { tasks } = v1.client.experimental;
      expect(await codeOf(tasks.getTask(taskId))).toBe(-32602);
      expect(await codeOf(tasks.cancelTask(taskId))).toBe(-32602);
      expect(await codeOf(resultOf(v1, { taskId }))).toBe(-32602);
    },
  );

  test("tasks/list comes in pages, newest first, and an invalid cursor gives -32602 [E2.2]", async () => {
    const { client } = await connected(open());
    const other = { client, asked: [], told: [] };
    const made: string[] = [];
    for (let n = 0; n < 53; n += 1) made.unshift((await begun(other, "weigh_it")).taskId);
    const { tasks } = client.experimental;
    const first = await tasks.listTasks();
    expect(first.tasks).toHaveLength(50);
    const second = await tasks.listTasks(first.nextCursor);
    expect(second.nextCursor).toBeUndefined();
    const listed = [...first.tasks, ...second.tasks].map(({ taskId }) => taskId);
    // Tasks of the same millisecond are ordered by id.
    expect(listed.toSorted()).toEqual(made.toSorted());
    for (const cursor of ["x", "1.", ".x", "9.%00", "-1.x"]) {
      expect(await codeOf(tasks.listTasks(cursor))).toBe(-32602);
    }
    await client.close();
  });
});
