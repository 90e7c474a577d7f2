// Long on purpose: one member for each operation of a store.
//
// What a task store does: some twenty operations, each of them atomic and durable before it resolves. moves.ts says
// what each operation does to a task, and one suite of tests (src/testing/store) holds every store to it.

import type {
  Answer,
  Arrival,
  ClaimRef,
  Finish,
  Holder,
  LogAppend,
  NewTask,
  Parking,
  Release,
  Requeue,
  Sealed,
  TaskRecord,
  UndoProgress,
  Waiting,
} from "./task.ts";
import type { AccountStore } from "./account-store.ts";
import type { AuditStore } from "./audit-store.ts";
import type { TaskReader } from "./task-reader.ts";
import type { ApprovalStore } from "./approval-store.ts";
import type { PartPage, PartPlace, StoredPart } from "./stored-parts.ts";

/** A place to keep tasks, for `parley({ store })`. `sqliteStore`, `postgresStore` and `memoryStore` make one. */
export interface Store {
  /** The kind of store, such as "sqlite". Messages name it. */
  readonly "~store": string;
  /** Finishes what is under way and closes the store. */
  readonly close: () => Promise<void>;
}

/**
 * What a store implements. Every time is the store's own, in milliseconds since 1970, so that all replicas use one
 * clock.
 */
export interface TaskStore extends Store {
  /** How long a worker holds a task without renewing its lease, in milliseconds. */
  readonly leaseMs: number;
  /** Brings the tables up to date. It is safe to call while other replicas run, even older ones. */
  readonly migrate: () => Promise<void>;

  // ---- for anyone

  // A live task whose time is up counts as failed in all of these, as `asOf` shows it, whether or not a sweep has passed.

  /**
   * Creates a task, unless its call already has one or its principal already has `most` live tasks. The count may miss
   * tasks that are created at the same moment, and include expired tasks that no sweep has passed yet.
   */
  readonly create: (task: NewTask, most: number) => Promise<CreateResult>;
  /** Reads a task by its id. */
  readonly read: (id: string) => Promise<TaskRecord | undefined>;
  /** Reads a task by the id of its call. */
  readonly readByCall: (callId: string) => Promise<TaskRecord | undefined>;
  /** Reads the log of a task, from this record on. Default: all of it. It is empty when there is no such task. */
  readonly readLog: (id: string, from?: number) => Promise<readonly Sealed[]>;
  /**
   * Reads the parts of running streams that were added after this place, and how far the task is, all as of one moment.
   * Another epoch than the current one counts as the start. It returns up to `partsAtOnce` of them. Resolves to undefined
   * if there is no such task.
   */
  readonly readParts: (id: string, after: PartPlace) => Promise<PartPage | undefined>;
  /** Lists tasks, newest first, without those that have expired or whose contents are deleted. */
  readonly list: (page: TaskPageRequest) => Promise<readonly TaskRecord[]>;
  /**
   * Takes in answers. Resolves to undefined when there is no such task. If an answer wakes the task and a worker is named,
   * that worker holds the task from then on, so it need not be claimed.
   */
  readonly answer: (
    id: string,
    answers: readonly Answer[],
    worker?: Holder,
  ) => Promise<AnswerResult | undefined>;
  /**
   * Cancels a live task, and leaves an ended one unchanged. Resolves to the task afterwards, which can be read for at
   * least `keepMs` milliseconds.
   */
  readonly cancel: (id: string, keepMs: number) => Promise<TaskRecord | undefined>;
  /** Notes that clients have read these tasks. It changes nothing else, and no revision. Unknown ids are left out. */
  readonly noteRead: (ids: readonly string[]) => Promise<void>;
  /**
   * Reads the revisions of many tasks at once, and nothing else of them. Unknown ids are left out. With a principal, so
   * are the tasks of other callers and those whose contents are deleted.
   */
  readonly revisions: (
    ids: readonly string[],
    principal?: string,
  ) => Promise<ReadonlyMap<string, number>>;
  /**
   * Whether nothing that waits may be shared between requests, as on Workers, where a timer ends with the request that
   * set it. Default: no.
   */
  readonly isPerRequest?: boolean | undefined;
  /**
   * Set if `park` and `finish` write the records that they bring (`append`). Without it they get none, and each answer costs
   * an `append` of its own. Default: not set.
   */
  readonly appendsWithNext?: true | undefined;
  /** The largest record that the store can keep, in bytes. Default: there is no such limit. */
  readonly mostBytes?: number | undefined;
  /**
   * Makes an id of a call, a task or a paused call lead to where the store keeps what belongs to this caller. Every id that
   * such a record gets passes through here. Default: the id stays as it is.
   */
  readonly idFor?: ((id: string, principal: string) => string) | undefined;
  /** Whether the hints of other processes arrive here. Readers of streams look more often if they do not. Default: no. */
  readonly hearsOthers?: (() => boolean) | undefined;
  /**
   * Calls the listener when a task may have changed. A hint may be lost. Returns a function that ends the subscription.
   * `wants` says of which tasks the listener would read the record after a hint. If this process has just written one of
   * them, its hint may bring the record.
   */
  readonly subscribe: (
    listener: (hint: ChangeHint) => void,
    wants?: (id: string) => boolean,
  ) => () => void;

