// The end of a task, as the store keeps it.

import type { Ending } from "../program.ts";
import { places, sealJson } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";
import type { Finish } from "../task.ts";

/** Seals how a task ends. */
export function sealedEnd(
  sealer: Sealer,
  callId: string,
  ending: Ending,
  { keepMs, undoes }: { readonly keepMs: number; readonly undoes: boolean },
): Finish {
  const isDone = ending.status === "completed";
  const result = isDone ? ending.result : { ...ending.error };
  return {
    status: ending.status,
    result: sealJson(sealer, result, places.result(callId)),
    // The message of a failed task is its error. A completed task has no message, because it has a result.
    statusMessage: isDone ? undefined : sealer.seal(ending.error.message, places.message(callId)),
    keepMs,
    isUndoing: undoes,
  };
}
