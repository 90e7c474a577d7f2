// The text form of everything sealed: <word>.<key id>.<base64url(nonce ‖ ciphertext ‖ tag)>.
//
//   F1. The word says what is inside, and its version. The word and the key id are authenticated, so neither can be
//       changed, and a ticket never opens as a token.
//   F2. A sealed block has exactly one text. Padding, stray characters, spare bits and further dots are refused.
//   F3. A refusal takes the same decoding and decrypting, whatever is wrong with the text.

import { decrypt, encrypt } from "./aead.ts";
import { decodeBase64url } from "./exact-text.ts";
import type { Keyring } from "./keyring.ts";
import type { RandomBytes } from "./random.ts";

/** `v1` for a token, `t1` for a ticket, `r1` for a record in a store. */
export type Word = "v1" | "t1" | "r1";

/** What was sealed, or why it could not be read. */
export type Reading =
  | { readonly kind: "read"; readonly payload: Buffer }
  | { readonly kind: "refused"; readonly reason: "malformed" | "unknown_key" | "forged" };

/** Seals bytes, or the UTF-8 of a text. The place is authenticated without being in the text, so the text opens for the same place only. */
export function write(
  word: Word,
  payload: Buffer | string,
  keyring: Keyring,
  random: RandomBytes,
  place = "",
): string {
  const { id, secret } = keyring.sealing;
  const head = `${word}.${id}`;
  return `${head}.${encrypt(secret, head + place, payload, random)}`;
}

/** Opens a text that `write` made with the same word and place. */
export function read(word: Word, text: string, keyring: Keyring, place = ""): Reading {
  // The second dot ends the head. A third one would be part of the body, where F2 refuses it.
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
