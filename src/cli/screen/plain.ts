// What a server sent, made fit to be printed: it could move the cursor, colour over what we say, or turn text around.

// oxlint-disable no-control-regex -- they are what is looked for
/** Colours, the cursor, and what sets a title or a link; each pattern is linear in what a stranger sends. */
const sequences =
  /(?:\u001B\[|\u009B)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001B\][^\u0007\u001B]{0,4096}(?:\u0007|\u001B\\)/g;
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** Those that change the direction of what follows, or are not seen at all; the last are letters only machines read. */
const hidden =
  /[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

/** Line breaks and tabs stay. */
export function plain(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(sequences, "")
    .replaceAll(controls, "")
    .replaceAll(hidden, "");
}

/** On one line, and no longer than this. */
export function plainLine(text: string, most = 200): string {
  const line = plain(text).replaceAll(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** As it is said in a prompt, which is drawn again with every key: no longer than anybody reads. */
export function plainText(text: string, most = 4_000): string {
  const whole = plain(text).trim();
  if (whole.length <= most) return whole;
  return `${whole.slice(0, most)}… (${whole.length - most} more characters)`;
}

/** The first of many, on one line. */
export function someOf(texts: readonly string[], most = 8): string {
  const shown = texts.slice(0, most).map((text) => plainLine(text, 40));
  const more = texts.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** JSON leaves some control characters as they are. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent)
    .replaceAll(/[\u007F-\u009F]/g, escaped)
    .replaceAll(hidden, escaped);
}

/** A letter may be of two units. */
const escaped = (letter: string): string =>
  Array.from(
    { length: letter.length },
    (_, at) => String.raw`\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
