// What a stream has produced, as its batches keep it.

import type { Json } from "../../util/json.ts";

/** One part of a stream. Its members are those of the message that carries it to a client. */
export interface StreamPart {
  /** The key of the stream. */
  readonly block: string;
  /** Default: append. */
  readonly op?: "append" | "replace" | "reset" | undefined;
  /** Content blocks. */
  readonly content?: readonly Json[] | undefined;
}

/** Text, or other content blocks, or the note that everything before it is void. */
export type Piece = string | readonly Json[] | typeof reset;

export const reset = 0;

/** What one stream produced between two moments. */
export interface Batch {
  /** Its number in this claim. */
  readonly n: number;
  readonly block: string;
  /** Its number in its stream. A reader that misses one waits for the record of the stream. */
  readonly at: number;
  readonly pieces: readonly Piece[];
}

/** Adds a part to pieces. Text is joined, and what a reset voids is dropped. */
export function addPart(pieces: Piece[], { op, content = [] }: StreamPart): void {
  if (op === "reset") {
    pieces.splice(0, pieces.length, reset);
    return;
  }
  const text = textOf(content);
  const last = pieces.at(-1);
  if (text === undefined) pieces.push(content);
  else if (typeof last === "string") pieces[pieces.length - 1] = last + text;
  else pieces.push(text);
}

/** The parts that say what these pieces say. */
export function partsOf(block: string, pieces: readonly Piece[]): readonly StreamPart[] {
  return pieces.map((piece) =>
    piece === reset
      ? { block, op: "reset" }
      : { block, content: typeof piece === "string" ? [textBlock(piece)] : piece },
  );
}

/** What a stream has recorded, as content blocks. */
export function contentOf(value: Json | undefined): readonly Json[] {
  if (typeof value === "string") return value === "" ? [] : [textBlock(value)];
  return Array.isArray(value) ? value : [];
}

const textBlock = (text: string): Json => ({ type: "text", text });

/** The text of a content that is nothing but text. */
function textOf(content: readonly Json[]): string | undefined {
  const [only] = content;
  if (content.length !== 1 || typeof only !== "object" || only === null) return undefined;
  if (!("text" in only) || only["type"] !== "text" || Object.keys(only).length > 2)
    return undefined;
  return typeof only["text"] === "string" ? only["text"] : undefined;
}
