// Why there is no connection, in words that say what to do.

import {
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";
import { CallError, textOf } from "./errors.ts";
import { failureOf, replyIn } from "./wire.ts";

const unsupportedVersion = -32_022;

export function connectFailure(error: unknown, era: string | undefined): Error {
  if (error instanceof UnauthorizedError || error instanceof CallError) return error;
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed) {
    if (error.cause !== undefined) return failureOf(error.cause, "server/discover");
    return notShared(error.message, era, error);
  }
  const reply = replyIn(error);
  if (reply?.kind === "error" && reply.error.code === unsupportedVersion) {
    return notShared(reply.error.message, era, error);
  }
  // The SDK has no class for it.
  if (error instanceof Error && error.message.startsWith("Server's protocol version is not")) {
    return notShared(error.message, era, error);
  }
  if (error instanceof UnsupportedProtocolVersionError) {
    const speaks = error.supported.join(", ").slice(0, 200);
    const message = `The server speaks ${speaks || "nothing that it names"}, and this client none of these.`;
    return new CallError("era_not_shared", message, { cause: error });
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

function notShared(message: string, era: string | undefined, cause: unknown): CallError {
  const advice = era === undefined ? "" : ` Leave out era: "${era}" to take what it speaks.`;
  return new CallError("era_not_shared", `${message}.${advice}`, { cause });
}
