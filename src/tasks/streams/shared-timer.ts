// One timer for all streams of a process. The stream that is due first takes the others along, so that from then on their
// batches are written with one statement.

import type { Clock } from "../clock.ts";

/** A timer that many wait for. */
export class SharedTimer {
  readonly #waiting = new Set<() => void>();
  #dueAt = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /** Calls back after at most so many milliseconds. Returns a function that cancels this. */
  within(ms: number, clock: Pick<Clock, "after">, call: () => void): () => void {
    this.#waiting.add(call);
    const dueAt = performance.now() + ms;
    if (dueAt < this.#dueAt) {
      this.#stop();
      this.#dueAt = dueAt;
      this.#cancel = clock.after(ms, this.#due);
    }
    return () => {
      this.#waiting.delete(call);
      if (this.#waiting.size === 0) this.#stop();
    };
  }

  readonly #due = (): void => {
    const due = [...this.#waiting];
    this.#waiting.clear();
    this.#stop();
    for (const call of due) call();
  };

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
  }
}
