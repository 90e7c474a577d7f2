// What is durable before bodies start: the note that a step with an undo begins (R16), so that it is undone even if its
// process dies in the middle of it, and the answers that the carrier has put off (R3).

import type { Carrier } from "./carrier.ts";
import type { Entry } from "./journal.ts";
import type { Log } from "./log.ts";
import type { StepOperation } from "./requested.ts";

/**
 * What to make durable before the bodies of these steps start: a note, or what is being written already. Whatever is put off is
 * written with a note.
 */
export function firstToWrite(
  steps: readonly StepOperation[],
  log: Log,
  carrier: Carrier,
): Entry | Promise<void> | undefined {
  if (steps.length === 0) return undefined;
  return nextToBegin(steps, log, carrier) ?? carrier.write?.();
}

/**
 * The note for the first of these steps that needs one. Undefined if no step does, or if its body may not start now: then
 * nothing is noted either.
 */
function nextToBegin(
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
