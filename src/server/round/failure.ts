// The response to the client when a handler did not come to a result, and what is logged about it.

import { ProtocolError } from "@modelcontextprotocol/server";
import { ParleyError, StepError, UnansweredError } from "../../errors.ts";
import { capabilitiesFor } from "../../protocol/capabilities.ts";
import { internalError, missingClientCapability } from "../../protocol/error-codes.ts";
import { errorText } from "../../util/error-text.ts";
import { toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { isUnintended } from "../../util/unintended.ts";
import { Unsupported } from "../context/unsupported-question.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { StoreTrouble } from "../tasks/store-needed.ts";
import type { RoundResponse } from "./request.ts";

/** What to do when a token or a record does not open because its key is unknown. */
export const checkKeys = "Check that PARLEY_KEYS is the same on every instance.";

/** The call that failed, as the log names it. */
export interface FailedCall {
  readonly id: () => string;
  /** The task that it has become, shortened as in the rest of the log. */
  readonly task?: string | undefined;
}

/** Turns what a handler threw into a response, and logs what the operator should know. */
export function failureResponse(
  core: Core,
  definition: Definition,
  error: unknown,
  call?: FailedCall,
): RoundResponse {
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
    const data = dataOf(core, definition, error, call);
    return { kind: "error", code, message, ...data, cause: error };
  }
  if (error instanceof StoreTrouble) {
    core.storeFailed(error.cause, fieldsOf(definition, call));
    return {
      kind: "error",
      code: internalError,
      message: error.message,
      data: { reason: "store_unavailable" },
      cause: error,
    };
  }
  if (error instanceof UnansweredError) return failedResult(definition, error.message);
  if (error instanceof ParleyError) return authorError(core, definition, error, call);
  return thrownError(core, definition, error, call);
}

/**
 * An author chose the text of `new Error("…")` for the client. The text of a TypeError or of a failed connection was
 * not chosen, and it may hold anything. So in production the client gets only an id, and the log has the error under
 * that id.
 */
function thrownError(
  core: Core,
  definition: Definition,
  error: unknown,
  call: FailedCall | undefined,
): RoundResponse {
  const { name } = definition;
  const isStep = error instanceof StepError;
  // A request that failed before it became a call gets an id here, so that the client can name it.
  const id = call?.id() ?? core.environment.newId();
  core.logger.error(
    `"${name}" failed${isStep ? ` in step "${error.key}"` : ""}: ${errorText(error)}`,
    {
      ...fieldsOf(definition, { id: () => id, task: call?.task }),
      // The stack of a step's error was logged when its body threw.
      ...(isStep ? {} : stackOf(error)),
    },
  );
  const isHidden = !core.environment.isDevelopment && isUnintended(error);
  return failedResult(
    definition,
    isHidden
      ? `"${name}" failed. The server's log has the details for call ${id}.`
      : errorText(error),
  );
}

/** Logs that a step failed, with the stack of what its body threw. The handler may still catch it, so this is a warning. */
export function logStepError(
  core: Core,
  definition: Definition,
  call: FailedCall,
  key: string,
  error: unknown,
): void {
  core.logger.warn(`Step "${key}" of "${definition.name}" failed: ${errorText(error)}`, {
    ...fieldsOf(definition, call),
    step: key,
    ...stackOf(error),
  });
}

/** The members of a line of the log about a call. */
export function fieldsOf(
  { name }: Definition,
  call: FailedCall | undefined,
): Record<string, unknown> {
  return {
    handler: name,
    ...(call === undefined ? {} : { call: call.id() }),
    ...(call?.task === undefined ? {} : { task: call.task }),
  };
}

function stackOf(error: unknown): { readonly stack?: string } {
  try {
    return error instanceof Error && typeof error.stack === "string" ? { stack: error.stack } : {};
  } catch {
    return {};
  }
}

/** The author's data, unchanged. If JSON cannot hold it, the error is sent without it. */
function dataOf(
  { logger }: Core,
  definition: Definition,
  { data }: ProtocolError,
  call: FailedCall | undefined,
): { readonly data?: Json } {
  try {
    const json = toJson(data, "data");
    return json === undefined ? {} : { data: json };
  } catch (error) {
    logger.error(
      `"${definition.name}" threw a ProtocolError whose data cannot be sent: it has ${errorText(error)}, which JSON cannot hold.`,
      fieldsOf(definition, call),
    );
    return {};
  }
}

/** A mistake in the handler or the set-up. In development the client gets the whole message, because the author is likely to read it there. */
function authorError(
  core: Core,
  definition: Definition,
  error: ParleyError,
  call: FailedCall | undefined,
): RoundResponse {
  const { code } = error;
  core.logger.error(error.message, { ...fieldsOf(definition, call), code });
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
