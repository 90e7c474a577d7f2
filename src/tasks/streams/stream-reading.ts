// One reading of the streams of a task, from any process: first what is recorded, then what running bodies produce, until
// the task asks something or ends.

import type { Clock } from "../clock.ts";
import type { TaskObserver } from "../observer.ts";
import type { Sealer } from "../sealing.ts";
import type { TaskSnapshot } from "../snapshot.ts";
import type { TaskStore } from "../store.ts";
import { partsAtOnce } from "../stored-parts.ts";
import type { PartPage } from "../stored-parts.ts";
import { isLive } from "../task.ts";
import type { Sealed, TaskRecord } from "../task.ts";
import { LogStreams } from "./log-streams.ts";
import { openPart } from "./part-records.ts";
import { partsOf, reset } from "./pieces.ts";
import type { Batch, StreamPart } from "./pieces.ts";
import type { RunningStreams } from "./running-streams.ts";
import { openCursor, sealCursor, streamStart } from "./stream-cursor.ts";

/** How often a reader looks by itself, if hints of other processes do not arrive and if they do. */
const pollMs = 250;
const slowPollMs = 2_000;

const gap = -1;

/** How much of a log a reading keeps while its client reads, in characters. */
const logAtOnce = 256 * 1024;

/** What a reading works with. */
export interface ReadingDeps {
  readonly store: TaskStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly observer: Pick<TaskObserver, "storeFailed">;
  readonly streams: RunningStreams;
  /** Opens a task for its client. */
  readonly open: (task: TaskRecord) => TaskSnapshot;
}

/** How a reading ends. */
export interface StreamsRead {
  /** The task, as its client sees it now. */
  readonly task: TaskSnapshot;
  /** Where the next reading begins. */
  readonly cursor: string;
}

/** A reading of the streams of one task. */
export class StreamReading {
  readonly #deps: ReadingDeps;
  readonly #id: string;
  readonly #callId: string;
  readonly #log: LogStreams;
  /**
   * The streams that the client has a beginning of, each with the number of the batch that comes next, or `gap` if a
   * batch is missing. The record of such a stream has all of it.
   */
  readonly #open: Map<string, number>;
  readonly #known: number;
  #epoch: number;
  #n: number;
  #revision: number | undefined;
  #wake: (() => void) | undefined;
  #isNews: "memory" | "store" | undefined = "store";
  /** There are more records than those that were read last. */
  #isBehind = false;

  /** Throws a BadCursorError if the cursor is not one of this task. */
  constructor(
    deps: ReadingDeps,
    { id, callId }: Pick<TaskSnapshot, "id" | "callId">,
    after?: string,
  ) {
    const start = after === undefined ? streamStart : openCursor(deps.sealer, callId, after);
    this.#deps = deps;
    this.#id = id;
    this.#callId = callId;
    this.#log = new LogStreams(deps.sealer, callId);
    this.#open = new Map(Object.entries(start.open));
    this.#known = start.records;
    this.#epoch = start.epoch;
    this.#n = start.n;
  }

