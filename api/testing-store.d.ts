/** What `claim` did. */
export declare type AccountClaim = {
    /** The account is claimed. */
    readonly kind: "claimed";
    /** The epoch of the claim. */
    readonly epoch: number;
    /** The tokens. */
    readonly tokens: Sealed;
} | {
    /** "held": another claim holds. "none": there is no such account. */
    readonly kind: "held" | "none";
};

/** One person's account at one provider, as one server knows it. */
export declare interface AccountKey {
    /** The name of the server. Servers that share a store do not share accounts. */
    readonly server: string;
    /** The name of the provider. */
    readonly provider: string;
    /** The person. Empty on a server without authorization. */
    readonly principal: string;
}

/** An account as the store has it. */
export declare interface AccountRecord {
    /** The tokens. */
    readonly tokens: Sealed;
    /** Counts claims and sign-ins. */
    readonly epoch: number;
    /** Whether a replica holds a claim at the moment. */
    readonly isClaimed: boolean;
}

/** The accounts in a store. Each operation is atomic, and durable before it resolves. */
export declare interface AccountStore {
    /** Reads an account. */
    readonly read: (key: AccountKey) => Promise<AccountRecord | undefined>;
    /** Keeps the tokens of an account, in place of earlier ones. It ends any claim. */
    readonly put: (key: AccountKey, tokens: Sealed) => Promise<void>;
    /**
     * Claims the account for `leaseMs` milliseconds, to renew its tokens. Only one claim holds at a time. The tokens are those
     * that the claim found, so that nobody renews tokens that another replica has just renewed.
     */
    readonly claim: (key: AccountKey, leaseMs: number) => Promise<AccountClaim>;
    /** Keeps renewed tokens, and ends the claim. False, and nothing is written, if the claim is lost. */
    readonly renew: (key: AccountKey, epoch: number, tokens: Sealed) => Promise<boolean>;
    /** Ends the claim and changes nothing else. False if the claim is lost. */
    readonly release: (key: AccountKey, epoch: number) => Promise<boolean>;
    /**
     * Deletes the account. With an epoch, only if that claim still holds. Resolves to the tokens that it had. Undefined if
     * nothing was deleted.
     */
    readonly remove: (key: AccountKey, epoch?: number) => Promise<Sealed | undefined>;
}

/** An answer on its way to a task. */
export declare interface Answer {
    /** The wire key that it answers. */
    readonly wire: string;
    /** The answer. */
    readonly value: Sealed;
    /** For a delivery that arrives before its question was asked, and that a ticket vouches for. */
    readonly early?: {
        /** The key of the question. */
        readonly key: string;
        /** The digest of the question. */
        readonly digest: string;
    } | undefined;
}

/** What `answer` did. */
export declare interface AnswerResult {
    /** The task afterwards. */
    readonly task: TaskRecord;
    /** The wire keys that this call was the first to answer. */
    readonly accepted: readonly string[];
    /** The claim of the worker that was named, if it holds the task now. */
    readonly claimed?: ClaimedTask | undefined;
}

/** The part of a store that approvals by a group need. */
export declare interface ApprovalStore {
    /**
     * Notes what one person decided about an approval that this task waits for. The first decision of a person counts. The
     * decision that completes the outcome takes the wait off the list, and all decisions become one arrival. Resolves to
     * undefined if there is no such task.
     */
    readonly decide: (id: string, wire: string, decision: NewDecision) => Promise<DecisionResult | undefined>;
}

/** An answer that has arrived and that the handler has not received yet. */
export declare interface Arrival {
    /** The wire key that it answers. An answer that came another way has an id that starts with `~`. */
    readonly id: string;
    /** The key of the question. */
    readonly key: string;
    /** The digest of the question as it was asked. */
    readonly digest: string;
    /** The answer. It is empty if decisions are the answer. */
    readonly value: Sealed;
    /** When it arrived. */
    readonly at: number;
    /** When the time limit of its question ends. */
    readonly dueAt?: number | undefined;
    /** Of an approval: all decisions, the one that completed it last. */
    readonly decisions?: readonly StoredDecision[] | undefined;
}

/** A record as the store keeps it. */
export declare interface AuditEntry extends NewAuditEntry, AuditPlace {
}

