// How long to wait: the limits of a timer, and the pause between retries.

/** The longest timer of Node, about 24.8 days. A longer one fires at once, because Node keeps the length in 31 bits. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Longer than any wait that makes sense. An option above this is a mistake, usually of units. */
export const tenYearsMs: number = 10 * 366 * 24 * 3_600_000;

/** The nearest length that `setTimeout` accepts. */
export function timerMs(ms: number): number {
  return Math.min(longestTimerMs, Math.max(0, Math.ceil(ms)));
}

/** Lets the process end before this timer fires. On Workers a timer may be a number, and keeps nothing alive. */
export function unref<T extends object | number>(timer: T): T {
  if (typeof timer === "object" && "unref" in timer && typeof timer.unref === "function") {
    timer.unref();
  }
  return timer;
}

/**
 * How long to wait before the next attempt. The wait doubles after each failure, up to a limit. Half of it is random, so
 * that processes that failed together do not all retry together.
 */
export function backOff(
  tries: number,
  { firstMs, mostMs }: { readonly firstMs: number; readonly mostMs: number },
  random: number = Math.random(),
): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(30, Math.max(0, tries - 1)));
  return full / 2 + (full / 2) * random;
}
