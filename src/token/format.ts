// The text form of everything sealed: <word>.<key id>.<base64url(nonce ‖ ciphertext ‖ tag)>.
//
//   F1. The word says what is inside and in which version. It and the key id are authenticated, so
//       neither can be changed: a ticket never opens as a token.
//   F2. One sealed block has one text. Padding, stray characters, spare bits, more dots: refused.
//   F3. Refusing costs the same decoding and decrypting whatever is wrong with the text.

import { decrypt, encrypt, type RandomBytes } from "./aead.ts";
import { decodeBase64url } from "./base64url.ts";
import type { Keyring } from "./keyring.ts";

/** `v1` for a token, `t1` for a ticket, `r1` for what is kept in a store. */
export type Word = "v1" | "t1" | "r1";

export type Reading =
  | { readonly kind: "read"; readonly payload: Buffer }
  | { readonly kind: "refused"; readonly reason: "malformed" | "unknown_key" | "forged" };

/** The place is not in the text, but authenticated: what is sealed for one place does not open at another. */
export function write(
  word: Word,
  payload: Buffer,
  keyring: Keyring,
  random: RandomBytes,
  place = "",
): string {
  const { id, secret } = keyring.sealing;
  const head = `${word}.${id}`;
  return `${head}.${encrypt(secret, head + place, payload, random).toString("base64url")}`;
}

export function read(word: Word, text: string, keyring: Keyring, place = ""): Reading {
  // The second dot ends the head. A third one would be in the body, where F2 refuses it.
  const headEnd = Math.max(0, text.indexOf(".", text.indexOf(".") + 1));
  const head = text.slice(0, headEnd);
  const { bytes, exact } = decodeBase64url(text.slice(headEnd + 1));
  const wellFormed = exact && head.startsWith(`${word}.`);
  const secret = wellFormed ? keyring.opening.get(head.slice(word.length + 1)) : undefined;
  const payload = decrypt(secret ?? keyring.decoy, head + place, bytes);

  if (!wellFormed) return { kind: "refused", reason: "malformed" };
  if (secret === undefined) return { kind: "refused", reason: "unknown_key" };
  if (payload === undefined) return { kind: "refused", reason: "forged" };
  return { kind: "read", payload };
}
