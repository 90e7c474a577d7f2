// The journal of a running task: the log and the inbox that a claim brought, opened, and what the engine adds to them.
// Every record is in the store before the handler learns of it.

import type { InboxEvent } from "../../replay/inbox.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Open } from "../../replay/outcome.ts";
import { logTooLarge, tooManyQuestions } from "../limits.ts";
import type { Prepared } from "../program.ts";
import { openAnswer, places, sealAnswer, sealJson } from "../sealing.ts";
import type { ClaimedTask } from "../store.ts";
import type { Arrival, Sealed, TaskRecord, Waiting } from "../task.ts";
import { Arrivals } from "./arrivals.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import type { HeldClaim } from "./held-claim.ts";
import { cutRecord, entryRecord, readEntries } from "./log-records.ts";
import { madeUp, Waits } from "./waits.ts";

/** The journal of one run. */
export class TaskJournal {
  /** The entries that count, in the order of the log. */
  readonly entries: Entry[];
  readonly arrivals: Arrivals;
  readonly waits: Waits;
  readonly #task: TaskRecord;
  readonly #claim: HeldClaim;
  readonly #deps: ExecutionDeps;
  /** The length and the size of the log in the store, including records that no longer count. */
  #logLength: number;
  #logBytes: number;
  #returned = 0;

  /** Throws if a key is missing, because a handler must not run on a journal that cannot be read. */
  constructor({ task, log }: ClaimedTask, claim: HeldClaim, deps: ExecutionDeps) {
    const { sealer, clock } = deps;
    const { callId, inbox, waits, logLength, logBytes } = task;
    this.#task = task;
    this.#claim = claim;
    this.#deps = deps;
    this.#logLength = logLength;
    this.#logBytes = logBytes;
    this.entries = readEntries(sealer, callId, log);
    this.waits = new Waits(task);
    this.arrivals = new Arrivals(inbox, waits, clock.now(), (arrived) =>
      openAnswer(sealer, callId, arrived.value, arrived),
    );
  }

  /** How many records the log in the store has. */
  get length(): number {
    return this.#logLength;
  }

  /** Records an entry. */
  async append(entry: Entry): Promise<void> {
    const { callId } = this.#task;
    await this.#write(entryRecord(this.#deps.sealer, callId, this.#logLength, entry), []);
    this.entries.push(entry);
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
      const sealed = sealAnswer(sealer, callId, value, { key, digest });
      return [{ id, key, digest, value: sealed, at: clock.now() }];
    });
    await this.#write(cutRecord(sealer, callId, this.#logLength, from), returned);
    this.entries.length = from;
  }

  /** Shows what the handler waits for while it keeps running. */
  async publish(open: readonly Open[], prepared: Prepared): Promise<void> {
    const waiting = this.waiting(open, prepared);
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
    const waits = this.waits.put(open, clock.now(), (one, wire) => {
      if (one.kind === "timer") return { kind: "timer" };
      const shown = prepared.shown(one);
      if (shown.kind === "external") return shown;
      const request = sealJson(sealer, shown.request, places.question(callId, wire));
      return { kind: "question", request };
    });
    return { waits, asked: this.waits.asked, taken };
  }

  async #write(record: Sealed, returned: readonly Arrival[]): Promise<void> {
    const { store, limits, shares } = this.#deps;
    const { tool, principal } = this.#task;
    this.#logBytes += record.length;
    if (this.#logBytes > limits.logBytes) throw logTooLarge(tool, this.#logBytes, limits.logBytes);
    const room = shares.grow(principal, record.length, `The record of "${tool}"`);
    if (room !== undefined) await room;
    const taken = this.#taken();
    const more = { at: this.#logLength, records: [record], taken, returned };
    await this.#claim.persist(() => store.append(this.#claim.ref, more));
    this.arrivals.forget(taken);
    this.#logLength += 1;
  }

  #taken(): readonly string[] {
    const taken = this.arrivals.taken();
    this.waits.spend(taken);
    return taken;
  }
}
