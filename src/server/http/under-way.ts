// Responses that are not out yet, as a number.
//
// Not as a Set. One that changes all the time gets a new table every few changes, and V8 has each old table point to
// the next: once one of them has outlived a full collection, all that come after it, and what was in them, live until
// the next. In a busy server that is every request (slots.test.ts shows it).

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
    res.once("close", this.#left);
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
