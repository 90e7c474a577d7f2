// Long on purpose: one function for each move.
// The moves that a task can make, as pure functions from one record to the next. The memory store is made of them,
// SQLite applies them to a row that it has locked, and Postgres makes each of them in one statement.

import { bytesOf, created } from "./new-task.ts";
import { isLive, isUndoing } from "./task.ts";
import { expired, keptForUndo, mayBeSwept } from "./undo-moves.ts";
import type {
  Answer,
  Arrival,
  ClaimRef,
  Finish,
  Holder,
  LogAddition,
  LogAppend,
  Parking,
  Release,
  Requeue,
  Sealed,
  Status,
  TaskRecord,
  Wait,
  Waiting,
} from "./task.ts";

export { bytesOf, created };

// ---------------------------------------------------------------- moves that anyone can make

/**
 * Takes in answers. The first answer to a question wins: it takes the question off the list, so a second one finds
 * nothing to answer. A parked task becomes due, and a held one stays with its worker. Returns undefined when no
 * answer was accepted.
 */
export function answered(
  task: TaskRecord,
  answers: readonly Answer[],
  now: number,
): TaskRecord | undefined {
  if (!isLive(task)) return undefined;
  const byWire = new Map(answers.map((answer) => [answer.wire, answer]));
  // Answers arrive in the order of their questions, not in the order of the request (R3).
  const arrived = task.waits.flatMap((wait): Arrival[] => {
    const answer = byWire.get(wait.wire);
    if (answer === undefined || wait.kind === "timer") return [];
    const { wire: id, key, digest = "", dueAt } = wait;
    return [
      { id, key, digest, value: answer.value, at: now, ...(dueAt === undefined ? {} : { dueAt }) },
    ];
  });
  // The question counts as asked from now on. A ticket allows one delivery, even after that delivery is used up.
  let { asked } = task;
  const early = answers.flatMap(({ wire, value, early: given }): Arrival[] => {
    if (given === undefined || Object.hasOwn(asked, given.key)) return [];
    asked = { ...asked, [given.key]: 1 };
    return [{ id: wire, ...given, value, at: now }];
  });
  if (arrived.length + early.length === 0) return undefined;
  const taken = new Set(arrived.map(({ id }) => id));
  const waits = task.waits.filter(({ wire }) => !taken.has(wire));
  return {
    ...task,
    ...seen(task, now),
    status: statusOf(waits),
    waits,
    asked,
    inbox: [...task.inbox, ...arrived, ...early],
    // A task that was released to be tried again later is due at once too, because the answer may help it.
    dueAt: task.worker === undefined ? now : task.dueAt,
  };
}

/** Gives a task that an answer has just woken to a worker. Returns undefined if a worker holds it already. */
export const claimedAnswered = (
  task: TaskRecord,
  { worker, leaseMs }: Holder,
  now: number,
): TaskRecord | undefined =>
  task.worker === undefined ? claimed(task, worker, leaseMs, now) : undefined;

/** Notes that a client has read the task, so that its id is not lost. Returns undefined when that was known. */
export function noted(task: TaskRecord): TaskRecord | undefined {
  return task.isUnread ? { ...task, isUnread: false } : undefined;
}

/** Cancels the task. Returns undefined when it had already ended. */
export function cancelled(task: TaskRecord, now: number, keepMs: number): TaskRecord | undefined {
  if (!isLive(task)) return undefined;
  const ended = over(task, now, keepMs);
  return keptForUndo(task, { ...ended, status: "cancelled", epoch: task.epoch + 1 }, now);
}

/**
 * Makes a task due at once, and forgets its attempts without progress. Its log stays, so what is recorded is not done
 * again. This is for a task that was given up after `stuckAfter` claims without progress, and for a live task that
 * should run and does not: it is due, the lease of its worker is over, or it waits for its next try. Such a task has at
 * least `keepMs` milliseconds left. Returns undefined for any other task.
 */
