// A task's record and the moves it can make. Pure: a store keeps records and makes these moves, each as one
// atomic operation. Everything that races is in the record (status, fence, lease, what is waited for, what has
// arrived, when it is due): what two replicas do at once then meets in one row, and one of them sees the other.

/** As the specification names them. */
export type Status = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** Text that only a holder of the keys can read. The store never looks into it. */
export type Sealed = string;

export interface TaskRecord {
  readonly id: string;
  /** Of the call it was promoted from. One task per call. */
  readonly callId: string;
  readonly tool: string;
  /** Whose it is. Empty: nobody's in particular (stdio, no authentication). */
  readonly principal: string;
  readonly status: Status;
  /** Grows with every change that a observer can see. */
  readonly revision: number;
  /** The fence: grows whenever the task changes hands. Writes under an older one are refused. */
  readonly epoch: number;
  /** Who holds the lease. */
  readonly worker: string | undefined;
  /**
   * When a worker is to take it up: now, at a timer's time, or, while one holds it, at the end of its lease.
   * Undefined: parked until something arrives, or over.
   */
  readonly dueAt: number | undefined;
  readonly waits: readonly Wait[];
  /** In the order of arrival. Not entries yet. */
  readonly inbox: readonly Arrival[];
  /** How often each question has been put under a new wire key. */
  readonly asked: Readonly<Record<string, number>>;
  readonly logLength: number;
  readonly logBytes: number;
  /** Claims in a row that came to nothing. */
  readonly fruitless: number;
  /** What went wrong in the last of these. */
  readonly cause: Sealed | undefined;
  readonly input: Sealed;
  readonly statusMessage: Sealed | undefined;
  /** The result or the error, once there is one. */
  readonly result: Sealed | undefined;
  /** "expired": its time was up before it was done. "removed": it was done, and its contents are deleted. */
  readonly rest: "expired" | "removed" | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Live: fails then. Over: its contents are deleted then. At rest: it is forgotten then. */
  readonly expiresAt: number;
}

/** What a parked task waits for. */
export interface Wait {
  /** "question": put to the client. "external": for someone else to deliver. */
  readonly kind: "question" | "external" | "timer";
  readonly key: string;
  /** The name under which it is answered: never used twice in a task. */
  readonly wire: string;
  /** Of the question. Absent for a timer. */
  readonly digest?: string | undefined;
  readonly dueAt?: number | undefined;
  /** What the client is shown. */
  readonly request?: Sealed | undefined;
}

/** An answer that the handler has not been told yet. */
export interface Arrival {
  /** The wire key it was given to; what a cut brought back has a made-up one. */
  readonly id: string;
  readonly key: string;
  readonly digest: string;
  readonly value: Sealed;
  readonly at: number;
  /** When its question's time was up. */
  readonly dueAt?: number | undefined;
}

/** A claim on a task: good until somebody else has one. */
export interface ClaimRef {
  readonly id: string;
  readonly epoch: number;
}

export interface NewTask {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly principal: string;
  readonly input: Sealed;
  /** The journal gathered in rounds. */
  readonly log: readonly Sealed[];
  /** Answers that came in rounds and are not entries. */
  readonly inbox: readonly Arrival[];
  readonly ttlMs: number;
  /** The worker that goes on with it at once, if any. */
  readonly claimedBy: { readonly worker: string; readonly leaseMs: number } | undefined;
}

export interface Answer {
  readonly wire: string;
  readonly value: Sealed;
  /** For a delivery that came before the question was put: taken on the strength of its ticket. */
  readonly early?: { readonly key: string; readonly digest: string } | undefined;
}

/** What a worker leaves behind when the handler waits. */
export interface Waiting {
  readonly waits: readonly Wait[];
  readonly asked: Readonly<Record<string, number>>;
  /** Ids of arrivals that are used up. */
  readonly taken: readonly string[];
}

export interface LogAppend {
  /** The length of the log without them: a second writer would be noticed. */
  readonly at: number;
  readonly records: readonly Sealed[];
  readonly taken: readonly string[];
  /** Answers that a cut took off the log: to be told again. */
  readonly returned: readonly Arrival[];
}

export const isLive = ({ status }: Pick<TaskRecord, "status">): boolean =>
  status === "working" || status === "input_required";

// ---------------------------------------------------------------- moves anyone may make

