// What is encrypted: one byte that says how the rest is written, then the rest. This file also limits its size.

import { deflateRawSync, inflateRawSync } from "node:zlib";

const plain = 0;
const deflated = 1;
const plainMark = String.fromCharCode(plain);

/** The largest token by default, in bytes. A token is ASCII, so this is also its length. HTTP servers accept far more. */
export const defaultMaxBytes: number = 32 * 1024;

/** How much a token may hold once it is inflated. JSON deflates to between a third and a tenth. */
export function maxInflatedBytes(maxBytes: number): number {
  return 8 * maxBytes;
}

/**
 * Writes a text. With `deflate`, it is deflated if that makes it shorter. A payload that is not deflated is returned as a text,
 * whose UTF-8 is encrypted without another copy of it.
 */
export function pack(text: string, deflate: boolean): Buffer | string {
  if (deflate) {
    const short = deflateRawSync(text);
    if (short.length < Buffer.byteLength(text)) return Buffer.concat([Buffer.of(deflated), short]);
  }
  return `${plainMark}${text}`;
}

/**
 * Reads a text. Undefined if the payload is not written as above, or if it would exceed `maxBytes` once inflated, because a
 * few kilobytes can hold gigabytes.
 */
export function unpack(payload: Buffer, maxBytes: number): string | undefined {
  if (payload[0] === plain) return payload.toString("utf8", 1);
  if (payload[0] !== deflated) return undefined;
  try {
    return inflateRawSync(payload.subarray(1), { maxOutputLength: maxBytes }).toString();
  } catch {
    // It is too large or not a deflate stream, so `pack` did not make it.
    return undefined;
  }
}
