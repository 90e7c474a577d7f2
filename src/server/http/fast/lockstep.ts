// Lets rounds that come at nearly the same time proceed together.
//
// A round takes several turns of the event loop (R4), and new requests are read between any two of them. Without this file,
// the rounds that run at some moment would be at different turns, and each phase of the event loop would do a little of
// everything. A processor is much faster if it does the same for many rounds in a row (batch-writes.ts). So while rounds
// are between two turns, a new one waits until none of them is. A round that waits for something else, such as a database,
// does not hold others up.

import { AsyncResource } from "node:async_hooks";
import { pending } from "../../../replay/promises.ts";
import type { Turns } from "../../../replay/turns.ts";

/** The turns of the rounds of one app. */
export class Lockstep implements Turns {
  readonly brief: Turns["brief"];
  readonly #turns: Turns;
  /** How many rounds are between two turns. */
  #between = 0;
  #isCounting = false;
  /** How many turns the rounds that go together have taken. */
  #taken = 0;
  #isHolding = false;
  /** What the rounds that wait are waiting for. */
  #held: ReturnType<typeof pending> | undefined;
  /** Turns are counted for all rounds, so the async context must not be that of one of them. */
  readonly #context = new AsyncResource("parley.lockstep");

  constructor(turns: Turns) {
    this.#turns = turns;
    this.brief = turns.brief;
  }

  readonly full = (callback: () => void): void => {
    if (!this.#isCounting) {
      this.#isCounting = true;
      this.#context.runInAsyncScope(this.#countNext);
    }
    this.#between += 1;
    this.#turns.full(() => {
      this.#between -= 1;
      callback();
    });
  };

  /** Undefined if a round may begin now. Otherwise it resolves when it may. */
  room(): Promise<unknown> | undefined {
    if (!this.#isHolding) return undefined;
    this.#held ??= pending();
    return this.#held.promise;
  }

  readonly #countNext = (): void => this.#turns.full(this.#count);

  /** Runs once in each turn, before what the rounds do in it. */
  readonly #count = (): void => {
    if (this.#between === 0) {
      this.#isCounting = false;
      this.#taken = 0;
      return this.#letBegin();
    }
    this.#taken += 1;
    if (this.#taken >= mostTurns) this.#letBegin();
    else this.#isHolding = true;
    return this.#countNext();
  };

  #letBegin(): void {
    this.#isHolding = false;
    const held = this.#held;
    this.#held = undefined;
    held?.resolve(undefined);
  }
}

/**
 * More than most rounds take. While some rounds go on for longer, because they have many steps, new ones do not wait. They
 * would otherwise wait for eight turns again and again.
 */
const mostTurns = 8;
