// The form of an elicitation: one object of the few kinds of field that the specification permits
// (2026-07-28, client/elicitation). The language is closed, so one function says whether a value fits
// a field and another says in words what would have.

interface Titled {
  readonly const: string;
  readonly title: string;
}

/** What a form field may be on the wire. A literal of this type is also accepted wherever a question takes a schema. */
export type FormField = {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
} & (
  | {
      readonly type: "string";
      readonly enum?: readonly string[] | undefined;
      readonly oneOf?: readonly Titled[] | undefined;
      readonly format?: FormFormat | undefined;
      readonly minLength?: number | undefined;
      readonly maxLength?: number | undefined;
      readonly default?: string | undefined;
    }
  | {
      readonly type: "number" | "integer";
      readonly minimum?: number | undefined;
      readonly maximum?: number | undefined;
      readonly default?: number | undefined;
    }
  | { readonly type: "boolean"; readonly default?: boolean | undefined }
  | {
      readonly type: "array";
      readonly items:
        | { readonly type: "string"; readonly enum: readonly string[] }
        | { readonly anyOf: readonly Titled[] };
      readonly minItems?: number | undefined;
      readonly maxItems?: number | undefined;
      readonly default?: readonly string[] | undefined;
    }
);

export type FormFormat = "email" | "uri" | "date" | "date-time";

export interface FormJson {
  readonly type: "object";
  readonly properties: { readonly [name: string]: FormField };
  readonly required?: readonly string[] | undefined;
}

export function isFormat(value: unknown): value is FormFormat {
  return typeof value === "string" && Object.hasOwn(formats, value);
}

export function fits(field: FormField, value: unknown): boolean {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean";
    case "number":
      // JSON.parse reads 1e400 as Infinity.
      return Number.isFinite(value) && isWithin(Number(value), field.minimum, field.maximum);
    case "integer":
      return Number.isInteger(value) && isWithin(Number(value), field.minimum, field.maximum);
    case "string":
      return typeof value === "string" && fitsText(field, value);
    case "array":
      return Array.isArray(value) && fitsList(field, value);
  }
}

/** What the field takes, to go after "expected": a whole number of at least 1. */
export function expectation(field: FormField): string {
  switch (field.type) {
    case "boolean":
      return "true or false";
    case "number":
    case "integer": {
      const number = field.type === "integer" ? "a whole number" : "a number";
      const { minimum: min, maximum: max } = field;
      if (min !== undefined && max !== undefined) return `${number} from ${min} to ${max}`;
      const bound = amount(min, max);
      return bound === undefined ? number : `${number} of ${bound}`;
    }
    case "string": {
      const shown = field.enum ?? field.oneOf?.map(({ title }) => title);
      if (shown !== undefined) return `one of ${quoted(shown)}`;
      const text = field.format === undefined ? "text" : formats[field.format].words;
      const length = amount(field.minLength, field.maxLength);
      if (length === undefined) return text;
      return `${text} of ${length} ${/\b1$/.test(length) ? "character" : "characters"}`;
    }
    case "array": {
      const { items } = field;
      const shown = "enum" in items ? items.enum : items.anyOf.map(({ title }) => title);
      return `${amount(field.minItems, field.maxItems) ?? "any"} of ${quoted(shown)}`;
    }
  }
}

type Text = Extract<FormField, { type: "string" }>;
type List = Extract<FormField, { type: "array" }>;

function fitsText(field: Text, value: string): boolean {
  if (field.enum !== undefined) return field.enum.includes(value);
  if (field.oneOf !== undefined) return field.oneOf.some((choice) => choice.const === value);
  const { minLength, maxLength, format } = field;
  const isBounded = minLength !== undefined || maxLength !== undefined;
  return (
    (!isBounded || isWithin(characters(value), minLength, maxLength)) &&
    (format === undefined || formats[format].holds(value))
  );
}

// Nobody can tick one box twice, so a value that comes twice was not chosen in a form.
function fitsList({ items, minItems, maxItems }: List, values: readonly unknown[]): boolean {
  const choices = new Set<unknown>(
    "enum" in items ? items.enum : items.anyOf.map((choice) => choice.const),
  );
  return (
    isWithin(values.length, minItems, maxItems) && values.every((value) => choices.delete(value))
  );
}

function isWithin(value: number, min = -Infinity, max = Infinity): boolean {
  return min <= value && value <= max;
}

// Code points, as JSON Schema counts.
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// Every pattern here is linear in the length of what a stranger sends.
const formats: Record<FormFormat, { words: string; holds: (text: string) => boolean }> = {
  email: {
    words: "an email address",
    holds: (text) => text.length <= 320 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  },
  uri: {
    words: "a URL",
    // URL.canParse alone would trim spaces and encode them.
    holds: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text),
  },
  date: { words: "a date such as 2026-11-15", holds: isDate },
  "date-time": {
    words: "a date and time such as 2026-11-15T09:30:00Z",
    holds: (text) => timeOfDay.test(text.slice(10)) && isDate(text.slice(0, 10)),
  },
};

// RFC 3339: seconds are needed, and so is a zone; 60 is a leap second.
const timeOfDay =
  /^T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // The 30th of February is read as the 2nd of March.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** "at least 1", "at most 5", "1 to 5"; nothing where there is no bound. */
function amount(min: number | undefined, max: number | undefined): string | undefined {
  if (min === undefined) return max === undefined ? undefined : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(", ");
}
