// The one place that checks a full result of an author, before any transport sees it. It must be valid for its method,
// and JSON must be able to hold it. The check makes a copy, so that every transport, a task and the test kit hand on
// the same data.

import { specTypeSchemas } from "@modelcontextprotocol/server";
import type { StandardSchemaV1 } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { NotJson, toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";
import { reasonOf } from "../forms/issues.ts";
import type { WireResult } from "./definition.ts";

type ResultType = "CallToolResult" | "GetPromptResult" | "ReadResourceResult";

/** The results that have passed the check, so that the fast entry need not repeat it. */
const checked = new WeakSet<object>();

/** Whether `checkedResult` has made this result. */
export const isChecked = (result: object): boolean => checked.has(result);

/** A copy of the result. Throws ParleyError "bad_result" if it is not valid or not JSON. `owner` is such as `Tool "pay"`. */
export function checkedResult(owner: string, type: ResultType, returned: WireResult): WireResult {
  if (isPlainText(returned)) return { ...returned };
  const copy = resultJson(owner, returned);
  const { issues, value } = validated(type, copy);
  if (issues !== undefined) throw badResult(`${owner} returned ${problem(copy, issues)}`);
  checked.add(value);
  return value;
}

/** A copy of the value, as reading its JSON would give it. Throws ParleyError "bad_result" if JSON cannot hold it. */
export function resultJson(owner: string, value: unknown): Json {
  try {
    const json = toJson(value);
    if (json !== undefined) return json;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw badResult(
      `${owner} returned ${error.what} at ${error.path}, which JSON cannot hold. Return plain data, for example ${error.advice}.`,
    );
  }
  throw badResult(`${owner} returned nothing, which JSON cannot hold. Return null instead.`);
}

/** The error for a handler that did not return what its kind returns. */
export const badResult = (message: string): ParleyError => new ParleyError("bad_result", message);

/** Texts alone, which most results are, need no check. */
function isPlainText(returned: WireResult): boolean {
  for (const name in returned) if (name !== "content" && name !== "isError") return false;
  const { content, isError } = returned;
  const isFit = isError === undefined || typeof isError === "boolean";
  return isFit && Array.isArray(content) && content.every(isTextBlock);
}

/** Whether the value is a text block without anything else. */
export function isTextBlock(block: unknown): boolean {
  if (!isObject(block) || block["type"] !== "text" || typeof block["text"] !== "string") {
    return false;
  }
  for (const key in block) if (key !== "type" && key !== "text") return false;
  return true;
}

type Validated =
  | { readonly issues: undefined; readonly value: WireResult }
  | { readonly issues: readonly StandardSchemaV1.Issue[]; readonly value: undefined };

function validated(type: ResultType, copy: Json): Validated {
  const result = specTypeSchemas[type]["~standard"].validate(copy);
  if (result instanceof Promise) throw new TypeError(`The schema of ${type} is asynchronous.`);
  return result.issues === undefined
    ? { issues: undefined, value: { ...result.value } }
    : { issues: result.issues, value: undefined };
}

/** The schema says no more about a content block than that it fits none of the kinds. */
function problem(copy: Json, issues: readonly StandardSchemaV1.Issue[]): string {
  const path = (issues[0]?.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
  const kind = path.reduce<unknown>(memberOf, copy);
  const isBlock = path.at(0) === "content" || path.at(-1) === "content";
  const type = isBlock ? memberOf(kind, "type") : undefined;
  const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  if (typeof type === "string" && !blockTypes.includes(type)) {
    return `a content block of type ${JSON.stringify(type.slice(0, 80))} at result${place.join("")}. Use one of ${blockTypes.join(", ")}.`;
  }
  return `a result that is not valid at result${place.join("")}: ${reasonOf(issues)}.`;
}

const blockTypes = ["text", "image", "audio", "resource_link", "resource"];

function memberOf(value: unknown, name: PropertyKey): unknown {
  if (Array.isArray(value)) return value[Number(name)];
  return isObject(value) ? value[String(name)] : undefined;
}
