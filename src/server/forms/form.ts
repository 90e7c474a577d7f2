// How a schema becomes an elicitation form, and how what a client sends back is read with it.
//
// Invariants:
//   Q1. Only what the form asked for is read: a member that was not a field never reaches a schema, so
//       "__proto__" does not, and no answer holds more than it was asked for.
//   Q2. read() neither throws nor rejects, whatever the client sent and whatever the schema does.

import type { StandardSchemaV1 } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { FormField, FormJson } from "../../protocol/form.ts";
import { notAskable, shapeOf, type Field } from "./form-field.ts";
import { checkField, checkFields, literalFields } from "./form-literal.ts";
import { cut, reasonOf } from "./issues.ts";
import type { Schema } from "./schema.ts";

export interface Form {
  /** What goes on the wire: a flat object of the permitted kinds of field. */
  readonly requestedSchema: FormJson;
  /** Reads the `content` of an accepted answer with the author's own schema, defaults applied. */
  readonly read: (content: unknown) => Read | Promise<Read>;
}

export type Read =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** Names the field, for the person who is asked again. */
      readonly reason: string;
      /** What the schema threw, for the log alone: a mistake of the author's and not of the person's. */
      readonly thrown?: unknown;
    };

/**
 * A schema whose JSON form is an object gives a form of its members and an object; any other gives a
 * form of one field named by the key, and that field's value. Without a schema: one line of text.
 */
export function formOf(key: string, schema: Schema | FormJson | undefined): Form {
  if (schema === undefined) return lineOfText(key);
  const known = forms.get(schema);
  if (known !== undefined) return known(key);
  const made = isStandard(schema) ? fromStandard(key, schema) : fromLiteral(key, schema);
  forms.set(schema, made);
  return made(key);
}

/** Keeps the order given, and shows titles where there are any. */
export function choiceForm(
  key: string,
  choices: readonly (string | { readonly value: string; readonly title: string })[],
): Form {
  const titles = new Map<string, string>();
  for (const choice of choices) {
    const { value, title } = typeof choice === "string" ? { value: choice, title: choice } : choice;
    if (titles.has(value)) {
      throw cannotShow(
        key,
        `the choice "${value}" is there twice. Give every choice its own value`,
      );
    }
    titles.set(value, title);
  }
  if (titles.size === 0) {
    throw cannotShow(key, "it has no choices. Where a list may be empty, look before you ask");
  }
  const isTitled = choices.some((choice) => typeof choice !== "string");
  return textForm(key, {
    type: "string",
    ...(isTitled
      ? { oneOf: Array.from(titles, ([value, title]) => ({ const: value, title })) }
      : { enum: [...titles.keys()] }),
  });
}

/** Accepting is the answer, so the form is empty: a box to tick would be a second way to say no. */
export const confirmForm: Form = {
  requestedSchema: { type: "object", properties: {} },
  read: () => ({ ok: true, value: true }),
};

// ---------------------------------------------------------------- from a schema

type Result = StandardSchemaV1.Result<unknown>;
type Check<T = unknown> = (value: T) => Result | Promise<Result>;

// Questions are asked again on every run, mostly with the schema objects of the run before. A literal
// inside a handler is a new object each time, and goes with it.
const forms = new WeakMap<object, (key: string) => Form>();

function isStandard(schema: Schema | FormJson): schema is Schema {
  const type: string = typeof schema;
  return (type === "function" || (type === "object" && schema !== null)) && "~standard" in schema;
}

function fromStandard(key: string, schema: Schema): (key: string) => Form {
  const standard = schema["~standard"];
  // The SDK's validator of plain JSON Schema leaves defaults to others.
  const shape = shapeOf(key, jsonSchemaOf(key, standard), standard.vendor === "mcp");
  const check: Check = (value) => standard.validate(value);
  if (shape.kind === "value") return perKey((name) => valueForm(shape.field(name), check));
  const form = objectForm(shape.fields, check);
  return () => form;
}

function fromLiteral(key: string, literal: FormJson): (key: string) => Form {
  const fields = literalFields(key, literal);
  const form = objectForm(fields, (members) => checkFields(fields, members));
  return () => form;
}

