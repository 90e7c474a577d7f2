// Waits for a condition, and looks at it whenever something has changed.

import { patience } from "../../patience.ts";

export class Changes {
  readonly #waiting = new Set<() => void>();

  /** Something has changed. */
  happened(): void {
    for (const look of this.#waiting) look();
  }

  until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(limit);
        this.#waiting.delete(look);
      };
      const look = () => {
        if (!isSo()) return;
        done();
        resolve();
      };
      const limit = setTimeout(() => {
        done();
        reject(new Error("What was recorded did not happen this time."));
      }, patience.timeout);
      this.#waiting.add(look);
    });
  }
}
