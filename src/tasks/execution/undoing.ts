// Undoes the steps of a task that has ended (R16): one at a time, the last begun first. Each undo that has ended is in the
// log before the next one starts, so another worker can go on at any point.

import { idempotencyKeyOf } from "../../replay/bodies.ts";
import type { Entry } from "../../replay/journal.ts";
import { Stopped } from "../../replay/stop.ts";
import type { Stop, StopReason } from "../../replay/stop.ts";
import { errorText } from "../../util/error-text.ts";
import type { Json } from "../../util/json.ts";
import { backOff } from "../../util/timers.ts";
import type { Program } from "../program.ts";
import { places } from "../sealing.ts";
import type { ClaimedTask } from "../store.ts";
import type { Sealed, TaskRecord } from "../task.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import type { HeldClaim } from "./held-claim.ts";
import { entryRecord, readUndone, undoneRecord } from "./log-records.ts";
import type { Undone } from "./log-records.ts";

/** A step that is to be undone. */
interface StepToUndo {
  readonly key: string;
  /** The name of its undo. */
  readonly undo: string;
  /** What it returned. Undefined if it threw, or if its outcome is unknown. */
  readonly value: Json | undefined;
}

/** The steps of a log that are to be undone, in reverse order of their beginning (U4). */
function stepsToUndo(entries: readonly Entry[], undone: readonly Undone[]): readonly StepToUndo[] {
  const ended = new Set(undone.map(({ key }) => key));
  const values = new Map(
    entries.flatMap((entry) => (entry.kind === "step" ? [[entry.key, entry.value] as const] : [])),
  );
  return entries
    .flatMap((entry): StepToUndo[] => {
      if (entry.kind !== "begun" || ended.has(entry.key)) return [];
      return [{ key: entry.key, undo: entry.undo, value: values.get(entry.key) }];
    })
    .toReversed();
}

/** One claim of a task whose steps are undone. */
export class Undoing {
  readonly #task: TaskRecord;
  readonly #program: Program;
  readonly #claim: HeldClaim;
  readonly #deps: ExecutionDeps;
  readonly #drain: Stop;
  readonly #entries: readonly Entry[];
  readonly #undone: readonly Undone[];
  #logLength: number;
  /** Which attempt at the next undo this is. Claims without progress are counted in the row. */
  #attempt: number;

