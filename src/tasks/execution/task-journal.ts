// The journal of a running task: the log and the inbox that a claim brought, opened, and what the engine adds to them.
// Every record is in the store before the handler learns of it. The record of an answer may also wait for the next write: until
// then the answer itself is in the store, as an arrival, and the next run would make the same entry of it.

import type { InboxEvent } from "../../replay/inbox.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Open } from "../../replay/outcome.ts";
import { logTooLarge, recordTooLarge, tooManyQuestions } from "../limits.ts";
import { openArrival } from "../decisions.ts";
import { bytesOf } from "../moves.ts";
import type { AskedOpen, Prepared } from "../program.ts";
import { places, sealAnswer, sealJson } from "../sealing.ts";
import type { ClaimedTask } from "../store.ts";
import type { Arrival, LogAddition, LogAppend, Sealed } from "../task.ts";
import type { TaskRecord, Wait, Waiting } from "../task.ts";
import type { PartWriter } from "../streams/part-writer.ts";
import { Arrivals } from "./arrivals.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import type { HeldClaim } from "./held-claim.ts";
import { cutRecord, entryRecord, readRecords, versionRecord } from "./log-records.ts";
import { madeUp, Waits } from "./waits.ts";

/** The journal of one run. */
export class TaskJournal {
  /** The entries that count, in the order of the log. */
  readonly entries: Entry[];
  readonly arrivals: Arrivals;
  readonly waits: Waits;
  /** The version of the app that wrote the end of the log, if that is noted. */
  version: string | undefined;
  /** The questions that the last `waiting` shows for the first time. */
  fresh: readonly AskedOpen[] = [];
  readonly #task: TaskRecord;
  readonly #claim: HeldClaim;
  readonly #parts: Pick<PartWriter, "recording" | "recorded">;
  readonly #deps: ExecutionDeps;
  /** The length and the size of the log in the store, including records that no longer count. */
  #logLength: number;
  #logBytes: number;
  /** How many steps have begun that have an undo. */
  #undos: number;
  #returned = 0;
  /** Records that the next write brings along, and the arrivals that they use up. */
  #unwritten: readonly Sealed[] = [];
  #usedUp: readonly string[] = [];
  /** The write that is under way, and those that wait for it. */
  #turn: Promise<void> | undefined;

  /** Throws if a key is missing, because a handler must not run on a journal that cannot be read. */
  constructor(
    { task, log }: ClaimedTask,
    claim: HeldClaim,
    parts: Pick<PartWriter, "recording" | "recorded">,
    deps: ExecutionDeps,
  ) {
    const { sealer, clock } = deps;
    const { callId, inbox, waits, logLength, logBytes, undos } = task;
    this.#task = task;
    this.#claim = claim;
    this.#parts = parts;
    this.#deps = deps;
    this.#logLength = logLength;
    this.#logBytes = logBytes;
    this.#undos = undos;
    ({ entries: this.entries, version: this.version } = readRecords(sealer, callId, log));
    this.waits = new Waits(task);
    this.arrivals = new Arrivals(inbox, waits, clock.now(), (arrived) =>
      openArrival(sealer, callId, arrived),
    );
  }

  /** How many records the log in the store has. */
  get length(): number {
    return this.#logLength;
  }

  get undos(): number {
    return this.#undos;
  }

  /** Records an entry, and what its body took. */
  async append(entry: Entry, took?: LogAppend["took"]): Promise<void> {
    const undos = entry.kind === "begun" ? this.#undos + 1 : undefined;
    const streamed = this.#parts.recording(entry.key);
    const expired = entry.kind === "expired" ? entry.key : undefined;
    await this.#write(this.#recordOf(entry), [], { undos, streamed, took, expired });
    if (streamed !== undefined) this.#parts.recorded(entry.key);
    this.#undos = undos ?? this.#undos;
    this.entries.push(entry);
  }

  /**
   * Records the entry of an answer with the next write, whatever that is. If this process dies before, the answer is still an
   * arrival, and the next run makes the same entry of it. So nothing outside may depend on it until `flush` has resolved.
   */
  async putOff(entry: Entry): Promise<void> {
    const records = this.#sealed(this.#recordOf(entry));
    const room = this.#grow(records);
    if (room !== undefined) await room;
    this.#unwritten = [...this.#unwritten, ...records];
    this.#usedUp = this.#taken();
    this.entries.push(entry);
  }

  /** Writes what was put off. Undefined if nothing was. */
  flush(): Promise<void> | undefined {
    if (this.#unwritten.length === 0) return undefined;
    return this.#inTurn(async () => {
      const [records, taken] = [this.#unwritten, this.#usedUp];
      // The write before this one may have brought them along.
      if (records.length > 0)
        await this.#append({ at: this.#logLength, records, taken, returned: [] });
    });
  }

  /** Makes a write that may bring along what was put off, so that it needs no write of its own. */
  writeWith(write: (append: LogAddition | undefined) => Promise<boolean>): Promise<void> {
    return this.#inTurn(async () => {
      const [records, taken] = [this.#unwritten, this.#usedUp];
      const append = records.length === 0 ? undefined : { at: this.#logLength, records };
      await this.#claim.persist(() => write(append));
      this.#written(records, taken);
    });
  }

