// How long a worker may believe that a task is its own, by its own clocks.

/** Counted from before the store was asked: the store cannot have begun earlier. */
export class Lease {
  readonly #clocks: readonly (() => number)[];
  #since: readonly number[];
  #lengthMs: number;

  /** Several clocks: a monotonic one stands still while a machine sleeps, and the other may be set. */
  constructor(clocks: readonly (() => number)[], lengthMs: number) {
    this.#clocks = clocks;
    this.#lengthMs = lengthMs;
    this.#since = this.mark();
  }

  mark(): readonly number[] {
    return this.#clocks.map((clock) => clock());
  }

  /** Renewed by a request that was sent at this mark. */
  renew(mark: readonly number[], lengthMs: number): void {
    this.#since = mark;
    this.#lengthMs = lengthMs;
  }

  get leftMs(): number {
    const passed = this.#clocks.map((clock, index) => clock() - (this.#since[index] ?? 0));
    return this.#lengthMs - Math.max(...passed);
  }

  get isOver(): boolean {
    return this.leftMs <= 0;
  }
}
