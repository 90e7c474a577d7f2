// What a task waits for, or why it does not run, in one sentence.

import type { SeenWorkers, TaskStore } from "../tasks/store.ts";
import type { TaskListing } from "../tasks/task-reader.ts";
import { isLive, isUndoing } from "../tasks/task.ts";
import { loggedPart } from "../util/short-id.ts";

/** How long something may be late before it counts as stuck. Common pauses are shorter. */
export const lateMs = 30_000;

/** How long a run lasts before it is said how long. */
const longMs = 120_000;

/** How long a worker may be silent before it counts as gone. */
export const silenceMsOf = ({ leaseMs }: Pick<TaskStore, "leaseMs">): number =>
  Math.max(lateMs, leaseMs);

/** What is known besides the task. */
export interface Surroundings {
  readonly now: number;
  readonly workers: SeenWorkers["workers"];
  /** How long a worker may be silent before it counts as gone. */
  readonly silenceMs: number;
  /** Why the last run failed, if that may be shown. */
  readonly cause: string | undefined;
  /** That the last run could not open the record, and the id of the key that it lacked, if that is known. */
  readonly unreadable: { readonly keyId: string | undefined } | undefined;
  /** Whether this server has no such tool any more. */
  readonly isToolGone: boolean;
}

/** Why the task is where it is. Undefined if it is over. */
export function reasonFor(
  task: TaskListing,
  around: Surroundings,
): { readonly isStuck: boolean; readonly why: string } | undefined {
  if (isUndoing(task)) return undoing(task, around);
  if (!isLive(task)) return undefined;
  if (task.expiresAt <= around.now) {
    return fine("Its time is up, and it ends with the next sweep.");
  }
  if (task.worker !== undefined) return held(task, task.worker, around);
  const { dueAt = Infinity, fruitless } = task;
  if (dueAt <= around.now) return due(task, around.now - dueAt, around);
  const isToBeTried = fruitless > 0 || around.unreadable !== undefined;
  if (!isToBeTried || task.waits.length > 0) return fine(waitText(task, around));
  const why = `${attempts(task, around)} It is tried again in ${lasting(dueAt - around.now)}.`;
  return { isStuck: fruitless > 1, why };
}

const fine = (why: string) => ({ isStuck: false, why });

function undoing(task: TaskListing, around: Surroundings) {
  const { undos, fruitless } = task;
  const left = `${undos === 1 ? "One step has" : `${undos} steps have`} to be undone.`;
  if (fruitless <= 1) return fine(left);
  return { isStuck: true, why: `${left} ${attempts(task, around)}` };
}

function held(task: TaskListing, worker: string, around: Surroundings) {
  const { now, workers, silenceMs } = around;
  const { dueAt = now, fruitless } = task;
  const overdue = now - dueAt;
  const seenAt = workers.find(({ name }) => name === worker)?.seenAt;
  if (overdue > lateMs) {
    // By now a worker that is alive and has the tool would have taken it. What to do comes first: there may be room for no more.
    const seen = seenAt === undefined ? "" : `, last seen ${lasting(now - seenAt)} ago`;
    const why = `${overdueText(task, overdue, around)} It was held by ${worker}${seen}.`;
    return { isStuck: true, why };
  }
  if (overdue > 0) {
    const seen = seenAt === undefined ? "" : ` and was last seen ${lasting(now - seenAt)} ago`;
    const next = nobodyElse(task, around) ?? "Another worker takes the task over.";
    return fine(`Its worker ${worker} has not renewed its lease${seen}. ${next}`);
  }
  const isSilent = seenAt !== undefined && now - seenAt > silenceMs;
  const runs = isSilent ? `It is held by ${worker}, which is silent.` : runsText(task, now);
  if (fruitless <= 1) return fine(runs);
  return { isStuck: true, why: `${runs} ${attempts(task, around)}` };
}

