// The official client of the tasks extension runs every long errand to its end, and its schemas accept every message of
// our server.

import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Place } from "./clients.ts";
import { schemas } from "./ext-tasks-package.ts";
import type { InputRequest } from "./ext-tasks-package.ts";
import { connectExtTasks } from "./ext-tasks.ts";
import type { ExtTasks, Received } from "./ext-tasks.ts";
import { longErrands } from "./long-errands.ts";
import { stdioPlace } from "./stdio-place.ts";
import { patience } from "../patience.ts";

async function answer(request: InputRequest): Promise<object> {
  switch (request.kind) {
    case "elicitation":
      return "url" in request.params
        ? { action: "accept" }
        : { action: "accept", content: { confirm: true, name: "Ada" } };
    case "sampling":
      return {
        role: "assistant",
        model: "interop",
        content: { type: "text", text: "Bread first" },
      };
    case "roots":
      return { roots: [{ uri: "file:///home/ada" }] };
  }
}

const tools: readonly {
  readonly name: string;
  readonly args?: Record<string, string | number>;
  readonly kind?: "immediate" | "task";
  readonly ends: unknown;
}[] = [
  { name: "greet", args: { name: "Ada" }, kind: "immediate", ends: "Hello, Ada!" },
  { name: "slow_compute", args: { seconds: 0.02, label: "pi" }, ends: "pi took 0.02 s" },
  { name: "failing_job", ends: { isError: true, text: "The job has failed." } },
  { name: "protocol_error_job", ends: { failed: "The job has broken down." } },
  { name: "confirm_delete", args: { filename: "x.txt" }, ends: "x.txt is deleted." },
  { name: "multi_input", ends: "accept and accept" },
  { name: "test_tool_with_task", ends: "Hello, Ada, from the background." },
  { name: "motto", ends: "Bread first" },
  { name: "file_it", ends: "filed in file:///home/ada" },
  { name: "weigh_it", ends: '{"grams":500}' },
  { name: "sign_in", ends: "signed in" },
];

interface Run {
  readonly kind: "immediate" | "task";
  readonly seen: readonly (string | undefined)[];
  readonly ends: unknown;
}

/** Calls the tool, follows its task by notifications, and returns its outcome. */
async function run({ session, client }: ExtTasks, name: string, args: object): Promise<Run> {
  const execution = await session.callTool(name, args);
  const { kind, handle } = execution;
  // The client handles notifications, but subscribes only on request.
  const listening = handle && (await client.listen({ taskIds: [handle.taskId] } as object));
  const seen: (string | undefined)[] = [];
  const { outcome } = await execution.settle({
    onEvent: ({ task }) => {
      if (task !== undefined) seen.push(task.status);
    },
  });
  await listening?.close();
  if (outcome.status === "failed") return { kind, seen, ends: { failed: outcome.error.message } };
  if (outcome.status === "cancelled") return { kind, seen, ends: "cancelled" };
  const { content, isError } = outcome.result as {
    content: { text: string }[];
    isError?: boolean;
  };
  const text = content[0]?.text;
  return { kind, seen, ends: isError === true ? { isError, text } : text };
}

/** Leaves a task, continues it by its reference, and cancels it. */
async function cancelled({ session }: ExtTasks): Promise<string> {
  const execution = await session.callTool("slow_compute", { seconds: 600 });
  const reference = execution.serializeReference();
  await execution.detach();
  const resumed = await vi.waitFor(() => session.resumeTask(reference), patience);
  await resumed.cancel();
  return (await resumed.settle()).outcome.status;
}

