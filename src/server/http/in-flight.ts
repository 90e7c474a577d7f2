// What is in flight now: rounds that run, and responses that are not sent yet.
//
// Neither is a Set. A Set that changes all the time gets a new table every few changes, and V8 makes each old table point
// to the next. Once one of them survives a full collection, every later table and what was in it lives until the next
// full collection. In a busy server that is every request (in-flight.test.ts shows it).

import type { ServerResponse } from "node:http";

/** The members that are in flight, each in a numbered slot. A slot keeps nothing that has left. */
export class InFlight<T extends object> {
  readonly #slots: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** Returns the number of the slot, for `remove`. */
  add(member: T): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = member;
    return slot;
  }

  /** Frees a slot. Call it once for each `add`. */
  remove(slot: number): void {
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Every member, in no particular order. */
  all(): T[] {
    return this.#slots.filter((member) => member !== undefined);
  }
}

/** Counts the responses that are not out yet. */
export class PendingResponses {
  readonly #onClosed: () => void;
  #count = 0;
  #onNone: (() => void)[] = [];

  /** `onClosed` is called after each response. */
  constructor(onClosed: () => void) {
    this.#onClosed = onClosed;
  }

  /** Counts a response until it is out or its connection has closed. */
  add(res: ServerResponse): void {
    this.#count += 1;
    // It is emitted once (see also pipelined.ts), so this needs no `once`, which makes two objects.
    res.on("close", this.#closed);
  }

  /** Resolves when the last response is out. */
  none(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count === 0) resolve();
      else this.#onNone.push(resolve);
    });
  }

  readonly #closed = () => {
    this.#count -= 1;
    this.#onClosed();
    if (this.#count > 0) return;
    for (const resolve of this.#onNone.splice(0)) resolve();
  };
}
