// A field of a form: its label, the values it takes, and its choices. A server can send any schema. A field that is not
// understood is shown as JSON, and the server judges the value.

import { isObject } from "../../util/objects.ts";
import { expectation, fits } from "../../protocol/form.ts";
import type { FormField } from "../../protocol/form.ts";
import { plainLine } from "../screen/plain.ts";

/** Completes "expected". Undefined if the schema of the field is not understood. */
export function expectedOf(field: FormField): string | undefined {
  try {
    const words: unknown = expectation(field);
    return typeof words === "string" ? plainLine(words) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value fits the field, as far as its schema is understood. */
export function takes(field: FormField, value: unknown): boolean {
  return expectedOf(field) === undefined || fits(field, value);
}

/** Text unchanged, and everything else as JSON. */
export function worded(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** One choice of a field. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choices of a field, or undefined if it has none. */
export function choicesOf(field: FormField): readonly Choice[] | undefined {
  const holder: unknown = field.type === "array" ? field.items : field;
  if (!isObject(holder)) return undefined;
  const { oneOf, anyOf, enum: values, enumNames: names } = holder;
  const titled = oneOf ?? anyOf;
  const choices = Array.isArray(titled)
    ? titled.filter(isObject).map(({ const: value, title = value }) => choice(value, title))
    : Array.isArray(values)
      ? values.map((value: unknown, at) => choice(value, Array.isArray(names) ? names[at] : value))
      : [];
  return choices.length === 0 ? undefined : choices;
}

const choice = (value: unknown, label: unknown = value): Choice => ({
  value: worded(value),
  label: plainLine(worded(label)),
});
