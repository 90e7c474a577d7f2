// Seals the state of a call into a token, the `requestState` that a client keeps between rounds.

import { type Claims, encodeClaims, stateTextIn } from "./claims.ts";
import { TokenTooLarge } from "./errors.ts";
import { write } from "./format.ts";
import type { Keyring } from "./keyring.ts";
import { defaultMaxBytes, maxInflatedBytes, pack } from "./payload.ts";
import { randomBytes } from "./random.ts";
import type { RandomBytes } from "./random.ts";
import { kept } from "./recent-tokens.ts";
import type { RecentTokens } from "./recent-tokens.ts";

/** How to seal. */
export interface SealOptions {
  /** The largest token that is made. Default: 32 KiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Makes the token shorter. Its length then shows how similar the parts of the state are, and a client may choose some
   * of them. Default: false.
   */
  readonly deflate?: boolean | undefined;
  /** Where to keep what the token says, for `open` in this process. */
  readonly recent?: RecentTokens | undefined;
  /**
   * Whether the state may be kept as it is, and not as text: nothing in it changes any more, and it holds on to no memory but
   * its own. A part of a text may hold on to the whole of it. Default: false.
   */
  readonly isStateOurs?: boolean | undefined;
  /** For tests. If a nonce is used twice under one key, both texts can be read without it. */
  readonly randomBytes?: RandomBytes | undefined;
}

/**
 * Encrypts `claims` under the first key of the keyring. The client sends the text back and can neither read nor alter it.
 * It *can* send it twice, so sealing alone does not make a round happen only once.
 */
export function seal<S>(claims: Claims<S>, keyring: Keyring, options: SealOptions = {}): string {
  const { maxBytes = defaultMaxBytes, deflate = false, recent, isStateOurs = false } = options;
  const plain = encodeClaims(claims);
  if (deflate) refuseOver(maxInflatedBytes(maxBytes), Buffer.byteLength(plain));
  const payload = pack(plain, deflate);
  const text = write("v1", payload, keyring, options.randomBytes ?? randomBytes);
  refuseOver(maxBytes, text.length);
  if (recent !== undefined) {
    const known = kept(claims, isStateOurs ? undefined : stateTextIn(plain));
    recent.keep(text, known, text.length + plain.length);
  }
  return text;
}

function refuseOver(limit: number, bytes: number): void {
  if (bytes > limit) throw new TokenTooLarge(bytes, limit);
}
