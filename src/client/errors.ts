// What a call can end with instead of a result. One class; `code` says which, the message what to do.

import { own } from "../util/objects.ts";
import type { Pending } from "./pending.ts";

export type CallErrorCode =
  /** Nobody answers there, or the connection broke. */
  | "server_down"
  /** Client and server have no protocol version in common. */
  | "era_not_shared"
  /** The server needs something that this client was not given a handler for. */
  | "capability_missing"
  /** The server put a question that nobody here answers. `question` has it. */
  | "unhandled_question"
  /** A handler threw, or gave an answer that does not fit. */
  | "handler_failed"
  /** `answer()` was given something that does not fit the question, or was not asked. */
  | "bad_answer"
  | "too_many_rounds"
  | "task_failed"
  | "task_cancelled"
  /** Its time was over before it was done. */
  | "task_expired"
  /** The server does not know it, or no longer. */
  | "task_gone"
  /** The state between two rounds was refused: too old, or not for this call. */
  | "state_refused"
  /** Not a reference, or one of another server. */
  | "bad_reference"
  /** The server answered with a JSON-RPC error: `rpc` has it. */
  | "refused"
  /** What came is not what the protocol has. */
  | "bad_response"
  | "too_large"
  | "timed_out"
  /** By `cancel()` or the signal. */
  | "cancelled"
  /** This connection was closed while the call was under way. */
  | "closed";

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Undefined of what is none. */
export function rpcErrorIn(value: unknown): RpcError | undefined {
  const code = own(value, "code");
  const message = own(value, "message");
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  const data = own(value, "data");
  return { code, message: message.slice(0, 2_000), ...(data !== undefined && { data }) };
}

interface Details {
  /** With this the call can be gone on with: `connection.resume(ref)`. */
  readonly ref?: string | undefined;
  readonly question?: Pending | undefined;
  readonly taskId?: string | undefined;
  readonly rpc?: RpcError | undefined;
  readonly cause?: unknown;
}

export class CallError extends Error {
  readonly code: CallErrorCode;
  readonly ref: string | undefined;
  readonly question: Pending | undefined;
  readonly taskId: string | undefined;
  readonly rpc: RpcError | undefined;

  constructor(code: CallErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "CallError";
    this.code = code;
    this.ref = details.ref;
    this.question = details.question;
    this.taskId = details.taskId;
    this.rpc = details.rpc;
  }

  /** The same, told with where the call stands. */
  at(place: {
    readonly ref?: string | undefined;
    readonly taskId?: string | undefined;
  }): CallError {
    const { code, message, question, rpc, cause } = this;
    const ref = this.ref ?? place.ref;
    return new CallError(code, message, {
      ref,
      taskId: this.taskId ?? place.taskId,
      question,
      rpc,
      cause,
    });
  }
}

export const badResponse = (why: string): CallError =>
  new CallError("bad_response", `The server's answer is not one: ${why}.`);

export function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
