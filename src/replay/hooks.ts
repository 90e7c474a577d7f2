// The engine's edges: what a handler may do, what a carrier provides, how a run ends.

import type { Question } from "./promises.ts";
import type { InboxEvent } from "./inbox.ts";
import type { Entry } from "./journal.ts";
import type { Json } from "../util/json.ts";
import type { Stop, StopReason } from "./stop.ts";
import type { Turns } from "./turns.ts";

// ---------------------------------------------------------------- towards the handler

/** What `ctx` is built on. */
export interface Operations {
  readonly ask: (key: string, asking: Asking) => Question<unknown>;
  readonly step: (key: string, body: Body, options?: StepOptions) => Promise<unknown>;
  /** A step that belongs to the question of this key: its author has no name for it. */
  readonly aside: (key: string, body: Body) => Promise<unknown>;
  readonly sleep: (key: string, ms: number) => Promise<unknown>;
  readonly background: (options?: BackgroundOptions) => Promise<unknown>;
  readonly checkpoint: (afterMs?: number) => Promise<unknown>;
  /** False while the run goes over what has happened already (R5). */
  readonly isLive: () => boolean;
  readonly signal: () => AbortSignal;
  readonly onRunEnd: (release: () => void) => void;
  /** A mistake of the author's: the run fails, and the promise it gives never settles (R10). */
  readonly refuse: (key: string, mistake: Error) => Question<unknown>;
}

export interface Asking {
  /** Of kind, message, schema and URL, never of a reason for asking again (R7). */
  readonly digest: string;
  /** Also takes an answer of which nobody knows to what question it was given. */
  readonly unsolicited?: boolean | undefined;
  /** After this time the question counts as expired. The carrier keeps the time. */
  readonly timeoutMs?: number | undefined;
  /** Reads a raw answer: before it is recorded, and again in every run that finds it recorded. */
  readonly read: (raw: Json) => Reading | Promise<Reading>;
  /** In place of `read` before recording, where more than the answer's form has to be right. */
  readonly admit?: ((raw: Json) => Reading | Promise<Reading>) | undefined;
  /** The error for an operation that cannot even be put to this client. Settles at once, leaves no entry. */
  readonly impossible?: Error | undefined;
  /** For the carrier: what to show. */
  readonly shown: unknown;
  /** The member of `ctx` it was asked with, for messages. */
  readonly verb?: string | undefined;
}

export type Reading =
  | { readonly kind: "value"; readonly value: unknown }
  /** A proper answer that the handler sees as an error: declined, cancelled. */
  | { readonly kind: "refused"; readonly error: Error }
  /** Not recorded; asked again with the reason. */
  | { readonly kind: "invalid"; readonly reason: string };

export type Body = (step: StepInfo) => unknown;

export interface StepInfo {
  /** The same whenever this step of this call is run again: give it to services that take one. */
  readonly idempotencyKey: string;
  /** Counts from 1 within a run. */
  readonly attempt: number;
  /** Aborts when the run ends: nobody waits for the body then, and its outcome is not recorded. */
  readonly signal: AbortSignal;
}

export interface StepOptions {
  /** How often to try again when the body throws. */
  readonly retries?: number | undefined;
  /** The wait before the first of these tries; doubled for each further one. */
  readonly backoffMs?: number | undefined;
}

export interface BackgroundOptions {
  readonly ttlMs?: number | undefined;
}

// ---------------------------------------------------------------- towards the carrier

/**
 * Rounds need little of this; `append`, `cut`, `publish`, `mayStart` and `canDetach` are for a carrier that
 * keeps the log in a store while the run is under way.
 */
export interface Hooks {
  /** The handler's name, for messages. */
  readonly name: string;
  readonly callId: string;
  readonly turns: Turns;
  /** Calls back after a while; returns the function that calls it off. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** How long a replaying handler may do nothing before it counts as changed (R6). */
  readonly stallMs: number;
  /** Makes an entry durable. Throwing ends the run as failed, before the entry is delivered. */
  readonly append?: ((entry: Entry) => void | Promise<void>) | undefined;
  /** Takes back the entries from this index on. What they told goes back to the inbox as these events. */
  readonly cut?: ((from: number, back: readonly InboxEvent[]) => void | Promise<void>) | undefined;
  /** Tasks: show what is open while bodies are running. */
  readonly publish?: ((open: readonly Open[]) => void | Promise<void>) | undefined;
  /** What `background()` does: end the run as detached, or go on here. */
  readonly canDetach: boolean;
  /** False: `checkpoint()` goes on here, because there is no further round to go on in. */
  readonly canYield?: boolean | undefined;
  /** A body has been started that takes its time; resolves when it comes to an end, be the run over by then or not. */
  readonly onBody?: ((end: Promise<void>) => void) | undefined;
  /**
   * Asked before each body. False ends the run as stopped (tasks: the lease may be over); "later" as yielded, with
   * nothing started (`once`: not in a round that can be sent twice).
   */
  readonly mayStart?: (() => boolean | "later") | undefined;
  /** How long this run has taken, for `checkpoint({ afterMs })`. */
  readonly elapsedMs?: (() => number) | undefined;
  readonly stop?: Stop | undefined;
  /** Where in the author's code the current call stands. Development only: it costs a stack trace. */
  readonly place?: (() => string | undefined) | undefined;
  /** Gives a function that runs others in the asynchronous context of this moment (AsyncLocalStorage). */
  readonly capture?: (() => <T>(call: () => T) => T) | undefined;
  /** Which step's body the current code runs in, also after an `await` (R10). */
  readonly nesting?: Nesting | undefined;
  /** Mistakes that no outcome can tell, because the run has ended. */
  readonly report?: ((mistake: unknown) => void) | undefined;
  /** Development: the handler waits for something that is not an operation of `ctx`. */
  readonly onIdle?: (() => void) | undefined;
}

export interface Nesting {
  readonly run: <T>(step: string, body: () => T) => T;
  readonly current: () => string | undefined;
}

/** A question or timer the run waits for. */
export interface Open {
  readonly kind: "question" | "timer";
  readonly key: string;
  readonly digest: string | undefined;
  /** A timer's length, or a question's time limit. */
  readonly ms: number | undefined;
  /** Why the last answer did not do. */
  readonly reason: string | undefined;
  readonly shown: unknown;
}

export type Outcome<T> =
  | { readonly kind: "done"; readonly value: T; readonly entries: readonly Entry[] }
  | { readonly kind: "failed"; readonly error: unknown; readonly entries: readonly Entry[] }
  | ({ readonly kind: "waiting" } & Suspended)
  | ({ readonly kind: "detached"; readonly options: BackgroundOptions } & Suspended)
  | ({ readonly kind: "yielded" } & Suspended)
  | { readonly kind: "stopped"; readonly reason: StopReason };

interface Suspended {
  /** With the entry of the `background` or `checkpoint` at which it ended: a store has yet to append that one. */
  readonly entries: readonly Entry[];
  readonly open: readonly Open[];
  /** Answers to questions that were put, which the handler has not asked for yet in this version. */
  readonly unused: readonly InboxEvent[];
}