/** A place among all records. */
export declare interface AuditPlace {
    /** When the record was added. */
    readonly at: number;
    /** The chain that it belongs to. */
    readonly chain: string;
    /** Its number in the chain, from 1. */
    readonly n: number;
}

/** The audit in a store. Every time is the store's own, in milliseconds since 1970. */
export declare interface AuditStore {
    /** The end of a chain, and which of these ids it has. */
    readonly tail: (chain: string, ids: readonly string[]) => Promise<AuditTail>;
    /**
     * Adds records after the record with the number `after`, all of them or none. Resolves to false, and writes nothing, if the
     * chain has another end by now, or has one of the ids.
     */
    readonly append: (chain: string, after: number, records: readonly NewAuditEntry[]) => Promise<boolean>;
    /** Reads a chain, in the order of its numbers. */
    readonly readChain: (chain: string) => Promise<readonly AuditEntry[]>;
    /** Reads up to `limit` records after a place, in the order of their time, their chain and their number. */
    readonly readAfter: (place: AuditPlace | undefined, limit: number) => Promise<readonly AuditEntry[]>;
    /**
     * Deletes up to `limit` chains whose last record is more than `keepMs` milliseconds old. Resolves to how many it deleted.
     * Chains are deleted whole, so that what is left can be checked.
     */
    readonly sweep: (keepMs: number, limit: number) => Promise<number>;
}

/** The end of a chain. */
export declare interface AuditTail {
    /** The number of the last record, or 0. */
    readonly n: number;
    /** The last record. Undefined if the chain has none. */
    readonly record: Sealed | undefined;
    /** Those of the ids that the chain has. */
    readonly known: readonly string[];
}

