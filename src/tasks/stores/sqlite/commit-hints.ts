// Who is told that something may have changed. Changes made here are told at once, after their commit; those of
// other processes by asking SQLite now and then whether there were any, while somebody listens.

import type { ChangeHint } from "../../store.ts";

const everyMs = 50;

export class Hints {
  /** SQLite's count of others' commits. Undefined: not open yet. */
  readonly #version: () => number | undefined;
  readonly #listeners = new Set<(hint: ChangeHint) => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen: number | undefined;

  constructor(version: () => number | undefined) {
    this.#version = version;
  }

  readonly subscribe = (listener: (hint: ChangeHint) => void): (() => void) => {
    // A function of our own: the same listener may be given twice.
    const own = (hint: ChangeHint) => listener(hint);
    this.#listeners.add(own);
    this.#start();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.end();
    };
  };

  /** Not within the caller's operation: a listener's mistake is not to look like the store's. */
  readonly tell = (hint: ChangeHint): void =>
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(hint);
    });

  readonly end = (): void => {
    this.#listeners.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#seen = this.#look();
    this.#timer = setInterval(() => {
      const version = this.#look();
      if (version === undefined || version === this.#seen) return;
      this.#seen = version;
      this.tell({ id: undefined });
    }, everyMs);
    this.#timer.unref();
  }

  #look(): number | undefined {
    try {
      return this.#version();
    } catch {
      // Locked at this moment: the next look will tell.
      return undefined;
    }
  }
}
