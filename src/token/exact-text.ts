// Texts that must be exactly right: decoding that accepts one spelling only, and comparison that reveals nothing.

/**
 * Decodes as Node does, which ignores padding, stray characters and spare bits at the end. Many texts therefore decode to
 * the same bytes; `exact` is true for the one that encoding those bytes would give.
 */
export function decodeBase64url(text: string): { readonly bytes: Buffer; readonly exact: boolean } {
  const bytes = Buffer.from(text, "base64url");
  return { bytes, exact: bytes.toString("base64url") === text };
}

/**
 * Compares two texts in a time that depends only on the length of the longer one, not on how much of them is equal. It
 * compares code units, because UTF-8 encodes every lone surrogate as U+FFFD and would make two principals one. It does
 * without `timingSafeEqual`, because creating the two buffers would take ten times as long.
 */
export function sameText(left: string, right: string): boolean {
  const length = Math.max(left.length, right.length);
  let difference = left.length ^ right.length;
  for (let at = 0; at < length; at += 1) difference |= unitAt(left, at) ^ unitAt(right, at);
  return difference === 0;
}

/** Past the end it returns the first code unit, so that a text that is too short takes no less time. */
const unitAt = (text: string, at: number): number => text.charCodeAt(at < text.length ? at : 0);
