// How a call ends if nothing happens to it. A crash test compares everything with that end, so it must be the one that is meant.

import type { WireResult } from "../server/define/definition.ts";
import { summaryOf } from "./play.ts";

/** Throws if the call ends with an error that the test does not expect. Undone steps show that an error is meant. */
export function checkEnd(
  name: string,
  result: WireResult,
  endsInError: boolean | undefined,
  hasUndone: boolean,
): void {
  const { isError, text } = summaryOf(result);
  if (isError && !(endsInError ?? hasUndone)) {
    throw new Error(
      `"${name}" ends with an error even without a mishap: ${text}\n` +
        "If the call is meant to end like this, pass { endsInError: true }.",
    );
  }
  if (!isError && endsInError === true) {
    throw new Error(`"${name}" does not end with an error, although endsInError says so.`);
  }
}
