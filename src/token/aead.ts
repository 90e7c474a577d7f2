// Encrypts and decrypts with AES-256-GCM, the only cipher in use. A sealed block is nonce ‖ ciphertext ‖ tag.
//
// Nonces are random, so one key is safe for about 2^32 blocks (NIST SP 800-38D §8.3), which is four months at 400 blocks a
// second. Rotate keys to stay far below that.

import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";
import type { RandomBytes } from "./random.ts";

const cipherName = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts bytes, or the UTF-8 of a text. Returns the block in base64url. It opens only together with the same
 * `authenticated` text.
 */
export function encrypt(
  secret: KeyObject,
  authenticated: string,
  plaintext: Buffer | string,
  random: RandomBytes,
): string {
  const nonce = random(nonceBytes);
  const cipher = createCipheriv(cipherName, secret, nonce, { authTagLength: tagBytes });
  cipher.setAAD(bytesOf(authenticated));
  const ciphertext =
    typeof plaintext === "string" ? cipher.update(plaintext, "utf8") : cipher.update(plaintext);
  // In this mode the end adds nothing to the ciphertext.
  cipher.final();
  return textOf(nonce, ciphertext, cipher.getAuthTag());
}

/** The parts of a block are put together in a place that is there already, because a new one costs more than the copying. */
function textOf(nonce: Uint8Array, ciphertext: Buffer, tag: Buffer): string {
  const end = nonceBytes + ciphertext.length;
  const length = end + tagBytes;
  const block = length <= place.length ? place : Buffer.allocUnsafeSlow(length);
  block.set(nonce);
  block.set(ciphertext, nonceBytes);
  block.set(tag, end);
  return block.toString("base64url", 0, length);
}

const place = Buffer.allocUnsafeSlow(16 * 1024);

/** Decrypts a block. Undefined unless every bit of it and of `authenticated` is as it was under this key. */
export function decrypt(
  secret: KeyObject,
  authenticated: string,
  block: Buffer,
): Buffer | undefined {
  // A block that is too short is replaced by an empty one, which fails in the same time.
  const whole = block.length < nonceBytes + tagBytes ? Buffer.alloc(nonceBytes + tagBytes) : block;
  const decipher = createDecipheriv(cipherName, secret, whole.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(bytesOf(authenticated));
  decipher.setAuthTag(whole.subarray(-tagBytes));
  const plaintext = decipher.update(whole.subarray(nonceBytes, -tagBytes));
  try {
    decipher.final();
  } catch {
    // The error of Node says only that the data is not authentic, and callers must not learn even that.
    return undefined;
  }
  return whole === block ? plaintext : undefined;
}

/** Keeps the last bytes, because they are the same for every token of a key. They are not secret. */
function bytesOf(authenticated: string): Buffer {
  if (authenticated !== last.text)
    last = { text: authenticated, bytes: Buffer.from(authenticated) };
  return last.bytes;
}

let last = { text: "", bytes: Buffer.alloc(0) };
