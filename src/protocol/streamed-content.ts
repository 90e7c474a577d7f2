// What the parts of one block add up to. Text that arrives in many small pieces is joined, so that a million of them take no
// more room than the text itself. Nothing that was appended changes, so a place in it stays valid.

import type { ContentBlock } from "@modelcontextprotocol/server";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { PartContent, PartOp } from "./streaming.ts";

/** A place in a block: how many runs come before it, and how much text the last one has. */
export interface Place {
  readonly runs: number;
  readonly length: number;
}

/** Where every block begins. */
export const start: Place = { runs: 0, length: 0 };

/** What a content block costs besides its text. */
const overhead = 64;
/** How many pieces are joined into one. */
const fewest = 256;

/** Text that grows. */
class TextRun {
  readonly #joined: string[] = [];
  #pieces: string[] = [];
  length = 0;

  append(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
    if (this.#pieces.length < fewest) return;
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }

  /** The text between two places. The cost depends on how much comes after the first of them. */
  slice(from: number, to: number): string {
    const late: string[] = [];
    let at = this.length;
    for (const pieces of [this.#pieces, this.#joined]) {
      for (let i = pieces.length - 1; i >= 0 && at > from; i -= 1) {
        const piece = pieces[i] ?? "";
        late.push(piece);
        at -= piece.length;
      }
    }
    return late
      .toReversed()
      .join("")
      .slice(from - at, to - at);
  }
}

/** The content of one block. */
export class StreamedContent {
  readonly #runs: (TextRun | ContentBlock)[] = [];
  #bytes = 0;

  /** About how much memory it takes, in bytes of JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Where the next part goes. */
  get end(): Place {
    const last = this.#runs.at(-1);
    return { runs: this.#runs.length, length: last instanceof TextRun ? last.length : 0 };
  }

  /** Adds blocks at the end. Text that follows text is joined with it. */
  append(content: readonly ContentBlock[]): void {
    for (const block of content) {
      if (!isPlainText(block)) {
        this.#runs.push(block);
        this.#bytes += bytesOf(block) + overhead;
      } else if (block.text !== "") this.#appendText(block.text);
    }
  }

  #appendText(text: string): void {
    let last = this.#runs.at(-1);
    if (!(last instanceof TextRun)) {
      last = new TextRun();
      this.#runs.push(last);
      this.#bytes += overhead;
    }
    last.append(text);
    this.#bytes += text.length;
  }

  /** What was appended between two places. */
  between(from: Place, to: Place): ContentBlock[] {
    const content: ContentBlock[] = [];
    const first = Math.max(0, from.runs - 1);
    for (const [offset, run] of this.#runs.slice(first, to.runs).entries()) {
      const index = first + offset;
      if (!(run instanceof TextRun)) {
        if (index >= from.runs) content.push(run);
        continue;
      }
      const since = index === from.runs - 1 ? from.length : 0;
      const until = index === to.runs - 1 ? to.length : run.length;
      if (until > since) content.push({ type: "text", text: run.slice(since, until) });
    }
    return content;
  }
}

/** The text of these blocks, joined. */
export const textIn = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** JSON that is nested too deeply to be written counts as too large. */
function bytesOf(block: ContentBlock): number {
  try {
    return JSON.stringify(block).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const isPlainText = (block: ContentBlock): block is Extract<ContentBlock, { type: "text" }> =>
  block.type === "text" && Object.keys(block).length === 2;

// ---------------------------------------------------------------- incoming parts

const ops: readonly PartOp[] = ["append", "replace", "reset"];
/** Longer than a key that a handler can use. */
const longestName = 1_000;

/** Reads a part. Undefined if it is not one, and then it is ignored. */
export function partIn({ block, op = "append", content = [] }: Members): PartContent | undefined {
  const known = ops.find((one) => one === op);
  if (typeof block !== "string" || block === "" || block.length > longestName) return undefined;
  if (known === undefined || !isContent(content)) return undefined;
  return { block, op: known, content: known === "reset" ? [] : content };
}

const isContent = (content: unknown): content is readonly ContentBlock[] =>
  Array.isArray(content) &&
  content.every(
    (block) =>
      isObject(block) &&
      typeof block["type"] === "string" &&
      (block["type"] !== "text" || typeof block["text"] === "string"),
  );
