import { timingSafeEqual } from "node:crypto";

/**
 * Equality in a time that depends on the length of the longer text alone, never on how much is equal. As UTF-16,
 * because UTF-8 writes every lone surrogate as U+FFFD and two principals would become one.
 */
export function sameText(left: string, right: string): boolean {
  const bytes = 2 * Math.max(left.length, right.length);
  const isEqual = timingSafeEqual(padded(left, bytes), padded(right, bytes));
  return isEqual && left.length === right.length;
}

function padded(text: string, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.write(text, "utf16le");
  return buffer;
}
