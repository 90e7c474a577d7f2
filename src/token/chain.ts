// Seals records so that each depends on the one before. Whoever can write to the database can delete a record, but cannot
// change one, move one, or put another in its place without being noticed.
//
// The place of a record, which its seal authenticates, contains its number and the digest of the record before. So the
// chain is keyed with the keys of the server and needs no key of its own, and every record names the key that sealed it.
// The digest is also written in front, so that a record opens even if the one before it is gone.

import { createHash } from "node:crypto";
import type { Keyring } from "./keyring.ts";
import { openRecord, sealRecord } from "./sealed-record.ts";

/** The place of a record in a chain. */
export interface LinkPlace {
  /** The server that the chain belongs to. */
  readonly app: string;
  readonly chain: string;
  readonly n: number;
}

/** The digest that stands before the first record. */
export const noLink = "";

/** The digest of a sealed record, for the next one. */
export const linkDigest = (sealed: string): string =>
  createHash("sha256").update(sealed).digest("base64url");

/** Seals a record for its place, after the record with this digest. */
export const sealLink = (
  text: string,
  place: LinkPlace,
  before: string,
  keyring: Keyring,
): string => `${before} ${sealRecord(text, placeOf(place, before), keyring)}`;

/**
 * Opens a record, and says which digest it comes after. Throws TokenError if it is not what was sealed for this place, or if
 * its key is unknown.
 */
export function openLink(
  sealed: string,
  place: LinkPlace,
  keyring: Keyring,
): { readonly text: string; readonly before: string } {
  const before = linkBefore(sealed);
  const record = sealed.slice(sealed.indexOf(" ") + 1);
  return { text: openRecord(record, placeOf(place, before), keyring), before };
}

/** The digest that a sealed record says it comes after. Without the key, nothing proves it. */
export const linkBefore = (sealed: string): string =>
  sealed.slice(0, Math.max(0, sealed.indexOf(" ")));

/** The id of the key that a sealed record names. */
export const linkKeyId = (sealed: string): string =>
  sealed.slice(sealed.indexOf(" ") + 1).split(".")[1] ?? "";

const placeOf = ({ app, chain, n }: LinkPlace, before: string): string =>
  `${app}/audit/${JSON.stringify([chain, n, before])}`;
