// A record cannot be opened, because its key is not available here. Another replica may have it, so this does not count
// against the task. But if no replica has it, somebody has to be told.

import { errorText } from "../../util/error-text.ts";
import type { TaskLimits } from "../limits.ts";
import type { TaskRecord } from "../task.ts";

const start = "its record cannot be opened";
const keyPattern = /^its record cannot be opened: it is sealed with the key "([\w-]{1,32})"/;

/** The record of a task cannot be opened here. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";

  constructor(cause: unknown) {
    const key = keyIn(cause);
    const why =
      key === undefined
        ? errorText(cause)
        : `it is sealed with the key "${key}", which this worker does not have`;
    super(`${start}: ${why}`, { cause });
  }
}

function keyIn(error: unknown): string | undefined {
  const isNamed = error instanceof Error && "keyId" in error && typeof error.keyId === "string";
  return isNamed ? String(error.keyId) : undefined;
}

/** What the cause of a run says about its key. Undefined if the run failed for another reason. */
export function unreadableIn(cause: string): { readonly keyId: string | undefined } | undefined {
  return cause.startsWith(start) ? { keyId: keyPattern.exec(cause)?.[1] } : undefined;
}

/**
 * Whether one more run that could not open the record counts. From the third in a row on, two stay counted, so that the
 * task is found among those that are stuck. It never fails for that.
 */
export const countsAsFruitless = (
  { fruitless, cause }: Pick<TaskRecord, "fruitless" | "cause">,
  { fruitlessClaims }: Pick<TaskLimits, "fruitlessClaims">,
): boolean => cause !== undefined && fruitless <= Math.min(2, fruitlessClaims - 1);
