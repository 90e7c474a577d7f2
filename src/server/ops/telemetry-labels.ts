// The names and attributes of spans and metrics. They follow OpenTelemetry's conventions for MCP and GenAI where those
// have one. Ours begin with `parley.`.

import { ParleyError } from "../../errors.ts";
import { conventionOf, toolError } from "../../protocol/telemetry-conventions.ts";
import type { Attributes } from "../../util/open-telemetry.ts";
import { own } from "../../util/objects.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";

/** The labels of all rounds of a handler, made once. */
interface Labels {
  /** The name of a round's span. */
  readonly title: string;
  /** The attributes that the conventions name. */
  readonly convention: Attributes;
  /** The method, and the handler whether it is a tool, a prompt or a resource. */
  readonly own: Attributes;
  readonly outcomes: Readonly<Record<RoundResponse["kind"], Attributes>>;
}

const known = new WeakMap<Definition, Labels>();

export function labels(definition: Definition): Labels {
  let found = known.get(definition);
  if (found === undefined) {
    found = made(definition);
    known.set(definition, found);
  }
  return found;
}

function made({ method, name }: Definition): Labels {
  const attributes = { "mcp.method.name": method, "parley.handler": name };
  const outcome = (kind: RoundResponse["kind"]) => ({ ...attributes, "parley.outcome": kind });
  return {
    title: `${method} ${name}`,
    convention: conventionOf(method, name),
    own: attributes,
    outcomes: {
      complete: outcome("complete"),
      input_required: outcome("input_required"),
      task: outcome("task"),
      error: outcome("error"),
      none: outcome("none"),
    },
  };
}

/** `error.type` of a round, as the conventions define it. Undefined if it did not fail. */
export function errorTypeOfResponse(response: RoundResponse): string | undefined {
  if (response.kind === "error") return String(response.code);
  if (response.kind !== "complete") return undefined;
  return isToolError(response.result) ? toolError : undefined;
}

export const isToolError = (result: unknown): boolean => own(result, "isError") === true;

/**
 * `error.type` of something that was thrown: a code of ours, or the name of its class. Messages would make too many
 * different values.
 */
export function errorTypeOf(thrown: unknown): string {
  if (thrown instanceof ParleyError) return thrown.code;
  if (!(thrown instanceof Error)) return "_OTHER";
  try {
    return String(thrown.name);
  } catch {
    return "_OTHER";
  }
}
