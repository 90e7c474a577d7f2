// How an answer becomes what the handler gets (R7): it is read when it arrives, before it is recorded, and again in every
// later run that finds it in the log.

import { copyJson } from "../util/json.ts";
import type { Divergence } from "./divergence.ts";
import type { InboxEvent } from "./inbox.ts";
import type { AnswerEntry, Entry } from "./journal.ts";
import type { Reading } from "./operations.ts";
import type { Operation, QuestionOperation } from "./requested.ts";
import type { TurnLoop } from "./turn-loop.ts";

/** What answers need from the playback that they belong to. */
export interface AnsweredPlayback {
  readonly loop: TurnLoop;
  /** Appends an entry and then continues. */
  readonly record: (entry: Entry, then: () => void) => void;
  readonly settle: (operation: QuestionOperation, settle: () => void) => void;
  readonly diverge: () => Divergence;
}

type Answered = Extract<InboxEvent, { kind: "answer" }>;

/** Whether a later run would make the same entry of the same answer. `admit` may look at more than the answer. */
export const isRepeatable = ({ kind }: Entry, operation: Operation | undefined): boolean =>
  kind === "answer" && operation?.kind === "question" && operation.spec.admit === undefined;

/** The answers of one run. */
export class Answers {
  readonly #playback: AnsweredPlayback;

  constructor(playback: AnsweredPlayback) {
    this.#playback = playback;
  }

  /** Records and delivers an answer that has arrived, unless it is not valid or was given to another question. */
  admit(operation: QuestionOperation, event: Answered): void {
    const { key, digest, value } = event;
    const { loop, record, diverge } = this.#playback;
    const { admit, read, digest: asked } = operation.spec;
    if (digest !== undefined && digest !== asked) {
      return diverge().answersEarlierWording(operation);
    }
    loop.whenReady(
      () => (admit ?? read)(copyJson(value)),
      (reading) => {
        if (reading.kind === "invalid") {
          operation.reason = reading.reason;
          return loop.next("brief");
        }
        const { recorded = value } = reading;
        const { via = operation.spec.via, who } = event;
        const entry = { kind: "answer", key, value: recorded, digest: asked, via, who } as const;
        operation.state = "in_progress";
        // If the answer was read just now from its own copy, the result is delivered without reading it again.
        record(entry, () =>
          admit === undefined
            ? this.#deliver(operation, entry, reading)
            : this.deliver(operation, entry),
        );
      },
    );
  }

  /** Delivers a recorded answer. */
  deliver(operation: QuestionOperation, entry: Extract<Entry, { kind: "answer" }>): void {
    this.#playback.loop.whenReady(
      () => operation.spec.read(copyJson(entry.value)),
      (reading) => this.#deliver(operation, entry, reading),
    );
  }

  #deliver(operation: QuestionOperation, entry: AnswerEntry, reading: Reading): void {
    const { settle, diverge } = this.#playback;
    switch (reading.kind) {
      case "value":
        return settle(operation, () => operation.resolve(reading.value));
      case "refused":
        return settle(operation, () => operation.reject(reading.error));
      case "invalid":
        // The answer was valid when it was recorded, so the schema has changed since.
        operation.state = "outstanding";
        operation.reason = reading.reason;
        return diverge().answersAnother(operation, entry);
    }
  }
}
