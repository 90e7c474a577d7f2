// Long on purpose: it lists everything that the two sides exchange.
//
// What the console's page and its server say to each other. Only types, without imports from the server, because the page
// is bundled for browsers. Addresses are relative to where the console is mounted. Times are milliseconds since 1970.
//
// In development, the page opens with `#link=…` in its address, exchanges that link for a session once (POST api/session),
// and sends the session in the header `parley-session` from then on. With `authorize`, the browser's own credentials count,
// and the page sends no header. Every POST has JSON in its body.

import type { FormJson } from "../protocol/form.ts";
import type { Json } from "../util/json.ts";

/** The header with the session, in development. */
export const sessionHeader = "parley-session";

/** How many waits the server counts for the health screen. More are shown as "200+". */
export const mostWaits = 200;

/** The body of every response that is not a 2xx. */
export interface Failure {
  readonly error: {
    /** For programs: "signed_out", "link_used", "not_allowed", "not_found", "conflict", "invalid", "store_down" and others. */
    readonly code: string;
    /** For people: what happened, and what to do next. */
    readonly message: string;
    /** Of "store_down": since when, as far as the server knows. */
    readonly since?: number;
  };
}

/** POST api/session, in development: a link becomes a session. It works once. */
export interface LinkExchange {
  readonly link: string;
}

export interface NewSession {
  readonly session: string;
}

type May = "look" | "act" | "act_for_client";

/** GET api/session: who looks, and at what. */
export interface Session {
  /** The name of the app. */
  readonly app: string;
  readonly version: string;
  readonly isDevelopment: boolean;
  readonly who: string;
  readonly groups: readonly string[];
  readonly may: May;
  /** Whether arguments, answers and results are shown. */
  readonly values: boolean;
  /** Whether this console has the keys. Without them it shows status, tool, times and runs only. */
  readonly hasKeys: boolean;
  /** Whether there is a store, and it can be read. Without one there are no tasks. */
  readonly hasStore: boolean;
  /** Empty if this console does not have the app's code. */
  readonly tools: readonly ToolFacts[];
}

export interface ToolFacts {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: Json;
  readonly hasTask: boolean;
}

// ---------------------------------------------------------------- the inbox

/** GET api/inbox?group&tool&after&limit: what waits for a person, the oldest first. */
export interface Inbox {
  readonly items: readonly InboxItem[];
  /** Pass it as `after` for the next page. */
  readonly next?: string;
}

export interface InboxItem {
  /** The id of the task. */
  readonly task: string;
  readonly callId: string;
  readonly key: string;
  readonly kind: "approval" | "wait" | "question";
  readonly tool: string;
  /** The group that may answer. A question of a client has none. */
  readonly group?: string;
  readonly principal?: string;
  readonly since: number;
  readonly dueAt?: number;
  /** The question. Missing without the keys. */
  readonly message?: string;
  /** What the author shows beside the question. */
  readonly about?: Readonly<Record<string, string | number | boolean>>;
  /** The fields of the question. */
  readonly form?: FormJson;
  /** The answer is the value of this field of the form, and not an object. */
  readonly field?: string;
  /** The JSON Schema of a value that a form cannot show. */
  readonly schema?: Json;
  /** Who has decided so far, for an approval. */
  readonly decisions: readonly DecisionFacts[];
  /** How many people must agree, for an approval. */
  readonly needed?: number;
  /** Changes with what an approval asks. A decision names it, so that nobody decides on what they have not seen. */
  readonly digest?: string;
  readonly mayAnswer: boolean;
  /** Why this operator may not answer, in one sentence. */
  readonly whyNot?: string;
}

export interface DecisionFacts {
  readonly who: string;
  readonly isApproved: boolean;
  readonly at: number;
  readonly note?: string;
  readonly via: string;
}

/** POST api/answers */
export type AnswerRequest =
  | { readonly task: string; readonly key: string; readonly value: Json }
  | {
      readonly task: string;
      readonly key: string;
      readonly decline: true;
      readonly note?: string;
    };

/** "invalid" comes with a reason, and the question stays open. */
export interface AnswerOutcome {
  readonly status: "delivered" | "already_answered" | "gone" | "invalid";
  readonly reason?: string;
  /** Why the task may not go on for now, in a sentence or two. */
  readonly obstacle?: string;
}

/** POST api/decisions */
export interface DecisionRequest {
  readonly task: string;
  readonly key: string;
  readonly approve: boolean;
  readonly note?: string;
  /** That of the approval as the person saw it. If it is another one now, nothing is decided. */
  readonly digest?: string;
}

export interface DecisionOutcome {
  readonly status:
    | ("counted" | "approved" | "declined")
    | ("already_decided" | "not_allowed" | "changed" | "gone");
  /** Whether the decision does not count, because others were faster or the approval was over. */
  readonly isLate?: boolean;
  /** Why the task may not go on for now, in a sentence or two. */
  readonly obstacle?: string;
  readonly decisions?: readonly DecisionFacts[];
}

