// Events that are not entries yet: answers that came, timers that are due (R3).

import type { Entry } from "./journal.ts";
import type { Json } from "../util/json.ts";

export type InboxEvent =
  | {
      readonly kind: "answer";
      readonly key: string;
      readonly value: Json;
      /** Of the question that was put. Absent: nobody knows what was put, the answer came without a token. */
      readonly digest: string | undefined;
    }
  /** A timer, or the time limit of the question with this digest, is over. */
  | { readonly kind: "due"; readonly key: string; readonly digest: string | undefined };

/** The carrier fills it in the order of time, one request's answers in the order they were asked. */
export class Inbox {
  readonly #events: InboxEvent[];
  /**
   * Set by the run, which hears of what arrives while it is under way. An object and not a function: for a closure in
   * this place V8 keeps every run until the next full collection (measured on Node 20).
   */
  listener: { readonly arrived: () => void } | undefined;

  constructor(events: readonly InboxEvent[] = []) {
    this.#events = [...events];
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  push(event: InboxEvent): void {
    this.#events.push(event);
    this.listener?.arrived();
  }

  /** Removes and returns the first event that fits. */
  take(fits: (event: InboxEvent) => boolean): InboxEvent | undefined {
    const index = this.#events.findIndex(fits);
    return index === -1 ? undefined : this.#events.splice(index, 1)[0];
  }

  /** Whether one fits, without taking it. */
  has(fits: (event: InboxEvent) => boolean): boolean {
    return this.#events.some(fits);
  }

  /** Entries that were cut off the log become events again, ahead of all that came since (R6). */
  putBack(entries: readonly Entry[]): readonly InboxEvent[] {
    const events = entries.flatMap(asEvent);
    this.#events.unshift(...events);
    return events;
  }

  unused(): readonly InboxEvent[] {
    return this.#events;
  }
}

function asEvent(entry: Entry): InboxEvent[] {
  switch (entry.kind) {
    case "answer":
      return [{ kind: "answer", key: entry.key, value: entry.value, digest: entry.digest }];
    case "expired":
      return [{ kind: "due", key: entry.key, digest: entry.digest }];
    case "timer":
      return [{ kind: "due", key: entry.key, digest: undefined }];
    case "step":
    case "threw":
    case "background":
    case "checkpoint":
    case "changed":
      return [];
  }
}