  /**
   * Yields the parts, and returns when the task asks something, ends, or the signal aborts. It looks for more only when the
   * last part was taken. Returns undefined if the task is gone.
   */
  async *parts(signal: AbortSignal): AsyncGenerator<StreamPart, StreamsRead | undefined> {
    const stop = this.#deps.streams.listen(this.#id, this.#notice);
    const aborted = () => this.#notice("store");
    signal.addEventListener("abort", aborted);
    try {
      for (;;) {
        await this.#news();
        const why = this.#isNews;
        this.#isNews = undefined;
        if (why === "memory" && !signal.aborted) {
          yield* this.#fromMemory();
          continue;
        }
        const page = await this.#asked((store) =>
          store.readParts(this.#id, { epoch: this.#epoch, n: this.#n }),
        );
        if (page === "unknown") {
          if (signal.aborted) throw new Error("The store cannot be reached.");
          continue;
        }
        if (page === undefined) return undefined;
        if (page.logLength > this.#log.length) yield* this.#records(page.logLength);
        if (this.#isBehind) continue;
        yield* this.#page(page);
        const end = await this.#end(page, signal);
        if (end !== "not yet") return end;
      }
    } finally {
      stop();
      signal.removeEventListener("abort", aborted);
    }
  }

  readonly #notice = (why: "memory" | "store"): void => {
    if (this.#isNews !== "store") this.#isNews = why;
    this.#wake?.();
  };

  async #news(): Promise<void> {
    if (this.#isNews !== undefined) return;
    const { clock, store } = this.#deps;
    const hears = store.hearsOthers?.() ?? false;
    const cancel = clock.after(hears ? slowPollMs : pollMs, () => this.#notice("store"));
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
    cancel();
  }

  /** If the store cannot be reached, the reading goes on: the next look tries again. */
  async #asked<T>(ask: (store: TaskStore) => Promise<T>): Promise<T | "unknown"> {
    try {
      return await ask(this.#deps.store);
    } catch (error) {
      this.#deps.observer.storeFailed(error);
      return "unknown";
    }
  }

  *#fromMemory(): Generator<StreamPart, void> {
    const run = this.#deps.streams.get(this.#id);
    if (run?.epoch === this.#epoch) yield* this.#batches(run.batches);
    else this.#isNews = "store";
  }

  /** What the next records of the log say. */
  async *#records(logLength: number): AsyncGenerator<StreamPart, void> {
    const from = this.#log.length;
    const more = someOf(await this.#deps.store.readLog(this.#id, from));
    const known = Math.max(0, this.#known - from);
    this.#log.skip(more.slice(0, known));
    for (const part of this.#log.read(more.slice(known), (block) => this.#open.has(block))) {
      this.#open.delete(part.block);
      yield part;
    }
    // What runs comes after everything that is recorded.
    this.#isBehind = more.length > 0 && this.#log.length < logLength;
    if (this.#isBehind) this.#notice("store");
  }

  *#page(page: PartPage): Generator<StreamPart, void> {
    const { sealer, streams } = this.#deps;
    if (page.epoch !== this.#epoch) {
      // Another worker has the task, and its bodies start again.
      this.#epoch = page.epoch;
      this.#n = -1;
      const open = [...this.#open.keys()];
      this.#open.clear();
      for (const block of open) yield { block, op: "reset" };
    }
    const run = streams.get(this.#id);
    const batches =
      run?.epoch === page.epoch
        ? run.batches
        : page.parts.map((part) => openPart(sealer, this.#callId, page.epoch, part));
    yield* this.#batches(batches);
    if (page.parts.length === partsAtOnce) this.#notice("store");
  }

  *#batches(batches: readonly Batch[]): Generator<StreamPart, void> {
    for (const { n, block, at, pieces } of batches) {
      if (n <= this.#n) continue;
      this.#n = n;
      // A part can be written after its stream was recorded.
      if (this.#log.isRecorded(block)) continue;
      const from = pieces.lastIndexOf(reset);
      const isNext = from >= 0 || at === (this.#open.get(block) ?? 0);
      this.#open.set(block, isNext ? at + 1 : gap);
      if (!isNext) continue;
      yield* partsOf(block, from > 0 ? pieces.slice(from) : pieces);
    }
  }

  async #end(page: PartPage, signal: AbortSignal): Promise<StreamsRead | undefined | "not yet"> {
    if (page.revision === this.#revision && !signal.aborted) return "not yet";
    const task = await this.#asked((store) => store.read(this.#id));
    if (task === undefined) return undefined;
    if (task === "unknown") {
      if (signal.aborted) throw new Error("The store cannot be reached.");
      this.#revision = undefined;
      return "not yet";
    }
    this.#revision = page.revision;
    const isOver = !isLive(task) || task.status === "input_required";
    if (!isOver && !signal.aborted) return "not yet";
    // The log may have grown since it was read. A client that learns how the task stands has all that came before.
    if (isOver && task.logLength > this.#log.length) {
      this.#revision = undefined;
      this.#notice("store");
      return "not yet";
    }
    return { task: this.#deps.open(task), cursor: this.#cursor() };
  }

  #cursor(): string {
    const records = Math.max(this.#known, this.#log.length);
    const open = Object.fromEntries(this.#open);
    const cursor = { records, epoch: this.#epoch, n: this.#n, open };
    return sealCursor(this.#deps.sealer, this.#callId, cursor);
  }
}

/** The first of these records. A client that does not read keeps them in memory, so the others are read again when it does. */
function someOf(records: readonly Sealed[]): readonly Sealed[] {
  let size = 0;
  const end = records.findIndex((record) => (size += record.length) > logAtOnce);
  return end < 0 ? records : records.slice(0, end + 1);
}
