// What a call has cost so far, with the server's time and the person's apart.

import type { Steps } from "../../protocol/steps.ts";

export interface TotalsSeen {
  readonly rounds: number;
  readonly serverMs: number;
  readonly humanMs: number;
  /** Of each round that left a state with us. */
  readonly stateBytes: readonly number[];
  readonly steps?: Steps | undefined;
}

export class Totals {
  #serverMs = 0;
  #humanMs = 0;
  #since = performance.now();
  #open = 0;
  #rounds: number;
  readonly #stateBytes: number[] = [];
  steps: Steps | undefined;

  /** `rounds`: those before it came here. */
  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  /** The server has spoken; how long it took. */
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

  /** How long it took. */
  answered(): number {
    const ms = this.#passed();
    this.#open = Math.max(0, this.#open - 1);
    return ms;
  }

  /** Whoever was asked is so no more. */
  over(): void {
    this.#passed();
    this.#open = 0;
  }

  /** Since the last time, put to the account of whoever had the turn. */
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
