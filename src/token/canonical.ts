// Writes a JSON value as the same text whatever the order of its members, so that equal arguments have equal digests.
// Members are sorted by UTF-16 code unit, and numbers and strings are written as JSON.stringify does, as in RFC 8785.

import crypto from "node:crypto";

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
  return crypto.hash("sha256", canonical(value), "base64url");
}

/** The first 132 bits of the digest, enough to tell apart two things that one author wrote. Not for use against forgery. */
export function shortDigest(value: unknown): string {
  return shortened(digest(value));
}

/** The short digest of a value whose digest is known. */
export const shortened = (whole: string): string => whole.slice(0, 22);

/**
 * A copy that has the same digest, for a value that may change before it is known whether a digest is needed. Copying costs
 * a fraction of digesting. Throws where `digest` would.
 */
export function digestible(value: unknown): unknown {
  return copy(value, 0);
}

/** Whether `digest` and `digestible` take a value. An error to find that out would cost ten times as much. */
export function isDigestible(value: unknown): boolean {
  return isJson(value, 0);
}

/**
 * Whether a value has the same digest as a JSON value. If members are undefined, it may return false even if the
 * digests are equal.
 */
export function isSameJson(value: unknown, json: unknown): boolean {
  if (value === json) return true;
  if (typeof value !== "object" || typeof json !== "object") return false;
  if (value === null || json === null || Array.isArray(value) !== Array.isArray(json)) return false;
  if (!Array.isArray(value) && !isPlain(value)) return false;
  const names = Object.keys(value);
  return (
    names.length === Object.keys(json).length &&
    names.every(
      (name) =>
        Object.hasOwn(json, name) && isSameJson(Reflect.get(value, name), Reflect.get(json, name)),
    )
  );
}

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === "string" || value === null) return true;
  if (typeof value !== "object") return isLiteral(value);
  if (depth === maxDepth) return false;
  // By index, because `every` skips the holes of a sparse list.
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth + 1));
  return (
    isPlain(value) &&
    Object.values(value).every((one) => one === undefined || isJson(one, depth + 1))
  );
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value === "string" || value === null) return value;
  if (typeof value !== "object") {
    refuseUnlessLiteral(value);
    return value;
  }
  refuseIfDeep(depth);
  // By index, because `map` skips the holes of a sparse list.
  if (Array.isArray(value)) return Array.from(value, (item) => copy(item, depth + 1));
  refuseUnlessPlain(value);
  // Without a prototype, a member named "__proto__" is like any other.
  const copied: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(value)) {
    const member: unknown = Reflect.get(value, name);
    if (member !== undefined) copied[name] = copy(member, depth + 1);
  }
  return copied;
}

function write(value: unknown, depth: number): string {
  if (typeof value === "string") return quote(value);
  if (typeof value !== "object") return literal(value);
  if (value === null) return "null";
  refuseIfDeep(depth);
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

function refuseIfDeep(depth: number): void {
  if (depth === maxDepth) {
    throw new RangeError(`canonical: nested deeper than ${maxDepth} levels`);
  }
}

function literal(value: unknown): string {
  refuseUnlessLiteral(value);
  return String(value);
}

const isLiteral = (value: unknown): boolean => typeof value === "boolean" || Number.isFinite(value);

function refuseUnlessLiteral(value: unknown): void {
  if (isLiteral(value)) return;
  const kind = typeof value === "number" ? String(value) : typeof value;
  throw new TypeError(`canonical: ${kind} is not a JSON value`);
}

// The prototype of a plain object ends the prototype chain, in whichever realm the object was made. A Date's does not.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === Object.prototype ||
    prototype === null ||
    Object.getPrototypeOf(prototype) === null
  );
}

function refuseUnlessPlain(value: object): void {
  if (isPlain(value)) return;
  throw new TypeError("canonical: an instance of a class is not a JSON value");
}