  /** For approvals by a group. Without it, `ctx.approve` with `by` fails. */
  readonly approvals?: ApprovalStore | undefined;

  // ---- for workers. An operation that takes a claim resolves to false when the claim is lost, and writes nothing then.

  /** Claims tasks that are due, the longest due first. */
  readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
  /** Extends the leases of these claims by `leaseMs` milliseconds from now, and notes that the worker is alive. */
  readonly renew: (
    worker: string,
    refs: readonly ClaimRef[],
    leaseMs: number,
  ) => Promise<RenewalResult>;
  /** Adds records to the log. Resolves to true if this same append was written before and its acknowledgement was lost. */
  readonly append: (ref: ClaimRef, more: LogAppend) => Promise<boolean>;
  /**
   * Adds parts of running streams. They change nothing else of the task, and their hint has `isParts`. They are deleted
   * when their stream is recorded, and when the claim ends in any way. A part that has the number of an earlier one is
   * left out. Parts need not survive a crash of the database.
   */
  readonly addParts: (ref: ClaimRef, parts: readonly StoredPart[]) => Promise<boolean>;
  /** Shows what the handler waits for while it keeps running. */
  readonly publish: (ref: ClaimRef, waiting: Waiting) => Promise<boolean>;
  /**
   * Notes what the handler waits for and lets go of the task. If it brings records whose place is not the end of the log,
   * nothing is written.
   */
  readonly park: (ref: ClaimRef, parking: Parking) => Promise<boolean>;
  /** Gives the task back unfinished. */
  readonly release: (ref: ClaimRef, why: Release) => Promise<boolean>;
  /** Sets the status message. */
  readonly report: (ref: ClaimRef, statusMessage: Sealed) => Promise<boolean>;
  /**
   * Ends the task. Resolves to true if this same end was written before and its acknowledgement was lost. If it brings
   * records whose place is not the end of the log, nothing is written.
   */
  readonly finish: (ref: ClaimRef, finish: Finish) => Promise<boolean>;
  /**
   * Adds records to the log of a task that has ended and whose steps are being undone. Resolves to true if this same
   * progress was written before and its acknowledgement was lost.
   */
  readonly undo: (ref: ClaimRef, progress: UndoProgress) => Promise<boolean>;
  /** Forgets the worker, which is shutting down. */
  readonly leave: (worker: string) => Promise<void>;
  /** The workers that have renewed and have not left, and when each of them was last alive. */
  readonly workers: () => Promise<SeenWorkers>;
  /**
   * Deletes the contents of up to `limit` tasks whose time is up or that `isAbandoned` after `unreadMs` milliseconds, and
   * forgets up to `limit` tasks whose contents have been gone for `keepMs` milliseconds. It also deletes spilled states
   * and rounds whose time is up, and workers that have been silent for a day. It does as much as takes a few
   * milliseconds, so a store may stop earlier, and says whether there is more.
   *
   * A live task whose time is up and that has steps to undo keeps its contents. It and every other task whose steps are
   * being undone is left alone for `undoMs` milliseconds after its end.
   */
  readonly sweep: (
    limit: number,
    keepMs: number,
    unreadMs?: number,
    undoMs?: number,
  ) => Promise<SweepResult>;

  // ---- for the limits of a caller

  /** What the store keeps for a caller. */
  readonly usage: (principal: string) => Promise<StoreUsage>;
  /**
   * Resolves to how many ended tasks of a caller still have their contents: the same number as `ended` of `usage`. Leave it
   * out unless it is much faster than `usage`, for example because an index is enough. Without it, Parley calls `usage`.
   */
  readonly countEnded?: ((principal: string) => Promise<number>) | undefined;
  /**
   * Deletes the contents of up to `limit` ended tasks of a caller before their time is up, the oldest first, as `sweep`
   * does. Tasks whose steps are being undone are left alone. Resolves to how many it deleted.
   */
  readonly removeEnded: (principal: string, limit: number, keepMs: number) => Promise<number>;

  // ---- for operators

