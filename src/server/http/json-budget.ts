// Parses the JSON of a request, unless it is made of so many values, has so many names, or is nested so deeply, that parsing
// and checking it would cost far more than sending it.
//
// Names are limited because V8 describes objects by the names that they have. It takes up to five microseconds for each name
// that it has not seen in this place before, which is a hundred times what a number in a list takes.

import { onFirstUse } from "../../util/on-first-use.ts";

/** Deeper than any real request, and far from where a recursive check overflows the stack. */
const deepest = 256;

/** Bodies up to this size cannot be nested deeply enough to matter, nor have too many values. */
const alwaysFine = 1_024;

/** How many values a body may have if it may have this many bytes: one for every 32 bytes. Ordinary data has fewer. */
const mostValuesIn = (mostBytes: number): number => Math.max(4_096, Math.floor(mostBytes / 32));

/** How many different names the members of its objects may have: one for every 512 bytes. */
const mostNamesIn = (mostBytes: number): number => Math.max(1_024, Math.floor(mostBytes / 512));

/** How much JSON a body may be. */
export interface JsonBudget {
  readonly values: number;
  readonly names: number;
}

/** The budget of bodies that may have this many bytes. */
export const budgetFor = (mostBytes: number): JsonBudget => ({
  values: mostValuesIn(mostBytes),
  names: mostNamesIn(mostBytes),
});

/** Why a body is too much to parse. Undefined if it is not. */
export function tooMuchJson(bytes: Uint8Array, most: JsonBudget): string | undefined {
  if (bytes.length <= alwaysFine) return undefined;
  let values = 1;
  let depth = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at] ?? 0) {
      case quote:
        at = endOfText(bytes, at);
        break;
      case comma:
        values += 1;
        break;
      case colon:
        members += 1;
        break;
      case openList:
      case openObject:
        values += 1;
        depth += 1;
        if (depth > deepest) return `must not be nested deeper than ${deepest} levels`;
        break;
      case closeList:
      case closeObject:
        depth -= 1;
        break;
      default:
    }
    if (values > most.values) return `must not hold more than ${most.values} JSON values`;
  }
  // Most members have names that others have, too, so the names are looked at only if there are very many members.
  return members > most.names && hasMoreNames(bytes, most.names)
    ? `must not hold more than ${most.names} different member names`
    : undefined;
}

/** Differs in every process, so that a client cannot choose names that look the same. */
const seed = onFirstUse(() => Math.floor(Math.random() * 2 ** 32));

/** Whether there are more different names than this. Two names may count as one, which does no harm. */
function hasMoreNames(bytes: Uint8Array, most: number): boolean {
  const places = 32 * 2 ** Math.ceil(Math.log2(most));
  const seen = new Uint8Array(places / 8);
  let names = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== quote) continue;
    const start = at + 1;
    at = endOfText(bytes, at);
    if (!isName(bytes, at)) continue;
    const place = hashOf(bytes, start, at) & (places - 1);
    const bit = 1 << (place & 7);
    const bits = seen[place >> 3] ?? 0;
    if ((bits & bit) !== 0) continue;
    seen[place >> 3] = bits | bit;
    names += 1;
    if (names > most) return true;
  }
  return false;
}

/** Whether the string that ends here is a name: whether a colon comes next. */
function isName(bytes: Uint8Array, end: number): boolean {
  let at = end + 1;
  while (bytes[at] === space || bytes[at] === newline || bytes[at] === tab || bytes[at] === cr) {
    at += 1;
  }
  return bytes[at] === colon;
}

/** FNV-1a, with its high bits mixed in. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = seed();
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** The parsed body, or undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where the string that starts here ends. Most have no escapes, and a native search finds their end. */
function endOfText(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(quote, start + 1);
  if (end === -1) return bytes.length;
  if (bytes[end - 1] !== backslash) return end;
  // Looked at one by one, because a search that begins again at each escaped quote would be slow for many of them.
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

const tab = 0x09;
const newline = 0x0a;
const cr = 0x0d;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
