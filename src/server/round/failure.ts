// The response to the client when a handler did not come to a result, and what is logged about it.

import { ProtocolError } from "@modelcontextprotocol/server";
import { ParleyError, StepError, UnansweredError } from "../../errors.ts";
import { capabilitiesFor } from "../../protocol/capabilities.ts";
import { internalError, missingClientCapability } from "../../protocol/error-codes.ts";
import { errorText } from "../../util/error-text.ts";
import { toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { Unsupported } from "../context/unsupported.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { StoreTrouble } from "../tasks/store-needed.ts";
import type { RoundResponse } from "./request.ts";

/** What to do when a token or a record does not open because its key is unknown. */
export const checkKeys = "Check that PARLEY_KEYS is the same on every instance.";

/** Turns what a handler threw into a response, and logs what the operator should know. */
export function failureResponse(core: Core, definition: Definition, error: unknown): RoundResponse {
  if (error instanceof Unsupported) {
    return {
      kind: "error",
      code: missingClientCapability,
      message: error.message,
      data: { requiredCapabilities: capabilitiesFor(error.needs) },
      cause: error,
    };
  }
  // The author chose a protocol error over a result with `isError`.
  if (error instanceof ProtocolError) {
    const { code, message } = error;
    return { kind: "error", code, message, ...dataOf(core, definition, error), cause: error };
  }
  if (error instanceof StoreTrouble) {
    core.storeFailed(error.cause, { handler: definition.name });
    return {
      kind: "error",
      code: internalError,
      message: error.message,
      data: { reason: "store_unavailable" },
      cause: error,
    };
  }
  if (error instanceof UnansweredError) return failedResult(definition, error.message);
  if (error instanceof ParleyError) return authorError(core, definition, error);
  const where = error instanceof StepError ? ` in step "${error.key}"` : "";
  core.logger.error(`"${definition.name}" failed${where}: ${errorText(error)}`, {
    handler: definition.name,
    ...(error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}),
  });
  return failedResult(definition, errorText(error));
}

/** The author's data as it is, unless JSON cannot hold it. Then the error is sent without it. */
function dataOf(
  { logger }: Core,
  { name }: Definition,
  { data }: ProtocolError,
): { readonly data?: Json } {
  try {
    const json = toJson(data, "data");
    return json === undefined ? {} : { data: json };
  } catch (error) {
    logger.error(
      `"${name}" threw a ProtocolError whose data cannot be sent: it has ${errorText(error)}, which JSON cannot hold.`,
      { handler: name },
    );
    return {};
  }
}

/** A mistake in the handler or the set-up. In development the client gets the whole message, because the author is likely to read it there. */
function authorError(core: Core, definition: Definition, error: ParleyError): RoundResponse {
  const { code } = error;
  core.logger.error(error.message, { handler: definition.name, code });
  return {
    kind: "error",
    code: internalError,
    message: core.environment.isDevelopment
      ? error.message
      : `"${definition.name}" cannot be run (${code}). The server's log has the details.`,
    data: { reason: code },
    cause: error,
  };
}

/** A result that says what went wrong, or an error if the method has no such result. */
function failedResult(definition: Definition, message: string): RoundResponse {
  const result = definition.toFailure(message);
  if (result !== undefined) return { kind: "complete", result };
  return { kind: "error", code: internalError, message };
}
