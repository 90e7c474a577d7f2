// A task in both forms: `ttl` and `pollInterval` in the draft, `ttlMs` and `pollIntervalMs` in the extension; there
// with its questions or its result, here without.

import type { TaskBase } from "../protocol/task.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

type Status = TaskBase["status"];

/** From a task of the extension. */
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

/** As in 2025-11-25, on whose tasks the draft builds: a tool that says that it could not do it has failed. */
function draftStatus({ status, result }: Members): unknown {
  const failed: Status = "failed";
  return status === "completed" && own(result, "isError") === true ? failed : status;
}

/** From a task of the draft, as far as it goes. */
export function finalTask(task: Members): Members {
  const { ttl, pollInterval, ...rest } = task;
  return { ...rest, ttlMs: ttl, pollIntervalMs: pollInterval };
}

const over: readonly unknown[] = ["completed", "failed", "cancelled"] satisfies Status[];
export const isOver = ({ status }: Members): boolean => over.includes(status);
