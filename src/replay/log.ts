// The entries of the journal during a run: the head moves on as entries are delivered, and new ones are added at the end (R3).

import { isEffect, isNote } from "./journal.ts";
import type { Entry } from "./journal.ts";

/** The entries of one run, delivered and not. */
export class Log {
  readonly entries: Entry[];
  #head = 0;
  /** The index of each key's entry. Made when it is first needed. */
  #places: Map<string, number> | undefined;
  /** The steps that have begun. Made when it is first needed. */
  #begun: Set<string> | undefined;

  /** The last run ended exactly at the last entry, or there is none, so everything after it is new to the handler. */
  readonly endsOpen: boolean;
  /** This run has added more than notes, so it has gone further than any run before it. */
  hasGrown = false;

  constructor(entries: readonly Entry[]) {
    this.entries = [...entries];
    const last = entries.findLast(({ kind }) => kind !== "patched");
    this.endsOpen = last === undefined || last.kind === "checkpoint" || last.kind === "background";
  }

  /** The next entry to deliver. Notes are skipped. */
  head(): Entry | undefined {
    for (;;) {
      const entry = this.entries[this.#head];
      if (entry === undefined || !isNote(entry)) return entry;
      this.#head += 1;
    }
  }

  /** Moves past notes that a step has begun, as far as the handler has requested these steps again (R16). */
  passBegun(isRequested: (key: string) => boolean): void {
    for (let entry = this.head(); entry?.kind === "begun"; entry = this.head()) {
      if (!isRequested(entry.key)) return;
      this.#head += 1;
    }
  }

  /** Whether this step has begun. */
  hasBegun(key: string): boolean {
    if (this.#begun === undefined) {
      const begun = this.entries.filter(({ kind }) => kind === "begun");
      this.#begun = new Set(begun.map((entry) => entry.key));
    }
    return this.#begun.has(key);
  }

  /** The entry with this key, delivered or not. What this run adds need not be found, because no key is requested twice. */
  find(key: string): Entry | undefined {
    // Looking at a few entries takes less time than making an index.
    if (this.entries.length <= few) {
      return this.entries.findLast((entry) => entry.key === key && !isNote(entry));
    }
    const place = this.#index().get(key);
    return place === undefined ? undefined : this.entries[place];
  }

  /** The entries that have not been delivered. */
  rest(): readonly Entry[] {
    return this.entries.slice(this.#head);
  }

  /** Moves past the head, because it has been delivered or is no longer requested. */
  moveOn(): void {
    if (this.head() !== undefined) this.#head += 1;
  }

  /** The first effect after this entry. Nothing before an effect can be changed any more. */
  effectAfter(entry: Entry): Entry | undefined {
    return this.entries.slice(this.entries.lastIndexOf(entry) + 1).find(isEffect);
  }

  /** Whether the log notes that the wording of this question has changed. */
  hasChanged(key: string): boolean {
    return this.entries.some((entry) => entry.kind === "changed" && entry.key === key);
  }

  /** Adds an entry at the end. */
  push(entry: Entry): void {
    this.entries.push(entry);
    if (!isNote(entry)) this.hasGrown = true;
    if (entry.kind !== "begun") return;
    this.#begun?.add(entry.key);
    // Nothing is delivered for it.
    this.moveOn();
  }

  /** Removes this entry and all after it. Returns the index where the log was cut and what was removed. */
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
        if (!isNote(entry)) this.#places.set(entry.key, place);
      }
    }
    return this.#places;
  }
}

const few = 8;
