// Why there is no connection, in words that say what to do.

import { SdkError, SdkErrorCode, UnauthorizedError } from "@modelcontextprotocol/client";
import { CallError, textOf } from "./errors.ts";
import { failureOf } from "./wire.ts";

export function connectFailure(error: unknown, era: string | undefined): Error {
  if (error instanceof UnauthorizedError || error instanceof CallError) return error;
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed) {
    if (error.cause !== undefined) return failureOf(error.cause, "server/discover");
    const advice = era === undefined ? "" : ` Leave out era: "${era}" to take what it speaks.`;
    return new CallError("era_not_shared", `${error.message}.${advice}`, { cause: error });
  }
  if (error instanceof Error && error.name === "UnsupportedProtocolVersionError") {
    return new CallError("era_not_shared", error.message, { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const message = "The server does not answer. Is it running, and is it an MCP server?";
    return new CallError("server_down", message, { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    const message = "The server ended before it had answered. Does its command run by itself?";
    return new CallError("server_down", message, { cause: error });
  }
  if (error instanceof Error && "code" in error && error.code === "ENOENT") {
    return new CallError(
      "server_down",
      `The server's command cannot be started: ${textOf(error)}`,
      {
        cause: error,
      },
    );
  }
  return failureOf(error, "server/discover");
}
