// Seals what is kept in a store: whoever can read the database, or a copy of it, learns nothing from it, and
// whoever can write to it cannot move a record to another place.

import { randomBytes } from "node:crypto";
import type { RandomBytes } from "./aead.ts";
import { TokenError } from "./errors.ts";
import { read, write } from "./format.ts";
import type { Keyring } from "./keyring.ts";

/** `place` says what it is of what: "task/log/7". A "." in front keeps it apart from the key id. */
export function sealRecord(
  text: string,
  place: string,
  keyring: Keyring,
  random: RandomBytes = randomBytes,
): string {
  return write("r1", Buffer.from(text), keyring, random, `.${place}`);
}

/** Throws TokenError: made with another key, for another place, or not by us. */
export function openRecord(sealed: string, place: string, keyring: Keyring): string {
  const reading = read("r1", sealed, keyring, `.${place}`);
  if (reading.kind === "refused") throw new TokenError(reading.reason);
  return reading.payload.toString();
}
