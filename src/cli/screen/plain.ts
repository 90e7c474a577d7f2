// Makes the text of a server safe to print. It could move the cursor, overwrite our own output, or reverse text.

import { controls, hidden } from "../../util/unsafe-characters.ts";

// oxlint-disable no-control-regex -- these characters are what we look for
/** Sequences for colours, the cursor, titles and links. Each pattern takes linear time, whatever a server sends. */
const sequences =
  /(?:\u001B\[|\u009B)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001B\][^\u0007\u001B]{0,4096}(?:\u0007|\u001B\\)/g;

/** Removes control characters. Line breaks and tabs stay. */
export function plain(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(sequences, "")
    .replaceAll(controls, "")
    .replaceAll(hidden, "");
}

/** A text on one line, cut to a length. */
export function plainLine(text: string, most = 200): string {
  const line = plain(text).replaceAll(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** A text for a prompt, cut to a length, because a prompt is drawn again at every key. */
export function plainText(text: string, most = 4_000): string {
  const whole = plain(text).trim();
  if (whole.length <= most) return whole;
  return `${whole.slice(0, most)}… (${whole.length - most} more characters)`;
}

/** The first of many texts, on one line. */
export function someOf(texts: readonly string[], most = 8): string {
  const shown = texts.slice(0, most).map((text) => plainLine(text, 40));
  const more = texts.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** JSON that is safe to print, because `JSON.stringify` does not escape all control characters. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent)
    .replaceAll(/[\u007F-\u009F]/g, escaped)
    .replaceAll(hidden, escaped);
}

/** A character can have two code units. */
const escaped = (letter: string): string =>
  Array.from(
    { length: letter.length },
    (_, at) => String.raw`\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
