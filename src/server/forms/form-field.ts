// Turns the JSON Schema of a question into the fields of an elicitation form.
//
//   F1. A structure that a form cannot show is refused. The error names the field and says what to write instead.
//   F2. A constraint that a form cannot show is left out or rounded. The form may accept more than the schema does, but
//       never less. The answer is checked with the schema itself.
//   F3. A form cannot send null. A field that may be null is shown without it and is not required. If it is left empty, its
//       value is null where the schema requires the member.
//   F4. The choices of a form are strings. Numbers and booleans to choose from are shown as text, and the answer is turned
//       back before the schema sees it.

import { fits, isFormat, type FormField } from "../../protocol/form.ts";
import { isObject } from "../../util/objects.ts";
import { alikeChoices, refuse, refusals } from "./not-askable.ts";
import type { Place } from "./not-askable.ts";
import {
  alternatives,
  boundOf,
  countOf,
  describesObject,
  describesRecord,
  isScalar,
  isUnion,
  resolve,
  wholeMaximum,
  wholeMinimum,
  withoutNull,
} from "./schema-node.ts";
import type { Scalar, SchemaNode } from "./schema-node.ts";

/** One field of a form. */
export interface Field {
  readonly name: string;
  readonly wire: FormField;
  readonly required: boolean;
  /** The value of a field that is left empty. Undefined leaves the member out. */
  readonly empty: Scalar | null | readonly string[] | undefined;
  /** The value behind the text of each choice. Undefined if every choice is its own text. */
  readonly meanings: ReadonlyMap<unknown, Scalar> | undefined;
}

/** A form of several fields gives an object; a form of one value, named by the key, gives that value. */
export type Shape =
  | { readonly kind: "object"; readonly fields: readonly Field[] }
  | { readonly kind: "value"; readonly field: (name: string) => Field };

/** The fields for a JSON Schema. With `fillDefaults`, empty fields get the schema's defaults, because the schema itself does not apply them. */
export function shapeOf(key: string, json: unknown, fillDefaults: boolean): Shape {
  const place: Place = { key, name: undefined, root: json };
  const [node, ...others] = withoutNull(alternatives(place, json));
  if (node !== undefined && others.length === 0 && describesObject(node)) {
    return { kind: "object", fields: membersOf(place, node, fillDefaults) };
  }
  const shown = show(place, json);
  const isDemanded = !shown.hasDefault;
  return { kind: "value", field: (name) => fieldOf(name, shown, isDemanded, fillDefaults) };
}

/** The fields for the members of an object schema. */
export function membersOf(place: Place, node: SchemaNode, fillDefaults: boolean): readonly Field[] {
  if (describesRecord(node)) refuse(place, refusals.record);
  const properties = isObject(node.properties) ? node.properties : {};
  const listed: readonly unknown[] = Array.isArray(node.required) ? node.required : [];
  const required = listed.filter((name) => typeof name === "string");
  const missing = required.find((name) => !Object.hasOwn(properties, name));
  if (missing !== undefined) refuse({ ...place, name: missing }, refusals.missing);
  return Object.entries(properties).map(([name, member]) => {
    const shown = show({ ...place, name }, member);
    return fieldOf(name, shown, required.includes(name), fillDefaults);
  });
}

function fieldOf(
  name: string,
  shown: ShownField,
  isDemanded: boolean,
  fillDefaults: boolean,
): Field {
  const { wire, nullable, meanings } = shown;
  const filled = fillDefaults ? wire.default : undefined;
  const empty = filled ?? (nullable && isDemanded ? null : undefined);
  return { name, wire, required: isDemanded && !nullable, empty, meanings };
}

// ---------------------------------------------------------------- one field

interface BareField {
  readonly wire: FormField;
  readonly meanings?: ReadonlyMap<unknown, Scalar> | undefined;
}

interface ShownField extends BareField {
  readonly nullable: boolean;
  readonly hasDefault: boolean;
}

function show(place: Place, schema: unknown): ShownField {
  const node = resolve(place, schema);
  const every = alternatives(place, node);
  const nodes = withoutNull(every);
  const [only, ...others] = nodes;
  if (only === undefined) return refuse(place, refusals.empty);

  const choices = choicesOf(nodes, isUnion(node));
  const bare =
    choices !== undefined
      ? choiceField(place, choices)
      : others.length > 0
        ? { wire: sharedType(place, nodes) }
        : plainField(place, only);
  // The title of a single choice belongs to the choice, not to the field.
  const lone = "const" in only ? { ...only, title: undefined } : only;
  const notes = others.length > 0 ? node : { ...lone, ...node };
  return {
    wire: annotated(bare, notes),
    meanings: bare.meanings,
    nullable:
      nodes.length < every.length || (choices?.some(({ value }) => value === null) ?? false),
    hasDefault: notes.default !== undefined,
  };
}

