// What runs the engine and keeps the journal between two runs: a round, a task, or a test.

import type { InboxEvent } from "./inbox.ts";
import type { Entry } from "./journal.ts";
import type { Open } from "./outcome.ts";
import type { Stop } from "./stop.ts";
import type { Turns } from "./turns.ts";

/**
 * Rounds need little of this; `append`, `cut`, `publish`, `mayStart` and `canDetach` are for a carrier that
 * keeps the log in a store while the run is under way.
 */
export interface Carrier {
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
