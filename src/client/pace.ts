// Waiting, and how long.

import { CallError } from "./errors.ts";

/** Timers take no more than 31 bits, and fire at once for anything longer. */
export const longestMs: number = 2 ** 31 - 1;

/** Rejects with the signal's reason. `wake` ends it early. */
export function pause(ms: number, signal: AbortSignal, wake?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      wake?.removeEventListener("abort", onWake);
    };
    const onWake = () => {
      end();
      resolve();
    };
    const onAbort = () => {
      end();
      reject(signal.reason);
    };
    const timer = setTimeout(onWake, Math.min(ms, longestMs));
    if (signal.aborted) return onAbort();
    if (wake?.aborted === true) return onWake();
    signal.addEventListener("abort", onAbort);
    wake?.addEventListener("abort", onWake);
  });
}

/** Doubling, to a limit; a fifth of it is chance, so that many who wait do not all come at once. */
export function backOff(firstMs: number, mostMs: number, tries: number): number {
  const ms = Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30));
  return ms * (0.8 + 0.2 * Math.random());
}

/** Counts down while the server has the word, and stands while people think. */
export class ServerTime {
  readonly #expire: (error: CallError) => void;
  #leftMs: number | undefined;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;

  constructor(timeoutMs: number | undefined, expire: (error: CallError) => void) {
    this.#leftMs = timeoutMs;
    this.#expire = expire;
    this.#go();
  }

  /** Returns how to let it go on. */
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

  readonly stop = (): void => {
    this.#halt();
    this.#leftMs = undefined;
  };

  #go(): void {
    const leftMs = this.#leftMs;
    if (leftMs === undefined) return;
    this.#since = performance.now();
    this.#timer = setTimeout(
      () => {
        const message =
          "The server took longer than timeoutMs allows. With the reference the call can be gone on with.";
        this.#expire(new CallError("timed_out", message));
      },
      Math.min(leftMs, longestMs),
    );
  }

  #halt(): void {
    if (this.#timer === undefined || this.#leftMs === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }
}
