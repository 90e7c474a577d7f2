// A task that was claimed again and again without a new record. It fails, and its error gives the cause, if it is
// known.

import { internalErrorCode } from "../program.ts";
import type { TaskError } from "../program.ts";
import { places } from "../sealing.ts";
import type { Sealed, TaskRecord } from "../task.ts";
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

/**
 * The cause of a run whose bodies were still running when the time of `app.runDue` was up. Undefined if none was, or if
 * the process had all the time it wanted: a worker that is shut down says nothing about its tasks.
 */
export function cutOff(
  { callId }: TaskRecord,
  steps: Iterable<string>,
  { budgetMs, sealer }: ExecutionDeps,
): Sealed | undefined {
  const [step] = steps;
  if (budgetMs === undefined || step === undefined) return undefined;
  const cause = `Step "${step}" was cut off after ${budgetMs} ms, because app.runDue() had no more time`;
  return sealer.seal(cause, places.cause(callId));
}

const cutOffPattern =
  /^(Step ".*" was cut off after \d+ ms), because app\.runDue\(\) had no more time$/su;

/** The error of such a task. The cause may name machines, so only a client in development sees it. */
export function stuckTask(cause: string, { limits, isDevelopment }: ExecutionDeps): TaskError {
  const why =
    isDevelopment === true
      ? `The last cause was: ${cause}.`
      : "The log of the server has the cause.";
  const count = limits.fruitlessClaims;
  const [, cut] = cutOffPattern.exec(cause) ?? [];
  if (cut !== undefined) {
    const times = count === 1 ? "" : ` ${count} times in a row,`;
    return {
      code: internalErrorCode,
      message: `${cut},${times} because app.runDue() had no more time. Pass a longer budgetMs, or split the step.`,
      data: { reason: "task_stuck" },
    };
  }
  const attempts = count === 1 ? "1 attempt" : `${count} attempts`;
  return {
    code: internalErrorCode,
    message: `The task was given up after ${attempts} without progress. ${why}`,
    data: { reason: "task_stuck" },
  };
}
