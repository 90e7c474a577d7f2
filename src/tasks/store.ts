// What a task store does: some twenty operations, each atomic and durable before it resolves. The moves behind
// them are those of task.ts; one contract (store.contract.fixture.ts) holds all stores to them.

import type {
  Answer,
  LogAppend,
  Arrival,
  Finish,
  NewTask,
  ClaimRef,
  Release,
  Sealed,
  TaskRecord,
  Waiting,
} from "./task.ts";

/** Made by `mcp-parley/sqlite`, `mcp-parley/postgres` and `memoryStore()`. */
export interface Store {
  /** Its kind, for messages. */
  readonly "~store": string;
  readonly close: () => Promise<void>;
}

/** For authors of stores. Every time is a store's own, in milliseconds since 1970: one clock for all replicas. */
export interface TaskStore extends Store {
  /** How long a worker holds a task without renewing. */
  readonly leaseMs: number;
  /** Brings the tables up to date. Safe while other replicas run, older ones too. */
  readonly migrate: () => Promise<void>;

  // ---- anyone

  /** Too many: the principal has this many live ones. (Those created at the very same moment are not counted.) */
  readonly create: (task: NewTask, most: number) => Promise<CreateResult>;
  readonly read: (id: string) => Promise<TaskRecord | undefined>;
  readonly readByCall: (callId: string) => Promise<TaskRecord | undefined>;
  readonly readLog: (id: string) => Promise<readonly Sealed[]>;
  /** Newest first, those at rest left out; `after` is the last one of the page before. */
  readonly list: (page: TaskPageRequest) => Promise<readonly TaskRecord[]>;
  /** Undefined: no such task. `accepted` has the wire keys whose first answer this was. */
  readonly answer: (
    id: string,
    answers: readonly Answer[],
  ) => Promise<{ readonly task: TaskRecord; readonly accepted: readonly string[] } | undefined>;
  /** The task as it is afterwards, cancelled now or over before. */
  readonly cancel: (id: string, keepMs: number) => Promise<TaskRecord | undefined>;
  /** Of those that exist. */
  readonly revisions: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Something may have changed: a hint, which may be lost. Returns the function that ends it. */
  readonly subscribe: (listener: (hint: ChangeHint) => void) => () => void;

  // ---- workers; false: the lease is lost, nothing was written

  readonly claim: (wanted: ClaimRequest) => Promise<ClaimResult>;
  /** Also notes that this worker is there. */
  readonly renew: (
    worker: string,
    refs: readonly ClaimRef[],
    leaseMs: number,
  ) => Promise<RenewalResult>;
  /** True also where this very append went through before and only its acknowledgement was lost. */
  readonly append: (ref: ClaimRef, more: LogAppend) => Promise<boolean>;
  readonly publish: (ref: ClaimRef, waiting: Waiting) => Promise<boolean>;
  readonly park: (ref: ClaimRef, waiting: Waiting) => Promise<boolean>;
  readonly release: (ref: ClaimRef, why: Release) => Promise<boolean>;
  readonly report: (ref: ClaimRef, statusMessage: Sealed) => Promise<boolean>;
  /** True also where it went through before, as with `append`. */
  readonly finish: (ref: ClaimRef, finish: Finish) => Promise<boolean>;
  /** The worker is leaving. */
  readonly leave: (worker: string) => Promise<void>;
  /** Also deletes spilled states and rounds whose time is up, and workers that have not been seen for a day. */
  readonly sweep: (limit: number, keepMs: number) => Promise<SweepResult>;

  // ---- operators

  readonly figures: () => Promise<StoreFigures>;

  // ---- rounds that leave something in the store

  /** A state too large for its token. */
  readonly spill: (id: string, state: Sealed, ttlMs: number) => Promise<void>;
  readonly spilled: (id: string) => Promise<Sealed | undefined>;
  /** `once: true`: who runs this round of this call, and what came of it. */
  readonly claimRound: (round: RoundClaimRequest) => Promise<RoundClaimResult>;
  readonly renewRound: (ref: ClaimRef, leaseMs: number) => Promise<boolean>;
  /** `at` is how many records this round has already. */
  readonly appendToRound: (ref: ClaimRef, at: number, record: Sealed) => Promise<boolean>;
  readonly endRound: (ref: ClaimRef, response: Sealed) => Promise<boolean>;
  /** Gives it up, so that it can be claimed at once. */
  readonly releaseRound: (ref: ClaimRef) => Promise<boolean>;
}

export type CreateResult =
  | { readonly kind: "created"; readonly task: TaskRecord }
  /** A task of this call is there already: this one. */
  | { readonly kind: "exists"; readonly task: TaskRecord }
  | { readonly kind: "too many" };

export interface TaskPageRequest {
  /** Undefined: everybody's, for operators. */
  readonly principal: string | undefined;
  readonly after: { readonly createdAt: number; readonly id: string } | undefined;
  readonly limit: number;
}

export interface ClaimRequest {
  readonly worker: string;
  /** Only these. */
  readonly tools: readonly string[];
  readonly most: number;
  readonly leaseMs: number;
}

export interface ClaimResult {
  readonly claimed: readonly ClaimedTask[];
  /** When the next of these tools' tasks is due, if one is. At most `now` where there were more than wanted. */
  readonly nextDueAt: number | undefined;
  readonly now: number;
}

export interface ClaimedTask {
  readonly task: TaskRecord;
  readonly log: readonly Sealed[];
  /** Whose lease had run out. Undefined: nobody held it. */
  readonly before: string | undefined;
}

export interface RenewalResult {
  /** Those still held, with all that has arrived for them. The others are lost, or over. */
  readonly held: readonly { readonly id: string; readonly inbox: readonly Arrival[] }[];
  readonly now: number;
}

export interface ChangeHint {
  /** Undefined: any. */
  readonly id: string | undefined;
  /** False: there is nothing in it for a worker that does not hold the task. */
  readonly isDue?: boolean | undefined;
  /** False: the worker that holds the task did it, and knows. */
  readonly isNews?: boolean | undefined;
}

export interface SweepResult {
  readonly expired: number;
  readonly removed: number;
  readonly forgotten: number;
}

export interface StoreFigures {
  readonly now: number;
  readonly live: number;
  readonly held: number;
  /** Waiting for something: no worker, and not due. */
  readonly parked: number;
  readonly inputRequired: number;
  /** Due, and nobody has taken it up. */
  readonly due: number;
  readonly oldestDueAt: number | undefined;
  /** When a worker was last seen. */
  readonly workerSeenAt: number | undefined;
}

export interface RoundClaimRequest {
  readonly callId: string;
  readonly round: number;
  /** Of the answers that came with it: the same round again must bring the same ones. */
  readonly answers: string;
  readonly leaseMs: number;
  readonly ttlMs: number;
}

export type RoundClaimResult =
  /** Run it. `log`: what an earlier attempt has recorded in it. */
  | { readonly kind: "run"; readonly ref: ClaimRef; readonly log: readonly Sealed[] }
  /** It was run; this is its response. */
  | { readonly kind: "ended"; readonly response: Sealed }
  /** Somebody is at it. */
  | { readonly kind: "running" }
  /** Other answers than the first time, or a later round has begun. */
  | { readonly kind: "superseded" };
