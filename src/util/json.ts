// What survives a round trip through JSON, and what does not.

/** A value that JSON can hold. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/** A value that JSON would lose or change. */
export class NotJson extends Error {
  /** Where it is, such as `result.byId[2]`. */
  readonly path: string;
  /** What it is, such as "a Map". */
  readonly what: string;
  /** What to return instead. */
  readonly advice: string;

  constructor(path: string, what: string, advice: string) {
    super(`${what} at ${path}`);
    this.name = "NotJson";
    this.path = path;
    this.what = what;
    this.advice = advice;
  }
}

// Deeper than any real data, and far from the depth that overflows the stack of JSON.stringify.
const maxDepth = 200;

/**
 * Checks and copies a value in one pass; the copy is what reading the JSON would give. Refuses what JSON.stringify would
 * silently change (a Map becomes `{}`, NaN becomes null). Leaves out what the type `Stored<T>` leaves out (methods,
 * `undefined` members).
 */
export function toJson(value: unknown, path = "result"): Json | undefined {
  if (value === undefined) return undefined;
  try {
    return convert(value, path, new Set(), 0);
  } catch (error) {
    if (error instanceof NotJson) throw error;
    // A getter, a proxy or a toJSON has thrown.
    throw new NotJson(path, "a value that cannot be read", "a plain copy of what is needed");
  }
}

/** Copies a JSON value, so that changes to the copy reach neither the journal nor another run. */
export function copyJson(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map(copyJson);
  const copy: { [name: string]: Json | undefined } = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    const copied = member === undefined ? undefined : copyJson(member);
    // An assignment would set the prototype of the copy.
    if (name === "__proto__") Object.defineProperty(copy, name, { ...asData, value: copied });
    else copy[name] = copied;
  }
  return copy;
}

const asData = { enumerable: true, configurable: true, writable: true };

function convert(value: unknown, path: string, above: Set<object>, depth: number): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotJson(path, String(value), "null or a string");
      return value === 0 ? 0 : value; // JSON has no minus zero
    case "bigint":
      throw new NotJson(path, "a bigint", "String(value)");
    case "undefined":
      throw new NotJson(path, "undefined", "null");
    case "function":
    case "symbol":
      throw new NotJson(path, `a ${typeof value}`, "the data it stands for");
    case "object":
      return value === null ? null : convertObject(value, path, above, depth);
  }
}

function convertObject(value: object, path: string, above: Set<object>, depth: number): Json {
  if (above.has(value))
    throw new NotJson(path, "a circular reference", "ids instead of references");
  if (depth === maxDepth) {
    throw new NotJson(path, `a value nested over ${maxDepth} levels deep`, "a flat list with ids");
  }
  above.add(value);
  const json = convertMembers(value, path, above, depth + 1);
  above.delete(value);
  return json;
}

function convertMembers(value: object, path: string, above: Set<object>, depth: number): Json {
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    throw new NotJson(path, "an invalid Date", "null or a text");
  }
  if (hasToJson(value)) return convert(value.toJSON(), path, above, depth);
  if (Array.isArray(value)) {
    // `map` would skip the holes of a sparse array, which JSON turns into null.
    return Array.from(value, (item, index) => convert(item, `${path}[${index}]`, above, depth));
  }
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return convert(value.valueOf(), path, above, depth);
  }
  const lost = lostByJson(value);
  if (lost !== undefined) throw new NotJson(path, ...lost);
  const members: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || typeof member === "function" || typeof member === "symbol")
      continue;
    members.push([name, convert(member, memberPath(path, name), above, depth)]);
  }
  if (members.length === 0 && !isPlain(value)) {
    // The data of a Response, a Blob or an iterator is behind methods, so only `{}` would be left of it.
    throw new NotJson(path, kindOf(value), "what is read from it");
  }
  return fromMembers(members);
}

function kindOf(value: object): string {
  // The class of a built-in iterator has no name, or another one on newer versions of Node.
  if (Symbol.iterator in value) return "an iterator";
  const name = value.constructor?.name;
  return name === undefined || name === ""
    ? "a class instance"
    : `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// Object.fromEntries defines members, so a member named "__proto__" stays data.
const fromMembers = (members: [string, Json][]): Json => Object.fromEntries(members);

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function lostByJson(value: object): [what: string, advice: string] | undefined {
  if (value instanceof Map) return ["a Map", "Object.fromEntries(map)"];
  if (value instanceof Set) return ["a Set", "[...set]"];
  if (value instanceof RegExp) return ["a RegExp", "regexp.source"];
  if (value instanceof Error) return ["an Error", "error.message, or throw it"];
  if (value instanceof Promise) return ["a Promise", "what it resolves to"];
  if (value instanceof WeakMap || value instanceof WeakSet)
    return ["a weak collection", "its data"];
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    return [`a ${value.constructor.name}`, 'Buffer.from(bytes).toString("base64")'];
  }
  return undefined;
}

function memberPath(path: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
