// One run of a task: the claim turned into a journal and an inbox, the handler run, its end written down.
//
// The run's every word goes to the store before anybody hears of it, under the fence of this claim. Whatever
// goes wrong here, the task stays as the store has it, and the next claim goes on from there.

import type { Open } from "../../replay/outcome.ts";
import type { InboxEvent } from "../../replay/inbox.ts";
import type { Entry } from "../../replay/journal.ts";
import { run } from "../../replay/run.ts";
import { Stop } from "../../replay/stop.ts";
import type { StopReason } from "../../replay/stop.ts";
import { Arrivals } from "./arrivals.ts";
import { backOff } from "../../util/timers.ts";
import type { Clock } from "../clock.ts";
import type { Lease } from "./lease.ts";
import type { TaskLimits } from "../limits.ts";
import { logTooLarge, tooManyQuestions } from "../limits.ts";
import { cutRecord, entryRecord, readEntries } from "./log.ts";
import type { Ended, Ending, Prepared, Program, TaskFacts } from "../program.ts";
import { Reports } from "./status-reports.ts";
import type { ClaimedTask, TaskStore } from "../store.ts";
import type { Arrival, ClaimRef, Sealed, Waiting } from "../task.ts";
import { openJson, places, sealJson } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";
import { madeUp, Waits } from "./waits.ts";
import type { TaskObserver } from "../observer.ts";

export interface ExecutionDeps {
  readonly store: TaskStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly limits: TaskLimits;
  readonly observer: TaskObserver;
  /** Failures of the engine are told whole. */
  readonly isDevelopment?: boolean | undefined;
}

/** The store says that somebody else has the task, or cannot be reached for as long as the lease lasts. */
class Abandoned extends Error {
  override readonly name = "Abandoned";
}

/** A record does not open: the key is not at hand here. Another replica may well have it. */
class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** The store is there, and does not take it, again and again: what it says is the cause. */
class Unwritten extends Error {
  override readonly name = "Unwritten";
}

export class Execution {
  readonly ref: ClaimRef;
  readonly lease: Lease;
  readonly #claimed: ClaimedTask;
  readonly #program: Program;
  readonly #deps: ExecutionDeps;
  readonly #stop = new Stop();
  readonly #bodies = new Set<Promise<void>>();
  readonly #waits: Waits;
  readonly #reports: Reports;
  #arrivals: Arrivals | undefined;
  /** The log's length in the store, and what of it counts. */
  #logLength: number;
  #logBytes: number;
  #entries: Entry[] = [];
  #returned = 0;
  #dueAt: number | undefined;
  #isOver = false;
  #revision: number | undefined;
  #callOffDue: (() => void) | undefined;
  #callOffLease: (() => void) | undefined;

  constructor(claimed: ClaimedTask, program: Program, lease: Lease, deps: ExecutionDeps) {
    const { task } = claimed;
    this.#claimed = claimed;
    this.#program = program;
    this.lease = lease;
    this.#deps = deps;
    this.ref = { id: task.id, epoch: task.epoch };
    this.#revision = task.revision;
    this.#waits = new Waits(task);
    this.#logLength = task.logLength;
    this.#logBytes = task.logBytes;
    this.#reports = new Reports(deps.clock, (message) => this.#report(message));
  }

  // ---------------------------------------------------------------- from the worker

  /** All that has arrived so far, as the last renewal brought it. */
  arrived(inbox: readonly Arrival[]): void {
    try {
      this.#arrivals?.push(inbox);
    } catch (error) {
      // Sealed with a key that is not at hand: whoever has it goes on.
      this.#deps.observer.couldNotRun(this.#claimed.task, error);
      this.#lose("LostLease");
    }
  }

  /** Whether the task has changed since this was last asked. */
  isNews(revision: number | undefined): boolean {
    const isNews = revision !== this.#revision;
    this.#revision = revision;
    return isNews;
  }

