// Trying again while another process holds the lock. SQLite's own waiting blocks the event loop, so it is kept
// short (`busy_timeout`) and the rest of the waiting is done here.

import { isBusy } from "./driver.ts";

export const busyTimeoutMs = 100;
const patienceMs = 10_000;

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** Calls it until it is not told that the database is busy, for a while. */
export async function patiently<T>(attempt: () => T, most: number = patienceMs): Promise<T> {
  const start = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() - start >= most) throw tooBusy(most, error);
    }
    await wait(backOffMs(tries));
  }
}

/** Short at first, and never the same for two who wait for one another. */
function backOffMs(tries: number): number {
  return Math.min(100, 2 ** tries) * (0.5 + Math.random() / 2);
}

function tooBusy(ms: number, cause: unknown): Error {
  const message = `The SQLite database stayed locked by another process for ${ms / 1000} s.`;
  return new Error(message, { cause });
}
