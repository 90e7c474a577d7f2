// Hints that something may have changed. A change that this process made is announced right after its commit. Changes
// by other processes are found by asking SQLite at short intervals, while there are listeners.

import type { ChangeHint } from "../../store.ts";

const everyMs = 50;

/** The hints of one SQLite store. */
export class CommitHints {
  /** A number that SQLite changes when another process commits. It is undefined while the database is not open. */
  readonly #version: (() => number | undefined) | undefined;
  readonly #listeners = new Set<(hint: ChangeHint) => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen: number | undefined;

  /** Without a version, no other process uses the database. */
  constructor(version: (() => number | undefined) | undefined) {
    this.#version = version;
  }

  readonly subscribe = (listener: (hint: ChangeHint) => void): (() => void) => {
    // The same listener may subscribe twice, so each subscription gets its own function.
    const own = (hint: ChangeHint) => listener(hint);
    this.#listeners.add(own);
    this.#start();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.end();
    };
  };

  /** Calls the listeners later, so that an error in a listener does not look like an error of the store. */
  readonly announce = (hint: ChangeHint): void =>
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(hint);
    });

  readonly end = (): void => {
    this.#listeners.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #start(): void {
    if (this.#timer !== undefined || this.#version === undefined) return;
    this.#seen = this.#look();
    this.#timer = setInterval(() => {
      const version = this.#look();
      if (version === undefined || version === this.#seen) return;
      this.#seen = version;
      this.announce({ id: undefined });
    }, everyMs);
    this.#timer.unref();
  }

  #look(): number | undefined {
    try {
      return this.#version?.();
    } catch {
      // The database is locked at this moment. The next look tries again.
      return undefined;
    }
  }
}
