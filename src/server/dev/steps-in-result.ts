// The steps of a call, in the `_meta` of its result. Only a server in development adds them, for a client that asks.

import { stepsKey } from "../../protocol/steps.ts";
import type { Steps } from "../../protocol/steps.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Core } from "../core.ts";
import type { WireResult } from "../define/definition.ts";
import type { RoundRequest } from "../round/request.ts";

/** Whether this client asks for the steps and may have them. */
export function wantsSteps({ environment }: Core, { facts }: RoundRequest): boolean {
  return environment.isDevelopment && facts.meta[stepsKey] === true;
}

/** Adds the steps to a result. `before` holds the entries at the beginning of the round. */
export function withSteps(
  result: WireResult,
  before: readonly Entry[],
  after: readonly Entry[],
): WireResult {
  const steps: Steps = { ran: names(after.slice(before.length)), replayed: names(before) };
  const { _meta } = result;
  return { ...result, _meta: { ...(typeof _meta === "object" && _meta), [stepsKey]: steps } };
}

function names(entries: readonly Entry[]): string[] {
  return entries.filter(({ kind }) => kind === "step" || kind === "threw").map(({ key }) => key);
}
