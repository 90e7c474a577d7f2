// How long to wait. One limit for every timer, one way to back off.

/** Node keeps a timer's length in 31 bits and fires at once for anything longer: about 24.8 days. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Longer than any wait a program can mean. An option above this is a mistake, usually of units. */
export const tenYearsMs: number = 10 * 366 * 24 * 3_600_000;

/** A length that `setTimeout` takes at its word. */
export function timerMs(ms: number): number {
  return Math.min(longestTimerMs, Math.max(0, Math.ceil(ms)));
}

/**
 * How long to wait before the next try: twice as long after each failed one, up to a limit. Half of it is random, so
 * that many processes that failed together do not all come back together.
 */
export function backOff(
  tries: number,
  { firstMs, mostMs }: { readonly firstMs: number; readonly mostMs: number },
  random: number = Math.random(),
): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(30, Math.max(0, tries - 1)));
  return full / 2 + (full / 2) * random;
}
