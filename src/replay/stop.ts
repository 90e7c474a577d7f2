// Ending a run from outside (R12). A plain list of listeners: an AbortSignal costs more than a whole short
// call, so one is made only for a handler that asks for it (R15).

export type StopReason = "Cancelled" | "Disconnected" | "LostLease" | "Draining" | "Deadline";

/** The `reason` of an aborted `ctx.signal` or step signal. */
export class Stopped extends Error {
  readonly reason: StopReason | "RunEnded";

  constructor(reason: StopReason | "RunEnded") {
    super(meaning[reason]);
    this.name = reason;
    this.reason = reason;
  }
}

const meaning: Record<StopReason | "RunEnded", string> = {
  Cancelled: "The call was cancelled.",
  Disconnected: "The client went away before it had a response.",
  LostLease: "Another worker has taken this task over.",
  Draining: "This process is shutting down; the work goes on elsewhere.",
  Deadline: "The run took longer than it may.",
  RunEnded: "The run that started this step has ended.",
};

/** A run, or whatever else ends then. */
export interface Stoppable {
  readonly stop: (reason: StopReason) => void;
}

export class Stop implements Stoppable {
  reason: StopReason | undefined;
  /** Nearly always there is one alone, so there is no list until there are more. */
  #only: Stoppable | undefined;
  #others: Set<Stoppable> | undefined;

  /** The first reason counts. */
  stop(reason: StopReason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    const [only, others = []] = [this.#only, this.#others];
    this.#only = undefined;
    this.#others = undefined;
    only?.stop(reason);
    for (const one of others) one.stop(reason);
  }

  add(one: Stoppable): void {
    if (this.#only === undefined) this.#only = one;
    else (this.#others ??= new Set()).add(one);
  }

  remove(one: Stoppable): void {
    if (this.#only === one) this.#only = undefined;
    else this.#others?.delete(one);
  }

  get listenerCount(): number {
    return (this.#only === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }
}
