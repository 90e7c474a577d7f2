// Parses the JSON of a request, unless it is made of so many values, or nested so deeply, that parsing and checking it would
// cost far more than sending it.

/** Deeper than any real request, and far from where a recursive check overflows the stack. */
const deepest = 256;

/** Bodies up to this size cannot be nested deeply enough to matter, nor have too many values. */
const alwaysFine = 1_024;

/** How many values a body may have if it may have this many bytes: one for every 32 bytes. Ordinary data has fewer. */
export const mostValuesIn = (mostBytes: number): number =>
  Math.max(4_096, Math.floor(mostBytes / 32));

/** Why a body is too much to parse. Undefined if it is not. */
export function tooMuchJson(bytes: Uint8Array, mostValues: number): string | undefined {
  if (bytes.length <= alwaysFine) return undefined;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at] ?? 0) {
      case quote:
        at = endOfText(bytes, at);
        break;
      case comma:
        values += 1;
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
    if (values > mostValues) return `must not hold more than ${mostValues} JSON values`;
  }
  return undefined;
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

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
