// A schema's JSON form, turned into the fields of an elicitation form.
//
//   F1. Structure a form cannot show is refused, by name and with what to write instead.
//   F2. A constraint it cannot show is left off or rounded: the form may take more than the JSON form
//       allows, never less. The answer is checked with the schema itself.
//   F3. A form cannot send null. What may be null is shown without it and is not required; left empty,
//       it is null where the schema demands the member.
//   F4. A form's choices are strings. Numbers and booleans to choose from are shown as text, and the
//       answer is turned back before the schema sees it.

import { ParleyError } from "../../errors.ts";
import { fits, isFormat, type FormField } from "../../protocol/form.ts";

type Scalar = string | number | boolean;

export interface Field {
  readonly name: string;
  readonly wire: FormField;
  readonly required: boolean;
  /** What an empty field stands for; undefined leaves the member out. */
  readonly empty: Scalar | null | readonly string[] | undefined;
  /** What a choice stands for, where that is not its own text. */
  readonly meanings: ReadonlyMap<unknown, Scalar> | undefined;
}

/** A form of several fields gives an object; a form of one value, named by the key, gives that value. */
export type Shape =
  | { readonly kind: "object"; readonly fields: readonly Field[] }
  | { readonly kind: "value"; readonly field: (name: string) => Field };

/** `fillDefaults`: the schema states its defaults but does not apply them, so an empty field has to. */
export function shapeOf(key: string, json: unknown, fillDefaults: boolean): Shape {
  const place: Place = { key, name: undefined, root: json };
  const [node, ...others] = withoutNull(alternatives(place, json));
  if (node !== undefined && others.length === 0 && isObject(node)) {
    return { kind: "object", fields: membersOf(place, node, fillDefaults) };
  }
  const shown = show(place, json);
  const isDemanded = !shown.hasDefault;
  return { kind: "value", field: (name) => fieldOf(name, shown, isDemanded, fillDefaults) };
}

/** Where a schema stands: its question, its field (none for a form of one value), and where `$ref` starts. */
export interface Place {
  readonly key: string;
  readonly name: string | undefined;
  readonly root: unknown;
}

type Node = Readonly<Record<string, unknown>>;

export function membersOf(place: Place, node: Node, fillDefaults: boolean): readonly Field[] {
  if (isRecord(node)) refuse(place, refusals.record);
  const properties = isNode(node.properties) ? node.properties : {};
  const listed: readonly unknown[] = Array.isArray(node.required) ? node.required : [];
  const required = listed.filter((name) => typeof name === "string");
  const missing = required.find((name) => !Object.hasOwn(properties, name));
  if (missing !== undefined) refuse({ ...place, name: missing }, refusals.missing);
  return Object.entries(properties).map(([name, member]) => {
    const shown = show({ ...place, name }, member);
    return fieldOf(name, shown, required.includes(name), fillDefaults);
  });
}

function fieldOf(name: string, shown: Shown, isDemanded: boolean, fillDefaults: boolean): Field {
  const { wire, nullable, meanings } = shown;
  const filled = fillDefaults ? wire.default : undefined;
  const empty = filled ?? (nullable && isDemanded ? null : undefined);
  return { name, wire, required: isDemanded && !nullable, empty, meanings };
}

// ---------------------------------------------------------------- one field

interface Bare {
  readonly wire: FormField;
  readonly meanings?: ReadonlyMap<unknown, Scalar> | undefined;
}

interface Shown extends Bare {
  readonly nullable: boolean;
  readonly hasDefault: boolean;
}

function show(place: Place, schema: unknown): Shown {
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
  // The title of a lone choice is the choice's, and not the field's.
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

function plainField(place: Place, node: Node): Bare {
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
      if (isRecord(node)) return refuse(place, refusals.record);
      return refuse(place, isObject(node) ? refusals.object : refusals.any);
  }
}

