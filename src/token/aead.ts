// AES-256-GCM, the only cipher here. A sealed block is nonce ‖ ciphertext ‖ tag.
//
// Nonces are random, so one key is good for some 2^32 blocks (NIST SP 800-38D §8.3): four months at
// 400 a second. Rotation is how to stay far below it.

import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";

export type RandomBytes = (size: number) => Uint8Array;

const cipherName = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

export function encrypt(
  secret: KeyObject,
  authenticated: string,
  plaintext: Buffer,
  random: RandomBytes,
): Buffer {
  const nonce = random(nonceBytes);
  const cipher = createCipheriv(cipherName, secret, nonce, { authTagLength: tagBytes });
  cipher.setAAD(bytesOf(authenticated));
  const ciphertext = cipher.update(plaintext);
  return Buffer.concat([nonce, ciphertext, cipher.final(), cipher.getAuthTag()]);
}

/** Undefined unless every bit of the block and of `authenticated` is as it was sealed under this key. */
export function decrypt(
  secret: KeyObject,
  authenticated: string,
  block: Buffer,
): Buffer | undefined {
  // Too short to be one. An empty block is tried in its place, which fails, in the same time.
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
    // Node says no more than "unable to authenticate data", and nobody outside is to hear even that.
    return undefined;
  }
  return whole === block ? plaintext : undefined;
}

/** The last one is kept: it is the same for every token of a key. Nothing secret, and no longer than a token. */
function bytesOf(authenticated: string): Buffer {
  if (authenticated !== last.text)
    last = { text: authenticated, bytes: Buffer.from(authenticated) };
  return last.bytes;
}

let last = { text: "", bytes: Buffer.alloc(0) };
