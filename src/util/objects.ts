// Looking into a value of unknown shape, such as JSON from the wire.

/** The members of an object that was not made here. */
export type Members = { readonly [name: string]: unknown };

/** An object with members: neither null nor an array. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member, or undefined. Inherited ones do not count, because a key may be "__proto__" or "constructor". */
export function own(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
