// The record of a task, and the values that its moves take (moves.ts). Everything that can race is in the record: the
// status, the fence, the lease, the waits, the arrivals and the due time. So two replicas that act at the same moment
// meet in one row, and one of them sees what the other did.

/** The status of a task, as the specification names it. */
export type Status = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** Text that only a holder of the keys can read. A store keeps it and never looks into it. */
export type Sealed = string;

/** A task as a store keeps it. Times are the store's own, in milliseconds since 1970. */
export interface TaskRecord {
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

/** Something that a handler waits for. */
export interface Wait {
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

/** What one person decided about an approval. */
export interface StoredDecision {
  /** The person, in plain text, because a person decides once. */
  readonly who: string;
  /** Whether the person agrees. */
  readonly approves: boolean;
  /** The same, with how it came and a note. */
  readonly value: Sealed;
  /** When it was decided. */
  readonly at: number;
}

/** An answer that has arrived and that the handler has not received yet. */
export interface Arrival {
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

/** A claim on a task or on a round. It is valid until the next claim raises the epoch. */
export interface ClaimRef {
  /** The id of the task, or the call id of the round. */
  readonly id: string;
  /** The epoch of the claim. */
  readonly epoch: number;
}

/** A task to create. */
export interface NewTask {
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
  readonly ended?:
    | {
        /** How the call ended. */
        readonly status: "failed" | "cancelled";
        /** The error of a call that failed. */
        readonly result: Sealed | undefined;
      }
    | undefined;
  /** The worker that holds the task from the start, and for how long. Undefined: the task is due at once. */
  readonly claimedBy: Holder | undefined;
}

/** A worker that is to hold a task without claiming it. */
export interface Holder {
  /** The name of the worker. */
  readonly worker: string;
  /** How long it holds the task without renewing, in milliseconds. */
  readonly leaseMs: number;
}

/** An answer on its way to a task. */
export interface Answer {
  /** The wire key that it answers. */
  readonly wire: string;
  /** The answer. */
  readonly value: Sealed;
  /** For a delivery that arrives before its question was asked, and that a ticket vouches for. */
  readonly early?:
    | {
        /** The key of the question. */
        readonly key: string;
        /** The digest of the question. */
        readonly digest: string;
      }
    | undefined;
}

/** What a worker writes down when the handler waits. */
export interface Waiting {
  /** What the handler waits for. */
  readonly waits: readonly Wait[];
  /** For each question, how many wire keys it has had so far. */
  readonly asked: Readonly<Record<string, number>>;
  /** The ids of arrivals that are used up. */
  readonly taken: readonly string[];
}

/** What a worker writes down when the handler waits and nothing else of it runs. */
export interface Parking extends Waiting {
  /** Records that are added to the log in the same write. What they use up is in `taken`. */
  readonly append?: LogAddition | undefined;
}

/** Records that are added to the log together with another write. */
export type LogAddition = Pick<LogAppend, "at" | "records">;

/** Records that a worker adds to the log of a task. */
export interface LogAppend {
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
  readonly took?:
    | {
        /** How long it ran, in milliseconds, with its retries. */
        readonly ms: number;
        /** How many times it was tried in this run. */
        readonly tries: number;
      }
    | undefined;
}

/** How a worker gives a task back without having finished it. */
export interface Release {
  /** When the task is due again, in milliseconds from now. */
  readonly afterMs: number;
  /** Whether this claim counts as one that produced nothing. An orderly handover does not. */
  readonly isFruitless: boolean;
  /** What went wrong. */
  readonly cause: Sealed | undefined;
}

/** Which tasks an operator can put back in the queue. */
export interface Requeue {
  /** A failed task counts as given up if more claims than this, in a row, made no progress. */
  readonly stuckAfter: number;
  /** How long the task has at least, in milliseconds, even if its own time ends sooner. */
  readonly keepMs: number;
}

/** How a task ends. */
export interface Finish {
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

/** What a worker writes down while it undoes the steps of a task that has ended. */
export interface UndoProgress {
  /** The length of the log before these records, so that a second writer is noticed. */
  readonly at: number;
  /** The records. */
  readonly records: readonly Sealed[];
  /** How many steps still have to be undone. If 0, the worker lets go of the task. */
  readonly undos: number;
  /** How long the task can still be read after that, in milliseconds, even if its own time ends sooner. */
  readonly keepMs: number;
}

/** Whether the task has ended, and steps of it are still to be undone. */
export const isUndoing = (task: Pick<TaskRecord, "status" | "undos">): boolean =>
  task.undos > 0 && !isLive(task);

/** Whether the task has not ended yet. */
export const isLive = ({ status }: Pick<TaskRecord, "status">): boolean =>
  status === "working" || status === "input_required";
