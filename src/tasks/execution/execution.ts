// Long on purpose: everything that happens to one run of a task meets here.
// One run of a task: a claim becomes a journal, the handler runs on it, and its end is written to the store.
//
// Everything that the run records goes to the store, under the fence of the claim, before it has any effect outside. What it
// may put off until then is in task-journal.ts. If something goes wrong here, the task stays as the store has it, and the next
// claim continues from there.

import { ParleyError } from "../../errors.ts";
import type { Carrier } from "../../replay/carrier.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Open, Outcome } from "../../replay/outcome.ts";
import { run } from "../../replay/run.ts";
import { Stop } from "../../replay/stop.ts";
import type { StopReason } from "../../replay/stop.ts";
import { errorText } from "../../util/error-text.ts";
import { backOff } from "../../util/timers.ts";
import type { TaskLimits } from "../limits.ts";
import type { Ended, Ending, Prepared, Program, TaskFacts } from "../program.ts";
import { changedOutside, MovedRecordError, openInput } from "../ownership.ts";
import { isForged, places } from "../sealing.ts";
import type { ClaimedTask } from "../store.ts";
import { isUndoing } from "../task.ts";
import type { Arrival, ClaimRef, LogAddition, Waiting } from "../task.ts";
import type { RunningStep } from "./blocked-loop.ts";
import { BodyTimes } from "./body-times.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import { OtherVersions } from "./other-versions.ts";
import { sweepOnce } from "../sweeper.ts";
import { DueTimer } from "./due-timer.ts";
import { AbandonedError, HeldClaim, UnwrittenError } from "./held-claim.ts";
import type { Lease } from "./lease-time.ts";
import { sealedEnd } from "./sealed-end.ts";
import { Reports } from "./status-reports.ts";
import { cutOff, lastCause, stuckTask } from "./stuck-task.ts";
import { PartWriter } from "../streams/part-writer.ts";
import { TaskJournal } from "./task-journal.ts";
import { Undoing } from "./undoing.ts";
import { countsAsFruitless, UnreadableError } from "./unreadable.ts";

/** A claimed task whose record is open. */
interface Opened {
  readonly journal: TaskJournal;
  readonly facts: TaskFacts;
}

/** How much of the time for draining is left to a body after its signal has aborted. */
const abortedMs = ({ drainMs }: TaskLimits) => Math.min(1_000, drainMs / 5);

/** One run of a claimed task. */
export class Execution {
  readonly #claimed: ClaimedTask;
  readonly #program: Program;
  readonly #deps: ExecutionDeps;
  #claim: HeldClaim;
  readonly #reports: Reports;
  readonly #parts: PartWriter;
  /** The step of each body that has not ended. */
  readonly #bodies = new Map<Promise<void>, string>();
  #lastStep = { key: "", at: Number.NEGATIVE_INFINITY };
  journal: TaskJournal | undefined;
  #dueAt: number | undefined;
  readonly #due: DueTimer;
  #revision: number | undefined;
  readonly #drain = new Stop();
  #cancelAbort: (() => void) | undefined;
  /** What bodies that have an undo returned after the end of the run. */
  readonly #left: Entry[] = [];
  /** The task has ended, and this run undoes its steps. */
  #isUndoing = false;
  /** Called when the task is parked, a moment before `run` resolves. */
  onParked: (() => void) | undefined;

  constructor(claimed: ClaimedTask, program: Program, lease: Lease, deps: ExecutionDeps) {
    const { task } = claimed;
    this.#claimed = claimed;
    this.#program = program;
    this.#deps = deps;
    this.#claim = new HeldClaim(task, lease, deps);
    this.#revision = task.revision;
    this.#reports = new Reports(deps.clock, (message) => this.#report(message));
    this.#parts = new PartWriter(this.#claim.ref, task, deps);
    this.#due = new DueTimer(this.#claim, deps, this);
  }

  // ---------------------------------------------------------------- for the worker

  get ref(): ClaimRef {
    return this.#claim.ref;
  }

  get hasExpired(): boolean {
    return this.#claim.lease.isOver;
  }

