// What the loops have of the call they drive.

import { invalidParams, missingClientCapability } from "../protocol/error-codes.ts";
import { CallError } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import type { CallEvent } from "./events.ts";
import { own } from "../util/objects.ts";
import type { TaskHints } from "./listen.ts";
import type { Limits } from "./limits.ts";
import type { ParamHeaders } from "./param-headers.ts";
import type { Questions } from "./questions.ts";
import type { CallState } from "./reference.ts";
import type { Requests } from "./wire.ts";

/** `params.task`, where the client says whether a call is a task. */
export interface TaskWish {
  readonly ttl?: number | undefined;
}

export interface Run {
  readonly wire: Requests;
  readonly hints: TaskHints;
  readonly limits: Limits;
  readonly headers: ParamHeaders;
  /** Reads the server's list of tools again. */
  readonly listTools: () => Promise<void>;
  readonly questions: Questions;
  /** Aborts with the error that the call ends with. */
  readonly signal: AbortSignal;
  readonly state: () => CallState;
  /** From here to there; resolves when that cannot get lost any more. */
  readonly move: (change: Partial<CallState>) => Promise<void>;
  readonly ref: () => string;
  readonly tell: (event: CallEvent) => void;
  /** People are asked something on the side, so the server's silence is no sign. */
  readonly isPaused: () => boolean;
  /** 2025-11-25: ask for a task where the tool can be one. */
  readonly wantsTask: TaskWish | undefined;
}

/** What the server has answered with instead of a result, as one of ours. */
export function refusal(error: RpcError): CallError {
  const { code, message, data } = error;
  const rpc = { rpc: error };
  const reason = own(data, "reason");
  if (code === invalidParams && reason === "invalid_request_state") {
    const text =
      "The server no longer takes the state of this call: too much time has passed, or its keys have changed. " +
      "Nothing is repeated by itself; call again if that is safe.";
    return new CallError("state_refused", text, rpc);
  }
  if (code === missingClientCapability) {
    const needed = JSON.stringify(own(data, "requiredCapabilities") ?? {}).slice(0, 500);
    const text = `The server needs a client with ${needed}. Give connect() a handler for it.`;
    return new CallError("capability_missing", text, rpc);
  }
  return new CallError("refused", `The server refused: ${message.slice(0, 2_000)} (${code})`, rpc);
}
