// A round finds a history that this code cannot follow, because another version of the app wrote it (R17). During a
// deployment both versions serve requests, so the round is left to the other one: the client gets its state back, with
// its answers inside, and sends the next round at once, which may reach an instance that can go on.

import type { Outcome } from "../../replay/outcome.ts";
import { cannotFollow } from "../../replay/author-errors.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { Call } from "./call.ts";
import { fieldsOf } from "./failure.ts";
import type { RoundResponse } from "./request.ts";
import { asItCame, stateOnly } from "./state-only.ts";

/** How many rounds in a row may be left to another version. The official client stops after ten rounds in all. */
const mostYields = 3;

/** Whether another version of the app may be able to go on, because it has brought the call this far. */
export function mayLeave(core: Core, call: Call): boolean {
  return call.version !== core.version && canYield(call);
}

const canYield = (call: Call) => call.yields < mostYields && call.roundsLeft > 0;

/** The response of a round that is left to another version. Undefined if the round fails. */
export function leftToOthers(
  core: Core,
  definition: Definition,
  call: Call,
  { error, isOlder }: Pick<Extract<Outcome<unknown>, { kind: "failed" }>, "error" | "isOlder">,
): RoundResponse | Promise<RoundResponse> | undefined {
  if (!cannotFollow(error)) return undefined;
  // A note that this code does not know shows that newer code wrote it, even if the two have the same version.
  if (!mayLeave(core, call) && !(isOlder === true && canYield(call))) return undefined;
  core.logger.warn(
    `A round of "${definition.name}" is left to another instance, because ${writer(call.version)} brought the call this far and version ${core.version} cannot follow it.`,
    fieldsOf(definition, call),
  );
  const yields = call.yields + 1;
  return stateOnly(core, definition, call, { ...asItCame(call), version: call.version, yields });
}

const writer = (version: string | undefined) =>
  version === undefined ? "an earlier version" : `version ${version}`;
