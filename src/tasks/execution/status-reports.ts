// Status messages on their way to the store. Only the last one counts, and at most one is sent per interval.

import type { Clock } from "../clock.ts";

const gapMs = 500;

/** The status messages of one run. */
export class Reports {
  readonly #clock: Pick<Clock, "after">;
  readonly #send: (message: string) => Promise<void>;
  #waiting: string | undefined;
  #cancelTimer: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, "after">, send: (message: string) => Promise<void>) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Sends a message at once, or at the end of the interval that an earlier one began. */
  push(message: string): void {
    this.#waiting = message;
    if (this.#cancelTimer !== undefined) return;
    void this.flush();
    this.#cancelTimer = this.#clock.after(gapMs, () => {
      this.#cancelTimer = undefined;
      if (this.#waiting !== undefined) this.push(this.#waiting);
    });
  }

  /** Sends the message that is still waiting, if any. */
  flush(): Promise<void> {
    const message = this.#waiting;
    this.#waiting = undefined;
    if (message !== undefined) this.#sending = this.#sending.then(() => this.#send(message));
    return this.#sending;
  }

  /** Drops the message that is still waiting. */
  close(): void {
    this.#cancelTimer?.();
    this.#waiting = undefined;
  }
}
