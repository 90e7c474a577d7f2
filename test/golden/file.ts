// The shape of test/golden/<version>/rounds.json: calls as their client saw them, with the key that sealed their tokens and
// the time at which they were served.

import { anotherInstance, registeredAs } from "../../src/server/define/handles.ts";
import type { Core } from "../../src/server/core.ts";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { stderrLogger } from "../../src/server/ops/logger.ts";
import { serveRound } from "../../src/server/round/round.ts";
import type { RoundResponse } from "../../src/server/round/request.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { goldenTools } from "./tools.ts";

export interface GoldenFile {
  readonly key: string;
  readonly now: number;
  readonly ticket: string;
  /** One entry of every kind in its stored form. */
  readonly journal: readonly unknown[];
  readonly calls: readonly GoldenCall[];
}

export interface GoldenCall {
  readonly tool: string;
  readonly principal: string;
  readonly arguments: Record<string, unknown>;
  readonly legs: readonly GoldenLeg[];
}

export interface GoldenLeg {
  readonly requestState?: string;
  readonly inputResponses?: Record<string, object>;
  readonly answer: RoundResponse;
}

export function serveGolden(
  { key, now }: Pick<GoldenFile, "key" | "now">,
  call: Omit<GoldenCall, "legs">,
  leg: Omit<GoldenLeg, "answer">,
): Promise<RoundResponse> {
  const tool = goldenTools.find(({ name }) => name === call.tool);
  if (tool === undefined) throw new Error(`test/golden/tools.ts has no "${call.tool}"`);
  const registered = registeredAs(tool);
  const core: Core = anotherInstance(registered.core, {
    environment: { ...nodeEnvironment, now: () => now, isDevelopment: false },
    keyring: parseKeys(key),
    logger: stderrLogger,
  });
  return serveRound(core, registered.definition, {
    target: call.tool,
    arguments: call.arguments,
    requestState: leg.requestState,
    inputResponses: leg.inputResponses,
    principal: call.principal,
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    facts: { meta: {} },
  });
}
