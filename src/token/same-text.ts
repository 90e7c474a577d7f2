import { timingSafeEqual } from "node:crypto";

/**
 * Equality in a time that depends on the length of the longer text alone, never on how much is equal. As UTF-16,
 * because UTF-8 writes every lone surrogate as U+FFFD and two principals would become one.
 */
export function sameText(left: string, right: string): boolean {
  const bytes = 2 * Math.max(left.length, right.length);
  // To make two buffers takes longer than all the rest.
  const place = bytes <= half ? desk : Buffer.alloc(2 * bytes);
  const middle = place.length / 2;
  const [one, other] = [place.subarray(0, bytes), place.subarray(middle, middle + bytes)];
  one.fill(0);
  other.fill(0);
  one.write(left, "utf16le");
  other.write(right, "utf16le");
  const isEqual = timingSafeEqual(one, other);
  place.fill(0, 0, middle + bytes);
  return isEqual && left.length === right.length;
}

const half = 2_048;
const desk = Buffer.alloc(2 * half);
