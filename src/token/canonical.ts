// One text for one JSON value, whatever order its members came in, so that equal arguments have equal
// digests. Members are sorted by UTF-16 code unit, as RFC 8785 does; numbers and strings are written
// as JSON.stringify writes them, which is RFC 8785's form as well.

import { hash } from "node:crypto";

// Arguments come from the network, and recursion over them must end in an error of ours and not in a
// stack overflow, which can surface anywhere. No honest tool takes arguments this deep.
const maxDepth = 200;

/**
 * Members that are `undefined` are left out. What JSON could not bring back (a Date, a Map, NaN) is a
 * TypeError rather than a guess: two of them would share a digest.
 */
export function canonical(value: unknown): string {
  return write(value, 0);
}

/** base64url of the SHA-256 of the canonical text: 43 characters. */
export function digest(value: unknown): string {
  const text = canonical(value);
  const known = last;
  last = none;
  if (text === known.text) return known.digest;
  last = { text, digest: hash("sha256", text, "base64url") };
  return last.digest;
}

// A schema often makes of arguments what they are, and both are digested, one after the other. Good for that one time:
// nobody's arguments are kept, and no later caller can tell by the time it takes that theirs are the same.
const none = { text: "", digest: "" };
let last = none;

/** 132 bits of it: plenty to tell two things of one author apart, where nobody forges. */
export function shortDigest(value: unknown): string {
  return digest(value).slice(0, 22);
}

function write(value: unknown, depth: number): string {
  if (typeof value === "string") return quote(value);
  if (typeof value !== "object") return literal(value);
  if (value === null) return "null";
  if (depth === maxDepth) {
    throw new RangeError(`canonical: nested deeper than ${maxDepth} levels`);
  }
  return Array.isArray(value) ? writeList(value, depth + 1) : writeMembers(value, depth + 1);
}

function writeList(list: readonly unknown[], depth: number): string {
  let text = "";
  // By index, because `map` and `join` would pass over the holes of a sparse list.
  for (let index = 0; index < list.length; index++) {
    if (index > 0) text += ",";
    text += write(list[index], depth);
  }
  return `[${text}]`;
}

// Builds text and never an object: a sorted copy would lose a member named "__proto__".
function writeMembers(value: object, depth: number): string {
  refuseUnlessPlain(value);
  let text = "";
  for (const name of Object.keys(value).toSorted()) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined) continue;
    if (text !== "") text += ",";
    text += `${quote(name)}:${write(member, depth)}`;
  }
  return `{${text}}`;
}

// Whatever JSON.stringify would escape: quotes, backslashes, control characters, and surrogates, which
// it escapes where they are lone.
const needsEscape = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** As JSON. Most strings here are short and plain, and these are written several times faster so. */
export function quote(text: string): string {
  return text.length < 64 && !needsEscape.test(text) ? `"${text}"` : JSON.stringify(text);
}

function literal(value: unknown): string {
  if (typeof value === "boolean" || Number.isFinite(value)) return String(value);
  const kind = typeof value === "number" ? String(value) : typeof value;
  throw new TypeError(`canonical: ${kind} is not a JSON value`);
}

// A plain object's prototype ends the chain, in whichever realm it was made; a Date's does not.
function refuseUnlessPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  if (Object.getPrototypeOf(prototype) === null) return;
  throw new TypeError("canonical: an object with a class of its own is not a JSON value");
}
