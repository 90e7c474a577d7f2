// Ends a run from outside (R12). A Stop is a plain list of listeners, because an AbortSignal costs more than a whole short
// call. A signal is made only for a handler that reads it (R15).

/** Why a run was ended from outside. */
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
  Disconnected: "The client disconnected before it had a response.",
  LostLease: "Another worker has taken over this task.",
  Draining: "This process is shutting down. The work continues elsewhere.",
  Deadline: "The run took longer than it is allowed to.",
  RunEnded: "The run that started this step has ended.",
};

/** A run, or anything else that can be stopped. */
export interface Stoppable {
  readonly stop: (reason: StopReason) => void;
}

/** Stops everything that has been added to it, once. */
export class Stop implements Stoppable {
  /** Why it was stopped. Undefined until then. */
  reason: StopReason | undefined;
  /** Nearly always there is only one listener, so the list is made when a second one is added. */
  #only: Stoppable | undefined;
  #others: Set<Stoppable> | undefined;

  /** Stops all listeners. Only the first call has an effect. */
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

  /** How many listeners there are. */
  get listenerCount(): number {
    return (this.#only === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }
}
