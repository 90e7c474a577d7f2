// The operations that `ctx` is built on, and the options that an author passes to them.

import type { Journal } from "./journal.ts";
import type { Question } from "./promises.ts";
import type { Json } from "../util/json.ts";

/** Everything a handler can request from the engine. */
export interface Operations {
  /** Asks a question and waits for its answer. */
  readonly ask: (key: string, question: QuestionSpec) => Question<unknown>;
  /** Runs an effect once and records its outcome. */
  readonly step: (key: string, body: Body, options?: StepSettings) => Promise<unknown>;
  /** A step that belongs to the question with this key. The engine derives the step's own key from it. */
  readonly aside: (key: string, body: Body, options?: StepSettings) => Promise<unknown>;
  /** Waits for a timer. */
  readonly sleep: (key: string, ms: number) => Promise<unknown>;
  /** Moves the call to the background. */
  readonly background: (options?: BackgroundOptions) => Promise<unknown>;
  /** Ends the round here, if a step has run in it, so that its outcome cannot be lost. */
  readonly checkpoint: (afterMs?: number) => Promise<unknown>;
  /** False in calls that had passed this place before the code asked; true in all others (R17). */
  readonly patched: (key: string) => Promise<boolean>;
  /** False while the run repeats what earlier runs have already done (R5). */
  readonly isLive: () => boolean;
  /** What the run has started with. */
  readonly journal: () => Journal;
  /** A signal that aborts when the run is stopped from outside (R12). */
  readonly signal: () => AbortSignal;
  /** Calls `release` when the run ends, or at once if it has ended. */
  readonly onRunEnd: (release: () => void) => void;
  /** Fails the run with an author's mistake. The promise that it returns never settles (R10). */
  readonly refuse: (key: string, mistake: Error) => Question<unknown>;
}

/** A question, as the engine sees it. */
export interface QuestionSpec {
  /** A digest of kind, message, schema and URL. It does not cover the reason for asking again (R7). */
  readonly digest: string;
  /** Also accepts an answer that came without a token, so that nothing shows which question it was given to. */
  readonly unsolicited?: boolean | undefined;
  /** The question expires after this time. The carrier measures it. */
  readonly timeoutMs?: number | undefined;
  /** Reads a raw answer before it is recorded, and again in every run that finds it in the journal. */
  readonly read: (raw: Json) => Reading | Promise<Reading>;
  /** Replaces `read` before recording, for a question that checks more than the form of its answer. */
  readonly admit?: ((raw: Json) => Reading | Promise<Reading>) | undefined;
  /** The error for a question that this client cannot be asked. The question rejects at once and leaves no entry. */
  readonly impossible?: Error | undefined;
  /** The error if its answer was given to another question. By default it is asked again, once (R7). */
  readonly ifChanged?: (() => Error) | undefined;
  /** Not the handler's: its key may contain "~", which the keys of authors may not. */
  readonly isOwn?: boolean | undefined;
  /** How its answer comes, unless the answer says so itself. It is kept with the answer, and nothing depends on it. */
  readonly via?: string | undefined;
  /** What the carrier shows. The engine does not look at it. */
  readonly shown: unknown;
  /** The method of `ctx` that asked the question, for messages. */
  readonly verb?: string | undefined;
}

/** What a question makes of a raw answer. */
export type Reading =
  /** The handler gets this value. */
  | ({ readonly kind: "value"; readonly value: unknown } & Recorded)
  /** The handler gets this error, because the person declined or cancelled. The answer is recorded. */
  | ({ readonly kind: "refused"; readonly error: Error } & Recorded)
  /** The answer is not recorded, and the question is asked again with this reason. */
  | { readonly kind: "invalid"; readonly reason: string };

interface Recorded {
  /** What `admit` records in place of the raw answer. `read` gets it in every later run. */
  readonly recorded?: Json | undefined;
}

/** The function that a step runs. */
export type Body = (step: StepInfo) => unknown;

/** What the body of a step is called with. */
export interface StepInfo {
  /**
   * Identifies this step of this call. It stays the same when the step runs again, so pass it to services that accept an
   * idempotency key.
   */
  readonly idempotencyKey: string;
  /** Which attempt this is. The first is 1; `retries` allows further ones. */
  readonly attempt: number;
  /** Aborts when the run ends. From then on, the outcome of the body is not recorded. */
  readonly signal: AbortSignal;
}

/** How `ctx.step` handles a body that throws. */
export interface StepOptions {
  /** How many more times to call the body if it throws. Default: 0. */
  readonly retries?: number | undefined;
  /** The pause before the first retry, in milliseconds. It doubles with each further one. Default: 0. */
  readonly backoffMs?: number | undefined;
}

/** The options of a step, as the engine sees them. */
export interface StepSettings extends StepOptions {
  /** The name of the step's undo (R16). */
  readonly undo?: string | undefined;
  /** For an aside: its body also starts in a round that could become a task. By default only the task starts it. */
  readonly isForRounds?: boolean | undefined;
  /** The method of `ctx` whose value is sent to the client while the body produces it. Its entry is marked. */
  readonly streams?: "stream" | "emit" | undefined;
}

/** How `ctx.background` moves a call to the background. */
export interface BackgroundOptions {
  /** How long the task is kept, in milliseconds from its creation. Default: the app's `limits.taskTtlMs`. */
  readonly ttlMs?: number | undefined;
}
