// What happens when a handler no longer does what the log says it did (R6), or asks a different question under the key of
// one that has an answer (R7). As long as no step has run since, the log is cut there and the call continues; otherwise the
// run fails before it can have a new effect.

import * as authorErrors from "./author-errors.ts";
import type { Carrier } from "./carrier.ts";
import type { Inbox } from "./inbox.ts";
import { isEffect, isNote } from "./journal.ts";
import type { AnswerEntry, Entry } from "./journal.ts";
import type { Log } from "./log.ts";
import type { QuestionOperation, Requested } from "./requested.ts";
import type { RunEnds, TurnLoop } from "./turn-loop.ts";

/** What a divergence needs from the playback that found it. */
export interface DivergingPlayback {
  readonly carrier: Carrier;
  readonly run: RunEnds;
  readonly loop: TurnLoop;
  readonly log: Log;
  readonly inbox: Inbox;
  readonly requested: Requested;
  /** Appends an entry and then continues. */
  readonly record: (entry: Entry, then: () => void) => void;
  /** The log was cut, so the questions that were open when the last run ended may never be asked again. */
  readonly onCut: () => void;
}

/** A playback makes one of these when it first meets something unexpected; most never do. */
export class Divergence {
  readonly #playback: DivergingPlayback;
  /** Questions that differ from the one that was answered under their key (R7). */
  #mismatches: { readonly operation: QuestionOperation; readonly entry: AnswerEntry }[] = [];
  #cancelStall: (() => void) | undefined;

  constructor(playback: DivergingPlayback) {
    this.#playback = playback;
  }

  // ---------------------------------------------------------------- a handler that stalls

  /** Calls back if nothing happens for `stallMs`. */
  watchForStall(onStall: () => void): void {
    const { carrier, run } = this.#playback;
    this.#cancelStall ??= carrier.after(carrier.stallMs, () => {
      this.#cancelStall = undefined;
      if (!run.isOver()) onStall();
    });
  }

  /** Something has happened, so the handler has not stalled. */
  endStall(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
  }

  /** The handler has stalled without requesting the next entry of the log. */
  stalledBefore(head: Entry): void {
    const { carrier, run, loop, log, requested } = this.#playback;
    if (head.kind === "checkpoint") {
      // A checkpoint gives the handler no value, so the rest of the log holds without it.
      log.moveOn();
      return loop.next("brief");
    }
    const hasEffect = isEffect(head) || log.effectAfter(head) !== undefined;
    if (!hasEffect) return this.#cut(head, []);
    const waiting = requested.waiting("question", "step", "timer", "background", "checkpoint");
    run.fail(authorErrors.diverged(carrier.name, head, waiting));
  }

  // ---------------------------------------------------------------- a question that has changed

  get hasMismatch(): boolean {
    return this.#mismatches.length > 0;
  }

  /** Notes a question that differs from the one that was answered under its key. */
  addMismatch(operation: QuestionOperation, entry: AnswerEntry): void {
    this.#mismatches.push({ operation, entry });
  }

  /** Cuts the log once, at the earliest mismatch. The later ones are then found again in the inbox. */
  cutAtMismatch(): void {
    const { log } = this.#playback;
    const places = this.#mismatches.map(({ entry }) => log.entries.indexOf(entry));
    const earliest = this.#mismatches[places.indexOf(Math.min(...places))];
    this.#mismatches = [];
    if (earliest !== undefined) this.answersAnother(earliest.operation, earliest.entry);
  }

  /** The recorded answer was given to a different question from the one that is asked now. */
  answersAnother(operation: QuestionOperation, entry: AnswerEntry): void {
    const { carrier, run, log } = this.#playback;
    const { name } = carrier;
    const { ifChanged } = operation.spec;
    if (ifChanged !== undefined) return run.fail(ifChanged());
    this.#unlessUnstable(operation, () => {
      const effect = log.effectAfter(entry);
      if (effect === undefined) return this.#cut(entry, [{ kind: "changed", key: operation.key }]);
      const { reason } = operation;
      run.fail(
        reason === undefined
          ? authorErrors.questionChanged(name, operation, effect)
          : authorErrors.answerRefused(name, operation, reason, effect),
      );
    });
  }

  /** A new answer was given to an earlier wording of this question, which is therefore asked again, once. */
  answersEarlierWording(operation: QuestionOperation): void {
    const { run, loop, record } = this.#playback;
    const { ifChanged } = operation.spec;
    if (ifChanged !== undefined) return run.fail(ifChanged());
    this.#unlessUnstable(operation, () =>
      record({ kind: "changed", key: operation.key }, () => loop.next("brief")),
    );
  }

  /** Fails the run if the question has changed before (R7), unless another version asked it, which is gone (R17). */
  #unlessUnstable(operation: QuestionOperation, then: () => void): void {
    const { carrier, run, loop, log } = this.#playback;
    if (!log.hasChanged(operation.key)) return then();
    loop.whenReady(
      () => carrier.mayAskAgain?.() ?? false,
      (may) => (may ? then() : run.fail(authorErrors.unstableQuestion(carrier.name, operation))),
    );
  }

  // ---------------------------------------------------------------- cutting the log

  /** Removes this entry and all after it. Their answers go back to the inbox; notes stay. */
  #cut(entry: Entry, notes: readonly Entry[]): void {
    const { carrier, run, loop, log, inbox, onCut } = this.#playback;
    if (carrier.mayForget === false) return run.fail(authorErrors.othersEntry(carrier.name, entry));
    const { from, removed } = log.cut(entry);
    // With a note, the first answer belongs to the question that has changed, so it is dropped.
    const back = inbox.putBack(notes.length > 0 ? removed.slice(1) : removed);
    onCut();
    loop.whenReady(
      () => carrier.cut?.(from, back),
      () => this.#note([...removed.filter(isNote).map(afterCut), ...notes]),
    );
  }

  #note([note, ...more]: readonly Entry[]): void {
    const { loop, record } = this.#playback;
    if (note !== undefined) return record(note, () => this.#note(more));
    loop.next("brief");
  }
}

/** The handler may not get to the place of this note again. */
const afterCut = (note: Entry): Entry =>
  note.kind === "patched" && note.path === "new" ? { ...note, path: "open" } : note;
