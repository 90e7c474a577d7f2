// What a call streams: the blocks so far, and how far its task was read. Both are kept with the call, so that another process
// has them as well.

import type { RpcResponse } from "../protocol/rpc.ts";
import { StreamedBlocks } from "../protocol/streamed-blocks.ts";
import type { KeptBlocks } from "../protocol/streamed-blocks.ts";
import { partIn } from "../protocol/streamed-content.ts";
import type { PartContent } from "../protocol/streaming.ts";
import { isObject } from "../util/objects.ts";
import type { Part } from "./part.ts";

/** The stream of a call in its reference. */
export interface KeptStream {
  readonly blocks: KeptBlocks;
  /** Where to read on in the task. */
  readonly cursor?: string | undefined;
}

/** A reference with more than this would be written too often. A process that continues the call then reads its task anew. */
const mostKept = 256 * 1_024;
const longestCursor = 65_536;

export class CallStream {
  readonly #blocks: StreamedBlocks;
  #cursor: string | undefined;
  /** The last reading broke off. What it brought stays until the next one begins. */
  #isBroken = false;

  /** `onPart` receives a function that returns what is new in a block, once it is called. */
  constructor(
    mostBytes: number,
    onPart: (read: () => Part | undefined) => void,
    kept?: KeptStream,
  ) {
    this.#blocks = new StreamedBlocks(mostBytes, onPart);
    for (const [block, content] of kept?.blocks ?? []) {
      this.#blocks.take({ block, op: "replace", content });
    }
    this.#blocks.keep();
    this.#cursor = kept?.cursor;
  }

  /** What another process needs. Undefined if there is nothing, or too much. */
  get kept(): KeptStream | undefined {
    const blocks = this.#blocks.kept(mostKept);
    if (blocks === undefined || (blocks.length === 0 && this.#cursor === undefined))
      return undefined;
    return { blocks, ...(this.#cursor !== undefined && { cursor: this.#cursor }) };
  }

  /** Where to read on in the task. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Sends a request that asks for its parts. They count only if it has a result. */
  async request(
    send: (onPart: (part: PartContent) => void) => Promise<RpcResponse>,
  ): Promise<RpcResponse> {
    try {
      const response = await send(this.#blocks.take);
      if (response.kind === "result") this.#blocks.keep();
      else this.#blocks.drop();
      return response;
    } catch (error) {
      this.#blocks.drop();
      throw error;
    }
  }

  // ---------------------------------------------------------------- reading a task

  readonly take = (part: PartContent): void => {
    this.#begin();
    this.#blocks.take(part);
  };

  /** A reading ended well, and the next one continues after this cursor. */
  finished(cursor: unknown): void {
    this.#begin();
    this.#blocks.keep();
    if (typeof cursor === "string" && cursor.length <= longestCursor) this.#cursor = cursor;
  }

  /** A reading broke off. */
  broken(): void {
    this.#isBroken = true;
  }

  /** The server does not accept the cursor, so the task is read from its beginning. */
  restart(): void {
    this.#cursor = undefined;
    this.#blocks.clear();
  }

  /** Nothing is read any more. */
  end(): void {
    this.#blocks.drop();
  }

  #begin(): void {
    if (this.#isBroken) this.#blocks.drop();
    this.#isBroken = false;
  }
}

/** Reads the stream in a reference. Undefined if there is none, and then the task is read from its beginning. */
export function keptStreamIn(raw: unknown): KeptStream | undefined {
  if (!isObject(raw) || !Array.isArray(raw["blocks"])) return undefined;
  const { cursor } = raw;
  const blocks = raw["blocks"].flatMap((entry: unknown): KeptBlocks => {
    const [block, content]: readonly unknown[] = Array.isArray(entry) ? entry : [];
    const part = partIn({ block, op: "replace", content });
    return part === undefined ? [] : [[part.block, part.content ?? []]];
  });
  return typeof cursor === "string" ? { blocks, cursor } : { blocks };
}