function listField(place: Place, node: Node): Bare {
  if (Array.isArray(node.prefixItems)) return refuse(place, refusals.tuple);
  const nodes = withoutNull(alternatives(place, node.items));
  const choices = choicesOf(nodes, true);
  if (choices === undefined || nodes.length === 0) {
    return refuse(place, nodes.some(isObject) ? refusals.objects : refusals.list);
  }
  const { wire, meanings } = choiceField(place, choices);
  if (wire.type !== "string") return refuse(place, refusals.list);
  const { oneOf, enum: texts = [] } = wire;
  const items = oneOf === undefined ? { type: "string" as const, enum: texts } : { anyOf: oneOf };
  const count = { minItems: countOf(node.minItems), maxItems: countOf(node.maxItems) };
  return { wire: withMembers({ type: "array", items }, count), meanings };
}

/** The type that all alternatives have, without what else they ask for (F2): an email address or "". */
function sharedType(place: Place, nodes: readonly Node[]): FormField {
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

function annotated({ wire, meanings }: Bare, notes: Node): FormField {
  const title = typeof notes.title === "string" ? notes.title : undefined;
  const description = typeof notes.description === "string" ? notes.description : undefined;
  const initial = meanings === undefined ? notes.default : textsOf(notes.default);
  // A default the form itself would refuse must not be in it: sent back as it is, it would be asked again.
  const fitting = fits(wire, initial) ? { default: initial } : {};
  return Object.assign(withMembers(wire, { title, description }), fitting);
}

// ---------------------------------------------------------------- choices

interface Choice {
  readonly value: unknown;
  readonly title: string | undefined;
}

/** What there is to choose from, where every alternative names its values. */
function choicesOf(nodes: readonly Node[], areTitled: boolean): readonly Choice[] | undefined {
  if (!nodes.every((node) => valuesOf(node) !== undefined)) return undefined;
  return nodes.flatMap((node) =>
    (valuesOf(node) ?? []).map((value, index) => {
      const names: readonly unknown[] = Array.isArray(node.enumNames) ? node.enumNames : [];
      const title = areTitled && "const" in node ? node.title : names[index];
      return { value, title: typeof title === "string" ? title : undefined };
    }),
  );
}

function choiceField(place: Place, choices: readonly Choice[]): Bare {
  const meanings = new Map<unknown, Scalar>();
  const titles = new Map<string, string | undefined>();
  for (const { value, title } of choices) {
    if (value === null) continue;
    if (!isScalar(value)) return refuse(place, refusals.structured);
    const text = String(value);
    if ((meanings.get(text) ?? value) !== value) return refuse(place, refusals.alike(text));
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

function valuesOf(node: Node): readonly unknown[] | undefined {
  if ("const" in node) return [node.const];
  return Array.isArray(node.enum) ? node.enum : undefined;
}

function textsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(String);
  return isScalar(value) ? String(value) : undefined;
}

// ---------------------------------------------------------------- JSON Schema

// Deeper than any schema people write; only references that lead in a circle get there.
const maxDepth = 32;

/** The node with its reference followed and its `allOf` merged in. Merging may lose constraints (F2), never members. */
function resolve(place: Place, schema: unknown, depth = 0): Node {
  if (schema === false) return { enum: [] };
  if (!isNode(schema)) return {};
  if (depth > maxDepth) return refuse(place, refusals.reference);
  const { $ref, allOf, ...own } = schema;
  const target = typeof $ref === "string" ? [pointedTo(place, $ref)] : [];
  const parts: readonly unknown[] = Array.isArray(allOf) ? [...target, ...allOf] : target;
  return parts.map((part) => resolve(place, part, depth + 1)).reduceRight(merge, own);
}

function merge(over: Node, under: Node): Node {
  const merged = { ...under, ...over };
  if (isNode(under.properties) && isNode(over.properties)) {
    merged.properties = { ...under.properties, ...over.properties };
  }
  if (Array.isArray(under.required) && Array.isArray(over.required)) {
    merged.required = [...under.required, ...over.required];
  }
  return merged;
}

function pointedTo(place: Place, reference: string): unknown {
  const [start, ...names] = reference.split("/");
  let target: unknown = start === "#" ? place.root : undefined;
  for (const name of names) {
    const member = name.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isNode(target) && Object.hasOwn(target, member) ? target[member] : undefined;
  }
  return target ?? refuse(place, refusals.reference);
}

/** Every way in which a value may fit: unions within unions and lists of types taken apart. */
function alternatives(place: Place, schema: unknown, depth = 0): readonly Node[] {
  if (depth > maxDepth) return refuse(place, refusals.reference);
  const node = resolve(place, schema);
  const { anyOf, oneOf, ...rest } = node;
  const union: readonly unknown[] | undefined = [anyOf, oneOf].find(Array.isArray);
  if (union !== undefined) {
    const inherited = rest.type === undefined ? {} : { type: rest.type };
    return union.flatMap((part) =>
      alternatives(place, isNode(part) ? { ...inherited, ...part } : part, depth + 1),
    );
  }
  return Array.isArray(node.type) ? node.type.map((type: unknown) => ({ ...node, type })) : [node];
}

function isUnion(node: Node): boolean {
  return Array.isArray(node.anyOf) || Array.isArray(node.oneOf);
}

function withoutNull(nodes: readonly Node[]): readonly Node[] {
  return nodes.filter((node) => node.type !== "null" && node.const !== null);
}

function isObject(node: Node): boolean {
  return node.type === "object" || (node.type === undefined && isNode(node.properties));
}

/** An object whose members are not named. */
function isRecord(node: Node): boolean {
  const { properties, additionalProperties: others, patternProperties } = node;
  return (
    properties === undefined && (isNode(others) || others === true || isNode(patternProperties))
  );
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Adds the members that there are: one that is undefined would still be a member. */
function withMembers(wire: FormField, members: Partial<FormField>): FormField {
  for (const [name, member] of Object.entries(members)) {
    if (member !== undefined) Reflect.set(wire, name, member);
  }
  return wire;
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

// zod gives every whole number the bounds of a safe one, which tell a person nothing.
function boundOf(value: unknown): number | undefined {
  const tells = typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return tells ? value : undefined;
}

function wholeMinimum({ minimum, exclusiveMinimum: below }: Node): number {
  return Math.max(
    typeof minimum === "number" ? Math.ceil(minimum) : -Infinity,
    typeof below === "number" ? Math.floor(below) + 1 : -Infinity,
  );
}

function wholeMaximum({ maximum, exclusiveMaximum: above }: Node): number {
  return Math.min(
    typeof maximum === "number" ? Math.floor(maximum) : Infinity,
    typeof above === "number" ? Math.ceil(above) - 1 : Infinity,
  );
}

// ---------------------------------------------------------------- refusals

interface Refusal {
  readonly is: string;
  readonly advice: string;
}

const refusals = {
  object: {
    is: "is an object",
    advice: "make its members fields of their own, or ask a second question",
  },
  record: {
    is: "is a record",
    advice: "name its members and make them fields of their own, or ask for one at a time",
  },
  tuple: { is: "is a tuple", advice: "make its places fields of their own" },
  list: {
    is: "is a list of free values",
    advice: "make it a list of an enum to choose from, or ask for one line of text and split it",
  },
  objects: {
    is: "is a list of objects",
    advice: "ask for them one at a time, each under a key of its own",
  },
  union: {
    is: "is a union of different types",
    advice: "ask first which it is, then ask for that one",
  },
  any: {
    is: "is of any type, or of one that JSON does not have (a Date, a Set)",
    advice: "ask for a string and turn the answer into the value",
  },
  structured: {
    is: "is a choice of objects or lists",
    advice: "give each a name, ask for the name and look up what it stands for",
  },
  alike: (text: string) => ({
    is: `has two choices that read "${text}"`,
    advice: "make every choice a string of its own",
  }),
  empty: { is: "can have no value", advice: "leave it out" },
  missing: {
    is: "is required, but is not one of the fields",
    advice: "add it to the properties, or do not require it",
  },
  reference: {
    is: "is a reference that leads nowhere or in a circle",
    advice: "write its schema out in its place",
  },
} satisfies Record<string, Refusal | ((text: string) => Refusal)>;

function refuse({ key, name }: Place, { is, advice }: Refusal): never {
  throw notAskable(key, `${name === undefined ? "it" : `"${name}"`} ${is}`, advice);
}

export function notAskable(
  key: string,
  wrong: string,
  advice: string,
  options?: ErrorOptions,
): ParleyError {
  const form = "A form has one level of strings, numbers, booleans and choices";
  return new ParleyError(
    "not_askable",
    `Question "${key}" cannot be shown as a form: ${wrong}. ${form}: ${advice}.`,
    options,
  );
}
