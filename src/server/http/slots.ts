// What is there now, each in a numbered slot. Cheaper than a Set, and unlike one (under-way.ts) it keeps nothing that
// has left.

export class Slots<T extends object> {
  readonly #taken: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** Returns the number of its slot. */
  take(one: T): number {
    const slot = this.#free.pop() ?? this.#taken.length;
    this.#taken[slot] = one;
    return slot;
  }

  free(slot: number): void {
    this.#taken[slot] = undefined;
    this.#free.push(slot);
  }

  all(): T[] {
    return this.#taken.filter((one) => one !== undefined);
  }
}