export function requeued(
  task: TaskRecord,
  { stuckAfter, keepMs }: Requeue,
  now: number,
): TaskRecord | undefined {
  const { worker, dueAt, fruitless, cause } = task;
  const isStuck = task.status === "failed" && task.rest === undefined && fruitless > stuckAfter;
  // A task whose steps are being undone cannot run again.
  const wasGivenUp = isStuck && !isUndoing(task);
  const isOverdue = dueAt !== undefined && dueAt <= now;
  const isToBeTried =
    worker === undefined && dueAt !== undefined && (fruitless > 0 || cause !== undefined);
  if (!wasGivenUp && !(isOpen(task) && (isOverdue || isToBeTried))) return undefined;
  return {
    ...task,
    ...(wasGivenUp
      ? { ...seen(task, now), status: "working", result: undefined, statusMessage: undefined }
      : {}),
    // If the worker is still there after all, it must not write any more.
    epoch: task.epoch + 1,
    worker: undefined,
    dueAt: now,
    fruitless: 0,
    cause: undefined,
    expiresAt: Math.max(task.expiresAt, now + keepMs),
  };
}

// ---------------------------------------------------------------- moves of a worker

/** Gives the task to a worker. Returns undefined when the task is not due or has ended. */
export function claimed(
  task: TaskRecord,
  worker: string,
  leaseMs: number,
  now: number,
): TaskRecord | undefined {
  if (!isOpen(task) || task.dueAt === undefined || task.dueAt > now) return undefined;
  return {
    ...task,
    worker,
    claimedAt: now,
    epoch: task.epoch + 1,
    dueAt: now + leaseMs,
    fruitless: task.fruitless + 1,
  };
}

/** Extends the lease. Returns undefined when the claim is lost. */
export function renewed(
  task: TaskRecord,
  ref: ClaimRef,
  leaseMs: number,
  now: number,
): TaskRecord | undefined {
  return isClaimedBy(task, ref) ? { ...task, dueAt: now + leaseMs } : undefined;
}

/** Whether this same append was already written, so that only its acknowledgement was lost. */
export function wasAppended(task: TaskRecord, ref: ClaimRef, { at, records }: LogAppend): boolean {
  const isLonger = records.length > 0 && task.logLength === at + records.length;
  return isLive(task) && task.epoch === ref.epoch && isLonger;
}

/** Adds records to the log. Returns undefined when the claim is lost or another writer was faster. */
export function appended(task: TaskRecord, ref: ClaimRef, more: LogAppend): TaskRecord | undefined {
  const next = holds(task, ref) ? withRecords(task, more) : undefined;
  if (next === undefined) return undefined;
  const inbox = without(task.inbox, more.taken);
  const { expired: key } = more;
  if (key !== undefined && inbox.some((one) => one.key === key && isInTime(one))) return undefined;
  return { ...next, inbox: [...more.returned, ...inbox], undos: more.undos ?? task.undos };
}

/** The task with these records in its log. Returns undefined if another writer was faster. */
function withRecords(task: TaskRecord, more: LogAddition | undefined): TaskRecord | undefined {
  if (more === undefined) return task;
  if (task.logLength !== more.at) return undefined;
  return {
    ...task,
    logLength: task.logLength + more.records.length,
    logBytes: task.logBytes + bytesOf(more.records),
    fruitless: 0,
    cause: undefined,
  };
}

/**
 * Shows what the handler waits for while it keeps running. A question that has an answer by now is not asked again.
 * Returns undefined when the claim is lost.
 */
export function published(
  task: TaskRecord,
  ref: ClaimRef,
  { waits, asked, taken }: Waiting,
  now: number,
): TaskRecord | undefined {
  if (!holds(task, ref)) return undefined;
  const inbox = without(task.inbox, taken);
  const has = new Set(inbox.map(({ key }) => key));
  const open = withDecisions(
    waits.filter(({ kind, key }) => kind === "timer" || !has.has(key)),
    task.waits,
  );
  return {
    ...task,
    ...seen(task, now),
    status: statusOf(open),
    waits: open,
    // The record may have early deliveries that the worker has not seen yet.
    asked: { ...task.asked, ...asked },
    inbox,
  };
}