// ---------------------------------------------------------------- tasks

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** GET api/tasks?status&tool&principal&stuck&after&limit: the newest first. */
export interface TaskList {
  readonly tasks: readonly TaskRow[];
  /** Pass it as `after` for the next page. */
  readonly next?: string;
  readonly counts: TaskCounts;
}

/** How many tasks the store has, whatever the filter is. */
export interface TaskCounts {
  readonly live: number;
  /** Tasks that a worker holds. If it does not renew its lease, its tasks count as due instead. */
  readonly running: number;
  readonly inputRequired: number;
  readonly due: number;
  readonly undoing: number;
}

export interface TaskRow {
  readonly id: string;
  readonly tool: string;
  /** Missing if calls have no principal. */
  readonly principal?: string;
  readonly status: TaskStatus;
  /** Missing without `values`. */
  readonly statusMessage?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly dueAt?: number;
  readonly waits: readonly WaitFacts[];
  /** The worker that holds the task. */
  readonly worker?: string;
  readonly epoch: number;
  /** How many runs in a row have made no progress. */
  readonly fruitless: number;
  /** Whether the task does not run although it should. */
  readonly isStuck?: boolean;
  /** What the task waits for, or why it does not run, in one sentence. */
  readonly why?: string;
}

export interface WaitFacts {
  readonly kind: "approval" | "wait" | "question" | "timer";
  readonly key: string;
  readonly group?: string;
  readonly since?: number;
  readonly dueAt?: number;
}

/** GET api/tasks/:id */
export interface TaskDetails {
  readonly task: TaskRow & {
    readonly callId: string;
    readonly expiresAt: number;
    /** How many entries the log has. */
    readonly logLength: number;
    readonly logBytes: number;
    /** Steps that are still to be undone. */
    readonly undos: number;
    /** The arguments, only with `values`. */
    readonly input?: Json;
    /** The result or the error, only with `values`. */
    readonly result?: Json;
    /** Why its last run failed, only with `values`. */
    readonly cause?: string;
    /** The id of the key that the task is sealed with, if this console has keys and not that one. */
    readonly missingKey?: string;
  };
  /** The first entries of the log. */
  readonly entries: readonly EntryFacts[];
  /** The number to pass as `from` for the next ones. Missing if these are all. */
  readonly more?: number;
  /** The oldest first. */
  readonly runs: readonly RunFacts[];
  readonly waits: readonly WaitFacts[];
  /** What the audit record says about this call, the oldest first. */
  readonly audit: readonly AuditFacts[];
  /** A task that this one was run again from, and tasks that were run again from this one. */
  readonly linked?: { readonly from?: LinkedTask; readonly to?: readonly LinkedTask[] };
  /** Whether "run again from this entry" is offered. */
  readonly mayRerun: boolean;
  readonly mayCancel: boolean;
}

export interface LinkedTask {
  readonly task: string;
  /** How many entries were taken over. */
  readonly entries: number;
  readonly at?: number;
}

/** GET api/tasks/:id/log?from&limit */
export interface TaskLog {
  readonly entries: readonly EntryFacts[];
  readonly more?: number;
}

export interface EntryFacts {
  readonly seq: number;
  /** "answer", "step", "timer", "begun", "undone" and others. Missing without the keys. */
  readonly kind?: string;
  readonly key?: string;
  /** The run that wrote it. In a later run it was replayed. Missing in what an earlier version wrote. */
  readonly epoch?: number;
  readonly at?: number;
  /** How long its body ran. */
  readonly ms?: number;
  /** How many attempts a step took. */
  readonly tries?: number;
  /** Its size in the store. */
  readonly bytes: number;
  /** Only with `values`. */
  readonly value?: Json;
  readonly digest?: string;
  readonly idempotencyKey?: string;
  readonly via?: string;
  readonly error?: string;
  /** The undo of this step, if it has one. */
  readonly undo?: string;
  /** Of a call of rounds: the line of code that asked for it, such as `deploy.ts:12`. */
  readonly line?: string;
}

export interface RunFacts {
  readonly epoch: number;
  readonly worker: string;
  /** Missing if an earlier version claimed the task. */
  readonly beganAt?: number;
  readonly endedAt?: number;
  /** Whether its worker is silent now, and not only was then. */
  readonly isSilent?: boolean;
  /** Of a run that lasts, although its worker has not renewed the lease: when the lease ended. */
  readonly leaseEndedAt?: number;
  /** How the run ended. Missing while it runs. "lost": the worker did not renew its lease, and the task was taken from it. */
  readonly how?:
    | ("parked" | "released" | "failed" | "finished")
    | ("cancelled" | "expired" | "undone" | "lost");
}

