// Writes a JSON value as the same text whatever the order of its members, so that equal arguments have equal digests.
// Members are sorted by UTF-16 code unit, and numbers and strings are written as JSON.stringify does, as in RFC 8785.

import { hash } from "node:crypto";

// Arguments come from the network. Recursion over them must end in this error and not in a stack overflow, which can
// surface anywhere. No real tool has arguments this deep.
const maxDepth = 200;

/**
 * The canonical text of a value. Members that are `undefined` are left out. A value that JSON cannot preserve (a Date, a
 * Map, NaN) is a TypeError, because two different ones would share a digest.
 */
export function canonical(value: unknown): string {
  return write(value, 0);
}

/** The SHA-256 of the canonical text in base64url, which is 43 characters. */
export function digest(value: unknown): string {
  const text = canonical(value);
  const known = last;
  last = none;
  if (text === known.text) return known.digest;
  last = { text, digest: hash("sha256", text, "base64url") };
  return last.digest;
}

// A schema often returns the arguments unchanged, and both are digested, one after the other. The last digest is kept for
// that one use only, so that no arguments stay in memory and no later caller can tell from the time that theirs are equal.
const none = { text: "", digest: "" };
let last = none;

/** The first 132 bits of the digest, enough to tell apart two things that one author wrote. Not for use against forgery. */
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
  // By index, because `map` and `join` skip the holes of a sparse list.
  for (let index = 0; index < list.length; index++) {
    if (index > 0) text += ",";
    text += write(list[index], depth);
  }
  return `[${text}]`;
}

// This builds text and not an object, because a sorted copy would lose a member named "__proto__".
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

// Everything that JSON.stringify would escape: quotes, backslashes, control characters and lone surrogates. For
// simplicity, this matches every surrogate.
const needsEscape = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** Writes a string as JSON. Most strings here are short and need no escapes, and this is several times faster for them. */
export function quote(text: string): string {
  return text.length < 64 && !needsEscape.test(text) ? `"${text}"` : JSON.stringify(text);
}

function literal(value: unknown): string {
  if (typeof value === "boolean" || Number.isFinite(value)) return String(value);
  const kind = typeof value === "number" ? String(value) : typeof value;
  throw new TypeError(`canonical: ${kind} is not a JSON value`);
}

// The prototype of a plain object ends the prototype chain, in whichever realm the object was made. A Date's does not.
function refuseUnlessPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  if (Object.getPrototypeOf(prototype) === null) return;
  throw new TypeError("canonical: an instance of a class is not a JSON value");
}
