// Makes a text safe for a log. A message can quote what a client sent, and a control character in it could forge a line,
// move the cursor of a terminal, or reverse the text that follows.

// oxlint-disable no-control-regex -- these characters are what we look for
/** Control characters except tabs and line feeds, and characters that are invisible or change the direction of the text. */
const unsafe =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

/** The text with such characters written as `\u001b`. Line feeds and tabs stay. */
export function escapeControls(text: string): string {
  return text.replaceAll(unsafe, (letter) =>
    Array.from(
      { length: letter.length },
      (_, at) => String.raw`\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** The same with further lines indented, so that a line feed in a message cannot begin a line of the log. */
export const escapeLines = (text: string): string => escapeControls(text).replaceAll("\n", "\n  ");
