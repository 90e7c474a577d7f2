// A task in both forms. The draft says `ttl` and `pollInterval`, and leaves out the questions and the result; the tasks
// extension says `ttlMs` and `pollIntervalMs`, and includes them.

import type { TaskBase } from "../protocol/task.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

type Status = TaskBase["status"];

/** A task of the extension in the form of the draft. */
export function draftTask(task: Members): Members {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  return {
    taskId,
    status: draftStatus(task),
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs,
    pollInterval: pollIntervalMs,
  };
}

/** The draft builds on the tasks of 2025-11-25, where a tool whose result has `isError` has failed. */
function draftStatus({ status, result }: Members): unknown {
  const failed: Status = "failed";
  return status === "completed" && own(result, "isError") === true ? failed : status;
}

/** A task of the draft in the form of the extension, without what the draft leaves out. */
export function finalTask(task: Members): Members {
  const { ttl, pollInterval, ...rest } = task;
  return { ...rest, ttlMs: ttl, pollIntervalMs: pollInterval };
}

const over: readonly unknown[] = ["completed", "failed", "cancelled"] satisfies Status[];

/** Whether a task has reached a status that never changes again. */
export const isOver = ({ status }: Members): boolean => over.includes(status);