  #recordOf(entry: Entry): (seq: number) => Sealed {
    const { callId } = this.#task;
    return (seq) => this.#checked(entry, entryRecord(this.#deps.sealer, callId, seq, entry));
  }

  /** Throws if the store cannot keep this record. */
  #checked({ kind, key }: Entry, record: Sealed): Sealed {
    const { mostBytes = Infinity } = this.#deps.store;
    if (record.length <= mostBytes) return record;
    const what = kind === "step" ? `Step "${key}"` : `The record of "${key}"`;
    throw recordTooLarge(what, record.length, mostBytes);
  }

  /** Records that the entries from this one on no longer count, and puts their answers back into the inbox. */
  async cut(from: number, back: readonly InboxEvent[]): Promise<void> {
    const { sealer, clock } = this.#deps;
    const { callId } = this.#task;
    const returned = back.flatMap((event): Arrival[] => {
      if (event.kind !== "answer") return [];
      this.#returned += 1;
      const id = madeUp(`cut-${this.#logLength}-${this.#returned}`);
      const { key, digest = "", value } = event;
      this.arrivals.returned(event, id);
      const sealed = sealAnswer(sealer, callId, value, { key, digest }, event);
      return [{ id, key, digest, value: sealed, at: clock.now() }];
    });
    await this.#write((seq) => cutRecord(sealer, callId, seq, from), returned);
    this.entries.length = from;
  }

  /** Shows what the handler waits for while it keeps running. */
  async publish(open: readonly Open[], prepared: Prepared): Promise<void> {
    await this.flush();
    const waiting = this.waiting(open, prepared);
    await prepared.asked?.(this.fresh);
    const { ref } = this.#claim;
    await this.#claim.persist(() => this.#deps.store.publish(ref, waiting));
    this.arrivals.forget(waiting.taken);
  }

  /** What the handler waits for, as the store keeps it. Throws if there are too many questions. */
  waiting(open: readonly Open[], prepared: Prepared): Waiting {
    const { sealer, clock, limits } = this.#deps;
    const { tool, callId } = this.#task;
    const questions = open.filter(({ kind }) => kind === "question").length;
    if (questions > limits.questions) throw tooManyQuestions(tool, questions, limits.questions);
    const taken = this.#taken();
    const known = new Set(this.waits.list.map(({ wire }) => wire));
    const waits = this.waits.put(open, clock.now(), (one, wire) => {
      if (one.kind === "timer") return { kind: "timer" };
      const shown = prepared.shown(one);
      const page =
        shown.page === undefined
          ? {}
          : { page: sealJson(sealer, shown.page, places.page(callId, wire)) };
      if (shown.kind === "external") {
        const { needs, group } = shown;
        return {
          kind: "external",
          ...page,
          ...(needs === undefined ? {} : { needs }),
          ...(group === undefined ? {} : { group }),
        };
      }
      const request = sealJson(sealer, shown.request, places.question(callId, wire));
      return { kind: "question", request, ...page };
    });
    const isNew = ({ kind, wire }: Pick<Wait, "kind" | "wire"> = noWait) =>
      kind !== "timer" && !known.has(wire);
    this.fresh = open.flatMap((one, index) => {
      const wait = waits[index];
      return isNew(wait) ? [{ ...one, wire: wait?.wire ?? one.key }] : [];
    });
    return { waits, asked: this.waits.asked, taken };
  }

  /** Writes a record, after those that were put off. */
  #write(
    make: (seq: number) => Sealed,
    returned: readonly Arrival[],
    also: Pick<LogAppend, "undos" | "streamed" | "took" | "expired"> = {},
  ): Promise<void> {
    return this.#inTurn(async () => {
      const sealed = this.#sealed(make);
      const room = this.#grow(sealed);
      if (room !== undefined) await room;
      const records = [...this.#unwritten, ...sealed];
      await this.#append({ at: this.#logLength, records, taken: this.#taken(), returned, ...also });
    });
  }

  async #append(more: LogAppend): Promise<void> {
    await this.#claim.persist(() => this.#deps.store.append(this.#claim.ref, more));
    this.#written(more.records, more.taken);
  }

  #written(records: readonly Sealed[], taken: readonly string[]): void {
    this.arrivals.forget(taken);
    this.#logLength += records.length;
    // More may have been put off meanwhile.
    this.#unwritten = this.#unwritten.filter((record) => !records.includes(record));
    if (this.#unwritten.length === 0) this.#usedUp = [];
    if (records.length > 0) this.version = this.#deps.version;
  }

  /** One write at a time, because each says how long the log is before it. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const done = this.#turn === undefined ? write() : this.#turn.then(write);
    const turn = done.then(nothing, nothing);
    this.#turn = turn;
    void turn.then(() => {
      if (this.#turn === turn) this.#turn = undefined;
    });
    return done;
  }

  /** Makes sure that there is room for these records. */
  #grow(records: readonly Sealed[]): Promise<void> | undefined {
    const { limits, shares } = this.#deps;
    const { tool, principal } = this.#task;
    const bytes = bytesOf(records);
    this.#logBytes += bytes;
    if (this.#logBytes > limits.logBytes) throw logTooLarge(tool, this.#logBytes, limits.logBytes);
    return shares.grow(principal, bytes, `The record of "${tool}"`);
  }

  /** A record for the end of the log, after a note of the version if the log needs one. */
  #sealed(make: (seq: number) => Sealed): readonly Sealed[] {
    const { sealer, version } = this.#deps;
    const end = this.#logLength + this.#unwritten.length;
    // What was put off has the note before it.
    const isOurs = version === undefined || version === this.version || this.#unwritten.length > 0;
    if (isOurs) return [make(end)];
    return [versionRecord(sealer, this.#task.callId, end, version), make(end + 1)];
  }

  #taken(): readonly string[] {
    const taken = this.arrivals.taken();
    this.waits.spend(taken);
    return taken;
  }
}

const nothing = () => {};
const noWait: Pick<Wait, "kind" | "wire"> = { kind: "timer", wire: "" };
