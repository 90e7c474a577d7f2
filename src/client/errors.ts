// The errors that a call can end with. There is one class: `code` says what happened, and the message what to do.

import { invalidParams, missingClientCapability } from "../protocol/error-codes.ts";
import type { RpcError } from "../protocol/rpc.ts";
import { own } from "../util/objects.ts";
import type { OpenQuestion } from "./question.ts";

/** Why a call ended without a result. */
export type CallErrorCode =
  /** The server cannot be reached, or the connection broke. */
  | "server_down"
  /** Client and server have no protocol version in common. */
  | "era_not_shared"
  /** The server needs a capability, and `connect` has no handler for it. */
  | "capability_missing"
  /** The server asked a question that this client cannot answer. `question` holds it. */
  | "unhandled_question"
  /** A handler threw, or its answer does not fit the question. */
  | "handler_failed"
  /** The answer that was passed to `answer()` does not fit the question, or the question is not open. */
  | "bad_answer"
  /** The server asked more often than `limits` allows. */
  | "too_many_rounds"
  /** The task failed. `rpc` holds the server's error, if it gave one. */
  | "task_failed"
  /** The task was cancelled on the server. */
  | "task_cancelled"
  /** The task's time to live ended before the task did. */
  | "task_expired"
  /** The server does not know the task, has deleted it, or does not show it to this user. */
  | "task_gone"
  /** The server refused the state of the call, because it is too old, or because of the server's keys or your token. */
  | "state_refused"
  /** The string is not a reference to a call, or its call cannot be continued on this connection. */
  | "bad_reference"
  /** The server responded with a JSON-RPC error, which `rpc` holds, or with an HTTP error. */
  | "refused"
  /** The server's response violates the protocol. */
  | "bad_response"
  /** A response is larger than `limits.messageBytes`, or a request is too large for the server. */
  | "too_large"
  /** The server took longer than `timeoutMs`, or was silent for longer than `limits.silenceMs`. */
  | "timed_out"
  /** `cancel()` was called, the signal aborted, or the person refused to open a page that the call needs. */
  | "cancelled"
  /** The connection was closed while the call was running. */
  | "closed";

/** Reads a JSON-RPC error, and cuts its message to 2000 characters. Undefined if the value is not one. */
export function rpcErrorIn(value: unknown): RpcError | undefined {
  const code = own(value, "code");
  const message = own(value, "message");
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  const data = own(value, "data");
  return { code, message: message.slice(0, 2_000), ...(data !== undefined && { data }) };
}

/** What a `CallError` carries besides its code and message. */
export interface CallErrorDetails {
  /** A reference to the call, if it can be continued: `connection.resume(ref)`. */
  readonly ref?: string | undefined;
  /** The question that caused the error. */
  readonly question?: OpenQuestion | undefined;
  /** The id of the task that the call became. */
  readonly taskId?: string | undefined;
  /** The JSON-RPC error that the server sent. */
  readonly rpc?: RpcError | undefined;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/**
 * The error that a call ends with when it has no result. It has a `ref` unless it proves that the call has ended on the
 * server; the journal keeps the call for as long. If the auth provider of the connection throws an error of its own, that
 * error gets a `ref` as well.
 *
 * @example
 * ```ts
 * try {
 *   await server.call("resolve_bug", { id: 4522 });
 * } catch (error) {
 *   if (!(error instanceof CallError) || error.ref === undefined) throw error;
 *   await server.resume(error.ref).result();
 * }
 * ```
 */
export class CallError extends Error {
  /** Says what happened. Codes are stable; messages are not. */
  readonly code: CallErrorCode;
  /** A reference to the call. Undefined if the call cannot be continued. */
  readonly ref: string | undefined;
  /** The question that caused the error, if one did. */
  readonly question: OpenQuestion | undefined;
  /** The id of the task, if the call became one. */
  readonly taskId: string | undefined;
  /** The JSON-RPC error that the server sent, if it sent one. */
  readonly rpc: RpcError | undefined;

  /** Applications rarely need this, except to throw the same errors in tests. */
  constructor(code: CallErrorCode, message: string, details: CallErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "CallError";
    this.code = code;
    this.ref = details.ref;
    this.question = details.question;
    this.taskId = details.taskId;
    this.rpc = details.rpc;
  }
}

/** The same error, with the reference and the task of its call, unless the error has its own. */
export function withPlace(
  error: CallError,
  place: Pick<CallErrorDetails, "ref" | "taskId">,
): CallError {
  const { code, message, question, rpc, cause } = error;
  const ref = error.ref ?? place.ref;
  const taskId = error.taskId ?? place.taskId;
  return new CallError(code, message, { ref, taskId, question, rpc, cause });
}

/** `why` completes the sentence: "its content is not a list". */
export const badResponse = (why: string): CallError =>
  new CallError("bad_response", `The server sent an invalid response: ${why}.`);

/** The `CallError` for a JSON-RPC error that the server sent instead of a result. */
export function refusal(error: RpcError, cause?: unknown): CallError {
  const { code, message, data } = error;
  const rpc = { rpc: error, cause };
  const reason = own(data, "reason");
  if (code === invalidParams && reason === "invalid_request_state") {
    const text =
      "The server does not accept the state of this call: too much time has passed or its keys have changed, or the call " +
      "belongs to another user. Nothing was repeated. If the keys or your token are wrong, correct them and resume. " +
      "Otherwise call again if that is safe.";
    return new CallError("state_refused", text, rpc);
  }
  if (code === missingClientCapability) {
    const needed = own(data, "requiredCapabilities") ?? {};
    const said = message.slice(0, 2_000).replace(/\.?\s*$/, ".");
    const text = `The server needs a client with ${JSON.stringify(needed).slice(0, 500)}: ${said} ${remedy(needed)}`;
    return new CallError("capability_missing", text, rpc);
  }
  const text = `The server refused the request: ${message.slice(0, 2_000)} (${code})`;
  return new CallError("refused", text, rpc);
}

/** The option of connect() that declares the missing capability. */
function remedy(needed: unknown): string {
  if (own(needed, "elicitation") !== undefined) return "Pass connect() an `elicit` handler.";
  if (own(needed, "sampling") !== undefined) return "Pass connect() a `sample` handler.";
  if (own(needed, "roots") !== undefined) return "Pass connect() the option `roots`.";
  if (own(needed, "extensions") !== undefined) return "Leave out `tasks: false` in connect().";
  return "Pass connect() a handler for it.";
}
