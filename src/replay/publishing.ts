// Shows what a run waits for while its bodies are running. For tasks, whose questions can be answered meanwhile.

import type { Carrier } from "./carrier.ts";
import type { Open } from "./outcome.ts";
import type { TurnLoop } from "./turn-loop.ts";

/** What one run has shown. */
export class Publishing {
  readonly #carrier: Carrier;
  readonly #loop: TurnLoop;
  #shown = "";

  constructor(carrier: Carrier, loop: TurnLoop) {
    this.#carrier = carrier;
    this.#loop = loop;
  }

  /** Shows what is open, unless that is what was shown last. A full turn comes first. */
  show(isQuiet: boolean, open: readonly Open[]): void {
    const { publish } = this.#carrier;
    const state = open.map(({ key, reason }) => `${key}\n${reason}`).join("\n");
    if (publish === undefined || state === this.#shown) return;
    if (!isQuiet) return this.#loop.next("full");
    this.#shown = state;
    this.#loop.whenReady(
      () => publish(open),
      () => this.#loop.next("brief"),
    );
  }
}
