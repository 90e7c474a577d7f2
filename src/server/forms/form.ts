// Turns a schema into an elicitation form, and reads the client's answer with that schema.
//
// Invariants:
//   Q1. Only the fields of the form are read. No other member reaches a schema, so "__proto__" does not, and no answer
//       contains more than was asked for.
//   Q2. read() neither throws nor rejects, whatever the client sends and whatever the schema does.

import type { StandardSchemaV1 } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { FormField, FormJson } from "../../protocol/form.ts";
import { shapeOf, type Field } from "./form-field.ts";
import { checkField, checkFields, literalFields } from "./form-literal.ts";
import { errorText } from "../../util/error-text.ts";
import { isObject } from "../../util/objects.ts";
import { cut, reasonOf } from "./issues.ts";
import { notAskable } from "./not-askable.ts";
import type { Schema } from "./schema.ts";

/** A form, and how its answer is read. */
export interface Form {
  /** What goes on the wire: a flat object with the kinds of field that the specification permits. */
  readonly requestedSchema: FormJson;
  /** Reads the `content` of an accepted answer with the author's own schema, defaults applied. */
  readonly read: (content: unknown) => Read | Promise<Read>;
}

/** The value of an answer, or why it does not fit. */
export type Read =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** Names the field. The person sees it when the question is asked again. */
      readonly reason: string;
      /** What the schema threw. It is only logged, because the mistake is the author's and not the person's. */
      readonly thrown?: unknown;
    };

/**
 * The form for a schema. A schema that describes an object gives a form of its members, and the answer is the object. Any
 * other schema gives a form of one field, named after the key, and the answer is its value. Without a schema the form is one
 * line of text.
 */
export function formOf(key: string, schema: Schema | FormJson | undefined): Form {
  if (schema === undefined) return lineOfText(key);
  const known = forms.get(schema);
  if (known !== undefined) return known(key);
  const made = isStandard(schema) ? fromStandard(key, schema) : fromLiteral(key, schema);
  forms.set(schema, made);
  return made(key);
}

/** How a page asks for a value that is delivered as it is. */
export interface ValueForm {
  /** Undefined if no form can show the value, or if its fields would mean something else than they show. */
  readonly form?: FormJson | undefined;
  /** Set if the value is that of this field. Otherwise it is the object of all fields. */
  readonly field?: string | undefined;
  /** The JSON Schema of the value, if its library has one. */
  readonly schema?: unknown;
}

/** The form for a value of this schema. */
export function valueFormOf(key: string, { "~standard": standard }: Schema): ValueForm {
  let schema: unknown;
  try {
    schema = jsonSchemaOf(key, standard);
    const shape = shapeOf(key, schema, false);
    const fields = shape.kind === "object" ? shape.fields : [shape.field(key)];
    const isPlain = fields.every((one) => one.meanings === undefined && one.empty === undefined);
    if (!isPlain) return { schema };
    const form = requestedSchemaOf(fields);
    return { form, schema, ...(shape.kind === "object" ? {} : { field: key }) };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return { schema };
  }
}

/** The form of `ctx.choose`. The choices keep their order. */
export function choiceForm(
  key: string,
  choices: readonly (string | { readonly value: string; readonly title: string })[],
): Form {
  const titles = new Map<string, string>();
  for (const choice of choices) {
    const { value, title } = typeof choice === "string" ? { value: choice, title: choice } : choice;
    if (titles.has(value)) {
      throw cannotShow(key, `the choice "${value}" occurs twice. Give each choice its own value`);
    }
    titles.set(value, title);
  }
  if (titles.size === 0) {
    throw cannotShow(key, "it has no choices. If the list may be empty, check that before you ask");
  }
  const isTitled = choices.some((choice) => typeof choice !== "string");
  return textForm(key, {
    type: "string",
    ...(isTitled
      ? { oneOf: Array.from(titles, ([value, title]) => ({ const: value, title })) }
      : { enum: [...titles.keys()] }),
  });
}

/** The form of `ctx.confirm`. It is empty, because accepting is the answer. A checkbox would be a second way to say no. */
export const confirmForm: Form = {
  requestedSchema: { type: "object", properties: {} },
  read: () => ({ ok: true, value: true }),
};

// ---------------------------------------------------------------- from a schema

type FormResult = StandardSchemaV1.Result<unknown>;
type Check<T = unknown> = (value: T) => FormResult | Promise<FormResult>;

// Questions are asked again in each run, usually with the same schema objects as before. A literal inside a handler is a new
// object each time, and its form is collected with it.
const forms = new WeakMap<object, (key: string) => Form>();

function isStandard(schema: Schema | FormJson): schema is Schema {
  const type: string = typeof schema;
  return (type === "function" || (type === "object" && schema !== null)) && "~standard" in schema;
}

function fromStandard(key: string, schema: Schema): (key: string) => Form {
  const standard = schema["~standard"];
  // The SDK's validator for plain JSON Schema does not apply defaults.
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
    const missing = `this ${vendor} schema has no JSON Schema, which the form is made from`;
    throw cannotShow(key, `${missing}. ${remedies[vendor] ?? anyRemedy}`);
  }
  try {
    // The input side, so that a member with a default need not be answered.
    return jsonSchema.input({ target: "draft-2020-12", libraryOptions: leniency[vendor] });
  } catch (cause) {
    const wrong = `${vendor} gives no JSON Schema for it ("${cut(errorText(cause))}")`;
    throw notAskable(key, wrong, "Ask for a string and turn the answer into the value", { cause });
  }
}

// A field that JSON Schema cannot express becomes one of any type, which is then refused by its name. Without these options
// both libraries throw without naming the field, and valibot throws even for a trim() or check().
const leniency: Readonly<Record<string, Record<string, unknown>>> = {
  zod: { unrepresentable: "any" },
  valibot: { errorMode: "ignore" },
};

const remedies: Readonly<Record<string, string>> = {
  valibot: "Wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema",
  zod: "Use zod 4.2 or later",
};
const anyRemedy = "Pass its JSON Schema through fromJsonSchema() from @modelcontextprotocol/server";

// A key may be computed, so a schema that lives as long as the process must not keep a form for each key. A long call finds
// all of its own, because making a form takes longer than everything else about a question that is replayed.
const maxKeys = 1_000;

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

const notAForm: FormResult = {
  issues: [{ message: "expected an object with the fields of the form" }],
};

/** The members of an accepted form. Without content, nothing was filled in. */
function sentIn(content: unknown): object | undefined {
  if (content === undefined) return {};
  return isObject(content) ? content : undefined;
}

function valueIn(sent: object, { name, empty, meanings }: Field): unknown {
  const value: unknown = Object.hasOwn(sent, name) ? Reflect.get(sent, name) : empty;
  const meant = (text: unknown) => meanings?.get(text) ?? text;
  // A list is copied, because the default of a literal is the author's own object.
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

async function readLater(result: Promise<FormResult>, name: string | undefined): Promise<Read> {
  try {
    return readOf(await result, name);
  } catch (thrown) {
    return uncheckable(thrown);
  }
}

function readOf(result: FormResult, name: string | undefined): Read {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, reason: reasonOf(result.issues, name) };
}

// The exception's message is not shown to the person, because it may contain anything.
function uncheckable(thrown: unknown): Read {
  return { ok: false, reason: "it could not be checked", thrown };
}

function cannotShow(key: string, why: string): ParleyError {
  return new ParleyError(
    "not_askable",
    `Question "${key}" cannot be shown as a form, because ${why}.`,
  );
}