  /** The steps that run now, and the last one if it started at this moment or later. */
  stepsSince(moment: number): readonly RunningStep[] {
    const { id, tool } = this.#claimed.task;
    const { key, at } = this.#lastStep;
    const keys = new Set([...this.#bodies.values(), ...(at < moment ? [] : [key])]);
    return [...keys].map((step) => ({ task: id, tool, step }));
  }

  /** Takes in everything that has arrived so far, as the last renewal brought it. */
  arrived(inbox: readonly Arrival[]): void {
    try {
      this.journal?.arrivals.push(inbox);
    } catch (error) {
      // An answer is sealed with a key that is not available here. A replica that has the key continues.
      this.#deps.observer.couldNotRun(this.#claimed.task, error);
      this.#claim.lose("LostLease");
    }
    // A handler that is busy with something else must not hide for long from operators what it has been told.
    this.journal?.flush()?.catch(() => {});
  }

  /** Whether the task has changed since the last call. */
  isNews(revision: number | undefined): boolean {
    const isNews = revision !== this.#revision;
    this.#revision = revision;
    return isNews;
  }

  /** The store has renewed the lease, by a request that was sent at this mark. The task may have ended from outside. */
  renewed(mark: readonly number[], leaseMs: number, hasEnded: boolean): void {
    this.#claim.renewed(mark, leaseMs);
    if (hasEnded && !this.#isUndoing) this.#claim.lose("Cancelled");
  }

  /** Stops the run at once. */
  stop(reason: StopReason): void {
    this.#claim.stop.stop(reason);
  }

  /**
   * Ends the run in order, because its worker drains: nothing new starts, and what running bodies return is still
   * recorded. Bodies that take too long are aborted, and then given up.
   */
  drain(): void {
    const { clock, limits } = this.#deps;
    this.#drain.stop("Draining");
    this.#cancelAbort = clock.after(Math.max(0, limits.drainMs - abortedMs(limits)), () =>
      this.stop("Draining"),
    );
  }

  /** The store did not renew the claim: the task was cancelled or taken over, unless the run has just ended. */
  async lose(): Promise<void> {
    const reason = await this.#claim.whyLost();
    // Meanwhile the run may have ended by itself, and the task may have been claimed again.
    if (reason !== undefined && !this.#claim.isOver) this.#claim.lose(reason);
  }

  /**
   * Resolves when the run has been written down, handed over or given up. The value is the time at which the task is
   * due again, if that is known. Never rejects.
   */
  async run(): Promise<number | undefined> {
    try {
      this.#claim.watchLease();
      if (isUndoing(this.#claimed.task)) await this.#undo(this.#claimed);
      else await this.#attempt();
    } catch (error) {
      // If not even the failure can be written, the lease runs out.
      await this.#giveBack(error).catch(() => {});
    }
    try {
      await this.#undoIfCancelled();
    } catch (error) {
      await this.#giveBack(error).catch(() => {});
    } finally {
      this.#claim.close();
      this.#parts.close();
      this.#due.close();
      this.#cancelAbort?.();
      this.#reports.close();
    }
    return this.#dueAt;
  }

  // ---------------------------------------------------------------- the run

  async #attempt(): Promise<void> {
    const { task, before } = this.#claimed;
    const { limits, observer, late } = this.#deps;
    if (task.fruitless > limits.fruitlessClaims && late?.has(task) !== true) {
      const cause = lastCause(task, before, this.#deps);
      observer.gaveUp(task, cause);
      return this.#finish({ status: "failed", error: stuckTask(cause, this.#deps) }, true);
    }
    let opened: Opened;
    try {
      opened = this.#open();
    } catch (error) {
      if (!(error instanceof MovedRecordError)) throw error;
      observer.moved(task, error);
      return this.#finish({ status: "failed", error: changedOutside });
    }
    const { journal, facts } = opened;
    const { version } = journal;
    const others = new OtherVersions(task, this.#deps);
    let prepared: Prepared;
    try {
      prepared = await this.#program.prepare(facts);
    } catch (error) {
      const outcome = { kind: "failed", error, entries: journal.entries } as const;
      if (await others.take(outcome, version, this.ref)) return;
      return this.#end(outcome, facts);
    }
    const may = await others.may(journal);
    const settle = async () => {
      const outcome = await this.#play(journal, prepared, may);
      if (await others.take(outcome, version, this.ref)) return outcome;
      await this.#settle(outcome, journal, prepared, facts);
      return outcome;
    };
    await (prepared.around === undefined ? settle() : prepared.around(settle));
  }

  /** Writes down how the run ended. */
  #settle(
    outcome: Outcome<unknown>,
    journal: TaskJournal,
    prepared: Prepared,
    facts: TaskFacts,
  ): Promise<void> | undefined {
    switch (outcome.kind) {
      case "done":
      case "failed":
        if (outcome.kind === "failed" && outcome.error instanceof AbandonedError) return undefined;
        if (outcome.kind === "failed" && outcome.error instanceof UnwrittenError)
          throw outcome.error;
        return this.#end(outcome, facts);
      case "waiting":
        return this.#park(outcome.open, journal, prepared, facts);
      case "stopped":
        return this.#stopped(outcome.reason);
      case "detached":
      case "yielded":
        throw new Error(`The run of a task ended as ${outcome.kind}, which its carrier rules out.`);
    }
  }

  #open(): Opened {
    const { task } = this.#claimed;
    const { id, callId, principal } = task;
    let hasInput = false;
    try {
      const input = openInput(this.#deps.sealer, task);
      hasInput = true;
      const journal = (this.journal = new TaskJournal(
        this.#claimed,
        this.#claim,
        this.#parts,
        this.#deps,
      ));
      const report = (message: string) => this.#reports.push(message);
      const { add: stream } = this.#parts;
      return { journal, facts: { id, callId, principal, input, report, stream } };
    } catch (error) {
      if (error instanceof MovedRecordError) throw error;
      // The input did open, so the key and the place are right. No other replica can open the rest either.
      if (hasInput && isForged(error)) {
        throw new MovedRecordError("A record of it was sealed for another place", { cause: error });
      }
      throw new UnreadableError(error);
    }
  }

  #play(
    journal: TaskJournal,
    prepared: Prepared,
    may: Pick<Carrier, "mayForget" | "mayAskAgain">,
  ): ReturnType<typeof run> {
    this.#due.watch();
    const times = new BodyTimes();
    const late = this.#deps.late?.of(this.ref.id, () => journal.length);
    const mayPutOff = prepared.mayPutOff === true && this.#deps.store.appendsWithNext === true;
    return run(
      prepared.handler,
      prepared.input,
      {
        journal: { entries: journal.entries, out: journal.waits.out },
        inbox: journal.arrivals.inbox,
      },
      prepared.carrier({
        stop: this.#claim.stop,
        drain: this.#drain,
        append: (entry: Entry, _shown, isRepeatable = false) => {
          // A body that is running may use what the handler knows.
          if (isRepeatable && mayPutOff && this.#bodies.size === 0) return journal.putOff(entry);
          return journal.append(entry, times.took(entry)).catch((error: unknown) => {
            if (this.#claim.stop.reason === "LostLease") late?.keep(entry);
            throw error;
          });
        },
        write: () => journal.flush(),
        cut: (from, back) => journal.cut(from, back),
        publish: async (open) => {
          await journal.publish(open, prepared);
          this.#due.watch();
        },
        mayStart: (key) => {
          this.#lastStep = { key, at: performance.now() };
          times.started(key);
          return !this.#claim.lease.isOver;
        },
        onLeft: (entry) => void this.#left.push(entry),
        onBody: (end, key) => {
          this.#bodies.set(end, key);
          void end.then(() => this.#bodies.delete(end));
        },
        late,
        // Only the first claim of a task is known to start where its call ended.
        isInterrupted: this.ref.epoch > 1,
        isTakenOver: this.#claimed.before !== undefined,
        ...may,
      }),
    );
  }

  async #report(message: string): Promise<void> {
    const { store, sealer } = this.#deps;
    if (this.#claim.stop.reason !== undefined) return;
    const sealed = sealer.seal(message, places.message(this.#claimed.task.callId));
    try {
      // The message may say what was answered.
      await this.journal?.flush();
      await store.report(this.ref, sealed);
    } catch {
      // A run does not stop because a status message could not be written.
    }
  }

  // ---------------------------------------------------------------- how it ends

  async #park(
    open: readonly Open[],
    journal: TaskJournal,
    prepared: Prepared,
    facts: TaskFacts,
  ): Promise<void> {
    let waiting: Waiting;
    try {
      waiting = journal.waiting(open, prepared);
    } catch (error) {
      return this.#end({ kind: "failed", error, entries: journal.entries }, facts);
    }
    await prepared.asked?.(journal.fresh);
    await this.#reports.flush();
    await journal.writeWith((append) =>
      this.#deps.store.park(this.ref, append === undefined ? waiting : { ...waiting, append }),
    );
    this.onParked?.();
    const times = waiting.waits.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
    if (times.length > 0) this.#dueAt = Math.min(...times);
  }

  async #end(outcome: Ended, facts: TaskFacts): Promise<void> {
    const hasThrown = outcome.kind === "failed";
    if (hasThrown) await this.#recordLeft();
    try {
      await this.#finish(await this.#program.ending(outcome, facts), hasThrown);
    } catch (error) {
      if (hasThrown || !(error instanceof ParleyError)) throw error;
      // The result is larger than the store can keep.
      await this.#end({ kind: "failed", error, entries: outcome.entries }, facts);
    }
  }

  /** Waits for the bodies that are to be undone, and records how they ended (U3). If that fails, it stays unknown. */
  async #recordLeft(): Promise<void> {
    const journal = this.journal;
    if (journal === undefined || journal.undos === 0) return;
    await this.#bodiesEnd(this.#deps.limits.drainMs);
    for (const entry of this.#left.splice(0)) await journal.append(entry).catch(() => {});
  }

  async #finish(ending: Ending, undoes = false): Promise<void> {
    const { store, sealer, limits, observer, clock } = this.#deps;
    const { task } = this.#claimed;
    const finish = sealedEnd(sealer, task.callId, ending, { keepMs: limits.keepMs, undoes });
    this.#isUndoing = undoes && (this.journal?.undos ?? task.undos) > 0;
    const write = (append?: LogAddition) =>
      store.finish(this.ref, append === undefined ? finish : { ...finish, append });
    if (this.journal === undefined) await this.#claim.persist(write);
    else await this.journal.writeWith(write);
    observer.finished(task, ending.status, clock.now() - task.createdAt);
    if (this.#isUndoing) await this.#undoIfHeld();
  }

  /** The task was cancelled or its time was up while it ran. If it has steps to undo, the store has left the claim to us. */
  async #undoIfCancelled(): Promise<void> {
    const { stop, lease } = this.#claim;
    if (stop.reason !== "Cancelled") return;
    this.#claim.close();
    this.#claim = new HeldClaim(this.#claimed.task, lease, this.#deps);
    this.#claim.watchLease();
    await this.#undoIfHeld();
  }

  async #undoIfHeld(): Promise<void> {
    const { store, limits } = this.#deps;
    this.#isUndoing = true;
    let task = await store.read(this.ref.id);
    if (task?.rest === "expired" && !isUndoing(task)) {
      // Its time is up, and no sweep has passed since.
      await sweepOnce(this.#deps);
      task = await store.read(this.ref.id);
    }
    if (task === undefined || !isUndoing(task) || task.epoch !== this.ref.epoch) return;
    await this.#bodiesEnd(limits.drainMs);
    await this.#undo({ task, log: await store.readLog(task.id) });
  }

  async #undo(claimed: Pick<ClaimedTask, "task" | "log">): Promise<void> {
    this.#isUndoing = true;
    const undoing = new Undoing(claimed, this.#program, this.#claim, this.#deps, this.#drain);
    this.#dueAt = await undoing.run(this.#left);
  }

  async #stopped(reason: StopReason): Promise<void> {
    if (reason !== "Draining") return;
    // The next worker must not start before the bodies here have ended or have been given up.
    const isCut = this.#claim.stop.reason === "Draining";
    const cut = isCut ? cutOff(this.#claimed.task, this.#bodies.values(), this.#deps) : undefined;
    await this.#bodiesEnd(abortedMs(this.#deps.limits));
    // If it fails, the next worker gets the same answers again.
    await this.journal?.flush()?.catch(() => {});
    await this.#deps.store.release(this.ref, {
      afterMs: 0,
      isFruitless: cut !== undefined,
      cause: cut,
    });
  }

  async #bodiesEnd(mostMs: number): Promise<void> {
    const leftMs = Math.max(0, this.#claim.lease.leftMs);
    await new Promise<void>((resolve) => {
      const cancelTimer = this.#deps.clock.after(Math.min(mostMs, leftMs), resolve);
      void Promise.all(this.#bodies.keys()).then(() => {
        cancelTimer();
        resolve();
      });
    });
  }

  async #giveBack(error: unknown): Promise<void> {
    if (error instanceof AbandonedError) return;
    const [{ store, sealer, observer, limits }, { task }] = [this.#deps, this.#claimed];
    // While keys are rotated, a replica may not have the newest one yet.
    const isUnreadable = error instanceof UnreadableError;
    observer.couldNotRun(task, error);
    await store.release(this.ref, {
      afterMs: isUnreadable
        ? backOff(1, { firstMs: 15_000, mostMs: 15_000 })
        : backOff(task.fruitless, { firstMs: 500, mostMs: 60_000 }),
      isFruitless: !isUnreadable || countsAsFruitless(task, limits),
      cause: sealer.seal(errorText(error), places.cause(task.callId)),
    });
  }
}
