// Reads the JSON messages that the documents print: in fences or, if a document has none, from a line "{" to a line "}".
// They were written for people, so they contain comments, dots for omitted parts, and mistakes.

export interface Printed {
  /** The document and the place in it: "001.7" is the seventh message of 001. */
  readonly name: string;
  readonly heading: string;
  readonly line: number;
  readonly message: Message;
  /** What had to be done to make it JSON. */
  readonly mended: readonly Mend[];
  /** The text before it was repaired. */
  readonly printed?: string;
}

/** Anything that the document presents as a message. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

type Mend =
  | "comments removed"
  | "dots removed"
  | "trailing comma removed"
  | "braces put around it"
  | "closing brace added";

export function messagesIn(document: string, text: string): Printed[] {
  const blocks = /^```/m.test(text) ? fenced(text) : bare(text);
  return blocks.map(({ heading, line, lines }, index) => {
    const printed = lines.join("\n");
    const { json, mended } = mend(printed);
    const name = `${document}.${index + 1}`;
    const message: Message = JSON.parse(json);
    const asItWas = mended.length === 0 ? {} : { printed };
    return { name, heading, line, message, mended, ...asItWas };
  });
}

// ---------------------------------------------------------------- where they are

interface Block {
  readonly heading: string;
  /** The number of its first line, counted from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

function fenced(text: string): Block[] {
  return blocksIn(text, {
    heading: /^#+ (.*)$/,
    isStart: (line) => /^\s*``` ?json5?\s*$/.test(line),
    isEnd: (line) => /^\s*```/.test(line),
    hasEdges: false,
  });
}

function bare(text: string): Block[] {
  return blocksIn(text, {
    heading: /^(\d{1,2}\. \S.*)$/,
    isStart: (line, next) => line === "{" && next.trimStart().startsWith('"'),
    isEnd: (line) => line === "}",
    hasEdges: true,
  });
}

interface Layout {
  readonly heading: RegExp;
  readonly isStart: (line: string, next: string) => boolean;
  readonly isEnd: (line: string) => boolean;
  /** Whether its first and last lines are part of the message. */
  readonly hasEdges: boolean;
}

function blocksIn(text: string, { heading, isStart, isEnd, hasEdges }: Layout): Block[] {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const blocks: Block[] = [];
  let under = "";
  for (let at = 0; at < lines.length; at += 1) {
    under = heading.exec(lines[at] ?? "")?.[1] ?? under;
    if (!isStart(lines[at] ?? "", lines[at + 1] ?? "")) continue;
    const end = lines.findIndex((line, index) => index > at && isEnd(line));
    if (end === -1) throw new Error(`What begins in line ${at + 1} has no end.`);
    const edge = hasEdges ? 0 : 1;
    blocks.push({
      heading: under,
      line: at + 1 + edge,
      lines: lines.slice(at + edge, end + 1 - edge),
    });
    at = end;
  }
  return blocks;
}

// ---------------------------------------------------------------- what is wrong with them

function mend(printed: string): { readonly json: string; readonly mended: readonly Mend[] } {
  const mended: Mend[] = [];
  const by = (how: Mend, json: string, fresh: string) => {
    if (fresh !== json) mended.push(how);
    return fresh;
  };
  let json = printed;
  json = by("comments removed", json, outsideOfTexts(json, /\/\/[^\n]*/g));
  json = by("dots removed", json, outsideOfTexts(json, /,?\s*\.\.\./g));
  json = by("trailing comma removed", json, outsideOfTexts(json, /,(?=\s*(?:[}\]]|$))/g));
  json = by("braces put around it", json, json.trimStart().startsWith("{") ? json : `{${json}}`);
  json = by("closing brace added", json, json + "}".repeat(openBraces(json)));
  return { json, mended };
}

const texts = /"(?:\\.|[^"\\])*"/g;

/** Removes everything that matches, except inside strings. */
function outsideOfTexts(json: string, pattern: RegExp): string {
  const either = new RegExp(`${texts.source}|${pattern.source}`, "g");
  return json.replaceAll(either, (found) => (found.startsWith('"') ? found : ""));
}

function openBraces(json: string): number {
  const rest = json.replaceAll(texts, "");
  return rest.split("{").length - rest.split("}").length;
}
