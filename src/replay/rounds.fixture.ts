// A carrier for the tests of the engine, with rounds in memory and a clock that tests move by hand.

import type { Carrier } from "./carrier.ts";
import type { QuestionSpec, Operations } from "./operations.ts";
import type { Outcome } from "./outcome.ts";
import { Inbox } from "./inbox.ts";
import type { InboxEvent } from "./inbox.ts";
import { emptyJournal } from "./journal.ts";
import type { Journal } from "./journal.ts";
import type { Json } from "../util/json.ts";
import { run } from "./run.ts";
import { nodeTurns } from "./turns.ts";

/** A clock that moves when a test says so. A timer of 0 ms fires with the next immediate. */
export class HandClock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    if (ms === 0) setImmediate(() => this.pass(0));
    return () => void this.#timers.delete(timer);
  };

  pass(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }

  get waiting(): number {
    return this.#timers.size;
  }
}

function testCarrier(overrides: Partial<Carrier> = {}): Carrier {
  return {
    name: "test",
    callId: "call-1",
    turns: nodeTurns,
    after: new HandClock().after,
    stallMs: 0,
    canDetach: true,
    ...overrides,
  };
}

/** A question that accepts any answer. */
export function plain(message: string, more: Partial<QuestionSpec> = {}): QuestionSpec {
  return {
    digest: message,
    shown: message,
    read: (value) => ({ kind: "value", value }),
    ...more,
  };
}

export type TestHandler = (operations: Operations) => unknown;

export function runOnce(
  handler: TestHandler,
  journal: Journal = emptyJournal,
  events: readonly InboxEvent[] | Inbox = [],
  carrier: Partial<Carrier> = {},
): Promise<Outcome<unknown>> {
  const inbox = events instanceof Inbox ? events : new Inbox(events);
  return run(
    (_, operations) => handler(operations),
    undefined,
    { journal, inbox },
    testCarrier(carrier),
  );
}

/** The journal that a suspended run leaves behind. */
export function journalOf(outcome: Outcome<unknown>): Journal {
  if (outcome.kind === "stopped" || outcome.kind === "done" || outcome.kind === "failed") {
    throw new Error(`no journal after ${outcome.kind}: ${JSON.stringify(outcome)}`);
  }
  return {
    entries: outcome.entries,
    out: outcome.open.map(({ key, digest }) => ({ key, digest })),
  };
}

/** Answers every open question, in the order they were asked, and makes every timer due. */
export function answersTo(
  outcome: Outcome<unknown>,
  answer: (key: string) => Json | undefined,
): InboxEvent[] {
  if (!("open" in outcome)) return [];
  return outcome.open.flatMap(({ kind, key, digest }): InboxEvent[] => {
    if (kind === "timer") return [{ kind: "due", key, digest }];
    const value = answer(key);
    return value === undefined ? [] : [{ kind: "answer", key, value, digest }];
  });
}

/** Plays a call to its end. It answers what is open and runs the handler again, at most `most` times. */
export async function converse(
  handler: TestHandler,
  answer: (key: string) => Json | undefined = (key) => `answer to ${key}`,
  { most = 50, carrier = {} }: { most?: number; carrier?: Partial<Carrier> } = {},
): Promise<{ outcome: Outcome<unknown>; outcomes: Outcome<unknown>[] }> {
  const outcomes: Outcome<unknown>[] = [];
  let journal = emptyJournal;
  let events: InboxEvent[] = [];
  for (let round = 1; round <= most; round += 1) {
    const outcome = await runOnce(handler, journal, events, carrier);
    outcomes.push(outcome);
    if (!("open" in outcome)) return { outcome, outcomes };
    journal = journalOf(outcome);
    events = [...outcome.unused, ...answersTo(outcome, answer)];
  }
  throw new Error(`not at its end after ${most} rounds`);
}
