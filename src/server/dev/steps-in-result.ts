// The steps of a call, for a client that asks, from a server in development.

import { stepsKey } from "../../protocol/steps.ts";
import type { Steps } from "../../protocol/steps.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Core } from "../core.ts";
import type { WireResult } from "../define/definition.ts";
import type { RoundRequest } from "../round/request.ts";

export function wantsSteps({ environment }: Core, { facts }: RoundRequest): boolean {
  return environment.isDevelopment && facts.meta[stepsKey] === true;
}

/** `before`: what the round was told when it began. */
export function withSteps(
  result: WireResult,
  before: readonly Entry[],
  after: readonly Entry[],
): WireResult {
  const told: Steps = { ran: names(after.slice(before.length)), replayed: names(before) };
  const { _meta } = result;
  return { ...result, _meta: { ...(typeof _meta === "object" && _meta), [stepsKey]: told } };
}

function names(entries: readonly Entry[]): string[] {
  return entries.filter(({ kind }) => kind === "step" || kind === "threw").map(({ key }) => key);
}