/**
 * Does what `published` does and lets go of the task. The task is due at once if something that it waits for has
 * already arrived. Records that come along are added to the log.
 */
export function parked(
  task: TaskRecord,
  ref: ClaimRef,
  parking: Parking,
  now: number,
): TaskRecord | undefined {
  const written = withRecords(task, parking.append);
  const next = written && published(written, ref, parking, now);
  if (next === undefined) return undefined;
  const hasArrived = next.waits.length < parking.waits.length;
  const times = next.waits.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  const earliest = times.length === 0 ? undefined : Math.min(...times);
  const dueAt = hasArrived ? now : earliest;
  // A task that is due again at once, without having used anything up, must not go round in circles forever.
  const isFruitless = dueAt !== undefined && dueAt <= now && parking.taken.length === 0;
  return {
    ...next,
    worker: undefined,
    dueAt,
    ...(isFruitless ? {} : { fruitless: 0, cause: undefined }),
  };
}

/** Gives the task back unfinished. Returns undefined when the claim is lost. */
export function released(
  task: TaskRecord,
  ref: ClaimRef,
  why: Release,
  now: number,
): TaskRecord | undefined {
  if (!isClaimedBy(task, ref)) return undefined;
  return {
    ...task,
    worker: undefined,
    dueAt: now + Math.ceil(why.afterMs),
    fruitless: why.isFruitless ? task.fruitless : Math.max(0, task.fruitless - 1),
    cause: why.cause ?? task.cause,
  };
}

/** Sets the status message. Returns undefined when the claim is lost. */
export function reported(
  task: TaskRecord,
  ref: ClaimRef,
  statusMessage: Sealed,
  now: number,
): TaskRecord | undefined {
  return holds(task, ref) ? { ...task, ...seen(task, now), statusMessage } : undefined;
}

/** Whether this same end was already written. A task that expired has failed, but no worker has ended it. */
export function wasFinished(task: TaskRecord, ref: ClaimRef, { status }: Finish): boolean {
  return task.epoch === ref.epoch && task.status === status && task.rest === undefined;
}

/** Ends the task. Returns undefined when the claim is lost, or another writer was faster. */
export function finished(
  task: TaskRecord,
  ref: ClaimRef,
  { status, result, statusMessage, keepMs, isUndoing: undoes = false, append }: Finish,
  now: number,
): TaskRecord | undefined {
  const written = holds(task, ref) ? withRecords(task, append) : undefined;
  if (written === undefined) return undefined;
  const ended = { ...over(written, now, keepMs), status, result, statusMessage };
  return undoes ? keptForUndo(written, ended, now) : { ...ended, undos: 0 };
}

// ---------------------------------------------------------------- moves of the sweeper

/**
 * Deletes the contents of a task whose time is up, or that is abandoned. The empty record stays for `keepMs`, so that
 * clients learn what happened. Returns undefined when there is time left.
 */
export function laidToRest(
  task: TaskRecord,
  now: number,
  keepMs: number,
  unreadMs: number = Infinity,
  undoMs: number = Infinity,
): TaskRecord | undefined {
  const isOver = task.expiresAt <= now || isAbandoned(task, now, unreadMs);
  if (task.rest !== undefined || !isOver || !mayBeSwept(task, now, undoMs)) return undefined;
  const isUndone = isLive(task) && task.undos > 0;
  return isUndone
    ? expired(task, over(task, Math.min(now, task.expiresAt), 0), now, keepMs)
    : atRest(task, now, keepMs);
}

/** Deletes the contents of an ended task before its time is up. Returns undefined for a task that is live or at rest. */
export function removed(task: TaskRecord, now: number, keepMs: number): TaskRecord | undefined {
  const isLeft = isLive(task) || isUndoing(task) || task.rest !== undefined;
  return isLeft ? undefined : atRest(task, now, keepMs);
}

