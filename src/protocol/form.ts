// The form of an elicitation: one object with fields of the few kinds that the specification permits (2026-07-28,
// client/elicitation). No other kinds can be added, so one function checks whether a value fits a field and another says in
// words what would fit.

/** A choice with a value for the program and a title for people. */
export interface TitledChoice {
  /** The value of the field if this is chosen. */
  readonly const: string;
  /** What people see. */
  readonly title: string;
}

/** A field of a form, as on the wire. Where a question takes a schema, you can also pass a literal of this type. */
export type FormField = {
  /** The label of the field. */
  readonly title?: string | undefined;
  /** A hint for the person who fills it in. */
  readonly description?: string | undefined;
} & (
  | {
      /** A line of text, or one choice of a list. */
      readonly type: "string";
      /** The choices, without titles. */
      readonly enum?: readonly string[] | undefined;
      /** The choices, with titles. */
      readonly oneOf?: readonly TitledChoice[] | undefined;
      /** The form that the text must have. */
      readonly format?: FormFormat | undefined;
      /** The shortest text allowed, in characters. */
      readonly minLength?: number | undefined;
      /** The longest text allowed, in characters. */
      readonly maxLength?: number | undefined;
      /** What the field contains at first. */
      readonly default?: string | undefined;
    }
  | {
      /** A number, or a whole number. */
      readonly type: "number" | "integer";
      /** The smallest number allowed. */
      readonly minimum?: number | undefined;
      /** The largest number allowed. */
      readonly maximum?: number | undefined;
      /** What the field contains at first. */
      readonly default?: number | undefined;
    }
  | {
      /** Yes or no. */
      readonly type: "boolean";
      /** What the field contains at first. */
      readonly default?: boolean | undefined;
    }
  | {
      /** Several choices of a list. */
      readonly type: "array";
      /** The choices, with or without titles. */
      readonly items:
        | {
            /** Always "string". */
            readonly type: "string";
            /** The choices, without titles. */
            readonly enum: readonly string[];
          }
        | {
            /** The choices, with titles. */
            readonly anyOf: readonly TitledChoice[];
          };
      /** The smallest number of choices. */
      readonly minItems?: number | undefined;
      /** The largest number of choices. */
      readonly maxItems?: number | undefined;
      /** What is chosen at first. */
      readonly default?: readonly string[] | undefined;
    }
);

/** A form that a text field can require. Dates and times are written as in RFC 3339. */
export type FormFormat = "email" | "uri" | "date" | "date-time";

/** A form, as on the wire. Where a question takes a schema, you can also pass a literal of this type. */
export interface FormJson {
  /** Always "object". */
  readonly type: "object";
  /** The fields by name, in the order that people see them. */
  readonly properties: { readonly [name: string]: FormField };
  /** The names of the fields that must be filled in. Default: none. */
  readonly required?: readonly string[] | undefined;
}

/** Whether the value is one of the formats. */
export function isFormat(value: unknown): value is FormFormat {
  return typeof value === "string" && Object.hasOwn(formats, value);
}

/** Whether a value is a valid answer to this field. */
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

/** What the field accepts, in words that can follow "expected", such as "a whole number of at least 1". */
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

// A value that occurs twice is refused, because one choice cannot be ticked twice.
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

// Counts code points, as JSON Schema does.
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// Every pattern here takes time linear in the length of the text, because the text comes from outside.
const formats: Record<FormFormat, { words: string; holds: (text: string) => boolean }> = {
  email: {
    words: "an email address",
    holds: (text) => text.length <= 320 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  },
  uri: {
    words: "a URL",
    // URL.canParse alone would accept spaces, by trimming and encoding them.
    holds: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text),
  },
  date: { words: "a date such as 2026-11-15", holds: isDate },
  "date-time": {
    words: "a date and time such as 2026-11-15T09:30:00Z",
    holds: (text) => timeOfDay.test(text.slice(10)) && isDate(text.slice(0, 10)),
  },
};

// RFC 3339 requires seconds and a time zone. A leap second is number 60.
const timeOfDay =
  /^T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // Date reads the 30th of February as the 2nd of March.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** "at least 1", "at most 5" or "1 to 5". Undefined without a bound. */
function amount(min: number | undefined, max: number | undefined): string | undefined {
  if (min === undefined) return max === undefined ? undefined : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(", ");
}
