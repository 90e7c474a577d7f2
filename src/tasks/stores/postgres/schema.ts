// The schema's name: an identifier, so it goes into the text of a statement and not into its values.

import { ParleyError } from "../../../errors.ts";

export const defaultSchema = "parley";

export function quoted(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new ParleyError(
      "bad_option",
      `schema: "${schema}" is no name for one: lower-case letters, digits and _, at most 63, no digit first.`,
    );
  }
  return `"${schema}"`;
}
