// A task as the extension shows it (SEP-2663).

import type { CreateTaskResult, DetailedTask, TaskBase } from "../../protocol/task.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";

const pollIntervalMs = 1_000;

export function createTaskResult(task: TaskSnapshot): CreateTaskResult {
  // It has no room for questions or results: whatever has become of it meanwhile, `tasks/get` tells.
  return { resultType: "task", ...baseOf(task), status: "working" };
}

/** With the questions, the result or the error that its status goes with. */
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
