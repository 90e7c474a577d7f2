// What a call has taken so far, with the time of the server and the time of the person.

import type { Steps } from "../../protocol/steps.ts";

/** The totals, as they are printed. */
export interface TotalsSeen {
  readonly rounds: number;
  readonly serverMs: number;
  readonly humanMs: number;
  /** The size of the state after each round that sent one. */
  readonly stateBytes: readonly number[];
  readonly steps?: Steps | undefined;
}

/** Adds up times and rounds while a call runs. */
export class Totals {
  #serverMs = 0;
  #humanMs = 0;
  #since = performance.now();
  #open = 0;
  #rounds: number;
  readonly #stateBytes: number[] = [];
  steps: Steps | undefined;

  /** `rounds` is the number of rounds before this process continued the call. */
  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  /** Counts a response of the server. Returns how long it took. */
  round(): number {
    this.#rounds += 1;
    return this.#passed();
  }

  get rounds(): number {
    return this.#rounds;
  }

  asked(questions: number, stateBytes: number | undefined): void {
    this.#passed();
    this.#open += questions;
    if (stateBytes !== undefined) this.#stateBytes.push(stateBytes);
  }

  /** Counts an answer. Returns how long it took. */
  answered(): number {
    const ms = this.#passed();
    this.#open = Math.max(0, this.#open - 1);
    return ms;
  }

  /** No question is open any longer. */
  over(): void {
    this.#passed();
    this.#open = 0;
  }

  /** Adds the time since the last event to the server or to the person, whichever had to act. */
  #passed(): number {
    const now = performance.now();
    const ms = now - this.#since;
    this.#since = now;
    if (this.#open > 0) this.#humanMs += ms;
    else this.#serverMs += ms;
    return ms;
  }

  get seen(): TotalsSeen {
    return {
      rounds: this.#rounds,
      serverMs: Math.round(this.#serverMs),
      humanMs: Math.round(this.#humanMs),
      stateBytes: this.#stateBytes,
      ...(this.steps !== undefined && { steps: this.steps }),
    };
  }
}
