// A form that the author writes out in the form of the wire. Answers are checked against that literal alone.
//
// The SDK's fromJsonSchema() is not used here. A literal is written inside the handler, so each run makes a new one.
// The SDK would compile a validator for each: 0.75 ms and 7.6 KiB that are never freed, against 10 µs here. That
// validator also applies no defaults and does not say which field is wrong.

import type { StandardSchemaV1 } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { expectation, fits, isFormat, type FormField, type FormJson } from "../../protocol/form.ts";
import { isObject } from "../../util/objects.ts";
import { membersOf, type Field } from "./form-field.ts";

type FormCheck = StandardSchemaV1.Result<unknown>;

/** The fields of a literal. A keyword that forms do not have is refused, because nothing would check it. */
export function literalFields(key: string, literal: FormJson): readonly Field[] {
  if (!isObject(literal) || literal.type !== "object" || !isObject(literal.properties)) {
    const form = '{ type: "object", properties: … }';
    const advice = "Pass a schema of zod, arktype or valibot, or pass JSON Schema through";
    throw refusal(key, `its schema is neither a Standard Schema nor a form, ${form}`, advice);
  }
  const beyond = unknownIn(literal, rootKeywords);
  if (beyond !== undefined) throw beyondForms(key, "it", beyond);
  const { properties, required = [] } = literal;
  if (!required.every((name) => Object.hasOwn(properties, name))) refuseStructure(key, literal);
  return Object.entries(properties).map(([name, wire]) => {
    const keyword = beyondField(wire);
    if (keyword !== undefined) {
      refuseStructure(key, literal);
      throw beyondForms(key, `"${name}"`, keyword);
    }
    const isRequired = required.includes(name);
    return { name, wire, required: isRequired, empty: wire.default, meanings: undefined };
  });
}

/** Nested objects, lists and other structures have their own error messages. */
function refuseStructure(key: string, literal: FormJson): void {
  membersOf({ key, name: undefined, root: literal }, { ...literal }, true);
}

/** Checks the value of a form with one field. */
export function checkField(wire: FormField, value: unknown): FormCheck {
  return fits(wire, value) ? { value } : { issues: [issueOf(wire)] };
}

/** Checks the members of a form with several fields. */
export function checkFields(fields: readonly Field[], members: object): FormCheck {
  const issues = fields
    .filter(({ name, wire, required }) =>
      Object.hasOwn(members, name) ? !fits(wire, Reflect.get(members, name)) : required,
    )
    .map(({ name, wire }) => ({ ...issueOf(wire), path: [name] }));
  return issues.length > 0 ? { issues } : { value: members };
}

function issueOf(wire: FormField): StandardSchemaV1.Issue {
  return { message: `expected ${expectation(wire)}` };
}

// ---------------------------------------------------------------- the language

type Keywords = ReadonlyMap<string, (value: unknown) => boolean>;

const rootKeywords: Keywords = new Map(
  Object.entries({
    type: isText,
    properties: isObject,
    required: (value: unknown) => Array.isArray(value) && value.every(isText),
    // These do not concern a field, and are not sent.
    additionalProperties: isAny,
    $schema: isAny,
    $id: isAny,
    title: isAny,
    description: isAny,
  }),
);

// `default` is checked after the other keywords, because it must fit them.
const fieldKeywords: Record<FormField["type"], Keywords> = {
  string: keywords({
    enum: areTexts,
    oneOf: areTitled,
    format: isFormat,
    minLength: Number.isSafeInteger,
    maxLength: Number.isSafeInteger,
  }),
  number: keywords({ minimum: Number.isFinite, maximum: Number.isFinite }),
  integer: keywords({ minimum: Number.isFinite, maximum: Number.isFinite }),
  boolean: keywords({}),
  array: keywords({
    items: isChoice,
    minItems: Number.isSafeInteger,
    maxItems: Number.isSafeInteger,
  }),
};

function keywords(own: Record<string, (value: unknown) => boolean>): Keywords {
  const common = { type: isText, title: isText, description: isText, default: isAny };
  return new Map(Object.entries({ ...common, ...own }));
}

/** The first keyword of a field that forms do not have, or whose value they do not allow. */
function beyondField(wire: FormField): string | undefined {
  if (!isObject(wire) || !Object.hasOwn(fieldKeywords, wire.type)) return "type";
  if (wire.type === "array" && !isObject(wire.items)) return "items";
  const unknown = unknownIn(wire, fieldKeywords[wire.type]);
  if (unknown !== undefined) return unknown;
  return wire.default === undefined || fits(wire, wire.default) ? undefined : "default";
}

function unknownIn(given: object, known: Keywords): string | undefined {
  const isKnown = ([keyword, value]: [string, unknown]) =>
    value === undefined || known.get(keyword)?.(value) === true;
  return Object.entries(given).find((entry) => !isKnown(entry))?.[0];
}

function beyondForms(key: string, subject: string, keyword: string): ParleyError {
  const wrong = `${subject} uses "${keyword}" in a way that a form cannot show`;
  return refusal(key, wrong, "Leave it out, or pass the schema through");
}

function refusal(key: string, wrong: string, advice: string): ParleyError {
  return new ParleyError(
    "not_askable",
    `Question "${key}" cannot be shown as a form, because ${wrong}. ${advice} fromJsonSchema() from @modelcontextprotocol/server.`,
  );
}

function isAny(): boolean {
  return true;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
}

function areTitled(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((choice) => isObject(choice) && isText(choice.const) && isText(choice.title));
}

function isChoice(items: unknown): boolean {
  if (!isObject(items)) return false;
  return items.anyOf === undefined
    ? items.type === "string" && areTexts(items.enum)
    : areTitled(items.anyOf);
}
