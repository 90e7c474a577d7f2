// What is wrong with a handler that returns while something is left to do (R6, R10).

import * as authorErrors from "./author-errors.ts";
import { isEffect } from "./journal.ts";
import type { Log } from "./log.ts";
import type { Requested } from "./requested.ts";

/** The mistake of a handler that returns now, if there is one. */
export function objectionToReturn(name: string, requested: Requested, log: Log): Error | undefined {
  const [question] = requested.unawaited();
  if (question !== undefined) return authorErrors.notAwaited(question, "return");
  const step = requested.forgottenStep();
  if (step !== undefined) return authorErrors.stepNotAwaited(step);
  const missed = log.rest().find((entry) => isEffect(entry) && !requested.has(entry.key));
  return missed && authorErrors.diverged(name, missed, "returned");
}
