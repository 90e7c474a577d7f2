// Makes a text safe for a log. A message can quote what a client sent, and a control character in it could forge a line,
// move the cursor of a terminal, or reverse the text that follows.

import { controls, hidden } from "../../util/unsafe-characters.ts";

/** The text with such characters written as `\u001b`. Line feeds and tabs stay. */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, escape).replaceAll(hidden, escape);
}

function escape(letter: string): string {
  return Array.from(
    { length: letter.length },
    (_, at) => String.raw`\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** The same with further lines indented, so that a line feed in a message cannot begin a line of the log. */
export const escapeLines = (text: string): string => escapeControls(text).replaceAll("\n", "\n  ");
