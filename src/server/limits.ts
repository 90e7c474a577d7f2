// The limits of a server and their defaults. Those of a client are in client/limits.ts.

import { defaultTaskLimits } from "../tasks/limits.ts";
import { defaultMaxBytes } from "../token/payload.ts";
import { tenYearsMs } from "../util/timers.ts";

/** How much a call or a task may use. Pass the ones to change to `parley({ limits })`. */
export interface Limits {
  /**
   * The largest body of an HTTP request, in bytes. It may hold one JSON value for every 32 of them, and one name of a member
   * for every 512. Default: 4 MiB.
   */
  readonly requestBytes: number;
  /** How many rounds a call may take. Default: 50. */
  readonly rounds: number;
  /** The longest `requestState`, in bytes. A longer state goes to the store, if there is one. Default: 32 KiB. */
  readonly tokenBytes: number;
  /** How long a client may take to come back, in milliseconds. A question with a longer `timeoutMs` extends it. Default: 11 minutes. */
  readonly tokenTtlMs: number;
  /** Compresses the state in a token. The token's length then reveals something about its contents. Default: false. */
  readonly deflate: boolean;
  /** How long a call that asked for the background may run within its request, in milliseconds, if the client cannot follow a task. Default: 50 seconds. */
  readonly inlineMs: number;
  /**
   * How long a round may go on to its next step, in milliseconds. After that it ends before the step, and the client comes
   * back at once for the rest, perhaps to another instance. A round always runs one step, and from the eighth round on this
   * does not apply, because the official client gives up after ten. Default: Infinity, which means off.
   */
  readonly roundMs: number;
  /** How long a paused call waits to be continued, in milliseconds. Each pause begins anew. Default: one hour. */
  readonly pauseMs: number;
  /** How many paused calls one caller may have. Callers without credentials share them. Default: 1,000. */
  readonly paused: number;
  /** How many unfinished tasks one caller may have. Default: 1,000. */
  readonly tasksPerPrincipal: number;
  /** The longest a task may last, in milliseconds. It is also the default of `background({ ttlMs })`. Default: 7 days. */
  readonly taskTtlMs: number;
  /** How much a task may record, in bytes after sealing. It also limits a state that is too large for a token. Default: 16 MiB. */
  readonly taskLogBytes: number;
  /** How many questions a task may have open at once. Default: 100. */
  readonly taskQuestions: number;
  /** How many 2025-11-25 sessions one caller may have in this process. One more ends an idle one. Anonymous callers share the 1,000 of the process. Default: 100. */
  readonly sessionsPerPrincipal: number;
  /** How many `subscriptions/listen` streams one caller may have open in this process. Anonymous callers share the 1,024 of the process. Default: 100. */
  readonly subscriptionsPerPrincipal: number;
  /** How many tasks one `subscriptions/listen` may follow. The acknowledgement leaves out the others. Default: 200. */
  readonly subscriptionTasks: number;
  /**
   * How much the store keeps for one caller, in bytes: its tasks, ended ones included, its states that are too large for a
   * token, and its recorded rounds. The oldest ended tasks lose their contents first. If that is not enough, new ones are
   * refused, and a running task fails when the caller has twice as much. Default: 256 MiB.
   */
  readonly storedBytesPerPrincipal: number;
  /** How many ended tasks of one caller keep their result until their time is up. The oldest lose it first. Default: 10,000. */
  readonly endedTasksPerPrincipal: number;
  /**
   * How long a task that waits for its client's answers waits for a client that has never read it, in milliseconds. The
   * response that named the task may be lost. Default: 24 hours.
   */
  readonly unreadTaskMs: number;
  /**
   * How long a task waits for a worker that can follow its history, in milliseconds, if another version of the app wrote
   * it. Then it fails with `history_changed`. It fails sooner if no worker of another version is alive. Default: 15 minutes.
   */
  readonly divergedMs: number;
  /**
   * How long Parley tries to undo the steps of a call that did not end well, in milliseconds from its end. An undo that
   * still fails after that is given up. Default: 24 hours.
   */
  readonly undoMs: number;
  /**
   * How long the audit of a call is kept in the store after its last record, in milliseconds. It does not depend on how long
   * tasks are kept. Infinity: forever. Default: 365 days.
   */
  readonly auditMs: number;
  /**
   * How much of one stream is sent while it is made, in bytes, where what the client has not read cannot be counted: from
   * a task, and with `app.attach`. The rest comes when the stream has ended, or with the result. Default: 1 MiB.
   */
  readonly streamBytes: number;
  /**
   * How long a stream waits for a client that does not read, in milliseconds. It then goes on, and this client gets no
   * more parts. Default: 30 seconds.
   */
  readonly streamStallMs: number;
  /** How many tasks one user may read the streams of at once, in one process. Default: 16. */
  readonly streamReaders: number;
}

