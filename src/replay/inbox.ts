// Events that are not entries yet: answers that have arrived and timers that are due (R3).

import type { Entry, Sender } from "./journal.ts";
import type { Json } from "../util/json.ts";

/** Something that has happened outside and can become an entry. */
export type InboxEvent =
  /** An answer to a question. */
  | ({
      readonly kind: "answer";
      readonly key: string;
      readonly value: Json;
      /** Of the question that was asked. Undefined if the answer came without a token, which would name the question. */
      readonly digest: string | undefined;
    } & Sender)
  /** A timer is over, or the time limit of the question with this digest. */
  | { readonly kind: "due"; readonly key: string; readonly digest: string | undefined };

/**
 * The events of one run. The carrier adds them in the order they happened. The answers of one request are in the order
 * of their questions.
 */
export class Inbox {
  readonly #events: InboxEvent[];
  /**
   * Set by the run to learn what arrives while it is going on. It is an object and not a function, because V8 keeps every
   * run until the next full collection if there is a closure in this place (measured on Node 20).
   */
  listener: { readonly arrived: () => void } | undefined;

  constructor(events: readonly InboxEvent[] = []) {
    this.#events = [...events];
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** Adds an event and tells the listener. */
  push(event: InboxEvent): void {
    this.#events.push(event);
    this.listener?.arrived();
  }

  /** Removes and returns the first event that fits. */
  take(fits: (event: InboxEvent) => boolean): InboxEvent | undefined {
    const index = this.#events.findIndex(fits);
    return index === -1 ? undefined : this.#events.splice(index, 1)[0];
  }

  /** Whether an event fits. It stays in the inbox. */
  has(fits: (event: InboxEvent) => boolean): boolean {
    return this.#events.some(fits);
  }

  /** Turns entries that were cut off the log back into events, ahead of all that have arrived since (R6). */
  putBack(entries: readonly Entry[]): readonly InboxEvent[] {
    const events = entries.flatMap(asEvent);
    this.#events.unshift(...events);
    return events;
  }

  /** The events that are left. */
  unused(): readonly InboxEvent[] {
    return this.#events;
  }

  /** The answers that are left and name their question. */
  unusedAnswers(): readonly InboxEvent[] {
    return this.#events.filter(({ kind, digest }) => kind === "answer" && digest !== undefined);
  }
}

function asEvent(entry: Entry): InboxEvent[] {
  switch (entry.kind) {
    case "answer":
      return [{ ...entry }];
    case "expired":
      return [{ kind: "due", key: entry.key, digest: entry.digest }];
    case "timer":
      return [{ kind: "due", key: entry.key, digest: undefined }];
    case "begun":
    case "step":
    case "threw":
    case "background":
    case "checkpoint":
    case "changed":
    case "patched":
      return [];
  }
}
