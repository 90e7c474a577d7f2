// What the client is told when a handler did not come to a result.

import { ProtocolError } from "@modelcontextprotocol/server";
import { ParleyError, StepError, UnansweredError } from "../../errors.ts";
import { internalError, missingClientCapability } from "../../protocol/error-codes.ts";
import { capabilitiesFor } from "../../protocol/capabilities.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { Unsupported } from "../context/questions.ts";
import type { RoundResponse } from "./request.ts";
import { StoreTrouble } from "../tasks/store-needed.ts";

export function failureResponse(core: Core, definition: Definition, error: unknown): RoundResponse {
  if (error instanceof Unsupported) {
    return {
      kind: "error",
      code: missingClientCapability,
      message: `"${definition.name}" needs something this client has not declared: ${error.message}`,
      data: { requiredCapabilities: capabilitiesFor(error.needs) },
      cause: error,
    };
  }
  // The author means an error of the protocol, not a result that says so.
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { kind: "error", code, message, ...(isRecord(data) ? { data } : {}), cause: error };
  }
  if (error instanceof StoreTrouble) {
    core.logger.error(`The task store fails: ${textOf(error.cause)}`, { handler: definition.name });
    return {
      kind: "error",
      code: internalError,
      message: error.message,
      data: { reason: "store_unavailable" },
      cause: error,
    };
  }
  if (error instanceof UnansweredError) return said(definition, error.message);
  if (error instanceof ParleyError) return mistake(core, definition, error);
  const where = error instanceof StepError ? ` in step "${error.key}"` : "";
  core.logger.error(`"${definition.name}" failed${where}: ${textOf(error)}`, {
    handler: definition.name,
    ...(error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}),
  });
  return said(definition, textOf(error));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** What was thrown, in words. Never throws, whatever the thing does when it is looked at. */
export function textOf(thrown: unknown): string {
  try {
    const hasMessage = typeof thrown === "object" && thrown !== null && "message" in thrown;
    return String(hasMessage ? thrown.message : thrown);
  } catch {
    return "Something was thrown that cannot be shown.";
  }
}

/** A mistake of the author's. It is told whole where the author is likely to be the one who reads it. */
function mistake(core: Core, definition: Definition, error: ParleyError): RoundResponse {
  const { code } = error;
  core.logger.error(error.message, { handler: definition.name, code });
  return {
    kind: "error",
    code: internalError,
    message: core.environment.isDevelopment
      ? error.message
      : `"${definition.name}" cannot be run (${code}); its server's log says why.`,
    data: { reason: code },
    cause: error,
  };
}

function said(definition: Definition, message: string): RoundResponse {
  const result = definition.toFailure(message);
  if (result !== undefined) return { kind: "complete", result };
  return { kind: "error", code: internalError, message };
}
