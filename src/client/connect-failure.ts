// Turns what the SDK throws while it connects into an error that says what to do.

import {
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";
import { headerMismatch, methodNotFound, unsupportedVersion } from "../protocol/error-codes.ts";
import { legacyVersion } from "../protocol/versions.ts";
import { errorText } from "../util/error-text.ts";
import { CallError } from "./errors.ts";
import { responseIn, transportFailure } from "./transport-failure.ts";

/** How a server refuses `initialize` if it speaks only versions that do not have it. */
const withoutInitialize = [headerMismatch, methodNotFound];

export function connectFailure(error: unknown, era: string | undefined): Error {
  if (error instanceof UnauthorizedError || error instanceof CallError) return error;
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed) {
    if (error.cause !== undefined) return transportFailure(error.cause, "server/discover");
    return notShared(error.message, era, error);
  }
  const response = responseIn(error);
  const method = era === legacyVersion ? "initialize" : "server/discover";
  if (response?.kind === "error") {
    const { code, message } = response.error;
    const isOfNewer = method === "initialize" && withoutInitialize.includes(code);
    if (isOfNewer || code === unsupportedVersion) return notShared(message, era, error);
  }
  // The SDK has no class for this error.
  if (error instanceof Error && error.message.startsWith("Server's protocol version is not")) {
    return notShared(error.message, era, error);
  }
  if (error instanceof UnsupportedProtocolVersionError) {
    const versions = error.supported.join(", ").slice(0, 200);
    const message = `This client speaks none of the server's protocol versions (${versions || "the server names none"}).`;
    return new CallError("era_not_shared", message, { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const message =
      "The server does not respond. Check that it is running and that it is an MCP server.";
    return new CallError("server_down", message, { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    const message = "The server exited before it responded. Run its command by itself to see why.";
    return new CallError("server_down", message, { cause: error });
  }
  if (error instanceof Error && "code" in error && error.code === "ENOENT") {
    const message = `The server's command cannot be started (${errorText(error)}). Check that it is installed.`;
    return new CallError("server_down", message, { cause: error });
  }
  return transportFailure(error, method);
}

function notShared(message: string, era: string | undefined, cause: unknown): CallError {
  const advice = era === undefined ? "" : ` Omit era: "${era}" to use a version that it speaks.`;
  return new CallError("era_not_shared", `${message}.${advice}`, { cause });
}
