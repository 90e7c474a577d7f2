// `ctx.stream` and `ctx.emit`: steps whose bodies send what they produce to the client while they produce it. The whole
// is recorded, so replay sends nothing.

import type { ContentBlock } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { PartContent } from "../../protocol/streaming.ts";
import { notJson } from "../../replay/author-errors.ts";
import type { Body, Operations, StepInfo } from "../../replay/operations.ts";
import { Stopped } from "../../replay/stop.ts";
import { NotJson, toJson } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";
import { observedBody } from "./observed-body.ts";
import type { Watched } from "./observed-body.ts";
import type { PartSink } from "./part-sink.ts";
import type { StreamOptions } from "./stream-types.ts";

interface Facts extends Watched {
  readonly parts: PartSink | undefined;
}

/** Requests a step that streams. Its value is the joined text, or the list of blocks. */
export function startStream(
  operations: Operations,
  facts: Facts,
  key: string,
  body: (step: StepInfo) => unknown,
  { blocks, retries, backoffMs }: StreamOptions = {},
): Promise<unknown> {
  // The engine refuses anything else.
  const streamed: Body =
    typeof body === "function"
      ? (step) => new Streamed(operations, facts.parts, key).run(body, step, blocks === true)
      : body;
  const settings = { retries, backoffMs, streams: "stream" } as const;
  return operations.step(key, observedBody(facts, key, streamed), settings);
}

/** Requests a step that sends one piece. */
export function startEmit(
  operations: Operations,
  facts: Facts,
  key: string,
  piece: string | ContentBlock,
): Promise<unknown> {
  if (typeof piece !== "string" && !isBlock(piece)) {
    const advice = Array.isArray(piece)
      ? " Emit the blocks one by one, each under its own key."
      : "";
    return operations.refuse(
      key,
      mistake(
        `ctx.emit(${JSON.stringify(key)}) takes a text or one content block, and got ${kindOf(piece)}.${advice}`,
      ),
    );
  }
  const body: Body = () => new Streamed(operations, facts.parts, key).one(piece);
  return operations.step(key, observedBody(facts, key, body), { streams: "emit" });
}

// Text beyond this is not held back until the turn is over, because a generator that never waits would not end its turn.
const fullAt = 16 * 1024;

/** One attempt of one body. */
class Streamed {
  readonly #operations: Operations;
  readonly #parts: PartSink | undefined;
  readonly #key: string;
  /** Text of this turn that has not been sent. */
  #text = "";
  #flushing: NodeJS.Immediate | undefined;
  /** The first part is about to be sent. */
  #isBeginning = false;
  #hasSent = false;
  /** Set while the client has too much to read. */
  #room: Promise<void> | undefined;
  #isOver = false;
  #onOver: (() => void) | undefined;

  constructor(operations: Operations, parts: PartSink | undefined, key: string) {
    this.#operations = operations;
    this.#parts = parts;
    this.#key = key;
  }

  one(piece: string | ContentBlock): unknown {
    const value = typeof piece === "string" ? piece : [this.#plain(piece)];
    const content = typeof value === "string" ? [textBlock(value)] : value;
    const room = value === "" ? undefined : this.#parts?.send({ block: this.#key, content });
    return room === undefined ? value : room.then(() => value);
  }

  async run(
    body: (step: StepInfo) => unknown,
    step: StepInfo,
    hasBlocks: boolean,
  ): Promise<unknown> {
    // While the body is called, the engine looks for operations inside it. So it is called before anything is awaited.
    const returned = body(step);
    this.#operations.onRunEnd(() => {
      this.#isOver = true;
      this.#onOver?.();
    });
    try {
      const source = await returned;
      if (!isAsyncIterable(source)) throw this.#refused(notAStream(this.#key, source));
      const value = await (hasBlocks ? this.#list(source, step) : this.#joined(source, step));
      this.#flush(true);
      return value;
    } catch (error) {
      this.#discard();
      throw error;
    }
  }

  async #joined(source: AsyncIterable<unknown>, step: StepInfo): Promise<string> {
    let whole = "";
    let decoder: InstanceType<typeof TextDecoder> | undefined;
    const add = (text: string) => {
      whole += text;
      this.#add(text);
    };
    for await (const piece of source) {
      if (typeof piece === "string") {
        add((decoder?.decode() ?? "") + piece);
      } else if (piece instanceof Uint8Array) {
        add((decoder ??= new TextDecoder()).decode(piece, { stream: true }));
      } else {
        throw this.#refused(notText(this.#key, piece));
      }
      if (this.#room !== undefined) await this.#room;
      unlessLeft(step);
    }
    add(decoder?.decode() ?? "");
    return whole;
  }

