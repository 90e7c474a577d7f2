// The journal's entries while a run goes over them: a head that moves on, and an end that grows (R3).

import { isEffect } from "./journal.ts";
import type { Entry } from "./journal.ts";

export class Log {
  readonly entries: Entry[];
  #head = 0;
  /** Where each key's entry stands. */
  #places: Map<string, number> | undefined;

  /** The last run ended right at the last entry (or nothing has been told yet): what comes after it is new. */
  readonly endsOpen: boolean;

  constructor(entries: readonly Entry[]) {
    this.entries = [...entries];
    const last = entries.at(-1);
    this.endsOpen = last === undefined || last.kind === "checkpoint" || last.kind === "background";
  }

  /** The next entry to deliver. Notes are delivered to nobody. */
  head(): Entry | undefined {
    while (this.entries[this.#head]?.kind === "changed") this.#head += 1;
    return this.entries[this.#head];
  }

  /** The entry that waits for this key, delivered or not. */
  find(key: string): Entry | undefined {
    const place = this.#index().get(key);
    return place === undefined ? undefined : this.entries[place];
  }

  /** What has not been delivered yet. */
  rest(): readonly Entry[] {
    return this.entries.slice(this.#head);
  }

  /** The head has been delivered, or nobody asks for it any more. */
  moveOn(): void {
    if (this.head() !== undefined) this.#head += 1;
  }

  /** The first effect after this entry: what stands before it cannot be told anew. */
  effectAfter(entry: Entry): Entry | undefined {
    return this.entries.slice(this.entries.lastIndexOf(entry) + 1).find(isEffect);
  }

  hasChanged(key: string): boolean {
    return this.entries.some((entry) => entry.kind === "changed" && entry.key === key);
  }

  push(entry: Entry): void {
    this.entries.push(entry);
  }

  /** Removes this entry and all after it. Says from where, and what it took away. */
  cut(entry: Entry): { readonly from: number; readonly removed: readonly Entry[] } {
    const from = this.entries.lastIndexOf(entry);
    const removed = this.entries.splice(from);
    this.#places = undefined;
    return { from, removed };
  }

  #index(): Map<string, number> {
    if (this.#places === undefined) {
      this.#places = new Map();
      for (const [place, entry] of this.entries.entries()) {
        if (entry.kind !== "changed") this.#places.set(entry.key, place);
      }
    }
    return this.#places;
  }
}