export function created(task: NewTask, now: number): TaskRecord {
  const { id, callId, tool, principal, input, log, inbox, ttlMs, claimedBy } = task;
  return {
    id,
    callId,
    tool,
    principal,
    status: "working",
    revision: 1,
    epoch: claimedBy === undefined ? 0 : 1,
    worker: claimedBy?.worker,
    dueAt: claimedBy === undefined ? now : now + claimedBy.leaseMs,
    waits: [],
    inbox,
    asked: {},
    logLength: log.length,
    logBytes: bytesOf(log),
    fruitless: claimedBy === undefined ? 0 : 1,
    cause: undefined,
    input,
    statusMessage: undefined,
    result: undefined,
    rest: undefined,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + ttlMs,
  };
}

/**
 * First wins: answering takes the question off the list, so a second answer finds none. A parked task becomes
 * due; one that a worker holds stays with it. Undefined: nothing was accepted.
 */
export function answered(
  task: TaskRecord,
  answers: readonly Answer[],
  now: number,
): TaskRecord | undefined {
  if (!isLive(task)) return undefined;
  const byWire = new Map(answers.map((answer) => [answer.wire, answer]));
  // In the order in which they were asked, whatever the order in the request (R3).
  const arrived = task.waits.flatMap((wait): Arrival[] => {
    const answer = byWire.get(wait.wire);
    if (answer === undefined || wait.kind === "timer") return [];
    const { wire: id, key, digest = "", dueAt } = wait;
    return [
      { id, key, digest, value: answer.value, at: now, ...(dueAt === undefined ? {} : { dueAt }) },
    ];
  });
  // It counts as asked from now on: a ticket is good for one delivery, also after this one is used up.
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
    // Also one that was given back to be tried again later: with the answer it may go better.
    dueAt: task.worker === undefined ? now : task.dueAt,
  };
}

/** Undefined: it was over already. */
export function cancelled(task: TaskRecord, now: number, keepMs: number): TaskRecord | undefined {
  if (!isLive(task)) return undefined;
  return { ...over(task, now, keepMs), status: "cancelled", epoch: task.epoch + 1 };
}

// ---------------------------------------------------------------- moves of a worker

/** Undefined: not due, or over. */
export function claimed(
  task: TaskRecord,
  worker: string,
  leaseMs: number,
  now: number,
): TaskRecord | undefined {
  if (!isLive(task) || task.dueAt === undefined || task.dueAt > now) return undefined;
  return {
    ...task,
    worker,
    epoch: task.epoch + 1,
    dueAt: now + leaseMs,
    fruitless: task.fruitless + 1,
  };
}

export function renewed(
  task: TaskRecord,
  ref: ClaimRef,
  leaseMs: number,
  now: number,
): TaskRecord | undefined {
  return holds(task, ref) ? { ...task, dueAt: now + leaseMs } : undefined;
}

/** This very append went through before, and only its acknowledgement was lost. */
export function wasAppended(task: TaskRecord, ref: ClaimRef, { at, records }: LogAppend): boolean {
  const isLonger = records.length > 0 && task.logLength === at + records.length;
  return isLive(task) && task.epoch === ref.epoch && isLonger;
}

export function appended(task: TaskRecord, ref: ClaimRef, more: LogAppend): TaskRecord | undefined {
  if (!holds(task, ref) || task.logLength !== more.at) return undefined;
  return {
    ...task,
    inbox: [...more.returned, ...without(task.inbox, more.taken)],
    logLength: task.logLength + more.records.length,
    logBytes: task.logBytes + bytesOf(more.records),
    fruitless: 0,
    cause: undefined,
  };
}

/** Shows what is waited for while the handler runs on. What has been answered meanwhile is not asked again. */
export function published(
  task: TaskRecord,
  ref: ClaimRef,
  { waits, asked, taken }: Waiting,
  now: number,
): TaskRecord | undefined {
  if (!holds(task, ref)) return undefined;
  const inbox = without(task.inbox, taken);
  const has = new Set(inbox.map(({ key }) => key));
  const open = waits.filter(({ kind, key }) => kind === "timer" || !has.has(key));
  return {
    ...task,
    ...seen(task, now),
    status: statusOf(open),
    waits: open,
    // With what was delivered early since the worker looked.
    asked: { ...task.asked, ...asked },
    inbox,
  };
}

