// Seals the records in a store. Reading the database, or a copy of it, reveals nothing, and writing to it cannot move a
// record to another place.

import { TokenError } from "./errors.ts";
import { read, write } from "./format.ts";
import type { Keyring } from "./keyring.ts";
import { randomBytes } from "./random.ts";
import type { RandomBytes } from "./random.ts";

/** Seals a record for its place in the store, such as "task/log/7". A "." in front separates the place from the key id. */
export function sealRecord(
  text: string,
  place: string,
  keyring: Keyring,
  random: RandomBytes = randomBytes,
): string {
  return write("r1", text, keyring, random, `.${place}`);
}

/** Opens a record. Throws TokenError if it was sealed with an unknown key, for another place, or not by this library. */
export function openRecord(sealed: string, place: string, keyring: Keyring): string {
  const reading = read("r1", sealed, keyring, `.${place}`);
  if (reading.kind === "refused") {
    const keyId = reading.reason === "unknown_key" ? recordKeyId(sealed) : undefined;
    throw new TokenError(reading.reason, keyId === undefined ? {} : { keyId });
  }
  return reading.payload.toString();
}

/** The id of the key that a record names. Undefined if the text is not a record. */
export const recordKeyId = (sealed: string): string | undefined =>
  /^r1\.([\w-]{1,32})\./.exec(sealed)?.[1];
