// What a reader of streams holds, and what it must never hold.
//
// Each piece of a stream names the attempt of the body that made it, and its number. So a text that mixes two attempts, or
// leaves something out, shows at once, even if the record corrects it later.

import type { Json } from "../../src/util/json.ts";
import type { StreamPart } from "../../src/tasks/streams/pieces.ts";
import { nonceIn, pieceOf } from "./stream-text.ts";

/** Whether this is the beginning of what one attempt says. */
function isBeginning(text: string): boolean {
  const pieces = text.split(" ").slice(0, -1);
  return pieces.every((piece, index) => `${piece} ` === pieceOf(nonceIn(text), index));
}

function textOf(block: Json): string {
  if (typeof block !== "object" || block === null || !("text" in block)) return "";
  return typeof block["text"] === "string" ? block["text"] : "";
}

/** What a client holds, block by block. */
export class Held {
  readonly blocks: Map<string, string>;
  /** The first text that no client should ever hold. */
  mixed: string | undefined;

  constructor(blocks: ReadonlyMap<string, string> = new Map()) {
    this.blocks = new Map(blocks);
  }

  take({ block, op = "append", content = [] }: StreamPart): void {
    const said = content.map(textOf).join("");
    if (op === "reset") this.blocks.delete(block);
    else this.blocks.set(block, (op === "append" ? (this.blocks.get(block) ?? "") : "") + said);
    const text = this.blocks.get(block) ?? "";
    if (!isBeginning(text)) this.mixed ??= `${block}: ${text.slice(0, 400)}`;
  }
}
