// The form of a tool's arguments, if its input schema has only fields that a form can show.

import type { FormField, FormJson } from "../../protocol/form.ts";
import { isFormat } from "../../protocol/form.ts";
import type { Json } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";

/** Undefined if some argument is more than a text, a number, a tick or a choice. */
export function formOfSchema(schema: Json | undefined): FormJson | undefined {
  if (!isObject(schema)) return undefined;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  const fields: [string, FormField][] = [];
  for (const [name, one] of Object.entries(properties)) {
    const field = fieldOf(one);
    if (field === undefined) return undefined;
    fields.push([name, field]);
  }
  return {
    type: "object",
    // Not with an assignment, because an argument may be called "__proto__".
    properties: Object.fromEntries(fields),
    required: required.filter((name) => typeof name === "string"),
  };
}

function fieldOf(schema: unknown): FormField | undefined {
  if (!isObject(schema)) return undefined;
  const { type, format, items } = schema;
  const isText = type === "string" && (format === undefined || isFormat(format));
  const isList =
    type === "array" &&
    isObject(items) &&
    items["type"] === "string" &&
    Array.isArray(items["enum"]) &&
    items["enum"].every((one) => typeof one === "string");
  const isPlain = type === "boolean" || type === "number" || type === "integer";
  if (!isText && !isList && !isPlain) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above, as far as the form reads it
  return schema as unknown as FormField;
}
