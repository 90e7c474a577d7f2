// What has arrived for a task, as events in the inbox of the engine, and which arrivals are used up.

import { Inbox } from "../../replay/inbox.ts";
import type { InboxEvent } from "../../replay/inbox.ts";
import type { OpenedAnswer } from "../sealing.ts";
import type { Arrival, Wait } from "../task.ts";

type Answered = Extract<InboxEvent, { kind: "answer" }>;

/** The arrivals of one run. */
export class Arrivals {
  readonly inbox: Inbox;
  readonly #open: (arrived: Arrival) => OpenedAnswer;
  /** The arrival behind each event that the store does not know to be used up. */
  readonly #ids = new Map<InboxEvent, string>();
  readonly #known = new Set<string>();
  /** The wire keys of timers and time limits that are in the inbox already. */
  readonly #due = new Set<string>();

  constructor(
    arrived: readonly Arrival[],
    waits: readonly Wait[],
    now: number,
    open: (arrived: Arrival) => OpenedAnswer,
  ) {
    this.#open = open;
    const timed = [
      ...arrived.flatMap((one) => this.#eventsOf(one)),
      ...this.#dueOf(waits, now).map(({ event, at }) => ({ event, at })),
    ];
    // Events go by time. If the time limit had passed when the answer arrived, the timeout comes first and wins (R7).
    // The sort is stable, so the answers of one request stay in the order of their questions.
    this.inbox = new Inbox(
      timed.toSorted((one, other) => one.at - other.at).map(({ event }) => event),
    );
  }

  /** Adds what is new to the inbox while the handler runs. */
  push(arrived: readonly Arrival[]): void {
    for (const one of arrived) {
      for (const { event } of this.#eventsOf(one)) this.inbox.push(event);
    }
  }

  /** When the next timer or time limit that is not in the inbox yet ends. */
  nextDue(waits: readonly Wait[]): number | undefined {
    const times = waits.flatMap(({ wire, dueAt }) =>
      dueAt === undefined || this.#due.has(wire) ? [] : [dueAt],
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Adds the timers and time limits that have ended to the inbox. */
  pushDue(waits: readonly Wait[], now: number): void {
    for (const { event } of this.#dueOf(waits, now)) this.inbox.push(event);
  }

  /** A cut has put this answer back into the inbox, so it is an arrival again. */
  returned(event: Answered, id: string): void {
    this.#ids.set(event, id);
    this.#known.add(id);
  }

  /** The ids of arrivals that have left the inbox. They stay on this list until `forget`. */
  taken(): readonly string[] {
    const left = new Set(this.inbox.unused());
    return [...this.#ids].flatMap(([event, id]) => (left.has(event) ? [] : [id]));
  }

  /** The store knows by now that these are used up. */
  forget(taken: readonly string[]): void {
    for (const [event, id] of this.#ids) if (taken.includes(id)) this.#ids.delete(event);
  }

  #eventsOf(arrived: Arrival): { readonly event: InboxEvent; readonly at: number }[] {
    const { id, key, digest, at, dueAt } = arrived;
    if (this.#known.has(id)) return [];
    const { value, from } = this.#open(arrived);
    const answer: InboxEvent = { kind: "answer", key, digest, value, ...from };
    this.#known.add(id);
    this.#ids.set(answer, id);
    const isLate = dueAt !== undefined && dueAt <= at;
    const due: InboxEvent = { kind: "due", key, digest };
    return isLate
      ? [
          { event: due, at: dueAt },
          { event: answer, at },
        ]
      : [{ event: answer, at }];
  }

  #dueOf(
    waits: readonly Wait[],
    now: number,
  ): { readonly event: InboxEvent; readonly at: number }[] {
    return waits.flatMap(({ wire, key, digest, dueAt }) => {
      if (dueAt === undefined || dueAt > now || this.#due.has(wire)) return [];
      this.#due.add(wire);
      return [{ event: { kind: "due" as const, key, digest }, at: dueAt }];
    });
  }
}
