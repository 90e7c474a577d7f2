// The structural checks on what comes out of a seal. The text is authentic, but a later version of this
// library, or a bug in it, may have written it.

/** None at all where the text is not a JSON object, so that whatever is required is missing. */
export function members(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

// A list has members, but none with a name that is looked for.
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

export function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function isCount(value: unknown): value is number {
  return isWhole(value) && value >= 0;
}
