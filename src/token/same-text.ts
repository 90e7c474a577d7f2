import { hash, timingSafeEqual } from "node:crypto";

/**
 * Equality in a time that says neither how much of two texts is equal nor which is longer. As UTF-16,
 * because UTF-8 writes every lone surrogate as U+FFFD and two principals would become one.
 */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

function sha256(text: string): Buffer {
  return hash("sha256", Buffer.from(text, "utf16le"), "buffer");
}
