// Trying again while another process holds the lock. SQLite blocks the event loop while it waits, so its own wait
// (`busy_timeout`) is short, and the rest of the waiting happens here.

import { backOff } from "../../../util/timers.ts";
import { isBusy } from "./driver.ts";

/** How long SQLite itself waits for a lock, in milliseconds. */
export const busyTimeoutMs = 100;
const patienceMs = 10_000;

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** Repeats an attempt while the database is busy, for a limited time. */
export async function patiently<T>(attempt: () => T, most: number = patienceMs): Promise<T> {
  const start = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() - start >= most) throw tooBusy(most, error);
    }
    await wait(backOff(tries, { firstMs: 2, mostMs: 100 }));
  }
}

function tooBusy(ms: number, cause: unknown): Error {
  const message = `Another process kept the SQLite database locked for ${ms / 1000} s.`;
  return new Error(message, { cause });
}
