/**
 * Decodes as Node does, which overlooks padding, stray characters and bits left over at the end, and
 * says whether any of that was there: many texts decode to the same bytes, exactly one is `exact`.
 */
export function decodeBase64url(text: string): { readonly bytes: Buffer; readonly exact: boolean } {
  const bytes = Buffer.from(text, "base64url");
  return { bytes, exact: bytes.toString("base64url") === text };
}
