// How a run ends, and what it waits for if its handler has not finished.

import type { InboxEvent } from "./inbox.ts";
import type { Entry } from "./journal.ts";
import type { BackgroundOptions } from "./operations.ts";
import type { StopReason } from "./stop.ts";

/** A question or timer that the run waits for. */
export interface Open {
  readonly kind: "question" | "timer";
  readonly key: string;
  /** Of the question. Undefined for a timer. */
  readonly digest: string | undefined;
  /** The length of the timer, or the time limit of the question if it has one. */
  readonly ms: number | undefined;
  /** Why the last answer was refused. */
  readonly reason: string | undefined;
  /** What the question gave the carrier to show. */
  readonly shown: unknown;
}

/** How a run has ended (R1). */
export type Outcome<T> =
  | { readonly kind: "done"; readonly value: T; readonly entries: readonly Entry[] }
  | {
      readonly kind: "failed";
      readonly error: unknown;
      readonly entries: readonly Entry[];
      /** The journal notes a `patched` that this run has not asked for, so newer code wrote it (R17). */
      readonly isOlder?: boolean;
    }
  | ({ readonly kind: "waiting" } & Suspended)
  | ({ readonly kind: "detached"; readonly options: BackgroundOptions } & Suspended)
  | ({ readonly kind: "yielded" } & Suspended)
  | { readonly kind: "stopped"; readonly reason: StopReason };

/** What a run leaves behind when its handler has not finished. */
export interface Suspended {
  /** These include the entry of the `background` or `checkpoint` at which the run ended. A store still has to append it. */
  readonly entries: readonly Entry[];
  /** What the run waits for. */
  readonly open: readonly Open[];
  /** Answers to questions that were asked and that the handler, in its present version, has not asked yet. */
  readonly unused: readonly InboxEvent[];
}