function plainField(place: Place, node: SchemaNode): BareField {
  const { type, minLength, maxLength, format, minimum, maximum } = node;
  switch (type) {
    case "string": {
      const length = { minLength: countOf(minLength), maxLength: countOf(maxLength) };
      const known = isFormat(format) ? format : undefined;
      return { wire: withMembers({ type }, { ...length, format: known }) };
    }
    case "number": {
      const bounds = { minimum: boundOf(minimum), maximum: boundOf(maximum) };
      return { wire: withMembers({ type }, bounds) };
    }
    case "integer": {
      const bounds = { minimum: boundOf(wholeMinimum(node)), maximum: boundOf(wholeMaximum(node)) };
      return { wire: withMembers({ type }, bounds) };
    }
    case "boolean":
      return { wire: { type } };
    case "array":
      return listField(place, node);
    default:
      if (describesRecord(node)) return refuse(place, refusals.record);
      return refuse(place, describesObject(node) ? refusals.object : refusals.any);
  }
}

function listField(place: Place, node: SchemaNode): BareField {
  if (Array.isArray(node.prefixItems)) return refuse(place, refusals.tuple);
  const nodes = withoutNull(alternatives(place, node.items));
  const choices = choicesOf(nodes, true);
  if (choices === undefined || nodes.length === 0) {
    return refuse(place, nodes.some(describesObject) ? refusals.objects : refusals.list);
  }
  const { wire, meanings } = choiceField(place, choices);
  if (wire.type !== "string") return refuse(place, refusals.list);
  const { oneOf, enum: texts = [] } = wire;
  const items = oneOf === undefined ? { type: "string" as const, enum: texts } : { anyOf: oneOf };
  const count = { minItems: countOf(node.minItems), maxItems: countOf(node.maxItems) };
  return { wire: withMembers({ type: "array", items }, count), meanings };
}

/** The type that all alternatives share, without their other constraints (F2), such as for "an email address or an empty string". */
function sharedType(place: Place, nodes: readonly SchemaNode[]): FormField {
  const types = new Set(
    nodes.flatMap((node) => valuesOf(node)?.map((value): unknown => typeof value) ?? [node.type]),
  );
  if (types.has("number")) types.delete("integer");
  const [type] = types;
  const isShared = types.size === 1;
  if (isShared && (type === "string" || type === "boolean")) return { type };
  if (isShared && (type === "number" || type === "integer")) return { type };
  return refuse(place, refusals.union);
}

function annotated({ wire, meanings }: BareField, notes: SchemaNode): FormField {
  const title = typeof notes.title === "string" ? notes.title : undefined;
  const description = typeof notes.description === "string" ? notes.description : undefined;
  const initial = meanings === undefined ? notes.default : textsOf(notes.default);
  // A default that the form would refuse is left out, because the question would be asked again if it were sent back.
  const fitting = fits(wire, initial) ? { default: initial } : {};
  return Object.assign(withMembers(wire, { title, description }), fitting);
}

// ---------------------------------------------------------------- choices

interface FieldChoice {
  readonly value: unknown;
  readonly title: string | undefined;
}

/** The choices, if each alternative lists its values. */
function choicesOf(
  nodes: readonly SchemaNode[],
  areTitled: boolean,
): readonly FieldChoice[] | undefined {
  if (!nodes.every((node) => valuesOf(node) !== undefined)) return undefined;
  return nodes.flatMap((node) =>
    (valuesOf(node) ?? []).map((value, index) => {
      const names: readonly unknown[] = Array.isArray(node.enumNames) ? node.enumNames : [];
      const title = areTitled && "const" in node ? node.title : names[index];
      return { value, title: typeof title === "string" ? title : undefined };
    }),
  );
}

function choiceField(place: Place, choices: readonly FieldChoice[]): BareField {
  const meanings = new Map<unknown, Scalar>();
  const titles = new Map<string, string | undefined>();
  for (const { value, title } of choices) {
    if (value === null) continue;
    if (!isScalar(value)) return refuse(place, refusals.structured);
    const text = String(value);
    if ((meanings.get(text) ?? value) !== value) return refuse(place, alikeChoices(text));
    meanings.set(text, value);
    titles.set(text, titles.get(text) ?? title);
  }
  const values = [...meanings.values()];
  if (values.length === 0) return refuse(place, refusals.empty);
  if (values.every((value) => typeof value === "boolean")) return { wire: { type: "boolean" } };
  const isTitled = [...titles.values()].some((title) => title !== undefined);
  const wire: FormField = isTitled
    ? { type: "string", oneOf: [...titles].map(([text, title = text]) => ({ const: text, title })) }
    : { type: "string", enum: [...titles.keys()] };
  const areTexts = values.every((value) => typeof value === "string");
  return { wire, meanings: areTexts ? undefined : meanings };
}

function valuesOf(node: SchemaNode): readonly unknown[] | undefined {
  if ("const" in node) return [node.const];
  return Array.isArray(node.enum) ? node.enum : undefined;
}

function textsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(String);
  return isScalar(value) ? String(value) : undefined;
}

/** Adds the members that are not undefined, because an undefined member would still be a member. */
function withMembers(wire: FormField, members: Partial<FormField>): FormField {
  for (const [name, member] of Object.entries(members)) {
    if (member !== undefined) Reflect.set(wire, name, member);
  }
  return wire;
}