/** A notice that something may have changed. */
export declare interface ChangeHint {
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

/** A task that a worker has just claimed. */
export declare interface ClaimedTask {
    /** The task as it is under the claim. */
    readonly task: TaskRecord;
    /** Its log. */
    readonly log: readonly Sealed[];
    /** The worker whose lease ran out. Undefined if no worker held the task. */
    readonly before: string | undefined;
}

/** A claim on a task or on a round. It is valid until the next claim raises the epoch. */
export declare interface ClaimRef {
    /** The id of the task, or the call id of the round. */
    readonly id: string;
    /** The epoch of the claim. */
    readonly epoch: number;
}

/** Which tasks a worker wants to claim. */
export declare interface ClaimRequest {
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
export declare interface ClaimResult {
    /** The tasks that the worker now holds. */
    readonly claimed: readonly ClaimedTask[];
    /** When the next task of these tools is due, if any. It is not later than `now` if more tasks were due than wanted. */
    readonly nextDueAt: number | undefined;
    /** The store's time. */
    readonly now: number;
}

/** What `create` did. */
export declare type CreateResult = {
    /** The task is new, or the call already has it. */
    readonly kind: "created" | "exists";
    /** The task. */
    readonly task: TaskRecord;
} | {
    /** The principal has as many live tasks as it may have, so none was created. */
    readonly kind: "too many";
};

/** What `decide` did. */
export declare interface DecisionResult {
    /**
     * "counted": more people must agree. "completed": this decision completed the outcome. "repeated": this person has decided
     * before. "closed": the task does not wait for this approval, or its time limit has passed. The last two write nothing.
     */
    readonly kind: "counted" | "completed" | "repeated" | "closed";
    /** What has been decided about the approval. It is empty if it is closed. */
    readonly decisions: readonly StoredDecision[];
    /** The task afterwards. */
    readonly task: TaskRecord;
}

/** How a task ends. */
export declare interface Finish {
    /** Whether the task completed or failed. */
    readonly status: "completed" | "failed";
    /** The result or the error. */
    readonly result: Sealed;
    /** The last status message. If undefined, the task has none, because the old message described work that is over. */
    readonly statusMessage: Sealed | undefined;
    /** Whether the steps that have begun are undone. If there are any, the worker keeps its claim and undoes them. Default: no. */
    readonly isUndoing?: boolean | undefined;
    /** How long the task can still be read, in milliseconds, even if its own time ends sooner. */
    readonly keepMs: number;
    /** Records that are added to the log in the same write. */
    readonly append?: LogAddition | undefined;
}

/** A worker that is to hold a task without claiming it. */
export declare interface Holder {
    /** The name of the worker. */
    readonly worker: string;
    /** How long it holds the task without renewing, in milliseconds. */
    readonly leaseMs: number;
}

/** Records that are added to the log together with another write. */
export declare type LogAddition = Pick<LogAppend, "at" | "records">;

/** Records that a worker adds to the log of a task. */
export declare interface LogAppend {
    /** The length of the log before these records, so that a second writer is noticed. */
    readonly at: number;
    /** The records. */
    readonly records: readonly Sealed[];
    /** The ids of arrivals that are used up. */
    readonly taken: readonly string[];
    /** Answers that a cut took off the log. The handler receives them again. */
    readonly returned: readonly Arrival[];
    /** How many steps have begun that have an undo, if a record says that another one does. */
    readonly undos?: number | undefined;
    /**
     * The question whose time limit has passed, if a record says so. If its answer has arrived in time, nothing is written, as
     * if the claim were lost: the next claim gets the answer.
     */
    readonly expired?: string | undefined;
    /** The stream whose outcome is recorded. Its parts are deleted, because the record has all of them. */
    readonly streamed?: string | undefined;
    /** If the last record is the outcome of a step: what its body took. For operators. */
    readonly took?: {
        /** How long it ran, in milliseconds, with its retries. */
        readonly ms: number;
        /** How many times it was tried in this run. */
        readonly tries: number;
    } | undefined;
}

/** A record of a log, and what is known about it. An earlier version has noted nothing. */
export declare interface LoggedRecord {
    /** Its place in the log. */
    readonly seq: number;
    /** The record. */
    readonly record: Sealed;
    /** The run that wrote it. 0: the call brought it along from its rounds. */
    readonly epoch: number | undefined;
    /** When it was written. */
    readonly at: number | undefined;
    /** How long the body of a step ran, in milliseconds, with its retries. */
    readonly ms: number | undefined;
    /** How many times the body of a step was tried in that run. */
    readonly tries: number | undefined;
}

/** A record to add. */
export declare interface NewAuditEntry {
    /** Of the record. The chain has each id once. */
    readonly id: string;
    /** The server that it belongs to. */
    readonly app: string;
    /** What is recorded. */
    readonly record: Sealed;
}

/** A decision on its way to a task. The store adds the time. */
export declare type NewDecision = Omit<StoredDecision, "at">;

/** A task to create. */
export declare interface NewTask {
    /** The id of the task. */
    readonly id: string;
    /** The id of the call that becomes the task. */
    readonly callId: string;
    /** The name of the tool. */
    readonly tool: string;
    /** The caller that owns the task. Empty when there is no authentication. */
    readonly principal: string;
    /** The arguments of the call and whatever else the handler starts from. */
    readonly input: Sealed;
    /** The log that the call brings along from its rounds. */
    readonly log: readonly Sealed[];
    /** Answers from the rounds that are not in the log. */
    readonly inbox: readonly Arrival[];
    /** How long the task may live, in milliseconds. */
    readonly ttlMs: number;
    /** How many steps of the log have begun and have an undo. Default: 0. */
    readonly undos?: number | undefined;
    /** For a call that has ended in its rounds, and whose steps a worker has to undo. */
    readonly ended?: {
        /** How the call ended. */
        readonly status: "failed" | "cancelled";
        /** The error of a call that failed. */
        readonly result: Sealed | undefined;
    } | undefined;
    /** The worker that holds the task from the start, and for how long. Undefined: the task is due at once. */
    readonly claimedBy: Holder | undefined;
}

/** An empty store for one test. Its clock stands still, except when `advance` moves it. */
export declare interface OpenedStore {
    /** The store. */
    readonly store: TaskStore;
    /** Opens a second store on the same data, as another replica would. */
    readonly another: () => Promise<TaskStore>;
    /** Moves the clock forward by this many milliseconds, for all stores on this data. */
    readonly advance: (ms: number) => Promise<void>;
    /** Closes all stores and removes the data. */
    readonly close: () => Promise<void>;
    /** False: a store does not hear of changes through other handles, and the case about it is skipped. Default: true. */
    readonly hasHints?: boolean | undefined;
}

/**
 * Opens an empty store. A clock that you control can begin at `startsAt`, in milliseconds since 1970. The tests read all
 * times from the store, so a clock may also begin elsewhere.
 */
export declare type OpenStore = (clock: {
    /** Where a clock that you control can begin, in milliseconds since 1970. */
    readonly startsAt: number;
}) => Promise<OpenedStore>;

/** Something that a task waits for. */
export declare interface OpenWait {
    /** The id of the task. */
    readonly taskId: string;
    /** The name that an answer uses. */
    readonly wire: string;
    /** The key that the handler gave it. */
    readonly key: string;
    /** "question": the client is asked. "external": the answer is delivered from elsewhere. */
    readonly kind: Exclude<Wait["kind"], "timer">;
    /** The tool of the task. */
    readonly tool: string;
    /** The group whose members may answer. Undefined if no group is named. */
    readonly group: string | undefined;
    /** Since when the task waits for it. */
    readonly since: number;
}

/** What a worker writes down when the handler waits and nothing else of it runs. */
export declare interface Parking extends Waiting {
    /** Records that are added to the log in the same write. What they use up is in `taken`. */
    readonly append?: LogAddition | undefined;
}

/** Parts of running streams, and how far their task is. */
export declare interface PartPage {
    /** The epoch of the task. */
    readonly epoch: number;
    /** The number of records in its log. */
    readonly logLength: number;
    /** Its revision. */
    readonly revision: number;
    /** The parts, in the order of their numbers. */
    readonly parts: readonly StoredPart[];
}

/** A place among the parts of a task. */
export declare interface PartPlace {
    /** The epoch of the claim. */
    readonly epoch: number;
    /** The number of the last part. */
    readonly n: number;
}

/** How a worker gives a task back without having finished it. */
export declare interface Release {
    /** When the task is due again, in milliseconds from now. */
    readonly afterMs: number;
    /** Whether this claim counts as one that produced nothing. An orderly handover does not. */
    readonly isFruitless: boolean;
    /** What went wrong. */
    readonly cause: Sealed | undefined;
}

/** What `renew` found. */
export declare interface RenewalResult {
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

/** Which tasks an operator can put back in the queue. */
export declare interface Requeue {
    /** A failed task counts as given up if more claims than this, in a row, made no progress. */
    readonly stuckAfter: number;
    /** How long the task has at least, in milliseconds, even if its own time ends sooner. */
    readonly keepMs: number;
}

/** What `requeue` did. */
export declare interface RequeueResult {
    /** The task afterwards. */
    readonly task: TaskRecord;
    /** Whether it was put back in the queue. */
    readonly isRequeued: boolean;
}

/** A round that a replica wants to run. */
export declare interface RoundClaimRequest {
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
export declare type RoundClaimResult = {
    /** The caller holds the round and runs it. */
    readonly kind: "run";
    /** The claim. */
    readonly ref: ClaimRef;
    /** What an earlier attempt recorded in this round. */
    readonly log: readonly Sealed[];
} | {
    /** The round has ended. */
    readonly kind: "ended";
    /** Its response. */
    readonly response: Sealed;
} | {
    /** "running": another replica runs it. "superseded": it had other answers before, or a later round has begun. */
    readonly kind: "running" | "superseded";
};

/**
 * How a run ended. "parked": the handler waits. "released": the worker gave the task back in order. "failed": it gave the task
 * back because something went wrong. "finished": the handler is done. "cancelled": someone cancelled the task. "expired": its
 * time was up. "undone": what had to be undone is. "lost": the worker was silent, and another one or an operator took the task.
 */
export declare type RunEnd = "parked" | "released" | "failed" | "finished" | "cancelled" | "expired" | "undone" | "lost";

/** Text that only a holder of the keys can read. A store keeps it and never looks into it. */
export declare type Sealed = string;

/** The workers that a store knows. */
export declare interface SeenWorkers {
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

/** The status of a task, as the specification names it. */
export declare type Status = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A place to keep tasks, for `parley({ store })`. `sqliteStore`, `postgresStore` and `memoryStore` make one. */
export declare interface Store {
    /** The kind of store, such as "sqlite". Messages name it. */
    readonly "~store": string;
    /** Finishes what is under way and closes the store. */
    readonly close: () => Promise<void>;
}

/** One case of the contract. */
export declare interface StoreCase {
    /** What the store has to do, such as "claim: hands out only tasks of the wanted tools". */
    readonly name: string;
    /**
     * Opens a store, tries it and closes it. Rejects if the store does something else. Test runners pass a context: if it has
     * `skip`, the case calls it when the store leaves out what the case is about.
     */
    readonly run: () => Promise<void>;
}

/**
 * The cases that a task store has to pass: every operation, two replicas on the same data, unusual texts, and random
 * sequences of operations that are compared with `memoryStore`. It is a list, so that any test runner can run it, inside a
 * Worker too. Each case opens and closes its own store.
 *
 * Needs the package `fast-check`. Set the environment variable `PARLEY_PROPERTY_RUNS` to change how many random sequences are
 * tried. Default: 60.
 *
 * @param open - Opens an empty store. It is called once for each case, and once for each random sequence.
 * @example
 * ```ts
 * import { storeContract } from "mcp-parley/testing/store";
 * import { test } from "vitest";
 * import { MyDatabase, MyStore } from "./my-store.ts";
 *
 * const contract = storeContract(async ({ startsAt }) => {
 *   let now = startsAt;
 *   const database = new MyDatabase();
 *   const open = () => new MyStore(database, { now: () => now });
 *   return {
 *     store: open(),
 *     another: async () => open(),
 *     advance: async (ms) => void (now += ms),
 *     close: () => database.close(),
 *   };
 * });
 * for (const { name, run } of contract) test(name, run, 300_000);
 * ```
 */
export declare function storeContract(open: OpenStore): readonly StoreCase[];

/** What one person decided about an approval. */
export declare interface StoredDecision {
    /** The person, in plain text, because a person decides once. */
    readonly who: string;
    /** Whether the person agrees. */
    readonly approves: boolean;
    /** The same, with how it came and a note. */
    readonly value: Sealed;
    /** When it was decided. */
    readonly at: number;
}

/** A batch of what the body of a stream has produced. */
export declare interface StoredPart {
    /** Its number in this claim. A later batch has a greater one. */
    readonly n: number;
    /** The stream. */
    readonly key: string;
    /** What was produced. */
    readonly record: Sealed;
}

/** How many tasks are in each state. */
export declare interface StoreFigures {
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

/** What a store keeps for one caller. Tasks without contents do not count. */
export declare interface StoreUsage {
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

/** What `sweep` did. */
export declare interface SweepResult {
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

/** A task in a list: everything but its contents. */
export declare type TaskListing = Omit<TaskRecord, "input" | "result" | "inbox" | "asked">;

/** Which tasks `list` returns. */
export declare interface TaskPageRequest {
    /** The caller that owns the tasks. Undefined lists every caller's tasks, for operators. */
    readonly principal: string | undefined;
    /** The last task of the previous page. Undefined starts with the newest. */
    readonly after: {
        /** When it was created. */
        readonly createdAt: number;
        /** Its id. */
        readonly id: string;
    } | undefined;
    /** The most tasks to return. */
    readonly limit: number;
}

/** Which tasks `find` returns. Every condition must hold. */
export declare interface TaskQuery {
    /** Only tasks with this status. */
    readonly status?: Status | undefined;
    /** Only tasks of this tool. */
    readonly tool?: string | undefined;
    /** Only tasks of this caller. Empty: of calls without a caller. */
    readonly principal?: string | undefined;
    /**
     * Only tasks that do not get on: they have been due for longer than this many milliseconds, they were tried more than
     * once without progress, or their steps could not be undone for as long.
     */
    readonly stuckMs?: number | undefined;
    /** The last task of the previous page. Undefined starts with the newest. */
    readonly after?: {
        /** When it was created. */
        readonly createdAt: number;
        /** Its id. */
        readonly id: string;
    } | undefined;
    /** The most tasks to return. */
    readonly limit: number;
}

/** The part of a store that operators read. It changes nothing. */
export declare interface TaskReader {
    /**
     * Finds tasks, the newest first. Live tasks whose time is up count as failed only after a sweep. The time that it takes
     * does not depend on how many tasks there are.
     */
    readonly find: (query: TaskQuery) => Promise<readonly TaskListing[]>;
    /** What waits for people, the longest first: open questions and deliveries, and no timers. */
    readonly waiting: (query: WaitingQuery) => Promise<readonly OpenWait[]>;
    /** Reads records of a log with what is known about them, from this one on. */
    readonly log: (id: string, from: number, limit: number) => Promise<readonly LoggedRecord[]>;
    /** The newest runs of a task, the oldest of them first. It is empty when there is no such task. */
    readonly runs: (id: string) => Promise<readonly TaskRun[]>;
}

/** A task as a store keeps it. Times are the store's own, in milliseconds since 1970. */
export declare interface TaskRecord {
    /** The id of the task, which clients know. */
    readonly id: string;
    /** The id of the call that became this task. A call becomes at most one task. */
    readonly callId: string;
    /** The name of the tool. */
    readonly tool: string;
    /** The caller that owns the task. Empty when there is no authentication, as over stdio. */
    readonly principal: string;
    /** Where the task stands. */
    readonly status: Status;
    /** Grows by one with every change that a client can see. */
    readonly revision: number;
    /** The fence. It grows whenever the task changes hands, and writes under an older epoch are refused. */
    readonly epoch: number;
    /** The name of the worker that holds the lease. Undefined while no worker holds the task. */
    readonly worker: string | undefined;
    /**
     * When a worker should claim the task: at once, when a timer is due, or, while a worker holds the task, when its
     * lease ends. Undefined when the task waits for an arrival or is over.
     */
    readonly dueAt: number | undefined;
    /** What the handler waits for. */
    readonly waits: readonly Wait[];
    /** Answers that are not entries of the log yet, in the order they arrived. */
    readonly inbox: readonly Arrival[];
    /** For each question, how many wire keys it has had so far. */
    readonly asked: Readonly<Record<string, number>>;
    /** The number of records in the log. */
    readonly logLength: number;
    /** The size of the log, as `bytesOf` counts it. */
    readonly logBytes: number;
    /**
     * How many steps have begun that would be undone if the task ended badly. In a task that has ended, how many still
     * have to be undone: workers claim it until none is left.
     */
    readonly undos: number;
    /** How many claims in a row have produced no new entry. */
    readonly fruitless: number;
    /** Why the last of these claims failed, if its worker could say. */
    readonly cause: Sealed | undefined;
    /** The arguments of the call and whatever else the handler starts from. */
    readonly input: Sealed;
    /** The last status message that the handler reported. */
    readonly statusMessage: Sealed | undefined;
    /** The result or the error of a task that has ended. */
    readonly result: Sealed | undefined;
    /**
     * Set once the contents of the task are deleted. "expired": the task was still live when its time was up.
     * "removed": the task had already ended.
     */
    readonly rest: "expired" | "removed" | undefined;
    /** Whether no client has read the task yet. If so, its id may be lost, because the response that carried it may not have arrived. */
    readonly isUnread: boolean;
    /** When the task was created. */
    readonly createdAt: number;
    /** When the worker that holds the task claimed it. After that it says nothing. */
    readonly claimedAt?: number | undefined;
    /** When a client could last see a change. */
    readonly updatedAt: number;
    /** When a live task fails, when the contents of an ended one are deleted, or when a deleted one is forgotten. */
    readonly expiresAt: number;
}

/** A run of a task by a worker. */
export declare interface TaskRun {
    /** The epoch of the claim. Records of this epoch were written in this run. */
    readonly epoch: number;
    /** The worker that held the task. */
    readonly worker: string;
    /** When the worker claimed the task. Undefined if an earlier version did. */
    readonly beganAt: number | undefined;
    /** When the run ended. Undefined while it lasts. */
    readonly endedAt: number | undefined;
    /** How the run ended. Undefined while it lasts. */
    readonly how: RunEnd | undefined;
}

/**
 * What a store implements. Every time is the store's own, in milliseconds since 1970, so that all replicas use one
 * clock.
 */
export declare interface TaskStore extends Store {
    /** How long a worker holds a task without renewing its lease, in milliseconds. */
    readonly leaseMs: number;
    /** Brings the tables up to date. It is safe to call while other replicas run, even older ones. */
    readonly migrate: () => Promise<void>;
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
    readonly answer: (id: string, answers: readonly Answer[], worker?: Holder) => Promise<AnswerResult | undefined>;
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
    readonly revisions: (ids: readonly string[], principal?: string) => Promise<ReadonlyMap<string, number>>;
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
    readonly subscribe: (listener: (hint: ChangeHint) => void, wants?: (id: string) => boolean) => () => void;
    /** For approvals by a group. Without it, `ctx.approve` with `by` fails. */
    readonly approvals?: ApprovalStore | undefined;
    /** Claims tasks that are due, the longest due first. */
    readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
    /** Extends the leases of these claims by `leaseMs` milliseconds from now, and notes that the worker is alive. */
    readonly renew: (worker: string, refs: readonly ClaimRef[], leaseMs: number) => Promise<RenewalResult>;
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
    readonly sweep: (limit: number, keepMs: number, unreadMs?: number, undoMs?: number) => Promise<SweepResult>;
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
    /**
     * Makes a task that was given up, or that should run and does not, due at once. Leaves any other task unchanged.
     * Resolves to undefined when there is no such task.
     */
    readonly requeue: (id: string, which: Requeue) => Promise<RequeueResult | undefined>;
    /** Counts the tasks in each state. */
    readonly figures: () => Promise<StoreFigures>;
    /** What operators read. Default: single tasks only. */
    readonly reader?: TaskReader | undefined;
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
    /** The accounts of people at other services. Without it, the store cannot be used with `parley({ connections })`. */
    readonly accounts?: AccountStore | undefined;
    /** Keeps the audit. Without it, records go to the sink only. */
    readonly audit?: AuditStore | undefined;
}

/** What a worker writes down while it undoes the steps of a task that has ended. */
export declare interface UndoProgress {
    /** The length of the log before these records, so that a second writer is noticed. */
    readonly at: number;
    /** The records. */
    readonly records: readonly Sealed[];
    /** How many steps still have to be undone. If 0, the worker lets go of the task. */
    readonly undos: number;
    /** How long the task can still be read after that, in milliseconds, even if its own time ends sooner. */
    readonly keepMs: number;
}

/** Something that a handler waits for. */
export declare interface Wait {
    /** "question": the client is asked. "external": the answer is delivered from elsewhere. "timer": time passes. */
    readonly kind: "question" | "external" | "timer";
    /** The key that the handler gave it. */
    readonly key: string;
    /** The name that an answer uses. A task never uses the same wire key twice. */
    readonly wire: string;
    /** The group whose members may answer. Undefined if none is named. */
    readonly group?: string | undefined;
    /** The digest of the question. Undefined for a timer. */
    readonly digest?: string | undefined;
    /** When the timer is due, or when the time limit of the question ends. */
    readonly dueAt?: number | undefined;
    /** The question as the client sees it. Only a wait of kind "question" has one. */
    readonly request?: Sealed | undefined;
    /** The question as its page shows it. What the client says about a question with a page is not the answer. */
    readonly page?: Sealed | undefined;
    /** Of an approval: how many people must agree. */
    readonly needs?: number | undefined;
    /** Of an approval: what has been decided so far, one decision for each person. Only `decide` writes it. */
    readonly decisions?: readonly StoredDecision[] | undefined;
}

/** What a worker writes down when the handler waits. */
export declare interface Waiting {
    /** What the handler waits for. */
    readonly waits: readonly Wait[];
    /** For each question, how many wire keys it has had so far. */
    readonly asked: Readonly<Record<string, number>>;
    /** The ids of arrivals that are used up. */
    readonly taken: readonly string[];
}

/** Which waits `waiting` returns. Every condition must hold. */
export declare interface WaitingQuery {
    /** Only waits of these groups. An empty text stands for no group. */
    readonly groups?: readonly string[] | undefined;
    /** Only waits of this tool. */
    readonly tool?: string | undefined;
    /** Only waits of this task. */
    readonly taskId?: string | undefined;
    /** The last wait of the previous page. Undefined starts with the longest. */
    readonly after?: Pick<OpenWait, "since" | "taskId" | "wire"> | undefined;
    /** The most waits to return. */
    readonly limit: number;
}

export { }
