// A field of a form, which a server can make in any way it likes: what it is called, what it takes, what there is to
// choose from. Whatever is odd is shown as JSON, and judged by the server.

import { isObject } from "../../util/objects.ts";
import { expectation, fits } from "../../protocol/form.ts";
import type { FormField } from "../../protocol/form.ts";
import { plainLine } from "../screen/plain.ts";

/** To go after "expected". Undefined: it is made in a way that nobody knows. */
export function expectedOf(field: FormField): string | undefined {
  try {
    const words: unknown = expectation(field);
    return typeof words === "string" ? plainLine(words) : undefined;
  } catch {
    return undefined;
  }
}

export function takes(field: FormField, value: unknown): boolean {
  return expectedOf(field) === undefined || fits(field, value);
}

/** A text as it is; everything else as JSON. */
export function worded(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Undefined: there are none. */
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
