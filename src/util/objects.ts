// Reads values of unknown shape, such as JSON from the wire.

/** The members of an object whose shape is not known. */
export type Members = { readonly [name: string]: unknown };

/** Whether the value is an object that is neither null nor an array. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own member with this name, or undefined. Inherited ones do not count, because a name may be "__proto__" or "constructor". */
export function own(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Undefined, or an object of strings, finite numbers and booleans. */
export function isFlat(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  // Not with Object.values, which makes a list: this runs for every call.
  for (const name in value) {
    const member = value[name];
    const isFit = typeof member === "number" ? Number.isFinite(member) : typeof member !== "object";
    if (!isFit) return false;
  }
  return true;
}
