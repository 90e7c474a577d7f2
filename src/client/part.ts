// A part of a streamed result, as the application sees it.

import type { ContentBlock } from "@modelcontextprotocol/client";

/**
 * What one part did to one block, and the block after it.
 *
 * @example
 * ```ts
 * for await (const event of server.start("report", { topic: "Q2" })) {
 *   if (event.type === "part") process.stdout.write(event.text);
 * }
 * ```
 */
export interface Part {
  /** The key of the `ctx.stream` or `ctx.emit`. */
  readonly block: string;
  /**
   * "append": add the content to what you have of this block. "replace": the content is the whole block. "reset": discard
   * what you have of this block, because the server begins it again or the connection broke.
   */
  readonly op: "append" | "replace" | "reset";
  /** The text of `content`, joined. Empty if it has none. */
  readonly text: string;
  /** What is new or, after "replace", the whole block. */
  readonly content: readonly ContentBlock[];
  /** The whole block after this part. It is computed when you read it. */
  readonly soFar: {
    /** The text of the block, joined. */
    readonly text: string;
    /** The content of the block. Text that follows text is one content block. */
    readonly content: readonly ContentBlock[];
  };
}

/** The part with these members besides. Its `soFar` is still computed when it is read. */
export function tagged<T extends object>(tag: T, part: Part): T & Part {
  const { block, op, text, content } = part;
  return {
    ...tag,
    block,
    op,
    text,
    content,
    get soFar() {
      return part.soFar;
    },
  };
}

/** Reads a part as an event. */
export const partEvent =
  (read: () => Part | undefined): (() => ({ readonly type: "part" } & Part) | undefined) =>
  () => {
    const part = read();
    return part && tagged({ type: "part" } as const, part);
  };
