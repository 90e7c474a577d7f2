// A form written out as it goes over the wire, and answers checked with nothing but that.
//
// Checked here and not with the SDK's fromJsonSchema(): a literal stands inside the handler, so every
// run makes a new one, and each new one costs 0.75 ms there and 7.6 KiB that are never freed (a compiled
// validator), against 10 µs here. It also applies no defaults and does not say which field is wrong.

import type { StandardSchemaV1 } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { expectation, fits, isFormat, type FormField, type FormJson } from "../../protocol/form.ts";
import { isNode, membersOf, type Field } from "./form-field.ts";

type Checked = StandardSchemaV1.Result<unknown>;

/** The fields of a literal. What it says beyond the language of forms is refused: nothing would check it. */
export function literalFields(key: string, literal: FormJson): readonly Field[] {
  if (!isNode(literal) || literal.type !== "object" || !isNode(literal.properties)) {
    const form = '{ type: "object", properties: … }';
    const advice = "Pass a schema of zod, arktype or valibot, or JSON Schema through";
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

/** Nested objects and the like have words of their own. */
function refuseStructure(key: string, literal: FormJson): void {
  membersOf({ key, name: undefined, root: literal }, { ...literal }, true);
}

export function checkField(wire: FormField, value: unknown): Checked {
  return fits(wire, value) ? { value } : { issues: [issueOf(wire)] };
}

export function checkFields(fields: readonly Field[], members: object): Checked {
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
    properties: isNode,
    required: (value: unknown) => Array.isArray(value) && value.every(isText),
    // These say nothing about a field, and are not sent.
    additionalProperties: isAny,
    $schema: isAny,
    $id: isAny,
    title: isAny,
    description: isAny,
  }),
);

// `default` is known too, and is checked once the rest is known to be sound.
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

/** The first keyword of a field that no form has, or not like this. */
function beyondField(wire: FormField): string | undefined {
  if (!isNode(wire) || !Object.hasOwn(fieldKeywords, wire.type)) return "type";
  if (wire.type === "array" && !isNode(wire.items)) return "items";
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
  const wrong = `${subject} has a "${keyword}" that a form cannot have`;
  return refusal(key, wrong, "Leave it out, or pass the schema through");
}

function refusal(key: string, wrong: string, advice: string): ParleyError {
  return new ParleyError(
    "not_askable",
    `Question "${key}" cannot be shown as a form: ${wrong}. ${advice} fromJsonSchema() from @modelcontextprotocol/server.`,
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
  return value.every((choice) => isNode(choice) && isText(choice.const) && isText(choice.title));
}

function isChoice(items: unknown): boolean {
  if (!isNode(items)) return false;
  return items.anyOf === undefined
    ? items.type === "string" && areTexts(items.enum)
    : areTitled(items.anyOf);
}
