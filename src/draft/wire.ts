// What both halves of the dialect know about the messages of the draft, `2026-06-XX`. Each half translates whole
// messages of the draft to 2026-07-28 and back, so that the same code enforces every rule. README.md in this folder
// says where the draft comes from and which of its ideas are not built.

import type { RpcResponse } from "../protocol/rpc.ts";
import { draftVersion } from "../protocol/versions.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

/** The key in `_meta` that names the task a message is about. */
export const relatedTaskKey = "io.modelcontextprotocol/related-task";

/** The `_meta` of a message about a task. */
export const aboutTask = (taskId: unknown): Members => ({ [relatedTaskKey]: { taskId } });

/** A response with a result. */
export const result = (members: Members): RpcResponse => ({ kind: "result", result: members });

/** A response with an error. */
export const failure = (code: number, message: string): RpcResponse => ({
  kind: "error",
  error: { code, message },
});

/** Whether a message opens a session that speaks the draft. Only the version in `initialize` counts. */
export function opensDraft(message: unknown): boolean {
  return (
    own(message, "method") === "initialize" &&
    own(own(message, "params"), "protocolVersion") === draftVersion
  );
}
