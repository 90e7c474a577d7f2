// Status messages on their way to the store: the last one counts, and no more than one goes out in a while.

import type { Clock } from "../clock.ts";

const gapMs = 500;

export class Reports {
  readonly #clock: Pick<Clock, "after">;
  readonly #send: (message: string) => Promise<void>;
  #waiting: string | undefined;
  #callOff: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, "after">, send: (message: string) => Promise<void>) {
    this.#clock = clock;
    this.#send = send;
  }

  push(message: string): void {
    this.#waiting = message;
    if (this.#callOff !== undefined) return;
    // The first at once; those that follow it closely share the next.
    void this.flush();
    this.#callOff = this.#clock.after(gapMs, () => {
      this.#callOff = undefined;
      if (this.#waiting !== undefined) this.push(this.#waiting);
    });
  }

  /** What has not been sent yet goes out now. */
  flush(): Promise<void> {
    const message = this.#waiting;
    this.#waiting = undefined;
    if (message !== undefined) this.#sending = this.#sending.then(() => this.#send(message));
    return this.#sending;
  }

  close(): void {
    this.#callOff?.();
    this.#waiting = undefined;
  }
}
