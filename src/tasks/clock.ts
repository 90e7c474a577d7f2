// The store's clock as this process knows it: the time that the store last gave, plus the time that has passed here
// since. All replicas measure leases and timers by that one clock, because their own clocks may be wrong.

import { timerMs } from "../util/timers.ts";

/** A clock that also keeps timers. */
export interface Clock {
  /** The store's time. */
  readonly now: () => number;
  /** Calls back after a while. Returns a function that cancels the timer. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** Resolves after a while. */
  readonly wait: (ms: number) => Promise<void>;
}

/** A clock that follows the store's. */
export class StoreClock implements Clock {
  readonly #local: () => number;
  #offset: number;

  constructor(local: () => number = () => performance.now()) {
    this.#local = local;
    this.#offset = Date.now() - local();
  }

  /** Sets the clock to the time that the store has just given. */
  set(storeNow: number): void {
    this.#offset = storeNow - this.#local();
  }

  /** The store's time in whole milliseconds, as stores keep them. */
  readonly now = (): number => Math.round(this.#local() + this.#offset);

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, timerMs(ms));
    return () => clearTimeout(timer);
  };

  readonly wait = (ms: number): Promise<void> =>
    new Promise((resolve) => void this.after(ms, resolve));

  /** Waits for some work, but not longer than this. The timer ends with the work, because it would keep the process alive. */
  async within(ms: number, work: Promise<unknown>): Promise<void> {
    let callOff: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      callOff = this.after(ms, resolve);
    });
    await Promise.race([work, late]).finally(() => callOff?.());
  }
}