  renewed(mark: readonly number[], leaseMs: number): void {
    // The renewal was under way when the run ended: its watch must not be set again.
    if (this.#isOver) return;
    this.lease.renew(mark, leaseMs);
    this.#watchLease();
  }

  stop(reason: StopReason): void {
    this.#stop.stop(reason);
  }

  /** The store no longer counts this claim: cancelled, or taken over. */
  async lose(): Promise<void> {
    const reason = await this.#whyLost();
    // Meanwhile it may have ended by itself, and the task may have been taken up again.
    if (reason !== undefined && !this.#isOver) this.#lose(reason);
  }

  /**
   * Resolves when the run is over and written down, handed over, or given up; with the time at which the task is
   * due again, if it is known. Never rejects.
   */
  async run(): Promise<number | undefined> {
    try {
      this.#watchLease();
      await this.#attempt();
    } catch (error) {
      // Undone, and why: if even that cannot be written, the lease runs out.
      await this.#giveBack(error).catch(() => {});
    } finally {
      this.#isOver = true;
      this.#callOffDue?.();
      this.#callOffLease?.();
      this.#reports.close();
    }
    return this.#dueAt;
  }

  // ---------------------------------------------------------------- the run

  async #attempt(): Promise<void> {
    const { task, before } = this.#claimed;
    const { limits, observer } = this.#deps;
    if (task.fruitless > limits.fruitlessClaims) {
      const cause = this.#lastCause(before);
      observer.gaveUp(task, cause);
      return this.#finish({ status: "failed", error: this.#despair(cause) });
    }
    let facts: TaskFacts;
    try {
      facts = this.#open();
    } catch (error) {
      throw new Unreadable(`its record cannot be opened: ${textOf(error)}`, { cause: error });
    }
    let prepared: Prepared;
    try {
      prepared = await this.#program.prepare(facts);
    } catch (error) {
      return this.#end({ kind: "failed", error, entries: this.#entries }, facts);
    }
    const outcome = await this.#play(prepared);
    switch (outcome.kind) {
      case "done":
      case "failed":
        if (outcome.kind === "failed" && outcome.error instanceof Abandoned) return;
        if (outcome.kind === "failed" && outcome.error instanceof Unwritten) throw outcome.error;
        return this.#end(outcome, facts);
      case "waiting":
        return this.#park(outcome.open, prepared, facts);
      case "stopped":
        return this.#stopped(outcome.reason);
      case "detached":
      case "yielded":
        throw new Error(`a task's run ended as ${outcome.kind}, which its carrier rules out`);
    }
  }

  /** Throws where a key is missing: nothing is run on the strength of what cannot be read. */
  #open(): TaskFacts {
    const { task, log } = this.#claimed;
    const { sealer, clock } = this.#deps;
    const { id, callId, principal } = task;
    this.#entries = readEntries(sealer, callId, log);
    this.#arrivals = new Arrivals(task.inbox, task.waits, clock.now(), (arrived) =>
      openJson(sealer, arrived.value, places.answer(callId, arrived.key)),
    );
    const input = openJson(sealer, task.input, places.input(callId));
    return { id, callId, principal, input, report: (message) => this.#reports.push(message) };
  }

  #play(prepared: Prepared): ReturnType<typeof run> {
    const { task } = this.#claimed;
    const arrivals = this.#arrivalsNow();
    this.#watchDue();
    return run(
      prepared.handler,
      prepared.input,
      { journal: { entries: this.#entries, out: this.#waits.out }, inbox: arrivals.inbox },
      {
        ...prepared.hooks,
        callId: task.callId,
        stop: this.#stop,
        // It is in the background already, and any worker can go on from any entry.
        canDetach: false,
        canYield: false,
        append: (entry) => this.#append(entry),
        cut: (from, back) => this.#cut(from, back),
        publish: (open) => this.#publish(open, prepared),
        mayStart: () => !this.lease.isOver,
        onBody: (end) => {
          this.#bodies.add(end);
          void end.then(() => this.#bodies.delete(end));
        },
      },
    );
  }

  // ---------------------------------------------------------------- what the engine writes

  async #append(entry: Entry): Promise<void> {
    const { callId } = this.#claimed.task;
    const record = entryRecord(this.#deps.sealer, callId, this.#logLength, entry);
    await this.#write(record, []);
    this.#entries.push(entry);
  }

  async #cut(from: number, back: readonly InboxEvent[]): Promise<void> {
    const { sealer, clock } = this.#deps;
    const { callId } = this.#claimed.task;
    const returned = back.flatMap((event): Arrival[] => {
      if (event.kind !== "answer") return [];
      this.#returned += 1;
      const id = madeUp(`cut-${this.#logLength}-${this.#returned}`);
      const { key, digest = "", value } = event;
      this.#arrivalsNow().returned(event, id);
      const sealed = sealJson(sealer, value, places.answer(callId, key));
      return [{ id, key, digest, value: sealed, at: clock.now() }];
    });
    await this.#write(cutRecord(sealer, callId, this.#logLength, from), returned);
    this.#entries.length = from;
  }

  async #write(record: Sealed, returned: readonly Arrival[]): Promise<void> {
    const { store, limits } = this.#deps;
    this.#logBytes += record.length;
    if (this.#logBytes > limits.logBytes) {
      throw logTooLarge(this.#claimed.task.tool, this.#logBytes, limits.logBytes);
    }
    const taken = this.#taken();
    const more = { at: this.#logLength, records: [record], taken, returned };
    await this.#persist(() => store.append(this.ref, more));
    this.#arrivals?.forget(taken);
    this.#logLength += 1;
  }

  async #publish(open: readonly Open[], prepared: Prepared): Promise<void> {
    const waiting = this.#waiting(open, prepared);
    await this.#persist(() => this.#deps.store.publish(this.ref, waiting));
    this.#arrivals?.forget(waiting.taken);
    this.#watchDue();
  }

  // ---------------------------------------------------------------- ends

  async #park(open: readonly Open[], prepared: Prepared, facts: TaskFacts): Promise<void> {
    let waiting: Waiting;
    try {
      waiting = this.#waiting(open, prepared);
    } catch (error) {
      return this.#end({ kind: "failed", error, entries: this.#entries }, facts);
    }
    await this.#reports.flush();
    await this.#persist(() => this.#deps.store.park(this.ref, waiting));
    const times = waiting.waits.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
    if (times.length > 0) this.#dueAt = Math.min(...times);
  }

