// What a principal, and a single task, may take up.

import { ParleyError } from "../errors.ts";

export interface TaskLimits {
  /** Live tasks of one principal. */
  readonly tasksPerPrincipal: number;
  /** A task's longest life, and its life where nothing else is said. */
  readonly taskTtlMs: number;
  /** Of one task's log, sealed. */
  readonly logBytes: number;
  /** Outstanding at once in one task. */
  readonly questions: number;
  /** How long a task that is over can be read at least, and one that is deleted is remembered. */
  readonly keepMs: number;
  /** How often a task is taken up without a new entry before it is failed. */
  readonly fruitlessClaims: number;
  /** How long bodies may take to come to an end when their process is to stop. */
  readonly drainMs: number;
}

export const defaultTaskLimits: TaskLimits = {
  tasksPerPrincipal: 1_000,
  taskTtlMs: 7 * 24 * 3_600_000,
  logBytes: 16 * 1024 * 1024,
  questions: 100,
  keepMs: 3_600_000,
  fruitlessClaims: 5,
  drainMs: 5_000,
};

export function logTooLarge(tool: string, bytes: number, limit: number): ParleyError {
  return new ParleyError(
    "log_too_large",
    `The log of this task of "${tool}" would be ${bytes} bytes, over the limit of ${limit}. ` +
      "Keep ids instead of contents in step results, or raise parley({ limits: { taskLogBytes } }).",
  );
}

export function tooManyQuestions(tool: string, count: number, limit: number): ParleyError {
  return new ParleyError(
    "too_many_questions",
    `"${tool}" has ${count} questions open at once, over the limit of ${limit}. ` +
      "Ask them in turn, or raise parley({ limits: { taskQuestions } }).",
  );
}

export function tooManyTasks(tool: string, limit: number): ParleyError {
  return new ParleyError(
    "too_many_tasks",
    `"${tool}" cannot become a task: this caller has ${limit} under way, which is the limit. ` +
      "Let some of them come to an end or cancel them, or raise parley({ limits: { tasksPerPrincipal } }).",
  );
}

export function ttlTooLong(tool: string, ttlMs: number, limit: number): ParleyError {
  return new ParleyError(
    "bad_option",
    `"${tool}" wants a task to last ${ttlMs} ms; it may be a whole number from 1 to ${limit}. ` +
      "Raise parley({ limits: { taskTtlMs } }) for longer ones.",
  );
}
