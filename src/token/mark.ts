// A mark that proves who wrote a text: an HMAC with a key that only its author has.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const keyBytes = 32;

/** A new key for marks, as text. */
export const newMarkKey = (): string => randomBytes(keyBytes).toString("base64url");

/** Reads a key. Undefined if the text is not one. */
export function readMarkKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, "base64url");
  return key.length === keyBytes ? key : undefined;
}

/** The mark of a text: 43 characters of base64url. */
export const markOf = (text: string, key: Buffer): string =>
  createHmac("sha256", key).update(text).digest("base64url");

/** Whether a mark belongs to the text. */
export function isMarkOf(mark: string, text: string, key: Buffer): boolean {
  const given = Buffer.from(mark);
  const expected = Buffer.from(markOf(text, key));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