describe.each([
  [
    "HTTP",
    async () => {
      const app = longErrands();
      const { url } = await app.listen(0);
      return { place: { url } as Place, close: app.close };
    },
  ],
  [
    "stdio",
    async () => ({
      place: stdioPlace(new URL("stdio-long.ts", import.meta.url)),
      close: async () => {},
    }),
  ],
] as const)("over %s", (_, open) => {
  const runs = new Map<string, Run>();
  /** What was asked: the kind, and how it arrived. */
  const asked: string[] = [];
  let received: readonly Received[];
  let ofCancelled: string;

  beforeAll(async () => {
    const { place, close } = await open();
    const ext = await connectExtTasks(place, async (request, { delivery }) => {
      asked.push(`${request.kind} by ${delivery}`);
      return answer(request);
    });
    ofCancelled = await cancelled(ext);
    // A few at a time. Each call listens to the session's signal, and Node warns from the eleventh listener on.
    for (let at = 0; at < tools.length; at += 8) {
      const some = tools.slice(at, at + 8).map(async ({ name, args = {} }) => {
        runs.set(name, await run(ext, name, args));
      });
      await Promise.all(some);
    }
    received = ext.received;
    await ext.close();
    await close();
  });

  test.each(tools)("$name completes [S80] [S85] [S88]", ({ name, kind = "task", ends }) => {
    const { seen, ...came } = runs.get(name)!;
    expect(came).toEqual({ kind, ends });
    if (kind === "task") expect(seen.at(-1)).toBeOneOf(["completed", "failed"]);
  });

  test("a task is left, resumed by its reference, and cancelled [S97]", () => {
    expect(ofCancelled).toBe("cancelled");
  });

  test("answers to a task go by tasks/update, and answers in a round by a retry [D16]", () => {
    expect(asked.toSorted()).toEqual([
      "elicitation by request-retry",
      "elicitation by task-update",
      "elicitation by task-update",
      "elicitation by task-update",
      "elicitation by task-update",
      "roots by task-update",
      "sampling by task-update",
    ]);
  });

  test("the extension's schemas accept every message that we sent [A10] [A11] [A12] [A13]", () => {
    const kinds = received.map(kindOf);
    // Every kind of message was seen.
    expect(new Set(kinds)).toEqual(
      new Set([
        "server/discover",
        "tools/list",
        "tools/call: complete",
        "tools/call: input_required",
        "tools/call: task",
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
        "notifications/subscriptions/acknowledged",
        "notifications/tasks",
        "subscriptions/listen",
        ...(kinds.includes("notifications/cancelled") ? ["notifications/cancelled"] : []),
      ]),
    );
    for (const one of received) check(one);
  });
});

type Body = Record<string, unknown>;

const bodyOf = ({ message }: Received): Body =>
  ("result" in message ? message.result : "params" in message ? message.params : {}) as Body;

function kindOf(received: Received): string {
  const { message, to = "nothing" } = received;
  if ("method" in message) return message.method;
  return to === "tools/call" ? `${to}: ${String(bodyOf(received)["resultType"])}` : to;
}

/** Throws if a schema of the extension does not accept the message. */
function check(received: Received): void {
  const body = bodyOf(received);
  expect(received.message).not.toHaveProperty("error");
  switch (kindOf(received)) {
    case "tools/list":
      for (const tool of body["tools"] as unknown[]) schemas.ToolV2Schema.parse(tool);
      return;
    case "tools/call: complete":
      return void schemas.CallToolResultV2Schema.parse(body);
    case "tools/call: input_required":
      return void schemas.InputRequiredCallToolResultV2Schema.parse(body);
    case "tools/call: task":
      return void schemas.CreateTaskResultV2Schema.strict().parse(body);
    case "tasks/get":
      if (body["status"] === "completed") schemas.CallToolResultV2Schema.parse(body["result"]);
      return void schemas.GetTaskResultV2Schema.parse(body);
    case "tasks/update":
      return void schemas.UpdateTaskResultV2Schema.parse(body);
    case "tasks/cancel":
      return void schemas.CancelTaskResultV2Schema.parse(body);
    case "notifications/subscriptions/acknowledged":
      return void schemas.TaskSubscriptionAcknowledgedNotificationsV2Schema.strict().parse(
        body["notifications"],
      );
    case "notifications/tasks":
      if (body["status"] === "completed") schemas.CallToolResultV2Schema.parse(body["result"]);
      return void schemas.TaskStatusNotificationV2Schema.parse(received.message);
  }
}
