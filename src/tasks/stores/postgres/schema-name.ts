// The name of the schema. It is an identifier, so it is part of the text of a statement and not one of its values.

import { ParleyError } from "../../../errors.ts";

/** The schema that has the tables by default. */
export const defaultSchema = "parley";

/** The name, quoted for SQL. Throws if it is not a plain lower-case identifier. */
export function quoted(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new ParleyError(
      "bad_option",
      `schema: "${schema}" is not a valid name. Use lower-case letters, digits and _, at most 63 characters, and do not start with a digit.`,
    );
  }
  return `"${schema}"`;
}
