// Writes what the streams of one run produce to the store, for readers in other processes, and keeps it in memory for those
// in this one. A body never waits for it, and a step never fails because of it: what is not written comes with the record
// of the stream.

import { ParleyError } from "../../errors.ts";
import type { ExecutionDeps } from "../execution/dependencies.ts";
import type { StoredPart } from "../stored-parts.ts";
import type { ClaimRef, TaskRecord } from "../task.ts";
import { addPart } from "./pieces.ts";
import type { Batch, Piece, StreamPart } from "./pieces.ts";
import { partRecord, storedKey } from "./part-records.ts";
import type { RunStreams } from "./running-streams.ts";

/** How long pieces are collected. The first ones of a stream that was quiet for as long go out at once. */
const gatherMs = 100;
/** A batch goes out sooner if it is as large as this. */
const fullAt = 16 * 1024;
/** How soon a write that failed is tried again, if nothing else is written before. */
const retryMs = 1_000;
/** How many batches one statement writes. */
const mostAtOnce = 64;

interface Stream {
  /** What is not in a batch yet. */
  pieces: Piece[];
  /** The size of what this attempt of the body has produced. */
  bytes: number;
  /** How many batches there are. */
  count: number;
}

export class PartWriter {
  readonly #ref: ClaimRef;
  readonly #task: TaskRecord;
  readonly #deps: ExecutionDeps;
  readonly #streams = new Map<string, Stream>();
  #run: RunStreams | undefined;
  #n = 0;
  #waiting = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #unwritten: StoredPart[] = [];
  #isWriting = false;
  #isOver = false;
  /** The claim is lost, or the caller's share of the store is used up. */
  #isRefused = false;

  constructor(ref: ClaimRef, task: TaskRecord, deps: ExecutionDeps) {
    this.#ref = ref;
    this.#task = task;
    this.#deps = deps;
  }

  /** Takes one part. Never throws. */
  readonly add = (part: StreamPart): void => {
    if (this.#isOver) return;
    const stream = this.#streamOf(part.block);
    const isReset = part.op === "reset";
    const size = isReset ? 0 : JSON.stringify(part.content ?? []).length;
    stream.bytes = isReset ? 0 : stream.bytes + size;
    // The rest comes with the record.
    if (stream.bytes > this.#deps.limits.streamBytes) return;
    this.#waiting += size;
    addPart(stream.pieces, part);
    const quietMs = performance.now() - this.#sentAt;
    if (this.#waiting >= fullAt) this.#send();
    else this.#later(Math.max(0, gatherMs - quietMs));
  };

  /** The outcome of this stream is about to be recorded. Returns the key of its parts in the store, if it can have some. */
  recording(block: string): string | undefined {
    const stream = this.#streams.get(block);
    if (stream === undefined) return undefined;
    stream.pieces = [];
    const key = storedKey(block);
    this.#unwritten = this.#unwritten.filter((part) => part.key !== key);
    return key;
  }

  /** The outcome of this stream is recorded. */
  recorded(block: string): void {
    this.#streams.delete(block);
    this.#run?.recorded(block);
  }

  close(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#unwritten = [];
    if (this.#run !== undefined) this.#deps.streams?.end(this.#ref, this.#run);
  }

  #streamOf(block: string): Stream {
    let stream = this.#streams.get(block);
    if (stream === undefined) {
      stream = { pieces: [], bytes: 0, count: 0 };
      this.#streams.set(block, stream);
    }
    return stream;
  }

  #later(ms: number): void {
    if (this.#cancelTimer !== undefined) return;
    const { clock, streams } = this.#deps;
    // What is due at once does not take the others along: their batches would become small.
    const timer = ms > 0 ? streams?.timer : undefined;
    this.#cancelTimer = timer?.within(ms, clock, this.#send) ?? clock.after(ms, this.#send);
  }

  readonly #send = (): void => {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isOver) return;
    this.#sentAt = performance.now();
    this.#waiting = 0;
    const batches: Batch[] = [];
    for (const [block, stream] of this.#streams) {
      if (stream.pieces.length === 0) continue;
      batches.push({ n: this.#n, block, at: stream.count, pieces: stream.pieces });
      this.#n += 1;
      stream.count += 1;
      stream.pieces = [];
    }
    if (batches.length > 0) {
      this.#run ??= this.#deps.streams?.begin(this.#ref);
      this.#run?.add(batches);
    }
    if (this.#isRefused) return;
    const { sealer } = this.#deps;
    const { callId } = this.#task;
    for (const batch of batches) {
      this.#unwritten.push(partRecord(sealer, callId, this.#ref.epoch, batch));
    }
    void this.#write();
  };

  /** One statement at a time, so that a part with a greater number never arrives before one with a smaller one. */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { store, shares, observer } = this.#deps;
    const { principal, tool } = this.#task;
    try {
      while (this.#unwritten.length > 0 && !this.#isOver) {
        const parts = this.#unwritten.slice(0, mostAtOnce);
        const bytes = parts.reduce((sum, { record }) => sum + record.length, 0);
        await shares.grow(principal, bytes, `The streams of "${tool}"`);
        if (!(await store.addParts(this.#ref, parts))) this.#refused();
        const written = new Set(parts);
        this.#unwritten = this.#unwritten.filter((part) => !written.has(part));
      }
    } catch (error) {
      if (error instanceof ParleyError) this.#refused();
      else {
        observer.storeFailed(error);
        if (!this.#isOver) this.#cancelTimer ??= this.#deps.clock.after(retryMs, this.#send);
      }
    } finally {
      this.#isWriting = false;
    }
  }

  #refused(): void {
    this.#isRefused = true;
    this.#unwritten = [];
  }
}