  /**
   * Makes a task that was given up, or that should run and does not, due at once. Leaves any other task unchanged.
   * Resolves to undefined when there is no such task.
   */
  readonly requeue: (id: string, which: Requeue) => Promise<RequeueResult | undefined>;
  /** Counts the tasks in each state. */
  readonly figures: () => Promise<StoreFigures>;

  /** What operators read. Default: single tasks only. */
  readonly reader?: TaskReader | undefined;

  // ---- for rounds

  /** Keeps a state of this caller that is too large for its token, for `ttlMs` milliseconds. The same id replaces it. */
  readonly spill: (id: string, state: Sealed, ttlMs: number, principal: string) => Promise<void>;
  /** Reads a state that `spill` kept, unless its time is up. */
  readonly spilled: (id: string) => Promise<Sealed | undefined>;
  /** How many states of a caller have an id with this prefix, without those whose time is up. */
  readonly countSpilled: (principal: string, prefix: string) => Promise<number>;
  /**
   * Puts an answer beside what `spill` keeps under this id: the mailbox of a question that a page shows. The first answer
   * stays, even if the state is spilled again. "gone": there is no such state, or its time is up.
   */
  readonly fill: (id: string, answer: Sealed) => Promise<"filled" | "full" | "gone">;
  /** Reads the answer that `fill` put there, unless its time is up. */
  readonly filled: (id: string) => Promise<Sealed | undefined>;
  /** For a tool with `once: true`: decides which replica runs a round of a call, and keeps its response. */
  readonly claimRound: (request: RoundClaimRequest) => Promise<RoundClaimResult>;
  /** Extends the lease of a round by `leaseMs` milliseconds from now. */
  readonly renewRound: (ref: ClaimRef, leaseMs: number) => Promise<boolean>;
  /** Adds a record to the log of a round that has `at` records so far. */
  readonly appendToRound: (ref: ClaimRef, at: number, record: Sealed) => Promise<boolean>;
  /** Ends a round with its response. */
  readonly endRound: (ref: ClaimRef, response: Sealed) => Promise<boolean>;
  /** Gives up a round, so that it can be claimed again at once. */
  readonly releaseRound: (ref: ClaimRef) => Promise<boolean>;

  // ---- groups that a store may leave out

  /** The accounts of people at other services. Without it, the store cannot be used with `parley({ connections })`. */
  readonly accounts?: AccountStore | undefined;
  /** Keeps the audit. Without it, records go to the sink only. */
  readonly audit?: AuditStore | undefined;
}

/** What `create` did. */
export type CreateResult =
  | {
      /** The task is new, or the call already has it. */
      readonly kind: "created" | "exists";
      /** The task. */
      readonly task: TaskRecord;
    }
  | {
      /** The principal has as many live tasks as it may have, so none was created. */
      readonly kind: "too many";
    };

/** What `answer` did. */
export interface AnswerResult {
  /** The task afterwards. */
  readonly task: TaskRecord;
  /** The wire keys that this call was the first to answer. */
  readonly accepted: readonly string[];
  /** The claim of the worker that was named, if it holds the task now. */
  readonly claimed?: ClaimedTask | undefined;
}

/** What `requeue` did. */
export interface RequeueResult {
  /** The task afterwards. */
  readonly task: TaskRecord;
  /** Whether it was put back in the queue. */
  readonly isRequeued: boolean;
}

/** Which tasks `list` returns. */
export interface TaskPageRequest {
  /** The caller that owns the tasks. Undefined lists every caller's tasks, for operators. */
  readonly principal: string | undefined;
  /** The last task of the previous page. Undefined starts with the newest. */
  readonly after:
    | {
        /** When it was created. */
        readonly createdAt: number;
        /** Its id. */
        readonly id: string;
      }
    | undefined;
  /** The most tasks to return. */
  readonly limit: number;
}

/** Which tasks a worker wants to claim. */
export interface ClaimRequest {
  /** The name of the worker. */
  readonly worker: string;
  /** The tools that this worker can run. Tasks of other tools are left alone. */
  readonly tools: readonly string[];
  /** The most tasks to claim. */
  readonly most: number;
  /** How long the worker holds them without renewing, in milliseconds. */
  readonly leaseMs: number;
}

/** What `claim` found. */
export interface ClaimResult {
  /** The tasks that the worker now holds. */
  readonly claimed: readonly ClaimedTask[];
  /** When the next task of these tools is due, if any. It is not later than `now` if more tasks were due than wanted. */
  readonly nextDueAt: number | undefined;
  /** The store's time. */
  readonly now: number;
}

