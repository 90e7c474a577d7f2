// The streams in the log of a task: what each record means for a client that follows them.

import type { Entry } from "../../replay/journal.ts";
import { openRecord } from "../execution/log-records.ts";
import type { Sealer } from "../sealing.ts";
import type { Sealed } from "../task.ts";
import { contentOf } from "./pieces.ts";
import type { StreamPart } from "./pieces.ts";

/** The streams of one log, as far as it was read. */
export class LogStreams {
  readonly #sealer: Sealer;
  readonly #callId: string;
  /** The keys of the entries that count, and what each is. */
  readonly #entries: { readonly key: string; readonly kind: "stream" | "step" | "other" }[] = [];
  #length = 0;

  constructor(sealer: Sealer, callId: string) {
    this.#sealer = sealer;
    this.#callId = callId;
  }

  /** How many records were read. */
  get length(): number {
    return this.#length;
  }

  /** Whether the body has an outcome, so that parts of it are out of date. */
  isRecorded(block: string): boolean {
    return this.#entries.some(({ key, kind }) => key === block && kind !== "other");
  }

  /** Reads the first records, which the client already knows. */
  skip(records: readonly Sealed[]): void {
    for (const sealed of records) this.#parts(sealed, () => false);
  }

  /**
   * Reads the next records. Yields what the client has to be told: the whole of each stream that is recorded, and
   * which streams no longer count. `isHeld` says which other streams the client has a beginning of. A record is opened
   * when the client has taken what the one before it says, so that a slow client has one of them in memory, not all.
   */
  *read(
    records: readonly Sealed[],
    isHeld: (block: string) => boolean,
  ): Generator<StreamPart, void> {
    for (const sealed of records) yield* this.#parts(sealed, isHeld);
  }

  #parts(sealed: Sealed, isHeld: (block: string) => boolean): readonly StreamPart[] {
    const record = openRecord(this.#sealer, this.#callId, this.#length, sealed);
    this.#length += 1;
    if (record.kind === "entry") return this.#enter(record.entry, isHeld);
    if (record.kind !== "cut") return [];
    const gone = this.#entries.splice(record.from).filter(({ kind }) => kind === "stream");
    return gone.map(({ key: block }): StreamPart => ({ block, op: "reset" }));
  }

  #enter(entry: Entry, isHeld: (block: string) => boolean): readonly StreamPart[] {
    const { key } = entry;
    const isStep = entry.kind === "step" || entry.kind === "threw";
    const isStream = entry.kind === "step" && entry.isStream === true;
    this.#entries.push({ key, kind: isStream ? "stream" : isStep ? "step" : "other" });
    if (isStream) return [{ block: key, op: "replace", content: contentOf(entry.value) }];
    return isStep && isHeld(key) ? [{ block: key, op: "reset" }] : [];
  }
}
