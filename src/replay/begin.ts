// The note that a step with an undo begins (R16). It is durable before the body starts, so that a body is undone even if its
// process dies in the middle of it.

import type { Carrier } from "./carrier.ts";
import type { Entry } from "./journal.ts";
import type { Log } from "./log.ts";
import type { StepOperation } from "./requested.ts";

/**
 * The note for the first of these steps that needs one. Undefined if no step does, or if its body may not start now: then
 * nothing is noted either.
 */
export function nextToBegin(
  steps: readonly StepOperation[],
  log: Log,
  carrier: Carrier,
): Entry | undefined {
  for (const { key, options } of steps) {
    const undo = options?.undo;
    if (undo === undefined || log.hasBegun(key)) continue;
    const may = carrier.mayStart?.(key) ?? true;
    return may === true ? { kind: "begun", key, undo } : undefined;
  }
  return undefined;
}
