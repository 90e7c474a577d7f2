// What a handler can do: the operations that `ctx` is built on.

import type { Question } from "./promises.ts";
import type { Json } from "../util/json.ts";

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
