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

export class Stop {
  reason: StopReason | undefined;
  /** Nearly always there is one alone, so there is no list until there are more. */
  #only: ((reason: StopReason) => void) | undefined;
  #others: Set<(reason: StopReason) => void> | undefined;

  /** The first reason counts. */
  stop(reason: StopReason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    const [only, others = []] = [this.#only, this.#others];
    this.#only = undefined;
    this.#others = undefined;
    only?.(reason);
    for (const listener of others) listener(reason);
  }

  /** Returns the function that takes the listener off again. */
  on(listener: (reason: StopReason) => void): () => void {
    if (this.#only === undefined) this.#only = listener;
    else (this.#others ??= new Set()).add(listener);
    return () => {
      if (this.#only === listener) this.#only = undefined;
      else this.#others?.delete(listener);
    };
  }

  get listenerCount(): number {
    return (this.#only === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }
}
