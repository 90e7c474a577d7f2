// How much a caller, and a single task, may use.

import { ParleyError } from "../errors.ts";

/** The limits of the task engine. */
export interface TaskLimits {
  /** How many live tasks one principal may have. */
  readonly tasksPerPrincipal: number;
  /** The longest life of a task, which is also its life by default. */
  readonly taskTtlMs: number;
  /** The size of the sealed log of one task. */
  readonly logBytes: number;
  /** How many questions one task may have open at once. */
  readonly questions: number;
  /** How much the store may keep for one principal, in bytes. */
  readonly storedBytes: number;
  /** How many ended tasks of one principal keep their contents. */
  readonly endedTasks: number;
  /** How long a task waits for a client that has never read it. */
  readonly unreadMs: number;
  /** How much of one stream readers can get before it is recorded. The rest comes with its record. */
  readonly streamBytes: number;
  /** How long an ended task can be read at least, and how long a deleted one is remembered. */
  readonly keepMs: number;
  /** How long to try to undo the steps of a task that did not end well. */
  readonly undoMs: number;
  /** How long the audit of a call is kept after its last record. */
  readonly auditMs: number;
  /** How many claims in a row may produce no new entry before the task fails. */
  readonly fruitlessClaims: number;
  /** How long a task may wait for a version of the app that can follow its history. */
  readonly divergedMs: number;
  /**
   * How long running bodies may take to end when their process shuts down. What they return in this time is recorded.
   * Their signals abort shortly before its end.
   */
  readonly drainMs: number;
}

/** The limits that apply by default. */
export const defaultTaskLimits: TaskLimits = {
  tasksPerPrincipal: 1_000,
  taskTtlMs: 7 * 24 * 3_600_000,
  logBytes: 16 * 1024 * 1024,
  questions: 100,
  storedBytes: 256 * 1024 * 1024,
  endedTasks: 10_000,
  unreadMs: 24 * 3_600_000,
  streamBytes: 1024 * 1024,
  keepMs: 3_600_000,
  undoMs: 24 * 3_600_000,
  auditMs: 365 * 24 * 3_600_000,
  fruitlessClaims: 5,
  divergedMs: 15 * 60_000,
  drainMs: 5_000,
};

/** A record would make the log larger than it may be. */
export function logTooLarge(tool: string, bytes: number, limit: number): ParleyError {
  return new ParleyError(
    "log_too_large",
    `The log of this "${tool}" task would grow to ${bytes} bytes, over the limit of ${limit}. ` +
      "Return ids instead of contents from steps, or raise parley({ limits: { taskLogBytes } }).",
  );
}

const inMb = (bytes: number): string => `${Math.round(bytes / 1024 / 102.4) / 10} MB`;

/** What is to be kept is larger than a row of the store may be. Only Durable Objects have such a limit. */
export function recordTooLarge(what: string, bytes: number, limit: number): ParleyError {
  return new ParleyError(
    "log_too_large",
    `${what} is ${inMb(bytes)}, and a Durable Object keeps at most ${inMb(limit)} in a row. ` +
      "Keep an id instead of the contents.",
  );
}

/** The handler has more questions open than it may have. */
export function tooManyQuestions(tool: string, count: number, limit: number): ParleyError {
  return new ParleyError(
    "too_many_questions",
    `"${tool}" has ${count} questions open at once, over the limit of ${limit}. ` +
      "Ask them one after the other, or raise parley({ limits: { taskQuestions } }).",
  );
}

/** The caller has as many live tasks as it may have. */
export function tooManyTasks(tool: string, limit: number): ParleyError {
  return new ParleyError(
    "too_many_tasks",
    `"${tool}" cannot become a task, because this caller already has ${limit} live tasks, which is the limit. ` +
      "Wait for some of them to end, cancel some, or raise parley({ limits: { tasksPerPrincipal } }).",
  );
}

/** The caller has as much in the store as it may have. */
export function tooMuchStored(what: string, bytes: number, limit: number): ParleyError {
  return new ParleyError(
    "too_much_stored",
    `${what} cannot be stored, because this caller already has ${bytes} bytes in the store, and the limit is ${limit}. ` +
      "Wait for some of its tasks to end, cancel some, or raise parley({ limits: { storedBytesPerPrincipal } }).",
  );
}

/** The tool asks for a lifetime that a task cannot have. */
export function ttlTooLong(tool: string, ttlMs: number, limit: number): ParleyError {
  return new ParleyError(
    "bad_option",
    `"${tool}" asks for a task that lasts ${ttlMs} ms. Use a whole number from 1 to ${limit}, ` +
      "or raise parley({ limits: { taskTtlMs } }) for longer tasks.",
  );
}
