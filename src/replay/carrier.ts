// The interface between the engine and whatever runs it and keeps the journal between runs: a round, a task or a test.

import type { InboxEvent } from "./inbox.ts";
import type { AnswerEntry, Entry } from "./journal.ts";
import type { Open } from "./outcome.ts";
import type { Stop } from "./stop.ts";
import type { Turns } from "./turns.ts";

/**
 * What the engine needs from its surroundings. Rounds implement little of it; `append`, `write`, `cut`, `publish` and `mayStart`
 * are for a carrier that keeps the log in a store during the run.
 */
export interface Carrier {
  /** The handler's name, for messages. */
  readonly name: string;
  /** Identifies the call. It is part of every idempotency key. */
  readonly callId: string;
  /** How to wait for the end of a turn (R4). */
  readonly turns: Turns;
  /** Calls back after this time. Returns a function that cancels the callback. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** How long a replaying handler may do nothing before the engine takes it for changed (R6), in milliseconds. */
  readonly stallMs: number;
  /**
   * Makes an entry durable. If it throws, the run fails before the entry is delivered. For an answer, `shown` is what its
   * question gave the carrier to show. `isRepeatable` says that a later run would make the same entry of the same answer. A
   * carrier that keeps the answer until then may put the entry off, and makes it durable when `write` is called or with the
   * next thing that it makes durable.
   */
  readonly append?:
    | ((entry: Entry, shown?: unknown, isRepeatable?: boolean) => void | Promise<void>)
    | undefined;
  /**
   * Makes durable what `append` has put off. Called before bodies start, because they may do anything with what the handler
   * knows. Undefined: there is nothing.
   */
  readonly write?: (() => Promise<void> | undefined) | undefined;
  /** Called with each answer that an earlier run has recorded, before it is delivered. */
  readonly onReplayed?: ((entry: AnswerEntry, shown: unknown) => void) | undefined;
  /** Removes the entries from this index on. Their answers and timers go back to the inbox as these events. */
  readonly cut?: ((from: number, back: readonly InboxEvent[]) => void | Promise<void>) | undefined;
  /** Shows what is open while bodies are running. For tasks. */
  readonly publish?: ((open: readonly Open[]) => void | Promise<void>) | undefined;
  /** Whether `background()` ends the run as detached. If false, the handler continues here. */
  readonly canDetach: boolean;
  /** Whether `checkpoint()` may end the run. False if there is no further round to continue in. Default: true. */
  readonly canYield?: boolean | undefined;
  /** Called with a promise for each asynchronous body. It resolves when the body ends, even if the run has ended before. */
  readonly onBody?: ((end: Promise<void>, key: string) => void) | undefined;
  /** Called with what a body that has an undo returned or threw after the end of its run (R16). */
  readonly onLeft?: ((entry: Entry) => void) | undefined;
  /**
   * Called once for each step that fails, with the error of its body. The handler gets what JSON keeps of it. Before that it is
   * called for each attempt that another one follows, with a message that says so.
   */
  readonly onStepError?: ((key: string, error: unknown) => void) | undefined;
  /** Looks at what a body returned or threw before it is recorded. May throw a mistake of the author, or change an error. */
  readonly vet?: ((entry: Entry) => Entry) | undefined;
  /** Keeps what bodies returned after their run had lost its lease, for a later run in the same process. */
  readonly late?: LateOutcomes | undefined;
  /**
   * Called before each body. False ends the run as stopped, because the lease of a task may be over. "later" ends it as
   * yielded without starting the body, because a tool with `once` starts none in a request that can be sent twice.
   */
  readonly mayStart?: ((key: string) => boolean | "later") | undefined;
  /**
   * An earlier run of this journal may have gone further than its last entry and then died, so a body that is not in the
   * journal may have run (R17).
   */
  readonly isInterrupted?: boolean | undefined;
  /** The process of the last run died, perhaps after it had recorded an entry and before it had done anything with it. */
  readonly isTakenOver?: boolean | undefined;
  /**
   * False: fail rather than cut the journal, or go on without asking for a note of `patched` that is in it, because another
   * version wrote it and can go on (R17).
   */
  readonly mayForget?: boolean | undefined;
  /**
   * Whether a question that has changed before may be asked once more (R7), because another version of the code asked it
   * last and no such code is left to go on (R17). Default: no.
   */
  readonly mayAskAgain?: (() => boolean | Promise<boolean>) | undefined;
  /** How long this run has taken, for `checkpoint({ afterMs })`. */
  readonly elapsedMs?: (() => number) | undefined;
  /** Stops the run from outside (R12). */
  readonly stop?: Stop | undefined;
  /**
   * Ends the run in order (R12): nothing new starts, and the outcomes of running bodies are still recorded. For a carrier
   * that records during the run; to others it would only mean a later end.
   */
  readonly drain?: Stop | undefined;
  /** The place in the author's code that uses this key now. For development only, because it costs a stack trace. */
  readonly place?: ((key: string) => string | undefined) | undefined;
  /** Returns a function that runs others in the asynchronous context of this moment (AsyncLocalStorage). */
  readonly capture?: (() => <T>(call: () => T) => T) | undefined;
  /** Knows which step's body the current code belongs to, also after an `await` (R10). */
  readonly nesting?: Nesting | undefined;
  /** Receives mistakes that cannot be part of the outcome, because the run has ended. */
  readonly report?: ((mistake: unknown) => void) | undefined;
  /** Called when the handler waits for something that is not an operation of `ctx`. For development. */
  readonly onIdle?: (() => void) | undefined;
}

/** The part of a carrier that records the entries of a run while it runs, and stops it. */
export type RunRecording = Pick<
  Carrier,
  | "append"
  | "write"
  | "cut"
  | "publish"
  | "mayStart"
  | "onBody"
  | "onLeft"
  | "late"
  | "stop"
  | "drain"
  | "isInterrupted"
  | "isTakenOver"
  | "mayForget"
  | "mayAskAgain"
>;

/** Outcomes that came too late to be recorded by the run that started their bodies (R9). */
export interface LateOutcomes {
  readonly keep: (entry: Entry) => void;
  /** The outcome of this step, if an earlier run has left one. The body does not run again then. */
  readonly take: (key: string) => Entry | undefined;
}

/** Follows step bodies through their asynchronous calls. */
export interface Nesting {
  readonly run: <T>(step: string, body: () => T) => T;
  readonly current: () => string | undefined;
}
