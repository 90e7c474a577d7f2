// What an error proves about its call. A call is forgotten only if its error proves that it has ended. After any other
// error, from a cut connection to a server that has the wrong keys for a while, the call can be continued.
//
// | the error                                             | after the first request | later, and after a resume |
// | ------------------------------------------------------ | ----------------------- | ------------------------- |
// | the task failed, was cancelled or has expired           | -                       | ended                     |
// | `cancel()`, or a person who does not open a page        | ended                   | ended                     |
// | a JSON-RPC error with a code of the handler's own       | ended                   | ended                     |
// | any other JSON-RPC error that MCP or JSON-RPC defines   | ended                   | refused                   |
// | HTTP 400, 401, 403, 413 and others that refuse          | ended                   | refused                   |
// | −32603, and codes of a server's own (−32000 to −32099)  | open                    | open                      |
// | HTTP 404, 408, 425, 429, 499, 5xx, whatever the body    | open                    | open                      |
// | no response, a broken or an invalid one, a time limit   | open                    | open                      |
//
// "Refused" is what this server says to this client. A server with the right keys may accept the call, and so may this
// server from a client with the right token. So the call is kept for `limits.refusedMs`.

import { SdkHttpError } from "@modelcontextprotocol/client";
import {
  headerMismatch,
  internalError,
  missingClientCapability,
  resourceNotFound,
  unsupportedVersion,
  urlElicitationRequired,
} from "../protocol/error-codes.ts";
import { CallError } from "./errors.ts";

export type Verdict = "ended" | "refused" | "open";

/** `isFirst`: the error is the server's first response to a call that this process has just made. */
export function verdictOf(error: CallError, isFirst: boolean): Verdict {
  const { taskId } = error;
  switch (error.code) {
    case "task_failed":
    case "task_cancelled":
    case "task_expired":
    case "cancelled":
      return "ended";
    case "unhandled_question":
      // The error names a task only after the task was cancelled.
      return taskId === undefined ? "open" : "ended";
    case "task_gone":
    case "state_refused":
    case "bad_reference":
      return "refused";
    case "capability_missing":
      // The error names a task only if that is what the task failed with.
      if (taskId !== undefined) return "ended";
      return refusalVerdict(error, isFirst);
    case "refused":
    case "too_large":
      return refusalVerdict(error, isFirst);
    case "server_down":
    case "era_not_shared":
    case "handler_failed":
    case "bad_answer":
    case "too_many_rounds":
    case "bad_response":
    case "timed_out":
    case "closed":
      return "open";
  }
}

function refusalVerdict(error: CallError, isFirst: boolean): Verdict {
  const status = statusOf(error);
  if (isPassing(error)) return "open";
  if (error.rpc === undefined) {
    if (status === undefined || !refusingStatuses.has(status)) return "open";
    return isFirst ? "ended" : "refused";
  }
  const { code } = error.rpc;
  if (!isReserved(code)) return "ended";
  if (isServersOwn(code)) return "open";
  return isFirst ? "ended" : "refused";
}

/** The server did not process the request, and would refuse the same request again. */
const refusingStatuses: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 405, 406, 407, 410, 411, 412, 413, 414, 415, 416, 417, 422, 426, 428, 431,
  451,
]);

/** The status of the HTTP error that the server responded with. */
function statusOf({ cause }: CallError): number | undefined {
  return cause instanceof SdkHttpError ? cause.status : undefined;
}

/** JSON-RPC reserves these codes. All others are the application's: what the handler itself responded with. */
const isReserved = (code: number) => code >= -32_768 && code <= -32_000;

/** The codes that MCP defines among those that JSON-RPC leaves to servers. */
const definedCodes: ReadonlySet<number> = new Set([
  resourceNotFound,
  headerMismatch,
  missingClientCapability,
  unsupportedVersion,
  urlElicitationRequired,
]);
const isServersOwn = (code: number) =>
  code >= -32_099 && code <= -32_000 && !definedCodes.has(code);

/** True for an error that may be gone at the next try. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof CallError)) return false;
  const { code, rpc } = error;
  if (code === "server_down" || code === "timed_out") return true;
  // The error of a task that failed says nothing about the request.
  if (code === "refused" && rpc?.code === internalError) return true;
  const status = statusOf(error);
  return status !== undefined && isPassingStatus(status);
}

export const isPassingStatus = (status: number): boolean =>
  passingStatuses.has(status) || status >= 500;

/** Not found (while a server is being replaced), timeout, too early, too many requests, and a client that hung up. */
const passingStatuses: ReadonlySet<number> = new Set([404, 408, 425, 429, 499]);
