// How a run ends, and what it waits for when it has not come to an end of its own.

import type { InboxEvent } from "./inbox.ts";
import type { Entry } from "./journal.ts";
import type { BackgroundOptions } from "./operations.ts";
import type { StopReason } from "./stop.ts";

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