/** The same, and the handler is gone: due at once where something has arrived that it waits for. */
export function parked(
  task: TaskRecord,
  ref: ClaimRef,
  waiting: Waiting,
  now: number,
): TaskRecord | undefined {
  const next = published(task, ref, waiting, now);
  if (next === undefined) return undefined;
  const hasArrived = next.waits.length < waiting.waits.length;
  const times = next.waits.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  const earliest = times.length === 0 ? undefined : Math.min(...times);
  const dueAt = hasArrived ? now : earliest;
  // Due again at once, and nothing used up: however it comes to that, it must not go on for ever.
  const isFruitless = dueAt !== undefined && dueAt <= now && waiting.taken.length === 0;
  return {
    ...next,
    worker: undefined,
    dueAt,
    ...(isFruitless ? {} : { fruitless: 0, cause: undefined }),
  };
}

/** Gives it back undone. Handing over in good order does not count as a claim that came to nothing. */
export function released(
  task: TaskRecord,
  ref: ClaimRef,
  why: Release,
  now: number,
): TaskRecord | undefined {
  if (!holds(task, ref)) return undefined;
  return {
    ...task,
    worker: undefined,
    dueAt: now + Math.ceil(why.afterMs),
    fruitless: why.isFruitless ? task.fruitless : Math.max(0, task.fruitless - 1),
    cause: why.cause ?? task.cause,
  };
}

export interface Release {
  readonly afterMs: number;
  readonly isFruitless: boolean;
  readonly cause: Sealed | undefined;
}

export function reported(
  task: TaskRecord,
  ref: ClaimRef,
  statusMessage: Sealed,
  now: number,
): TaskRecord | undefined {
  return holds(task, ref) ? { ...task, ...seen(task, now), statusMessage } : undefined;
}

export function finished(
  task: TaskRecord,
  ref: ClaimRef,
  { status, result, statusMessage, keepMs }: Finish,
  now: number,
): TaskRecord | undefined {
  if (!holds(task, ref)) return undefined;
  return {
    ...over(task, now, keepMs),
    status,
    result,
    statusMessage: statusMessage ?? task.statusMessage,
  };
}

export interface Finish {
  readonly status: "completed" | "failed";
  readonly result: Sealed;
  readonly statusMessage: Sealed | undefined;
  /** How long it can be read at least, however little is left of its time. */
  readonly keepMs: number;
}

// ---------------------------------------------------------------- the sweeper's

/** Its time is up: what is in it goes, that it was there stays for a while. Undefined: not yet. */
export function laidToRest(task: TaskRecord, now: number, keepMs: number): TaskRecord | undefined {
  if (task.rest !== undefined || task.expiresAt > now) return undefined;
  const wasLive = isLive(task);
  return {
    ...task,
    ...(wasLive ? seen(task, now) : {}),
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
    cause: undefined,
    input: "",
    statusMessage: undefined,
    result: undefined,
    expiresAt: now + keepMs,
  };
}

/** At rest, and the time in which anyone could still ask for it is over. */
export const isForgotten = (task: TaskRecord, now: number): boolean =>
  task.rest !== undefined && task.expiresAt <= now;

// ----------------------------------------------------------------

/** For a hint: somebody should take it up now. */
export const isDue = ({ worker, dueAt }: TaskRecord, now: number): boolean =>
  worker === undefined && dueAt !== undefined && dueAt <= now;

/** Who holds the lease may write, and nobody else; a lease that has run out is good until the next claim. */
function holds(task: TaskRecord, { epoch }: ClaimRef): boolean {
  return isLive(task) && task.worker !== undefined && task.epoch === epoch;
}

function seen(task: TaskRecord, now: number): Pick<TaskRecord, "revision" | "updatedAt"> {
  return { revision: task.revision + 1, updatedAt: now };
}

/** The log stays for those who look into what happened, until the contents are deleted. */
function over(task: TaskRecord, now: number, keepMs: number): TaskRecord {
  return {
    ...task,
    ...seen(task, now),
    worker: undefined,
    dueAt: undefined,
    waits: [],
    inbox: [],
    expiresAt: Math.max(task.expiresAt, now + keepMs),
  };
}

function without(inbox: readonly Arrival[], taken: readonly string[]): readonly Arrival[] {
  return taken.length === 0 ? inbox : inbox.filter(({ id }) => !taken.includes(id));
}

/** The client has something to do only for its own questions. */
function statusOf(waits: readonly Wait[]): Status {
  return waits.some(({ kind }) => kind === "question") ? "input_required" : "working";
}

export function bytesOf(records: readonly Sealed[]): number {
  return records.reduce((sum, record) => sum + record.length, 0);
}
