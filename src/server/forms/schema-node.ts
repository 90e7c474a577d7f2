// Reads a JSON Schema: follows references, merges `allOf`, takes unions apart, and finds the bounds of numbers.

import { isObject } from "../../util/objects.ts";
import { refuse, refusals } from "./not-askable.ts";
import type { Place } from "./not-askable.ts";

/** One JSON Schema object. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** A value that a form can send. */
export type Scalar = string | number | boolean;

// Deeper than any schema that people write. Only circular references get there.
const maxDepth = 32;

/** The node with its reference followed and its `allOf` merged in. Merging may lose constraints (F2 in form-field.ts), but never members. */
export function resolve(place: Place, schema: unknown, depth = 0): SchemaNode {
  if (schema === false) return { enum: [] };
  if (!isObject(schema)) return {};
  if (depth > maxDepth) return refuse(place, refusals.reference);
  const { $ref, allOf, ...own } = schema;
  const target = typeof $ref === "string" ? [pointedTo(place, $ref)] : [];
  const parts: readonly unknown[] = Array.isArray(allOf) ? [...target, ...allOf] : target;
  return parts.map((part) => resolve(place, part, depth + 1)).reduceRight(merge, own);
}

function merge(over: SchemaNode, under: SchemaNode): SchemaNode {
  const merged = { ...under, ...over };
  if (isObject(under.properties) && isObject(over.properties)) {
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
    target = isObject(target) && Object.hasOwn(target, member) ? target[member] : undefined;
  }
  return target ?? refuse(place, refusals.reference);
}

/** All the alternatives for a value: nested unions and lists of types are taken apart. */
export function alternatives(place: Place, schema: unknown, depth = 0): readonly SchemaNode[] {
  if (depth > maxDepth) return refuse(place, refusals.reference);
  const node = resolve(place, schema);
  const { anyOf, oneOf, ...rest } = node;
  const union: readonly unknown[] | undefined = [anyOf, oneOf].find(Array.isArray);
  if (union !== undefined) {
    const inherited = rest.type === undefined ? {} : { type: rest.type };
    return union.flatMap((part) =>
      alternatives(place, isObject(part) ? { ...inherited, ...part } : part, depth + 1),
    );
  }
  return Array.isArray(node.type) ? node.type.map((type: unknown) => ({ ...node, type })) : [node];
}

/** Whether the node has `anyOf` or `oneOf`. */
export function isUnion(node: SchemaNode): boolean {
  return Array.isArray(node.anyOf) || Array.isArray(node.oneOf);
}

/** The alternatives other than null. */
export function withoutNull(nodes: readonly SchemaNode[]): readonly SchemaNode[] {
  return nodes.filter((node) => node.type !== "null" && node.const !== null);
}

/** Whether the node describes an object with named members. */
export function describesObject(node: SchemaNode): boolean {
  return node.type === "object" || (node.type === undefined && isObject(node.properties));
}

/** Whether the node describes an object whose members are not named. */
export function describesRecord(node: SchemaNode): boolean {
  const { properties, additionalProperties: others, patternProperties } = node;
  return (
    properties === undefined && (isObject(others) || others === true || isObject(patternProperties))
  );
}

/** Whether a form can send this as one value. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** A length or a count. Undefined if it is not a whole number. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

/** A bound to show. zod gives each whole number the bounds of a safe integer, which mean nothing to a person. */
export function boundOf(value: unknown): number | undefined {
  const isUseful = typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return isUseful ? value : undefined;
}

/** The least whole number that the node allows. */
export function wholeMinimum({ minimum, exclusiveMinimum: below }: SchemaNode): number {
  return Math.max(
    typeof minimum === "number" ? Math.ceil(minimum) : -Infinity,
    typeof below === "number" ? Math.floor(below) + 1 : -Infinity,
  );
}

/** The greatest whole number that the node allows. */
export function wholeMaximum({ maximum, exclusiveMaximum: above }: SchemaNode): number {
  return Math.min(
    typeof maximum === "number" ? Math.floor(maximum) : Infinity,
    typeof above === "number" ? Math.ceil(above) - 1 : Infinity,
  );
}
