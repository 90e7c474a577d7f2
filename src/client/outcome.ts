// `outcomes`: every outcome of a call, as one type that is never thrown.

import type { Call } from "./call.ts";
import { CallError } from "./errors.ts";
import { tagged } from "./part.ts";
import type { Part } from "./part.ts";
import type { OpenQuestion } from "./question.ts";
import type { CallResult } from "./result.ts";

/** One outcome of a call: its result, its failure, a part of what it streams, or questions that it needs answers to. */
export type CallOutcome = {
  /** "promise" once the call has become a task, "answer" before. */
  readonly response: "answer" | "promise";
} & (
  | {
      /** The tool succeeded. This is the last outcome. */
      readonly kind: "complete";
      /** What the tool returned. */
      readonly result: CallResult;
    }
  | {
      /** The tool reported an error in its result. This is the last outcome. */
      readonly kind: "failure";
      /** What the tool returned, with `isError: true`. */
      readonly result: CallResult;
    }
  | {
      /** The call ended without a result. This is the last outcome. */
      readonly kind: "failure";
      /** Why there is no result. */
      readonly error: CallError;
    }
  | {
      /** The server asked questions. Answer them with `call.answer`, unless a handler does. More outcomes follow. */
      readonly kind: "asks";
      /** The questions that are new. */
      readonly questions: readonly OpenQuestion[];
      /** A reference to the call at this point. Save it before you wait for a person. */
      readonly ref: string;
    }
  | ({
      /** The server sent a part of what the call streams. More outcomes follow. */
      readonly kind: "partial";
    } & Part)
);

/**
 * Iterates over the outcomes of a call. The last one is "complete" or "failure". A `CallError` is not thrown but
 * becomes an outcome.
 *
 * @example
 * ```ts
 * const call = server.start("resolve_bug", { id: 4522 });
 * for await (const outcome of outcomes(call)) {
 *   if (outcome.kind === "complete") console.log(outcome.result.text);
 *   if (outcome.kind !== "asks") continue;
 *   for (const { key } of outcome.questions) {
 *     await call.answer(key, { action: "accept", content: { [key]: "Fixed" } });
 *   }
 * }
 * ```
 */
export async function* outcomes(call: Call): AsyncGenerator<CallOutcome, void> {
  let response: CallOutcome["response"] = "answer";
  try {
    for await (const event of call) {
      if (event.type === "task") response = "promise";
      if (event.type === "asked") {
        const { questions, ref } = event;
        yield { response, kind: "asks", questions, ref };
      }
      if (event.type === "part") yield tagged({ response, kind: "partial" } as const, event);
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
