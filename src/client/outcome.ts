// What a call comes to, as one type: an answer or a promise, each complete, failed, or in need of more.

import { CallError } from "./errors.ts";
import type { Call } from "./call.ts";
import type { Pending } from "./pending.ts";
import type { CallResult } from "./result.ts";

export type CallOutcome = {
  /** "promise": it has become a task. */
  readonly response: "answer" | "promise";
} & (
  | { readonly kind: "complete"; readonly result: CallResult }
  /** `result` where the tool says that it could not; `error` where there is none. */
  | { readonly kind: "failure"; readonly result: CallResult }
  | { readonly kind: "failure"; readonly error: CallError }
  /** Not the last: answer with `call.answer`, where no handler does. */
  | { readonly kind: "asks"; readonly questions: readonly Pending[]; readonly ref: string }
);

/** All that a call comes to; the last is complete or a failure, and nothing is thrown for one. */
export async function* outcomes(call: Call): AsyncGenerator<CallOutcome, void> {
  let response: CallOutcome["response"] = "answer";
  try {
    for await (const event of call) {
      if (event.type === "task") response = "promise";
      if (event.type === "asked") {
        const { questions, ref } = event;
        yield { response, kind: "asks", questions, ref };
      }
      if (event.type === "done") {
        const { result } = event;
        if (result.isError === true) yield { response, kind: "failure", result };
        else yield { response, kind: "complete", result };
      }
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    yield { response, kind: "failure", error };
  }
}
