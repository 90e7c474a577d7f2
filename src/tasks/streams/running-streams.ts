// The streams whose bodies run in this process, and the readers of streams in this process. Readers in the process of
// the writer get what it produces from memory; hints of the store wake the others.

import type { ChangeHint, TaskStore } from "../store.ts";
import type { ClaimRef } from "../task.ts";
import { reset } from "./pieces.ts";
import type { Batch } from "./pieces.ts";
import { SharedTimer } from "./shared-timer.ts";

/** What woke a reader: "memory" if only batches of this process are new. */
type Wake = (why: "memory" | "store") => void;

/** The streams of one run of a task. */
export class RunStreams {
  readonly epoch: number;
  #batches: readonly Batch[] = [];
  readonly #changed: Wake;

  constructor({ epoch }: ClaimRef, changed: Wake) {
    this.epoch = epoch;
    this.#changed = changed;
  }

  get batches(): readonly Batch[] {
    return this.#batches;
  }

  add(batches: readonly Batch[]): void {
    const voided = new Set(
      batches.flatMap(({ block, pieces }) => (pieces[0] === reset ? block : [])),
    );
    const kept =
      voided.size === 0 ? this.#batches : this.#batches.filter(({ block }) => !voided.has(block));
    this.#batches = [...kept, ...batches];
    this.#changed("memory");
  }

  /** The record of the stream is in the store, and has all of it. */
  recorded(stream: string): void {
    this.#batches = this.#batches.filter(({ block }) => block !== stream);
    this.#changed("store");
  }
}

/** The running streams of one process. */
export class RunningStreams {
  /** When the next batches of all streams are made. */
  readonly timer: SharedTimer = new SharedTimer();
  readonly #store: Pick<TaskStore, "subscribe">;
  readonly #runs = new Map<string, RunStreams>();
  readonly #readers = new Map<string, Set<Wake>>();
  #unsubscribe: (() => void) | undefined;

  constructor(store: Pick<TaskStore, "subscribe">) {
    this.#store = store;
  }

  begin(ref: ClaimRef): RunStreams {
    const run = new RunStreams(ref, (why) => this.#wake(ref.id, why));
    this.#runs.set(ref.id, run);
    return run;
  }

  end({ id }: ClaimRef, run: RunStreams): void {
    if (this.#runs.get(id) === run) this.#runs.delete(id);
  }

  get(id: string): RunStreams | undefined {
    return this.#runs.get(id);
  }

  /** Calls `wake` when there may be something new to read. Returns a function that ends this. */
  listen(id: string, wake: Wake): () => void {
    const readers = this.#readers.get(id) ?? new Set();
    this.#readers.set(id, readers.add(wake));
    this.#unsubscribe ??= this.#store.subscribe((hint) => this.#hinted(hint));
    return () => {
      readers.delete(wake);
      if (readers.size === 0 && this.#readers.get(id) === readers) this.#readers.delete(id);
      if (this.#readers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    };
  }

  #hinted({ id, isParts }: ChangeHint): void {
    // Readers have the parts of this process already.
    if (isParts === true && id !== undefined && this.#runs.has(id)) return;
    for (const one of id === undefined ? this.#readers.keys() : [id]) this.#wake(one, "store");
  }

  #wake(id: string, why: "memory" | "store"): void {
    for (const wake of this.#readers.get(id) ?? []) wake(why);
  }
}