  async #list(source: AsyncIterable<unknown>, step: StepInfo): Promise<ContentBlock[]> {
    const blocks: ContentBlock[] = [];
    for await (const piece of source) {
      if (!isBlock(piece)) throw this.#refused(notABlock(this.#key, piece));
      const block = this.#plain(piece);
      blocks.push(block);
      this.#send({ block: this.#key, content: [block] });
      if (this.#room !== undefined) await this.#room;
      unlessLeft(step);
    }
    return blocks;
  }

  #add(text: string): void {
    if (this.#parts === undefined || text === "") return;
    this.#text += text;
    if (this.#text.length >= fullAt) this.#flush(false);
    // The first part does not wait for the rest of its turn, because someone waits for a sign of life.
    else if (this.#hasSent) this.#flushing ??= setImmediate(() => this.#flush(false));
    else if (!this.#isBeginning) {
      this.#isBeginning = true;
      process.nextTick(() => this.#flush(false));
    }
  }

  /** Half of a surrogate pair waits for the other half, unless nothing follows. */
  #flush(isLast: boolean): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    this.#isBeginning = false;
    const isSplit = !isLast && /[\uD800-\uDBFF]$/.test(this.#text);
    const ready = isSplit ? this.#text.slice(0, -1) : this.#text;
    this.#text = this.#text.slice(ready.length);
    if (ready !== "") this.#send({ block: this.#key, content: [textBlock(ready)] });
  }

  #send(part: PartContent): void {
    if (this.#isOver) return;
    this.#hasSent = true;
    const room = this.#parts?.send(part);
    if (room === undefined) return;
    // A body whose run has ended does not wait for a client that reads slowly.
    const over = new Promise<void>((resolve) => {
      this.#onOver = resolve;
    });
    this.#room = Promise.race([room, over]).then(() => {
      this.#room = undefined;
    });
  }

  /** The client discards what it has of this block, because the attempt has failed. */
  #discard(): void {
    clearImmediate(this.#flushing);
    this.#text = "";
    if (this.#hasSent) this.#send({ block: this.#key, op: "reset" });
  }

  /** A block as it is sent and recorded. */
  #plain(block: ContentBlock): ContentBlock {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a copy of a block
      return toJson(block, "block") as unknown as ContentBlock;
    } catch (error) {
      if (!(error instanceof NotJson)) throw error;
      throw this.#refused(notJson({ kind: "step", key: this.#key, place: undefined }, error));
    }
  }

  /** Fails the run, so that neither a retry nor a `catch` in the handler hides the mistake (R10). */
  #refused(error: ParleyError): ParleyError {
    void this.#operations.refuse(this.#key, error);
    return error;
  }
}

/**
 * Ends the iterable when its run has been stopped, because nothing records the rest. A task that was taken over is the
 * exception: a later run in this process can use the outcome.
 */
function unlessLeft({ signal }: StepInfo): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  if (!(reason instanceof Stopped && reason.reason === "LostLease")) throw reason;
}

const textBlock = (text: string): ContentBlock => ({ type: "text", text });

const isBlock = (piece: unknown): piece is ContentBlock =>
  isObject(piece) && typeof piece["type"] === "string";

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

// ---------------------------------------------------------------- mistakes

const mistake = (message: string) => new ParleyError("bad_option", message);

const notAStream = (key: string, returned: unknown) =>
  mistake(
    `Stream "${key}" returned ${kindOf(returned)}. Its body returns an AsyncIterable or a ReadableStream: write it as an async function*, or use ctx.step and ctx.emit.`,
  );

const notText = (key: string, piece: unknown) =>
  mistake(
    isBlock(piece)
      ? `Stream "${key}" yielded a content block. Pass { blocks: true } as its third argument, or yield text.`
      : `Stream "${key}" yielded ${kindOf(piece)}. Yield text or UTF-8 bytes.`,
  );

const notABlock = (key: string, piece: unknown) =>
  mistake(
    `Stream "${key}" has blocks: true but yielded ${kindOf(piece)}. Yield ${typeof piece === "string" ? '{ type: "text", text }' : "content blocks"}.`,
  );

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