/** A task that a worker has just claimed. */
export interface ClaimedTask {
  /** The task as it is under the claim. */
  readonly task: TaskRecord;
  /** Its log. */
  readonly log: readonly Sealed[];
  /** The worker whose lease ran out. Undefined if no worker held the task. */
  readonly before: string | undefined;
}

/** What `renew` found. */
export interface RenewalResult {
  /** The tasks that the worker still holds, with everything that has arrived for them. All others are lost or over. */
  readonly held: readonly {
    /** The id of the task. */
    readonly id: string;
    /** Everything that has arrived for it. */
    readonly inbox: readonly Arrival[];
    /** Whether the task has ended from outside, so that the worker has to undo its steps. Default: no. */
    readonly isUndoing?: boolean | undefined;
  }[];
  /** The store's time. */
  readonly now: number;
}

/** The workers that a store knows. */
export interface SeenWorkers {
  /** The store's time. */
  readonly now: number;
  /** The workers, in any order. */
  readonly workers: readonly {
    /** The name that it claims and renews with. */
    readonly name: string;
    /** When it was last alive. */
    readonly seenAt: number;
  }[];
}

/** A notice that something may have changed. */
export interface ChangeHint {
  /** The task that may have changed. Undefined means any task. */
  readonly id: string | undefined;
  /** False if no worker needs to claim the task because of this change. */
  readonly isDue?: boolean | undefined;
  /** False if the worker that holds the task made the change itself. */
  readonly isNews?: boolean | undefined;
  /** True if only the parts of a running stream have changed, which concerns only their readers. */
  readonly isParts?: boolean | undefined;
  /** The task after this change, if this process made it and the store has it at hand. Otherwise it has to be read. */
  readonly task?: TaskRecord | undefined;
}

/** What `sweep` did. */
export interface SweepResult {
  /** How many live tasks failed because their time was up. */
  readonly expired: number;
  /** How many ended tasks lost their contents. */
  readonly removed: number;
  /** How many tasks were forgotten altogether. */
  readonly forgotten: number;
  /** How many spilled states were deleted. */
  readonly spills: number;
  /** How many rounds were deleted. */
  readonly rounds: number;
  /** Whether there may be more to delete now. */
  readonly isMore: boolean;
}

/** What a store keeps for one caller. Tasks without contents do not count. */
export interface StoreUsage {
  /** How many tasks have not ended. */
  readonly live: number;
  /** How many tasks have ended and still have their contents. */
  readonly ended: number;
  /**
   * The size of these tasks, of the caller's spilled states and of its rounds: what is sealed, and `recordBytes` for each
   * of them. The parts of running streams count with their tasks. It may be a little more.
   */
  readonly bytes: number;
}

/** What each task, state and round counts on top of what is sealed in it. */
export const recordBytes = 512;

/** How many tasks are in each state. */
export interface StoreFigures {
  /** The store's time. */
  readonly now: number;
  /** Tasks that have not ended. */
  readonly live: number;
  /** Live tasks that a worker holds. */
  readonly held: number;
  /** Live tasks that wait for something: no worker holds them, and they are not due. */
  readonly parked: number;
  /** Live tasks that wait for an answer from their client. */
  readonly inputRequired: number;
  /** Live tasks that a worker should claim now, including those whose lease has run out. */
  readonly due: number;
  /** When the longest due of them became due. */
  readonly oldestDueAt: number | undefined;
  /** Ended tasks whose steps are still to be undone. */
  readonly undoing: number;
  /** When any worker was last alive. */
  readonly workerSeenAt: number | undefined;
}

/** A round that a replica wants to run. */
export interface RoundClaimRequest {
  /** The caller. Empty when there is no authentication. */
  readonly principal: string;
  /** The id of the call. */
  readonly callId: string;
  /** The number of the round. */
  readonly round: number;
  /** A digest of the answers in the request. The same round must always bring the same ones. */
  readonly answers: string;
  /** How long the replica holds the round without renewing, in milliseconds. */
  readonly leaseMs: number;
  /** How long the store keeps the round, in milliseconds. */
  readonly ttlMs: number;
}

/** What `claimRound` decided. */
export type RoundClaimResult =
  | {
      /** The caller holds the round and runs it. */
      readonly kind: "run";
      /** The claim. */
      readonly ref: ClaimRef;
      /** What an earlier attempt recorded in this round. */
      readonly log: readonly Sealed[];
    }
  | {
      /** The round has ended. */
      readonly kind: "ended";
      /** Its response. */
      readonly response: Sealed;
    }
  | {
      /** "running": another replica runs it. "superseded": it had other answers before, or a later round has begun. */
      readonly kind: "running" | "superseded";
    };