function jsonSchemaOf(key: string, standard: Partial<Schema["~standard"]>): unknown {
  const { vendor = "unknown", jsonSchema } = standard;
  if (jsonSchema === undefined) {
    const carries = `this ${vendor} schema carries no JSON Schema, which the form is made from`;
    throw cannotShow(key, `${carries}. ${remedies[vendor] ?? anyRemedy}`);
  }
  try {
    // The input side: what has a default need not be answered.
    return jsonSchema.input({ target: "draft-2020-12", libraryOptions: leniency[vendor] });
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    const wrong = `${vendor} gives no JSON Schema for it ("${cut(words)}")`;
    throw notAskable(key, wrong, "ask for a string and turn the answer into the value", { cause });
  }
}

// A field that has no JSON form becomes one of any type, which is then refused by its name. Unasked,
// both libraries throw without saying where; valibot does for a mere trim() or check() as well.
const leniency: Readonly<Record<string, Record<string, unknown>>> = {
  zod: { unrepresentable: "any" },
  valibot: { errorMode: "ignore" },
};

const remedies: Readonly<Record<string, string>> = {
  valibot: "Wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema",
  zod: "Use zod 4.2 or later",
};
const anyRemedy = "Pass its JSON Schema through fromJsonSchema() from @modelcontextprotocol/server";

// A key may be computed, so a schema that lives for ever must not keep a form for every key it met.
const maxKeys = 100;

function perKey(make: (key: string) => Form): (key: string) => Form {
  const made = new Map<string, Form>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    if (made.size === maxKeys) made.clear();
    const form = make(key);
    made.set(key, form);
    return form;
  };
}

const lineOfText = perKey((key) => textForm(key, { type: "string" }));

function textForm(key: string, wire: FormField): Form {
  const field = { name: key, wire, required: true, empty: undefined, meanings: undefined };
  return valueForm(field, (value) => checkField(wire, value));
}

// ---------------------------------------------------------------- reading

function objectForm(fields: readonly Field[], check: Check<object>): Form {
  return {
    requestedSchema: requestedSchemaOf(fields),
    read: (content) =>
      read(() => {
        const sent = sentIn(content);
        if (sent === undefined) return notAForm;
        const members = fields.map((field) => [field.name, valueIn(sent, field)] as const);
        return check(Object.fromEntries(members.filter(([, value]) => value !== undefined)));
      }),
  };
}

function valueForm(field: Field, check: Check): Form {
  return {
    requestedSchema: requestedSchemaOf([field]),
    read: (content) =>
      read(() => {
        const sent = sentIn(content);
        return sent === undefined ? notAForm : check(valueIn(sent, field));
      }, field.name),
  };
}

function requestedSchemaOf(fields: readonly Field[]): FormJson {
  const properties = Object.fromEntries(fields.map(({ name, wire }) => [name, wire]));
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

const notAForm: Result = {
  issues: [{ message: "expected an object with the fields of the form" }],
};

/** An accepted form without content is one in which nothing was filled in. */
function sentIn(content: unknown): object | undefined {
  if (content === undefined) return {};
  const isObject = typeof content === "object" && content !== null && !Array.isArray(content);
  return isObject ? content : undefined;
}

function valueIn(sent: object, { name, empty, meanings }: Field): unknown {
  const value: unknown = Object.hasOwn(sent, name) ? Reflect.get(sent, name) : empty;
  const meant = (text: unknown) => meanings?.get(text) ?? text;
  // A list is copied: the default of a literal is the author's own object.
  return Array.isArray(value) ? value.map(meant) : meant(value);
}

function read(check: () => ReturnType<Check>, name?: string): Read | Promise<Read> {
  try {
    const result = check();
    return "then" in result ? readLater(result, name) : readOf(result, name);
  } catch (thrown) {
    return uncheckable(thrown);
  }
}

async function readLater(result: Promise<Result>, name: string | undefined): Promise<Read> {
  try {
    return readOf(await result, name);
  } catch (thrown) {
    return uncheckable(thrown);
  }
}

function readOf(result: Result, name: string | undefined): Read {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, reason: reasonOf(result.issues, name) };
}

// Words of an exception are the author's affair: they may hold anything.
function uncheckable(thrown: unknown): Read {
  return { ok: false, reason: "it could not be checked", thrown };
}

function cannotShow(key: string, why: string): ParleyError {
  return new ParleyError("not_askable", `Question "${key}" cannot be shown as a form: ${why}.`);
}
