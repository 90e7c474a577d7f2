// When a playback does its next piece of work: at the end of a turn (R4), and never while an append or a validation is
// still going on (R3).

import { isThenable } from "../util/promises.ts";
import type { Outcome } from "./outcome.ts";
import type { StopReason } from "./stop.ts";
import type { Turns } from "./turns.ts";

/** How long to wait before the next piece of work; `Turns` explains both kinds. */
export type TurnKind = keyof Turns;

/** What a turn loop works for. */
export interface TurnListener {
  /** A turn is over. It is quiet if nothing is left of it that could still call an operation. */
  readonly onTurnOver: (isQuiet: boolean) => void;
}

/** How the parts of a playback end the run that they belong to. */
export interface RunEnds {
  readonly isOver: () => boolean;
  readonly fail: (error: unknown) => void;
}

/** How a playback ends its run. */
export interface PlaybackEnds extends RunEnds {
  readonly stop: (reason: StopReason) => void;
  readonly suspend: (outcome: Outcome<never>) => void;
}

// Timers and requests wait while brief turns follow one another, so a handler that causes many must give way at times.
const mostBriefTurns = 64;

/** Waits for turns, one at a time, and calls its listener when one is over. */
export class TurnLoop {
  readonly #turns: Turns;
  readonly #run: RunEnds;
  readonly #listener: TurnListener;
  /** The turn that is being waited for. A full one replaces a brief one, so that only one end is reported. */
  #turn: { readonly kind: TurnKind } | undefined;
  #briefTurns = 0;
  #isBusy = false;

  constructor(turns: Turns, run: RunEnds, listener: TurnListener) {
    this.#turns = turns;
    this.#run = run;
    this.#listener = listener;
  }

  /** Whether an append or a validation is going on. It leads to another turn. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Asks for a turn. A full turn that is already being waited for also serves a brief one. */
  next(kind: TurnKind): void {
    if (this.#turn?.kind === kind || this.#turn?.kind === "full" || this.#run.isOver()) return;
    this.#briefTurns = kind === "full" ? 0 : this.#briefTurns + 1;
    if (this.#briefTurns > mostBriefTurns) return this.next("full");
    const turn = { kind };
    this.#turn = turn;
    this.#turns[kind](() => {
      if (this.#turn !== turn) return;
      this.#turn = undefined;
      // Whatever keeps the loop busy asks for the next turn when it has finished.
      if (!this.#isBusy && !this.#run.isOver())
        this.#guard(() => this.#listener.onTurnOver(kind === "full"));
    });
  }

  /** Continues with the value, at once or when its promise resolves. Nothing else is delivered in the meantime. */
  whenReady<V>(start: () => V | PromiseLike<V>, then: (value: V) => void): void {
    const proceed = (ready: V) => {
      if (!this.#run.isOver()) this.#guard(() => then(ready));
    };
    let value: V | PromiseLike<V>;
    try {
      value = start();
    } catch (error) {
      return this.#run.fail(error);
    }
    if (!isThenable(value)) return proceed(value);
    this.#isBusy = true;
    Promise.resolve(value).then(
      (ready) => {
        this.#isBusy = false;
        proceed(ready);
      },
      (error: unknown) => this.#run.fail(error),
    );
  }

  /** An error of the carrier fails the run. Thrown from a callback of the event loop, it would end the process. */
  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#run.fail(error);
    }
  }
}
