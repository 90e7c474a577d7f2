// Turns what a transport throws into a response or a `CallError`.

import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { RpcResponse } from "../protocol/rpc.ts";
import { errorText } from "../util/error-text.ts";
import { own } from "../util/objects.ts";
import { badResponse, CallError, refusal, rpcErrorIn } from "./errors.ts";
import { isPassingStatus } from "./verdict.ts";

/** The JSON-RPC error in the body of an HTTP error, for example of an unknown method. */
export function responseIn(error: unknown): RpcResponse | undefined {
  if (!(error instanceof SdkHttpError)) return undefined;
  const text = own(error.data, "text");
  if (typeof text !== "string") return undefined;
  try {
    const sent = rpcErrorIn(own(JSON.parse(text), "error"));
    return sent && { kind: "error", error: sent, cause: error };
  } catch {
    return undefined;
  }
}

/** Turns what a request of the SDK's own client throws into an error that says what to do. */
export function sdkFailure(error: unknown, method: string): Error {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return refusal({ code, message, data });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const message = `The server did not respond to ${method} in time. It may be down or overloaded.`;
    return new CallError("timed_out", message, { cause: error });
  }
  const response = responseIn(error);
  if (response?.kind === "error") return refusal(response.error, response.cause);
  return transportFailure(error, method);
}

/** `UnauthorizedError` is returned unchanged, because signing in is between the SDK and its auth provider. */
export function transportFailure(error: unknown, method: string): Error {
  if (error instanceof CallError || error instanceof UnauthorizedError) return error;
  if (error instanceof SdkHttpError) return httpFailure(error, method);
  if (error instanceof SyntaxError || isUnreadable(error)) {
    return badResponse(`what came back for ${method} is not JSON-RPC`);
  }
  const why = errorText(error instanceof Error && error.cause !== undefined ? error.cause : error);
  const message = `The server cannot be reached (${why}). Check that it is running and that its address is right.`;
  return new CallError("server_down", message, { cause: error });
}

function httpFailure(error: SdkHttpError, method: string): CallError {
  const { status } = error;
  if (status === 413 || status === 431) {
    const message = `The server refused ${method} because the request is too large (HTTP ${status}).`;
    return new CallError("too_large", message, { cause: error });
  }
  if (status >= 500 || status === 404) {
    const advice =
      status === 404
        ? "Check the path of its URL (Parley serves /mcp). If a session was open, it may have ended."
        : "Try again later.";
    const message = `The server responded with HTTP ${status}. ${advice}`;
    return new CallError("server_down", message, { cause: error });
  }
  const message = `The server refused ${method} with HTTP ${status}. ${adviceOn(status)}`.trimEnd();
  return new CallError("refused", message, { cause: error });
}

function adviceOn(status: number): string {
  if (isPassingStatus(status)) return "Try again later.";
  if (status === 401) return "Sign in, or check the token that you send.";
  return status === 403 ? "Check that your token allows this." : "";
}

/** True for what the SDK throws when a response is not a JSON-RPC message, or not JSON at all. */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === "ZodError" || own(error, "code") === "CLIENT_HTTP_UNEXPECTED_CONTENT")
  );
}
