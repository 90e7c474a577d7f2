// The blocks that a call streams, as its reader holds them. The parts of a request are provisional until its result arrives:
// then they are kept, otherwise they are dropped. What waits to be read is what has changed in each block, however many
// parts have changed it.

import type { ContentBlock } from "@modelcontextprotocol/server";
import { start, StreamedContent, textIn } from "./streamed-content.ts";
import type { Place } from "./streamed-content.ts";
import type { PartContent, PartOp } from "./streaming.ts";

/** What has changed in a block since it was last read, and the whole block. */
export interface BlockChange {
  readonly block: string;
  readonly op: PartOp;
  readonly text: string;
  readonly content: readonly ContentBlock[];
  /** Computed when it is read. */
  readonly soFar: { readonly text: string; readonly content: readonly ContentBlock[] };
}

/** The content of each block that was kept, by name, as a journal stores it. */
export type KeptBlocks = readonly (readonly [block: string, content: readonly ContentBlock[]])[];

/** What a block costs besides its content. */
const overhead = 256;

interface Block {
  readonly name: string;
  /** Undefined after a reset. */
  now: StreamedContent | undefined;
  /** The content when the last result arrived. */
  kept: { readonly content: StreamedContent; readonly end: Place } | undefined;
  /** How much the reader has of `now`. Undefined if the reader has something else. */
  read: Place | undefined;
  /** Whether the reader has anything of this block. */
  isHeld: boolean;
  /** What happened since the last reading. */
  waiting: PartOp | undefined;
}

export class StreamedBlocks {
  readonly #blocks = new Map<string, Block>();
  readonly #mostBytes: number;
  readonly #onChange: (read: () => BlockChange | undefined) => void;
  #bytes = 0;
  #isOver = false;

  /**
   * `onChange` is called when a block has something to read, and not again before it was read. If the blocks exceed
   * `mostBytes` together, all are reset and nothing more is accepted.
   */
  constructor(mostBytes: number, onChange: (read: () => BlockChange | undefined) => void) {
    this.#mostBytes = mostBytes;
    this.#onChange = onChange;
  }

  readonly take = ({ block: name, op = "append", content = [] }: PartContent): void => {
    if (this.#isOver) return;
    const known = this.#blocks.get(name);
    if (op === "reset") {
      if (known?.now !== undefined) this.#change(known, "reset", undefined);
      return;
    }
    if (op === "append" && content.length === 0) return;
    const block = known ?? this.#added(name);
    if (op === "append" && block.now !== undefined) {
      const before = block.now.bytes;
      block.now.append(content);
      if (block.now.bytes === before) return;
      this.#bytes += block.now.bytes - before;
      this.#changed(block, "append");
    } else {
      const fresh = new StreamedContent();
      fresh.append(content);
      if (!isSame(block.now, fresh)) this.#change(block, op, fresh);
    }
    if (this.#bytes > this.#mostBytes) this.#giveUp();
  };

  /** The result has arrived: what the blocks hold now is certain. */
  readonly keep = (): void => {
    for (const block of this.#blocks.values()) {
      block.kept = block.now && { content: block.now, end: block.now.end };
    }
  };

  /** There is no result: takes back what came since the last one. */
  readonly drop = (): void => {
    for (const block of this.#blocks.values()) {
      const { kept, now } = block;
      if (kept === undefined) {
        if (now !== undefined) this.#change(block, "reset", undefined);
        continue;
      }
      const { runs, length } = kept.end;
      const isUnchanged =
        now === kept.content && now.end.runs === runs && now.end.length === length;
      if (isUnchanged) continue;
      const restored = new StreamedContent();
      restored.append(kept.content.between(start, kept.end));
      block.kept = { content: restored, end: restored.end };
      this.#change(block, "replace", restored);
    }
  };

  /** Takes everything back. */
  readonly clear = (): void => {
    for (const block of this.#blocks.values()) block.kept = undefined;
    this.drop();
  };

  /** What is certain, for another process. Undefined if it is more than `mostBytes`. */
  kept(mostBytes: number): KeptBlocks | undefined {
    const kept: [string, readonly ContentBlock[]][] = [];
    let bytes = 0;
    for (const block of this.#blocks.values()) {
      if (block.kept === undefined) continue;
      bytes += block.name.length + overhead + block.kept.content.bytes;
      if (bytes > mostBytes) return undefined;
      kept.push([block.name, block.kept.content.between(start, block.kept.end)]);
    }
    return this.#isOver ? undefined : kept;
  }

  /** The content of a block. */
  content(name: string): readonly ContentBlock[] {
    const now = this.#blocks.get(name)?.now;
    return now === undefined ? [] : now.between(start, now.end);
  }

  get names(): readonly string[] {
    return [...this.#blocks.values()]
      .filter(({ now }) => now !== undefined)
      .map(({ name }) => name);
  }

  #added(name: string): Block {
    const block: Block = {
      name,
      now: undefined,
      kept: undefined,
      read: undefined,
      isHeld: false,
      waiting: undefined,
    };
    this.#blocks.set(name, block);
    // This stays counted after a reset, because the name stays in the list.
    this.#bytes += name.length + overhead;
    return block;
  }

  #change(block: Block, op: PartOp, now: StreamedContent | undefined): void {
    this.#bytes += (now?.bytes ?? 0) - (block.now?.bytes ?? 0);
    block.now = now;
    block.read = undefined;
    this.#changed(block, op);
  }

  #changed(block: Block, op: PartOp): void {
    const { waiting } = block;
    block.waiting =
      op === "append" && waiting !== undefined && waiting !== "append" ? "replace" : op;
    if (waiting === undefined) this.#onChange(() => this.#read(block));
  }

  /** What the reader does not have yet. Undefined if it has everything. */
  #read(block: Block): BlockChange | undefined {
    const { name, now, waiting: op = "append", isHeld } = block;
    block.waiting = undefined;
    block.isHeld = now !== undefined;
    if (now === undefined) return isHeld ? part(name, "reset", []) : undefined;
    const { end } = now;
    const content = now.between(op === "append" ? (block.read ?? start) : start, end);
    block.read = end;
    return part(name, op, content, now, end);
  }

  /** A stream that is cut off would look complete, so nothing of it stays. */
  #giveUp(): void {
    this.#isOver = true;
    this.clear();
  }
}

function part(
  block: string,
  op: PartOp,
  content: readonly ContentBlock[],
  whole?: StreamedContent,
  end: Place = start,
): BlockChange {
  return {
    block,
    op,
    text: textIn(content),
    content,
    get soFar() {
      const all = whole?.between(start, end) ?? [];
      return { text: textIn(all), content: all };
    },
  };
}

const isSame = (now: StreamedContent | undefined, fresh: StreamedContent) =>
  now !== undefined &&
  now.bytes === fresh.bytes &&
  Number.isFinite(now.bytes) &&
  JSON.stringify(now.between(start, now.end)) === JSON.stringify(fresh.between(start, fresh.end));
