// The keys that seal and open. From here on, key material is in KeyObjects, which neither JSON.stringify nor util.inspect
// shows. It never appears in a message. An entry that cannot be parsed is named by its position, because any part of it may
// be the key.

import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { ParleyError } from "../errors.ts";
import { decodeBase64url } from "./exact-text.ts";
import type { RandomBytes } from "./random.ts";

/** The keys of a server. */
export interface Keyring {
  /** The first key of the list. To rotate, add a new key in front; the others still open what they sealed. */
  readonly sealing: { readonly id: string; readonly secret: KeyObject };
  /** All keys by their id. */
  readonly opening: ReadonlyMap<string, KeyObject>;
  /** Opens nothing. It takes the place of an unknown key, so that refusing one takes the same time. */
  readonly decoy: KeyObject;
}

const keyBytes = 32;
const idPattern = /^[\w-]{1,32}$/;
const form = `A key is written as <id>:<base64url of ${keyBytes} bytes>.`;

/** Parses the value of PARLEY_KEYS: keys of the form `<id>:<base64url of 32 bytes>`, separated by commas or white space. */
export function parseKeys(keys: string | readonly string[]): Keyring {
  const entries = texts(keys).flatMap((text) =>
    text.split(/[\s,]+/).filter((entry) => entry !== ""),
  );
  const opening = new Map<string, KeyObject>();
  for (const [index, entry] of entries.entries()) {
    const { id, secret } = parseKey(entry, index + 1);
    if (opening.has(id)) {
      throw new RangeError(`keys: the key id "${id}" is used twice. Give each key its own id.`);
    }
    opening.set(id, secret);
  }
  // A Map keeps its keys in the order they were set.
  const [first] = opening;
  if (first === undefined) {
    throw new ParleyError(
      "no_keys",
      "There is no key to seal state with. Set PARLEY_KEYS to the same value on every instance, or pass parley({ keys }). To make a key, run npx mcp-parley keys new.",
    );
  }
  const [id, secret] = first;
  let decoy: KeyObject | undefined;
  return {
    sealing: { id, secret },
    opening,
    // Made on first use, because Workers give no random bytes while a module loads.
    get decoy() {
      decoy ??= createSecretKey(randomBytes(keyBytes));
      return decoy;
    },
  };
}

/** A new key for PARLEY_KEYS. A date such as "2026-11-15" is a good id. */
export function newKey(id?: string, random: RandomBytes = randomBytes): string {
  const name = id ?? base64url(random(6));
  if (!idPattern.test(name)) {
    throw new TypeError(
      "newKey: the id of a key must have 1 to 32 characters of A-Z, a-z, 0-9, _ and -.",
    );
  }
  return `${name}:${base64url(random(keyBytes))}`;
}

function texts(keys: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(keys) ? keys : [keys];
  return list.map((text) => {
    if (typeof text === "string") return text;
    throw new TypeError(
      `keys: pass a string or a list of strings, not ${text === null ? "null" : typeof text}.`,
    );
  });
}

function parseKey(entry: string, position: number): { id: string; secret: KeyObject } {
  const colon = entry.indexOf(":");
  if (colon === -1) throw new TypeError(`keys: entry ${position} has no key id. ${form}`);
  const id = entry.slice(0, colon);
  if (!idPattern.test(id)) {
    throw new TypeError(
      `keys: the id of entry ${position} must have 1 to 32 characters of A-Z, a-z, 0-9, _ and -. ${form}`,
    );
  }
  const { bytes, exact } = decodeBase64url(entry.slice(colon + 1));
  if (!exact) {
    throw new TypeError(
      `keys: key "${id}" is not base64url, which uses - and _ instead of + and /, and no =. ${form}`,
    );
  }
  if (bytes.length !== keyBytes) {
    throw new RangeError(`keys: key "${id}" has ${bytes.length} bytes. A key has ${keyBytes}.`);
  }
  return { id, secret: createSecretKey(bytes) };
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