/** The limits with defaults. Throws a RangeError that names a limit that is out of range. */
export function checkedLimits(given: Partial<Limits>): Limits {
  const limits = { ...defaultLimits, ...given };
  const bounds = {
    requestBytes: 256 * 1024 * 1024,
    rounds: 1e6,
    tokenBytes: 64 * 1024 * 1024,
    tokenTtlMs: tenYearsMs,
    inlineMs: tenYearsMs,
    roundMs: tenYearsMs,
    pauseMs: tenYearsMs,
    paused: 1e9,
    tasksPerPrincipal: 1e9,
    taskTtlMs: tenYearsMs,
    taskLogBytes: 1024 * 1024 * 1024,
    taskQuestions: 1_000,
    sessionsPerPrincipal: 1_000,
    subscriptionsPerPrincipal: 1_024,
    subscriptionTasks: 10_000,
    storedBytesPerPrincipal: 2 ** 50,
    endedTasksPerPrincipal: 1e9,
    unreadTaskMs: tenYearsMs,
    divergedMs: tenYearsMs,
    undoMs: tenYearsMs,
    auditMs: tenYearsMs,
    streamBytes: 1024 * 1024 * 1024,
    streamStallMs: tenYearsMs,
    streamReaders: 10_000,
  };
  for (const name of boundedLimits) {
    const value = limits[name];
    const canBeOff = name === "roundMs" || name === "auditMs";
    if (canBeOff && value === Infinity) continue;
    if (Number.isInteger(value) && value >= 1 && value <= bounds[name]) continue;
    throw new RangeError(
      `limits.${name} is ${value}. Pass a whole number from 1 to ${bounds[name]}${canBeOff ? ", or Infinity" : ""}.`,
    );
  }
  return limits;
}

const boundedLimits = [
  "requestBytes",
  "rounds",
  "tokenBytes",
  "tokenTtlMs",
  "inlineMs",
  "roundMs",
  "pauseMs",
  "paused",
  "tasksPerPrincipal",
  "taskTtlMs",
  "taskLogBytes",
  "taskQuestions",
  "sessionsPerPrincipal",
  "subscriptionsPerPrincipal",
  "subscriptionTasks",
  "storedBytesPerPrincipal",
  "endedTasksPerPrincipal",
  "unreadTaskMs",
  "divergedMs",
  "undoMs",
  "auditMs",
  "streamBytes",
  "streamStallMs",
  "streamReaders",
] as const;

const defaultLimits: Limits = {
  // The same as in the SDK.
  requestBytes: 4 * 1024 * 1024,
  rounds: 50,
  tokenBytes: defaultMaxBytes,
  // One minute more than the ten after which the official client gives up on a person.
  tokenTtlMs: 11 * 60_000,
  deflate: false,
  // Ten seconds less than the minute after which the official client gives up on a request.
  inlineMs: 50_000,
  roundMs: Infinity,
  pauseMs: 3_600_000,
  paused: 1_000,
  tasksPerPrincipal: defaultTaskLimits.tasksPerPrincipal,
  taskTtlMs: defaultTaskLimits.taskTtlMs,
  taskLogBytes: defaultTaskLimits.logBytes,
  taskQuestions: defaultTaskLimits.questions,
  sessionsPerPrincipal: 100,
  subscriptionsPerPrincipal: 100,
  subscriptionTasks: 200,
  storedBytesPerPrincipal: defaultTaskLimits.storedBytes,
  endedTasksPerPrincipal: defaultTaskLimits.endedTasks,
  unreadTaskMs: defaultTaskLimits.unreadMs,
  divergedMs: defaultTaskLimits.divergedMs,
  undoMs: defaultTaskLimits.undoMs,
  auditMs: defaultTaskLimits.auditMs,
  streamBytes: 1024 * 1024,
  streamStallMs: 30_000,
  streamReaders: 16,
};
