// The draft of multi round-trip requests, `2026-06-XX`: what both halves of the dialect know of its messages. Each
// half turns whole messages of the draft into those of 2026-07-28 and back, so that all rules are the same code.
// README.md beside this says where the form comes from, and what was weighed there and is not built.

import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

/** As seed 004 has it. A peer speaks the draft when it has agreed to this, and for no other reason. */
export const draftVersion = "2026-06-XX";

/** In `_meta`: the task that a message is about. */
export const relatedTaskKey = "io.modelcontextprotocol/related-task";

export const aboutTask = (taskId: unknown): Members => ({ [relatedTaskKey]: { taskId } });

export type Reply =
  | { readonly kind: "result"; readonly result: Members }
  | { readonly kind: "error"; readonly error: RpcError };

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const result = (members: Members): Reply => ({ kind: "result", result: members });

export const failure = (code: number, message: string): Reply => ({
  kind: "error",
  error: { code, message },
});

/** Whether a request is the first of a session in which the draft is to be spoken. */
export function opensDraft(message: unknown): boolean {
  return (
    own(message, "method") === "initialize" &&
    own(own(message, "params"), "protocolVersion") === draftVersion
  );
}
