// A task as the tasks extension (SEP-2663) shows it on the wire.

import type { CreateTaskResult, DetailedTask, TaskBase } from "../../protocol/task.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";

const pollIntervalMs = 1_000;

/** The response to a call that has become a task. */
export function createTaskResult(task: TaskSnapshot): CreateTaskResult {
  // This response cannot contain questions or results. If the task has moved on meanwhile, `tasks/get` shows it.
  return { resultType: "task", ...baseOf(task), status: "working" };
}

/** The response to `tasks/get`, with the questions, the result or the error that belongs to the status. */
export function detailedTask(task: TaskSnapshot): DetailedTask {
  const base = baseOf(task);
  switch (task.status) {
    case "input_required":
      return { ...base, inputRequests: Object.fromEntries(task.questions) };
    case "completed":
      return { ...base, result: { ...members(task.result), resultType: "complete" } };
    case "failed":
      return { ...base, ...(task.error === undefined ? {} : { error: task.error }) };
    case "working":
    case "cancelled":
      return base;
  }
}

function baseOf(task: TaskSnapshot): TaskBase {
  const { id, status, statusMessage, createdAt, updatedAt, expiresAt } = task;
  return {
    taskId: id,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: Math.round(expiresAt - createdAt),
    pollIntervalMs,
  };
}

function members(result: unknown): object {
  return typeof result === "object" && result !== null ? result : {};
}
