// A wait that can be aborted, or ended early.

import { timerMs } from "../util/timers.ts";

/** Resolves after `ms`, or when `wake` aborts. Rejects with the reason of `signal` when that aborts. */
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
    const timer = setTimeout(onWake, timerMs(ms));
    if (signal.aborted) return onAbort();
    if (wake?.aborted === true) return onWake();
    signal.addEventListener("abort", onAbort);
    wake?.addEventListener("abort", onWake);
  });
}