  /** Throws if a record cannot be opened here. */
  constructor(
    { task, log }: Pick<ClaimedTask, "task" | "log">,
    program: Program,
    claim: HeldClaim,
    deps: ExecutionDeps,
    drain: Stop,
  ) {
    this.#task = task;
    this.#program = program;
    this.#claim = claim;
    this.#deps = deps;
    this.#drain = drain;
    ({ entries: this.#entries, undone: this.#undone } = readUndone(deps.sealer, task.callId, log));
    this.#logLength = log.length;
    this.#attempt = Math.max(1, task.fruitless);
  }

  /**
   * Undoes what is left. `left` are outcomes of bodies that ended after the call did. Resolves to when the task is due
   * again, if an undo has to be tried again.
   */
  async run(left: readonly Entry[]): Promise<number | undefined> {
    const { sealer } = this.#deps;
    const { callId } = this.#task;
    const outcomes = left.filter((entry) => this.#isNews(entry));
    const steps = stepsToUndo([...this.#entries, ...outcomes], this.#undone);
    const records = outcomes.map((entry, index) =>
      entryRecord(sealer, callId, this.#logLength + index, entry),
    );
    if (records.length > 0 || steps.length === 0) await this.#write(records, steps.length);
    for (const [index, step] of steps.entries()) {
      if (this.#drain.reason !== undefined) return this.#handOver();
      // This process may have been stopped for longer than its lease, so that another one has undone this step already.
      if (this.#claim.lease.isOver) return undefined;
      const outcome = await this.#attemptAt(step);
      if (outcome === "stopped") return this.#handOver();
      if (outcome.isDone) await this.#ended({ key: step.key, error: undefined }, steps, index);
      else if (this.#hasTime) return this.#delay(step, outcome.error);
      else await this.#ended({ key: step.key, error: errorText(outcome.error) }, steps, index);
    }
    return undefined;
  }

  #isNews({ key, kind }: Entry): boolean {
    const has = (is: Entry["kind"]) =>
      this.#entries.some((entry) => entry.key === key && entry.kind === is);
    return (kind === "step" || kind === "threw") && has("begun") && !has("step") && !has("threw");
  }

  /** Until when a failing undo is tried again. The last change that clients can see is the end of the task. */
  get #until(): number {
    return this.#task.updatedAt + this.#deps.limits.undoMs;
  }

  get #hasTime(): boolean {
    return this.#deps.clock.now() < this.#until;
  }

  async #attemptAt({ key, undo, value }: StepToUndo): Promise<Attempted | "stopped"> {
    const { callId, tool, principal } = this.#task;
    const run = this.#program.undo?.(undo);
    if (run === undefined) {
      return { isDone: false, error: new Error(`no undo named "${undo}" is registered here`) };
    }
    const idempotencyKey = idempotencyKeyOf(callId, key);
    const controller = new AbortController();
    const info = {
      value,
      idempotencyKey,
      undoKey: `${idempotencyKey}~undo`,
      stepKey: key,
      tool,
      callId,
      principal: principal === "" ? undefined : principal,
      attempt: this.#attempt,
      signal: controller.signal,
    };
    const attempted = Promise.resolve()
      .then(() => run(info))
      .then(
        (): Attempted => ({ isDone: true }),
        (error: unknown): Attempted => ({ isDone: false, error }),
      );
    return this.#unlessStopped(attempted, (reason) => controller.abort(new Stopped(reason)));
  }

  /**
   * Waits for the undo. If this process has to stop, it waits a moment longer, because an undo that has ended need not
   * run again.
   */
  #unlessStopped(
    attempted: Promise<Attempted>,
    abort: (reason: StopReason) => void,
  ): Promise<Attempted | "stopped"> {
    const { stop } = this.#claim;
    const { clock, limits } = this.#deps;
    return new Promise((resolve) => {
      let cancelTimer: (() => void) | undefined;
      const listener = {
        stop: (reason: StopReason) => {
          abort(reason);
          const patience = reason === "Draining" ? Math.min(1_000, limits.drainMs / 5) : 0;
          cancelTimer = clock.after(patience, () => resolve("stopped"));
        },
      };
      if (stop.reason === undefined) stop.add(listener);
      else listener.stop(stop.reason);
      void attempted.then((outcome) => {
        stop.remove(listener);
        cancelTimer?.();
        // An undo that fails because it was stopped has not been tried.
        resolve(outcome.isDone || stop.reason === undefined ? outcome : "stopped");
      });
    });
  }

  async #ended(undone: Undone, steps: readonly StepToUndo[], index: number): Promise<void> {
    const { sealer, observer } = this.#deps;
    const { key: step, error } = undone;
    await observer.undoEnds?.(this.#task, { step, undo: steps[index]?.undo ?? "", error });
    const record = undoneRecord(sealer, this.#task.callId, this.#logLength, undone);
    await this.#write([record], steps.length - index - 1);
    this.#attempt = 1;
    if (undone.error === undefined) observer.undone?.(this.#task, undone.key);
    else observer.undoFailed?.(this.#task, undone.key, undone.error);
  }

  async #write(records: readonly Sealed[], undos: number): Promise<void> {
    const { store, limits } = this.#deps;
    const progress = { at: this.#logLength, records, undos, keepMs: limits.keepMs };
    await this.#claim.persist(() => store.undo(this.#claim.ref, progress));
    this.#logLength += records.length;
  }

  /** Gives the task back until the next attempt (U5). The undos before this one wait for it, because they may depend on it. */
  async #delay({ key }: StepToUndo, error: unknown): Promise<number> {
    const { store, sealer, observer, clock } = this.#deps;
    const wait = backOff(this.#attempt, { firstMs: 1_000, mostMs: 60_000 });
    const afterMs = Math.max(0, Math.min(wait, this.#until - clock.now()));
    const cause = sealer.seal(errorText(error), places.cause(this.#task.callId));
    observer.undoDelayed?.(this.#task, key, error, this.#until);
    const why = { afterMs, isFruitless: true, cause };
    await this.#claim.persist(() => store.release(this.#claim.ref, why));
    return clock.now() + afterMs;
  }

  /** Another worker goes on. If the claim is lost, another worker already does. */
  async #handOver(): Promise<undefined> {
    const { reason } = this.#claim.stop;
    if (reason !== undefined && reason !== "Draining") return;
    const why = { afterMs: 0, isFruitless: false, cause: undefined };
    await this.#deps.store.release(this.#claim.ref, why);
  }
}

type Attempted = { readonly isDone: true } | { readonly isDone: false; readonly error: unknown };