  async #end(outcome: Ended, facts: TaskFacts): Promise<void> {
    await this.#finish(await this.#program.ending(outcome, facts));
  }

  async #finish(ending: Ending): Promise<void> {
    const { store, sealer, limits, observer } = this.#deps;
    const { task } = this.#claimed;
    const { callId } = task;
    const isDone = ending.status === "completed";
    const result = isDone ? ending.result : { ...ending.error };
    const finish = {
      status: ending.status,
      result: sealJson(sealer, result, places.result(callId)),
      // A failure says so in words; what a finished task last reported stays as it was.
      statusMessage: isDone ? undefined : sealer.seal(ending.error.message, places.message(callId)),
      keepMs: limits.keepMs,
    };
    if (isDone) await this.#reports.flush();
    await this.#persist(() => store.finish(this.ref, finish));
    observer.finished(task, ending.status);
  }

  async #stopped(reason: StopReason): Promise<void> {
    if (reason !== "Draining") return;
    // In good order: the next worker starts when the bodies here have come to an end, or are given up.
    await this.#bodiesEnd();
    await this.#deps.store.release(this.ref, { afterMs: 0, isFruitless: false, cause: undefined });
  }

  async #giveBack(error: unknown): Promise<void> {
    if (error instanceof Abandoned) return;
    const { store, sealer, observer } = this.#deps;
    const { task } = this.#claimed;
    // While keys are being rotated a replica may not have the newest yet: no reason to fail the task.
    const isUnreadable = error instanceof Unreadable;
    observer.couldNotRun(task, error);
    const message = textOf(error);
    await store.release(this.ref, {
      afterMs: isUnreadable
        ? backOff(1, { firstMs: 15_000, mostMs: 15_000 })
        : backOff(task.fruitless, { firstMs: 500, mostMs: 60_000 }),
      isFruitless: !isUnreadable,
      cause: sealer.seal(message, places.cause(task.callId)),
    });
  }

  #lastCause(before: string | undefined): string {
    const { task } = this.#claimed;
    if (task.cause !== undefined)
      return this.#deps.sealer.open(task.cause, places.cause(task.callId));
    return before === undefined
      ? "nothing was recorded"
      : `worker ${before} went away without a word`;
  }

  /** The cause may name machines: the client is told it where the author is likely to be the one who reads it. */
  #despair(cause: string): { code: number; message: string; data: { reason: string } } {
    const { limits, isDevelopment } = this.#deps;
    const why = isDevelopment === true ? `The last time: ${cause}.` : "Its server's log says why.";
    return {
      code: -32603,
      message: `Given up: taken up ${limits.fruitlessClaims} times without getting anywhere. ${why}`,
      data: { reason: "task_stuck" },
    };
  }

  // ---------------------------------------------------------------- time

  /** Time limits and timers that are over while the handler runs on. */
  #watchDue(): void {
    const { clock } = this.#deps;
    this.#callOffDue?.();
    this.#callOffDue = undefined;
    const next = this.#arrivals?.nextDue(this.#waits.list);
    if (next === undefined || this.#isOver) return;
    this.#callOffDue = clock.after(Math.max(0, next - clock.now()), () => void this.#due());
  }

  /** An answer that came in time may be in the store already, and word of it still under way: so that is looked at first. */
  async #due(): Promise<void> {
    const { store, clock, observer } = this.#deps;
    try {
      const task = await store.read(this.ref.id);
      if (this.#isOver) return;
      if (task?.epoch === this.ref.epoch) this.arrived(task.inbox);
      this.#arrivals?.pushDue(this.#waits.list, clock.now());
    } catch (error) {
      observer.storeFailed(error);
      if (!this.#isOver) this.#callOffDue = clock.after(250, () => void this.#due());
      return;
    }
    this.#watchDue();
  }

  /** Without a renewal another worker may have the task by now: nothing more is to be started or recorded here. */
  #watchLease(): void {
    this.#callOffLease?.();
    const left = Math.max(0, this.lease.leftMs);
    this.#callOffLease = this.#deps.clock.after(left, () => {
      if (this.lease.isOver) this.#lose("LostLease");
      else this.#watchLease();
    });
  }

  async #bodiesEnd(): Promise<void> {
    const { clock, limits } = this.#deps;
    await new Promise<void>((resolve) => {
      const callOff = clock.after(
        Math.min(limits.drainMs, Math.max(0, this.lease.leftMs)),
        resolve,
      );
      void Promise.all(this.#bodies).then(() => {
        callOff();
        resolve();
      });
    });
  }

  // ----------------------------------------------------------------

  #waiting(open: readonly Open[], prepared: Prepared): Waiting {
    const { sealer, clock, limits } = this.#deps;
    const { tool, callId } = this.#claimed.task;
    const questions = open.filter(({ kind }) => kind === "question").length;
    if (questions > limits.questions) throw tooManyQuestions(tool, questions, limits.questions);
    const taken = this.#taken();
    const waits = this.#waits.put(open, clock.now(), (one, wire) => {
      if (one.kind === "timer") return { kind: "timer" };
      const shown = prepared.shown(one);
      if (shown.kind === "external") return shown;
      const request = sealJson(sealer, shown.request, places.question(callId, wire));
      return { kind: "question", request };
    });
    return { waits, asked: this.#waits.asked, taken };
  }

  /**
   * Tries until it is written, refused, or the lease is over: an outcome that is lost is a body run again. Where
   * renewals go through and this does not, it is given up after a lease.
   */
  async #persist(write: () => Promise<boolean>): Promise<void> {
    const { clock, observer, store } = this.#deps;
    const giveUpAt = clock.now() + store.leaseMs;
    for (let tries = 1; ; tries += 1) {
      // One that is told to leave while it writes its last word, writes it.
      const { reason } = this.#stop;
      if (reason !== undefined && (reason !== "Draining" || tries > 1)) throw new Abandoned();
      let isWritten: boolean;
      try {
        isWritten = await write();
      } catch (error) {
        observer.storeFailed(error);
        if (this.lease.isOver) throw this.#lost("LostLease");
        else if (clock.now() > giveUpAt) throw new Unwritten(textOf(error), { cause: error });
        else await clock.wait(backOff(tries, { firstMs: 25, mostMs: 1_000 }));
        continue;
      }
      if (isWritten) return;
      const why = await this.#whyLost();
      // Neither lost nor written: it was written, and only the acknowledgement was lost.
      if (why === undefined && tries > 1) return;
      throw this.#lost(why ?? "LostLease");
    }
  }

  #lost(reason: StopReason): Abandoned {
    this.#lose(reason);
    return new Abandoned();
  }

  #lose(reason: StopReason): void {
    if (this.#stop.reason !== undefined) return;
    if (reason === "LostLease") this.#deps.observer.leaseLost(this.#claimed.task);
    this.#stop.stop(reason);
  }

  /** Undefined: it is not lost, this run itself has just ended or parked it. */
  async #whyLost(): Promise<StopReason | undefined> {
    try {
      const task = await this.#deps.store.read(this.ref.id);
      if (task?.status === "cancelled" || task?.rest !== undefined) return "Cancelled";
      return task?.epoch === this.ref.epoch ? undefined : "LostLease";
    } catch {
      return "LostLease";
    }
  }

  async #report(message: string): Promise<void> {
    const { store, sealer } = this.#deps;
    const { callId } = this.#claimed.task;
    if (this.#stop.reason !== undefined) return;
    // A hint to whoever watches: not worth stopping for.
    await store.report(this.ref, sealer.seal(message, places.message(callId))).catch(() => {});
  }

  #taken(): readonly string[] {
    const taken = this.#arrivalsNow().taken();
    this.#waits.spend(taken);
    return taken;
  }

  #arrivalsNow(): Arrivals {
    if (this.#arrivals === undefined) throw new Error("a task's run begins by opening its record");
    return this.#arrivals;
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