/** A run that lasts for long may be one whose step is tried again and again, which only its log knows. */
function runsText({ worker, claimedAt }: TaskListing, now: number): string {
  const ms = claimedAt === undefined ? 0 : now - claimedAt;
  return ms < longMs ? `It runs on ${worker}.` : `It has run on ${worker} for ${lasting(ms)}.`;
}

function due(task: TaskListing, overdue: number, around: Surroundings) {
  if (overdue > lateMs) return { isStuck: true, why: overdueText(task, overdue, around) };
  const next = "It is due, and the next free worker takes it.";
  // Otherwise it would not count as stuck for the moment between two runs.
  if (task.fruitless > 1) return { isStuck: true, why: `${attempts(task, around)} ${next}` };
  return fine(next);
}

function overdueText(task: TaskListing, overdue: number, around: Surroundings): string {
  const nobody =
    nobodyElse(task, around) ??
    (around.isToolGone
      ? `No worker has taken it, and this version of the server does not have the tool "${task.tool}". Deploy one that has it, or cancel the task.`
      : `No worker has taken it: none has the tool "${task.tool}", or all of them are busy.`);
  return `It has been due for ${lasting(overdue)}. ${nobody}`;
}

/** Undefined if a worker is alive that does not hold the task. */
function nobodyElse({ worker }: TaskListing, around: Surroundings): string | undefined {
  const { now, workers, silenceMs } = around;
  const alive = workers.filter(({ seenAt }) => now - seenAt <= silenceMs);
  if (alive.some(({ name }) => name !== worker)) return undefined;
  const none = alive.length === 0 ? "No worker" : "No other worker";
  return `${none} runs on this store. Start one: app.work(), or npx mcp-parley worker.`;
}

function attempts(task: TaskListing, { cause, unreadable }: Surroundings): string {
  const { fruitless, id } = task;
  if (unreadable !== undefined) return unreadableText(task, unreadable.keyId);
  if (fruitless <= 1) {
    return `The last run made no progress${cause === undefined ? "." : `. It failed with: ${cause}`}`;
  }
  const runs = `${fruitless} runs in a row made no progress.`;
  return cause === undefined
    ? `${runs} The log of their worker has the reason: search for ${loggedPart(id)}.${orCancel(task)}`
    : `${runs} The last one failed with: ${cause}`;
}

/** A task that has ended, and whose steps are undone, cannot be cancelled. */
const orCancel = (task: TaskListing): string => (isLive(task) ? " Or cancel the task." : "");

function unreadableText(task: TaskListing, keyId: string | undefined): string {
  const key = keyId === undefined ? "a key that they lack" : `the key "${keyId}"`;
  return task.fruitless > 1
    ? `No worker can open it: it is sealed with ${key}. Start a replica whose PARLEY_KEYS has that key${isLive(task) ? ", or cancel the task" : ""}.`
    : `The last worker could not open it: it is sealed with ${keyId === undefined ? "a key that it lacks" : key}. Another worker may have that key.`;
}

/** Without how long it has waited: the page shows that beside it, and counts on while this text would stand still. */
function waitText(task: TaskListing, { now }: Surroundings): string {
  const texts = task.waits.map(({ kind, key, group, dueAt, needs, decisions = [] }) => {
    if (needs !== undefined) {
      const agreed = decisions.filter(({ approves }) => approves).length;
      const so = needs > 1 ? `, and ${agreed} of ${needs} have` : "";
      return `waits for group ${group} to approve "${key}"${so}`;
    }
    if (kind === "timer") return `sleeps for another ${lasting((dueAt ?? now) - now)}`;
    if (kind === "question") return `waits for its client to answer "${key}"`;
    const who =
      group === undefined ? `"${key}" to be delivered` : `group ${group} to answer "${key}"`;
    return `waits for ${who}`;
  });
  if (texts.length === 0) return "It waits.";
  const some = texts.slice(0, 3).join(", and ");
  return `It ${some}${texts.length > 3 ? `, and ${texts.length - 3} more` : ""}.`;
}

/** A length of time, as people say it. */
function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
