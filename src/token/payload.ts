// What is encrypted: one byte that says how the rest is written, then the rest.

import { deflateRawSync, inflateRawSync } from "node:zlib";

const plain = 0;
const deflated = 1;

/** Deflated only where that makes it shorter. */
export function pack(text: string, deflate: boolean): Buffer {
  if (deflate) {
    const short = deflateRawSync(text);
    if (short.length < Buffer.byteLength(text)) return Buffer.concat([Buffer.of(deflated), short]);
  }
  const payload = Buffer.allocUnsafe(1 + Buffer.byteLength(text));
  payload[0] = plain;
  payload.write(text, 1);
  return payload;
}

/**
 * Undefined for a payload that is not written as above or would be over `maxBytes` once inflated: a few
 * kilobytes can hold gigabytes.
 */
export function unpack(payload: Buffer, maxBytes: number): string | undefined {
  if (payload[0] === plain) return payload.toString("utf8", 1);
  if (payload[0] !== deflated) return undefined;
  try {
    return inflateRawSync(payload.subarray(1), { maxOutputLength: maxBytes }).toString();
  } catch {
    // Too much, or no deflate stream: neither was made by `pack`.
    return undefined;
  }
}