/** POST api/tasks/:id/rerun, in development: makes a new task that begins with the first `from` entries. */
export interface RerunRequest {
  readonly from: number;
}

/** What POST api/tasks/:id/cancel and .../rerun return. */
export interface TaskOutcome {
  /** The task, or the new one. */
  readonly task: string;
  readonly status: TaskStatus;
}

// ---------------------------------------------------------------- health and audit

/** GET api/health */
export interface HealthFacts {
  readonly now: number;
  /** By name. */
  readonly workers: readonly WorkerFacts[];
  readonly oldestDue?: number;
  /** How much waits for people. It is counted up to `mostWaits`. */
  readonly waiting: number;
  /** Since when the oldest of it waits. */
  readonly waitingSince?: number;
  /** Why tokens were refused in this process, and how often. */
  readonly refusedTokens: Readonly<Record<string, number>>;
  /** How often the store failed in this process. */
  readonly storeErrors: number;
  /** Since when it has been failing. Missing if it works. */
  readonly storeFailingSince?: number;
  /** By number of rounds: how many calls of this process took so many. */
  readonly roundsPerCall: Readonly<Record<string, number>>;
  readonly figures: TaskCounts;
  /** The newest 50. */
  readonly audit: readonly AuditFacts[];
}

interface WorkerFacts {
  readonly name: string;
  readonly seenAt: number;
  readonly isSilent: boolean;
}

/** GET api/audit?call&after: the newest first, or one call's, the oldest first. */
export interface AuditList {
  readonly records: readonly AuditFacts[];
  readonly next?: string;
}

export interface AuditFacts {
  readonly id: string;
  readonly at: number;
  /** "sealed": the keys here do not open the record, so it says when it was made, for which call and with which key. */
  readonly action: string;
  /** The id of the key that a sealed record needs. */
  readonly keyId?: string;
  readonly tool?: string;
  readonly callId?: string;
  readonly taskId?: string;
  readonly principal?: string;
  readonly who?: string;
  readonly key?: string;
  readonly message?: string;
  readonly group?: string;
  readonly needed?: number;
  readonly via?: string;
  readonly note?: string;
  readonly value?: Json;
}

// ---------------------------------------------------------------- development: calls made of rounds

/** GET api/calls: the last 200, the newest first. */
export interface CallList {
  readonly calls: readonly CallRow[];
}

export interface CallRow {
  readonly id: string;
  readonly target: string;
  readonly principal?: string;
  readonly beganAt: number;
  readonly endedAt?: number;
  readonly rounds: number;
  /** "waiting": for the client's next request. */
  readonly status: "running" | "waiting" | "completed" | "failed" | "task";
  /** The task that the call became. */
  readonly task?: string;
}

/** GET api/calls/:id */
export interface CallDetails {
  readonly call: CallRow;
  readonly rounds: readonly RoundFacts[];
}

export interface RoundFacts {
  readonly round: number;
  readonly at: number;
  readonly ms: number;
  readonly requestBytes?: number;
  readonly responseBytes?: number;
  /** The token that came with the request. */
  readonly tokenBytes?: number;
  /** What that token says. */
  readonly token?: Json;
  /** What arrived with the request, by key. */
  readonly answers?: Json;
  /** The entries at the end of the round. `epoch` is the number of the round that wrote each. */
  readonly entries: readonly EntryFacts[];
  /** What the round ended with: a result, an error or questions. */
  readonly response?: Json;
}

/** POST api/try: calls a tool. POST api/try/:call goes on, or attacks. */
export interface TryRequest {
  readonly tool: string;
  readonly args: Json;
}

export type TryMore =
  | { readonly answers: Readonly<Record<string, Json>> }
  /** Changes one character of the token and sends it. */
  | { readonly tamper: true }
  /** Sends the request of that round again. */
  | { readonly replay: number };

export interface TryOutcome {
  /** The id of this conversation, for the next request. */
  readonly call: string;
  readonly status: "input_required" | "completed" | "failed" | "refused" | "task";
  /** What is asked, by key: `{ message, form }`. */
  readonly questions: readonly TriedQuestion[];
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
  readonly task?: string;
  readonly request: Json;
  readonly response: Json;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly tokenBytes?: number;
}

export interface TriedQuestion {
  readonly key: string;
  readonly message: string;
  readonly form?: FormJson;
  readonly url?: string;
  /** For a question that is neither: the request as it is on the wire. */
  readonly request?: Json;
}

// ---------------------------------------------------------------- what changes

/** One line of GET api/live. The page reads again what it shows. After a heartbeat, that is what depends on time. */
export type LiveLine =
  | { readonly type: "task"; readonly id: string }
  | { readonly type: "any" }
  | { readonly type: "call"; readonly id: string }
  /** `since`: when the store began to fail, as far as the server knows. */
  | { readonly type: "store"; readonly isDown: boolean; readonly since?: number }
  | { readonly type: "beat" };
