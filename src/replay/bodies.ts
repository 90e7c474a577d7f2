// The step bodies of one run. They finish in any order and are aborted when the run ends (R9).

import * as authorErrors from "./author-errors.ts";
import type { Carrier } from "./carrier.ts";
import type { Entry } from "./journal.ts";
import { errorText } from "../util/error-text.ts";
import { NotJson } from "../util/json.ts";
import type { Operation, StepOperation } from "./requested.ts";
import { longestTimerMs } from "../util/timers.ts";
import { runBody } from "./step.ts";
import { Stopped } from "./stop.ts";
import type { StopReason } from "./stop.ts";
import type { PlaybackEnds } from "./turn-loop.ts";

// `encodeURIComponent` throws on a lone surrogate, because it has no UTF-8 form.
const headerSafe = (key: string) =>
  /^[\w.-]+$/.test(key) ? key : encodeURIComponent(key.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));

/** The idempotency key of a step. It is safe in an HTTP header, which is where services expect it. */
export const idempotencyKeyOf = (callId: string, step: string): string =>
  `${callId}/${headerSafe(step)}`;

const ended = () => {};

const span = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`);

/** A retry did not come, because the run has ended or drains. The step has no outcome and runs again. */
class AbandonedRetry extends Error {}

/** What is told how bodies end. It is an object and no closures, because every run with an operation has one. */
export interface BodyListener {
  readonly onBodyFinished: (operation: StepOperation, entry: Entry) => void;
  /** A retry does not come, because the run drains. */
  readonly onRetryAbandoned: () => void;
}

/** Starts step bodies and reports how they end. */
export class Bodies {
  readonly #carrier: Carrier;
  readonly #run: Pick<PlaybackEnds, "fail" | "stop">;
  readonly #listener: BodyListener;
  #running = 0;
  #hasRun = false;
  /** Kept to find operations inside a body (R10). */
  #calling: string | undefined;
  #controller: AbortController | undefined;
  /** Made for the first retry, because most bodies need none. */
  #pauses: Set<() => void> | undefined;
  #abortedFor: StopReason | "RunEnded" | undefined;
  #isDraining = false;

  constructor(carrier: Carrier, run: Pick<PlaybackEnds, "fail" | "stop">, listener: BodyListener) {
    this.#carrier = carrier;
    this.#run = run;
    this.#listener = listener;
  }

  /** How many bodies have started and not finished. */
  get running(): number {
    return this.#running;
  }

  /** Whether this run has executed a body, so that it has something to hand over (R11). */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The step whose body is being called at this very moment, synchronously. */
  get calling(): string | undefined {
    return this.#calling;
  }

  /**
   * Starts the bodies of these steps, and adds to `finished` those that returned a value at once. The carrier may forbid
   * starting any of them, or ask to leave them to a later run.
   */
  startAll(
    steps: readonly StepOperation[],
    finished: { operation: Operation; entry: Entry }[],
  ): "started" | "forbidden" | "later" {
    for (const operation of steps) {
      // A step that belongs to a question that only a task can wait for is left to the task.
      const isForTask = operation.isAside && operation.options?.isForRounds !== true;
      if (isForTask && this.#carrier.canDetach) continue;
      const may = this.#carrier.mayStart?.(operation.key) ?? true;
      if (may === false) return "forbidden";
      if (may === "later") return "later";
      const entry = this.#start(operation);
      if (this.#abortedFor !== undefined) break;
      if (entry !== undefined) finished.push({ operation, entry });
    }
    return "started";
  }

  /** The entry, if the body returned a value at once. Otherwise `onFinished` is called later. */
  #start(operation: StepOperation): Entry | undefined {
    const { key, body, options, within } = operation;
    operation.state = "in_progress";
    this.#hasRun = true;
    const late = this.#carrier.late?.take(key);
    if (late !== undefined) return late;
    this.#running += 1;
    let failure: unknown;
    const attempts = {
      key,
      body,
      options,
      idempotencyKey: idempotencyKeyOf(this.#carrier.callId, key),
      signal: () => this.#signal(),
      inside: (call: () => unknown) =>
        within === undefined ? this.#inside(key, call) : within(() => this.#inside(key, call)),
      pause: (ms: number, attempt: number, error: unknown) => {
        this.#tellOf(operation, attempt, error, ms);
        return this.#pause(key, ms);
      },
      onError: (error: unknown) => {
        failure = error;
      },
    };
    try {
      const outcome = runBody(attempts);
      if (!(outcome instanceof Promise)) {
        const entry = this.#vetted(outcome);
        return this.#isRecorded(operation, entry) ? entry : undefined;
      }
      this.#carrier.onBody?.(outcome.then(ended, ended), key);
      outcome.then(
        (unseen) => {
          let entry: Entry;
          try {
            entry = this.#vetted(unseen);
          } catch (mistake) {
            return this.#failed(operation, mistake);
          }
          if (!this.#isRecorded(operation, entry)) return undefined;
          if (entry.kind === "threw") this.#carrier.onStepError?.(key, failure);
          return this.#listener.onBodyFinished(operation, entry);
        },
        (error: unknown) => this.#failed(operation, error),
      );
    } catch (error) {
      this.#failed(operation, error);
    }
    return undefined;
  }

  #vetted(entry: Entry): Entry {
    return this.#carrier.vet === undefined ? entry : this.#carrier.vet(entry);
  }

  /** Counts a body that has finished. False after the end of the run, when its outcome is no longer recorded. */
  #isRecorded(operation: StepOperation, entry?: Entry): boolean {
    this.#running -= 1;
    if (this.#abortedFor === undefined) return true;
    // After the signal has aborted, an error may be due to that, and is then not the outcome of the body.
    if (this.#abortedFor === "LostLease" && entry?.kind === "step") this.#carrier.late?.keep(entry);
    if (entry !== undefined) this.#left(operation, entry);
    return false;
  }

  /** The run has ended, so it does not record this outcome. If the call has ended as well, its carrier needs it to undo the step. */
  #left(operation: Operation, entry: Entry): void {
    const hasUndo = operation.kind === "step" && operation.options?.undo !== undefined;
    if (hasUndo) this.#carrier.onLeft?.(entry);
  }

  /** Tells the carrier of an attempt that failed and when the next one comes. After a drain, it comes in another run. */
  #tellOf({ key, options }: StepOperation, attempt: number, error: unknown, ms: number): void {
    if (this.#abortedFor !== undefined) return;
    const count = `attempt ${attempt} of ${1 + (options?.retries ?? 0)}`;
    const next = this.#isDraining
      ? ""
      : `, the next one ${ms === 0 ? "at once" : `in ${span(ms)}`}`;
    this.#carrier.onStepError?.(key, { message: `${errorText(error)} (${count}${next})` });
  }

  #failed(operation: StepOperation, error: unknown): void {
    if (!this.#isRecorded(operation)) return;
    if (error instanceof AbandonedRetry) {
      operation.state = "outstanding";
      return this.#listener.onRetryAbandoned();
    }
    this.#run.fail(error instanceof NotJson ? authorErrors.notJson(operation, error) : error);
  }

  /** Aborts the bodies that are still running. Their outcomes are not recorded, and neither are those of `finished`. */
  abort(
    reason: StopReason | "RunEnded",
    finished: readonly { readonly operation: Operation; readonly entry: Entry }[],
  ): void {
    this.#abortedFor = reason;
    if (reason === "LostLease") for (const { entry } of finished) this.#carrier.late?.keep(entry);
    for (const { operation, entry } of finished) this.#left(operation, entry);
    this.#controller?.abort(new Stopped(reason));
    for (const abandon of this.#pauses ?? []) abandon();
  }

  /** Lets running bodies end, and starts no further attempt of any. */
  drain(): void {
    this.#isDraining = true;
    for (const abandon of this.#pauses ?? []) abandon();
  }

  #inside(key: string, call: () => unknown): unknown {
    this.#calling = key;
    try {
      return this.#carrier.nesting === undefined ? call() : this.#carrier.nesting.run(key, call);
    } finally {
      this.#calling = undefined;
    }
  }

  #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedFor !== undefined) {
        this.#controller.abort(new Stopped(this.#abortedFor));
      }
    }
    return this.#controller.signal;
  }

  /** Waits before a retry. Rejects if the run ends or drains first, so that the body is not called again. */
  #pause(key: string, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const abandon = () => {
        cancel();
        this.#pauses?.delete(abandon);
        reject(new AbandonedRetry("The run has ended."));
      };
      const cancel = this.#carrier.after(Math.min(ms, longestTimerMs), () => {
        this.#pauses?.delete(abandon);
        // A retry needs the carrier's permission like any other body, because the lease may have ended during the pause.
        if (this.#carrier.mayStart?.(key) === false) this.#run.stop("LostLease");
        else resolve();
      });
      if (this.#abortedFor === undefined && !this.#isDraining)
        (this.#pauses ??= new Set()).add(abandon);
      else abandon();
    });
  }
}
