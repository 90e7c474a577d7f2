// The clock behind `timeoutMs`. It runs while the server works and stops while a person is asked.

import { timerMs } from "../util/timers.ts";
import { CallError } from "./errors.ts";

export class ServerTime {
  readonly #timeoutMs: number | undefined;
  readonly #expire: (error: CallError) => void;
  #leftMs: number | undefined;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;

  constructor(timeoutMs: number | undefined, expire: (error: CallError) => void) {
    this.#timeoutMs = timeoutMs;
    this.#leftMs = timeoutMs;
    this.#expire = expire;
    this.#go();
  }

  /** Stops the clock until the returned function is called. */
  readonly hold = (): (() => void) => {
    this.#holds += 1;
    if (this.#holds === 1) this.#halt();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      if (this.#holds === 0) this.#go();
    };
  };

  /** Stops the clock for good. */
  readonly stop = (): void => {
    this.#halt();
    this.#leftMs = undefined;
  };

  #go(): void {
    const leftMs = this.#leftMs;
    if (leftMs === undefined) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#expire(this.#timedOut()), timerMs(leftMs));
  }

  #halt(): void {
    if (this.#timer === undefined || this.#leftMs === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }

  #timedOut(): CallError {
    const message =
      `The server took longer than timeoutMs allows (${this.#timeoutMs} ms). ` +
      "The call may still be running: if error.ref is set, continue it with resume(error.ref).";
    return new CallError("timed_out", message);
  }
}
