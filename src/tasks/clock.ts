// The store's clock as this process knows it: what the store last said, and what has passed here since. Leases
// and timers of all replicas are measured by that one clock; replicas' own may be wrong.

export interface Clock {
  /** The store's time. */
  readonly now: () => number;
  /** Calls back after a while; returns the function that calls it off. */
  readonly after: (ms: number, callback: () => void) => () => void;
  readonly wait: (ms: number) => Promise<void>;
}

// Timers take no more than 31 bits, and fire at once beyond.
const longestMs = 2 ** 31 - 1;

export class StoreClock implements Clock {
  readonly #local: () => number;
  #offset: number;

  constructor(local: () => number = () => performance.now()) {
    this.#local = local;
    this.#offset = Date.now() - local();
  }

  /** The store has just said that it is this late. */
  set(storeNow: number): void {
    this.#offset = storeNow - this.#local();
  }

  /** In whole milliseconds, as stores keep them. */
  readonly now = (): number => Math.round(this.#local() + this.#offset);

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, Math.min(longestMs, Math.max(0, Math.ceil(ms))));
    return () => clearTimeout(timer);
  };

  readonly wait = (ms: number): Promise<void> =>
    new Promise((resolve) => void this.after(ms, resolve));
}
