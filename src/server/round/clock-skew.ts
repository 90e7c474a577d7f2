// Notices replicas whose clocks differ. Each replica judges the expiry of a token by its own clock, so replicas that are more
// than `limits.tokenTtlMs` apart refuse each other's tokens.

import type { Core } from "../core.ts";
import type { OpenWait } from "./state.ts";

/** A smaller difference is ordinary: a request takes time, and clocks drift between two adjustments. */
const toleranceMs = 10_000;
const pauseMs = 60_000;

/** How much longer than its longest question a token lasts, so that a late answer gets a timeout and not a refused token. */
export const lateAnswerMs = 60_000;

/** The hint for a token that has expired by the clock of this server. */
export const expiredHint =
  "It has expired by this server's clock. If clients do come back in time, compare the clocks of your replicas.";

const loggedAt = new WeakMap<Core, number>();

/** Logs, at most once a minute, that a token comes from the future. `expiresAt` and `out` are what it says. */
export function noteClockSkew(
  core: Core,
  call: string,
  expiresAt: number,
  out: readonly OpenWait[],
): void {
  const { environment, limits, logger } = core;
  const now = environment.now();
  const aheadMs = expiresAt - limits.tokenTtlMs - now;
  if (aheadMs <= toleranceMs) return;
  // A question with a long time limit has extended this token, so it does not show when it was sealed.
  if (out.some(({ dueAt }) => dueAt !== undefined && dueAt + lateAnswerMs >= expiresAt)) return;
  if (now - (loggedAt.get(core) ?? Number.NEGATIVE_INFINITY) < pauseMs) return;
  loggedAt.set(core, now);
  logger.warn(
    `A requestState was sealed ${Math.round(aheadMs / 1_000)} s in the future by this server's clock. ` +
      "The clocks of your replicas differ, or limits.tokenTtlMs does. Each replica judges by its own clock whether a requestState has expired, so synchronize the clocks.",
    { call, aheadMs: Math.round(aheadMs) },
  );
}
