// How a run with a peer ended.

import { isDeepStrictEqual } from "node:util";
import type { Job, Outcome } from "./peer-errands.ts";
import type { Peer } from "./peers.ts";
import type { Direction, Passed, Verdict } from "./transcript.ts";

/** A peer that speaks one version gets every errand without one, so that both sides have to find it. */
export function spoken({ speaks }: Peer, { errand, ends }: Job): Job {
  const { era, ...open } = errand;
  return { errand: speaks === undefined || speaks === era ? errand : open, ends };
}

export function verdictOf(
  { hasTasks }: Peer,
  direction: Direction,
  { errand, ends }: Job,
  outcome: Outcome,
  passed: readonly Passed[],
): Verdict {
  const isPassed = (text: string) => passed.some((one) => JSON.stringify(one).includes(text));
  if (isDeepStrictEqual(outcome, ends)) {
    if (errand.task === undefined) return errand.era === undefined ? "earlier" : "works";
    if (!isPassed('"resultType":"task"')) return "in the request";
    const isMissed = errand.task === "listen" && !isPassed('"method":"notifications/tasks"');
    return isMissed ? "polled" : "works";
  }
  if (errand.stream === true && isDeepStrictEqual(outcome, { text: ends.text })) return "whole";
  if (outcome.absent === "push") return "no push";
  const can = direction === "to-parley" ? hasTasks.client : hasTasks.server;
  return errand.task !== undefined && !can ? "no tasks" : "fails";
}
