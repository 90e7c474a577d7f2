// What a server sent, made fit to be printed: it could move the cursor, colour over what we say, or turn text around.

// oxlint-disable no-control-regex -- they are what is looked for
/** Colours, the cursor, and what sets a title or a link; each pattern is linear in what a stranger sends. */
const sequences =
  /(?:\u001B\[|\u009B)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001B\][^\u0007\u001B]{0,4096}(?:\u0007|\u001B\\)/g;
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** Those that change the direction of what follows, or are not seen at all. */
const hidden = /[\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

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

/** JSON leaves some control characters as they are. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(
    /[\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
