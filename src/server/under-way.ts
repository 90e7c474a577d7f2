// Responses that are not out yet, as a number.
//
// Not as a Set: V8 chains the tables of one that changes all the time, and a table that is old enough keeps what was
// in those after it. In a busy server that is every request since the last full collection.

import type { ServerResponse } from "node:http";

export class UnderWay {
  readonly #onLeft: () => void;
  #count = 0;
  #onNone: (() => void)[] = [];

  /** Called after each response. */
  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  add(res: ServerResponse): void {
    this.#count += 1;
    res.on("close", this.#left);
  }

  /** When the last of them is out. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count === 0) resolve();
      else this.#onNone.push(resolve);
    });
  }

  readonly #left = () => {
    this.#count -= 1;
    this.#onLeft();
    if (this.#count > 0) return;
    for (const resolve of this.#onNone.splice(0)) resolve();
  };
}
