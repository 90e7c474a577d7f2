// What `ctx.stream` takes, as authors see it.

import type { ContentBlock } from "@modelcontextprotocol/server";
import type { StepOptions } from "../../replay/operations.ts";

/** The options of `ctx.stream`. */
export interface StreamOptions<B extends boolean = boolean> extends StepOptions {
  /**
   * The body yields content blocks, and the value is the list of them. By default it yields text or UTF-8 bytes, and the
   * value is the joined text.
   */
  readonly blocks?: B | undefined;
}

/** Text as it is produced: an async generator, a model's stream, the body of a `fetch` response. Bytes are read as UTF-8. */
export type TextStream =
  | ReadableStream<string | Uint8Array>
  | ReadableStream<string>
  | ReadableStream<Uint8Array>
  | AsyncIterable<string | Uint8Array>;

/** Content blocks as they are produced. */
export type BlockStream = ReadableStream<ContentBlock> | AsyncIterable<ContentBlock>;

/** What the body of a `ctx.stream` returns: content blocks with `blocks: true`, and otherwise text. */
export type BodyOf<B extends boolean> = [B] extends [true] ? BlockStream : TextStream;
