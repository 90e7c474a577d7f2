// An object of JSON: what is in it is not known yet.

export interface Loose {
  readonly [member: string]: unknown;
}

export const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);
