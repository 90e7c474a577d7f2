// A task that was claimed again and again without a new record. It fails, and its error gives the cause, if it is
// known.

import { internalErrorCode } from "../program.ts";
import type { TaskError } from "../program.ts";
import type { TaskRecord } from "../task.ts";
import { BlockedLoop } from "./blocked-loop.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import { readCause } from "./other-versions.ts";

/** Why the last claim made no progress. `before` is the worker whose lease ran out. */
export function lastCause(
  task: TaskRecord,
  before: string | undefined,
  { sealer, store, blockedLoop = new BlockedLoop(store.leaseMs) }: ExecutionDeps,
): string {
  const { why } = readCause(task, sealer);
  if (why !== undefined) return why;
  return before === undefined ? "no cause was recorded" : blockedLoop.causeOf(task.id, before);
}

/** The error of such a task. The cause may name machines, so only a client in development sees it. */
export function stuckTask(cause: string, { limits, isDevelopment }: ExecutionDeps): TaskError {
  const why =
    isDevelopment === true
      ? `The last cause was: ${cause}.`
      : "The log of the server has the cause.";
  const count = limits.fruitlessClaims;
  const attempts = count === 1 ? "1 attempt" : `${count} attempts`;
  return {
    code: internalErrorCode,
    message: `The task was given up after ${attempts} without progress. ${why}`,
    data: { reason: "task_stuck" },
  };
}
