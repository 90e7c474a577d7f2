// What a browser sends for a form, as the content of an answer: every field of an HTML form is text, and an answer has
// numbers, booleans and lists.

import { expectation, fits } from "../protocol/form.ts";
import type { FormField, FormJson } from "../protocol/form.ts";

/** The fields of an HTML form as they were sent: a name may occur several times. `URLSearchParams` is one. */
export interface SentFields {
  readonly get: (name: string) => string | null;
  readonly getAll: (name: string) => readonly string[];
}

/** What a form holds: the content of an answer, and what is wrong with it, by field. */
export interface FormContent {
  readonly content: Readonly<Record<string, unknown>>;
  /** Empty if everything fits. */
  readonly errors: Readonly<Record<string, string>>;
}

/** The name of a field in HTML. It has a prefix, so that no field can take the name of a button. */
export const inputName = (field: string): string => `f.${field}`;

/** Reads a form that was sent. Fields that it does not have are ignored, and an empty field is left out. */
export function readForm(form: FormJson, sent: SentFields): FormContent {
  const content: [string, unknown][] = [];
  const errors: [string, string][] = [];
  for (const [name, field] of Object.entries(form.properties)) {
    const value = valueOf(field, inputName(name), sent);
    if (value !== undefined) content.push([name, value]);
    const error = errorIn(field, value, form.required?.includes(name) === true);
    if (error !== undefined) errors.push([name, error]);
  }
  // Not with an assignment, because a field may be called "__proto__".
  return { content: Object.fromEntries(content), errors: Object.fromEntries(errors) };
}

/** What each field contains before the person has changed anything. */
export function defaultsOf(form: FormJson): Readonly<Record<string, unknown>> {
  const filled = Object.entries(form.properties).flatMap(([name, field]) =>
    field.default === undefined ? [] : [[name, field.default] as const],
  );
  return Object.fromEntries(filled);
}

function valueOf(field: FormField, name: string, sent: SentFields): unknown {
  switch (field.type) {
    case "boolean":
      // A box that is not ticked is not sent at all.
      return sent.get(name) !== null;
    case "array":
      return sent.getAll(name);
    case "number":
    case "integer": {
      const text = sent.get(name)?.trim() ?? "";
      if (text === "") return undefined;
      const number = Number(text);
      // As the person wrote it, so that it can be shown again beside the error.
      return Number.isNaN(number) ? text : number;
    }
    case "string": {
      const text = sent.get(name) ?? "";
      // Browsers send line breaks of a text area as two characters.
      return text === "" ? undefined : text.replaceAll("\r\n", "\n");
    }
  }
}

function errorIn(field: FormField, value: unknown, isRequired: boolean): string | undefined {
  const isChoice = field.type === "string" && (field.enum ?? field.oneOf) !== undefined;
  if (value === undefined) {
    if (!isRequired) return undefined;
    return isChoice ? "Please choose one." : "Please fill this in.";
  }
  // A list that is not required may be left empty, however many choices it wants otherwise.
  const isLeftOut = Array.isArray(value) && value.length === 0 && !isRequired;
  if (isLeftOut || fits(field, value)) return undefined;
  if (isChoice) return "Please choose one of the list.";
  if (field.type === "array") {
    const { minItems = 0, maxItems = Infinity } = field;
    if (minItems > 0 && maxItems === minItems) return `Please choose ${minItems}.`;
    if (Array.isArray(value) && value.length < minItems)
      return `Please choose at least ${minItems}.`;
    if (Array.isArray(value) && value.length > maxItems)
      return `Please choose at most ${maxItems}.`;
    return "Please choose from the list.";
  }
  return `Please enter ${expectation(field)}.`;
}
