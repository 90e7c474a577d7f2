// How a run ends although its handler has not finished (R8, R11).

import type { Carrier } from "./carrier.ts";
import type { Outcome, Suspended } from "./outcome.ts";
import type { BackgroundOperation, CheckpointOperation } from "./requested.ts";

/** An operation that can end the run. */
export type EndingOperation = BackgroundOperation | CheckpointOperation;

/** The first of these at which the run ends. Calls back for each one before it, which the handler passes. */
export function endingAmong(
  operations: readonly EndingOperation[],
  carrier: Carrier,
  hasRunBody: boolean,
  onPassed: (operation: EndingOperation) => void,
): EndingOperation | undefined {
  for (const operation of operations) {
    if (endsRun(operation, carrier, hasRunBody)) return operation;
    onPassed(operation);
  }
  return undefined;
}

/** Whether the run ends at this operation. If not, the handler passes it and continues in the same run. */
function endsRun(operation: EndingOperation, carrier: Carrier, hasRunBody: boolean): boolean {
  if (operation.kind === "background") return carrier.canDetach;
  // Without a new outcome there is nothing that another round would keep safe.
  if (!hasRunBody || carrier.canYield === false) return false;
  const { afterMs } = operation;
  return afterMs === undefined || (carrier.elapsedMs?.() ?? 0) >= afterMs;
}

/** The outcome of a run that ends at an operation, or because everything it does next has to wait. */
export function suspendedAs(
  ending: EndingOperation | undefined,
  isPostponed: boolean,
  { entries, open, unused }: Suspended,
): Outcome<never> {
  if (ending === undefined)
    return { kind: isPostponed ? "yielded" : "waiting", entries, open, unused };
  // The journal of the next run contains the entry of this operation, so that the handler gets past it.
  const all = [...entries, { kind: ending.kind, key: ending.key }];
  return ending.kind === "checkpoint"
    ? { kind: "yielded", entries: all, open, unused }
    : { kind: "detached", options: ending.options, entries: all, open, unused };
}
