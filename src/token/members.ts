// Structural checks on what was sealed. The text is authentic, but a later version of this library, or a bug in it, may
// have written it.

/** The members of a JSON object. Empty if the text is not an object, so that every required member is missing. */
export function members(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

// A list passes, because it has no member with a name that is read later.
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Whether the value is a string. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Whether the value is a string or undefined. */
export function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Whether the value is a number other than NaN and the infinities. */
export function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** Whether the value is a whole number that is exact. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Whether the value is a whole number of at least 0. */
export function isCount(value: unknown): value is number {
  return isWhole(value) && value >= 0;
}