/**
 * Whether a task waits only for its client, and the client has not read it in the `unreadMs` milliseconds since it was
 * asked, nor before. Such a client does not know the task, because the response that named it was lost.
 */
export function isAbandoned(task: TaskRecord, now: number, unreadMs: number): boolean {
  return (
    task.isUnread &&
    task.status === "input_required" &&
    task.worker === undefined &&
    task.dueAt === undefined &&
    task.updatedAt <= now - unreadMs &&
    task.waits.every(({ kind }) => kind === "question")
  );
}

function atRest(task: TaskRecord, now: number, keepMs: number): TaskRecord {
  const wasLive = isLive(task);
  return {
    ...task,
    // A sweep passes some time after the task has expired.
    ...(wasLive ? seen(task, Math.min(now, task.expiresAt)) : {}),
    status: wasLive ? "failed" : task.status,
    rest: wasLive ? "expired" : "removed",
    epoch: task.epoch + 1,
    worker: undefined,
    dueAt: undefined,
    waits: [],
    inbox: [],
    asked: {},
    logLength: 0,
    logBytes: 0,
    undos: 0,
    cause: undefined,
    input: "",
    statusMessage: undefined,
    result: undefined,
    expiresAt: now + keepMs,
  };
}

/** Whether the empty record of a deleted task can go, too. */
export const isForgotten = (task: TaskRecord, now: number, undoMs: number = Infinity): boolean =>
  task.rest !== undefined && task.expiresAt <= now && mayBeSwept(task, now, undoMs);

// ---------------------------------------------------------------- what the moves and the stores share

/** Whether a worker should claim the task now. Hints say so to the other replicas. */
export const isDue = ({ worker, dueAt }: TaskRecord, now: number): boolean =>
  worker === undefined && dueAt !== undefined && dueAt <= now;

/** Whether workers have something to do with the task. */
const isOpen = (task: TaskRecord): boolean => isLive(task) || isUndoing(task);

/** Only the holder of the lease may write. A lease that has run out stays valid until the next claim. */
export const holds = (task: TaskRecord, ref: ClaimRef): boolean =>
  isLive(task) && isClaimedBy(task, ref);

/** Whether the lease is this one, even if the task has ended and its steps are being undone. */
const isClaimedBy = (task: TaskRecord, { epoch }: ClaimRef): boolean =>
  isOpen(task) && task.worker !== undefined && task.epoch === epoch;

/** What a client can see has changed. */
export function seen(task: TaskRecord, now: number): Pick<TaskRecord, "revision" | "updatedAt"> {
  return { revision: task.revision + 1, updatedAt: now };
}

/** The log stays until the contents are deleted, so that operators can see what happened. */
function over(task: TaskRecord, now: number, keepMs: number): TaskRecord {
  return {
    ...task,
    ...seen(task, now),
    worker: undefined,
    dueAt: undefined,
    waits: [],
    inbox: [],
    // The status message described work that is over now.
    statusMessage: undefined,
    expiresAt: Math.max(task.expiresAt, now + keepMs),
  };
}

const isInTime = ({ at, dueAt }: Arrival): boolean => dueAt === undefined || at < dueAt;

function without(inbox: readonly Arrival[], taken: readonly string[]): readonly Arrival[] {
  return taken.length === 0 ? inbox : inbox.filter(({ id }) => !taken.includes(id));
}

/** The worker does not know what has been decided since its claim, so the record's decisions stay. */
function withDecisions(waits: readonly Wait[], before: readonly Wait[]): readonly Wait[] {
  return waits.map((wait) => {
    if (wait.needs === undefined) return wait;
    const { decisions } = before.find(({ wire }) => wire === wait.wire) ?? {};
    return decisions === undefined ? wait : { ...wait, decisions };
  });
}

/** The client has to act only when it is asked a question. */
export function statusOf(waits: readonly Wait[]): Status {
  return waits.some(({ kind }) => kind === "question") ? "input_required" : "working";
}
