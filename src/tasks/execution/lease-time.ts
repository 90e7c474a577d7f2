// How long a worker may assume that a task is its own, measured by its own clocks. worker.ts renews leases;
// held-claim.ts says what happens when one is lost.

/** A lease. It counts from before the request to the store was sent, because the store cannot have begun earlier. */
export class Lease {
  readonly #clocks: readonly (() => number)[];
  #since: readonly number[];
  #lengthMs: number;

  /** Takes several clocks, because a monotonic one stands still while the machine sleeps and a wall clock can be set. */
  constructor(clocks: readonly (() => number)[], lengthMs: number) {
    this.#clocks = clocks;
    this.#lengthMs = lengthMs;
    this.#since = this.mark();
  }

  /** The present moment on all clocks. */
  mark(): readonly number[] {
    return this.#clocks.map((clock) => clock());
  }

  /** Renews the lease by a request that was sent at this mark. */
  renew(mark: readonly number[], lengthMs: number): void {
    this.#since = mark;
    this.#lengthMs = lengthMs;
  }

  /** The time that is left. The clock that shows the most time passed decides. */
  get leftMs(): number {
    const passed = this.#clocks.map((clock, index) => clock() - (this.#since[index] ?? 0));
    return this.#lengthMs - Math.max(...passed);
  }

  get isOver(): boolean {
    return this.leftMs <= 0;
  }
}
