import type { RandomBytes } from "./aead.ts";
import { type Claims, encodeClaims } from "./claims.ts";
import { TokenTooLarge } from "./errors.ts";
import { write } from "./format.ts";
import type { Keyring } from "./keyring.ts";
import { pack } from "./payload.ts";
import { randomBytes } from "./random.ts";
import { defaultMaxBytes, maxInflatedBytes } from "./size.ts";

export interface SealOptions {
  /** Of the token's text. */
  readonly maxBytes?: number | undefined;
  /** Shorter, but the length then tells how alike the parts of the state are, some of which a client may choose. */
  readonly deflate?: boolean | undefined;
  /** For tests. A nonce used twice under one key gives both texts away. */
  readonly randomBytes?: RandomBytes | undefined;
}

/**
 * Encrypts `claims` under the keyring's first key. The client sends the text back unchanged and can
 * neither read nor alter it, but it *can* send it twice: sealing alone does not make a round happen once.
 */
export function seal<S>(claims: Claims<S>, keyring: Keyring, options: SealOptions = {}): string {
  const { maxBytes = defaultMaxBytes, deflate = false } = options;
  const plain = encodeClaims(claims);
  if (deflate) refuseOver(maxInflatedBytes(maxBytes), Buffer.byteLength(plain));
  const payload = pack(plain, deflate);
  const text = write("v1", payload, keyring, options.randomBytes ?? randomBytes);
  refuseOver(maxBytes, text.length);
  return text;
}

function refuseOver(limit: number, bytes: number): void {
  if (bytes > limit) throw new TokenTooLarge(bytes, limit);
}
