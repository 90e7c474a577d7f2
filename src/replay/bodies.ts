// The step bodies of one run: started, finished in whatever order, aborted when the run ends (R9).

import * as faults from "./faults.ts";
import type { Hooks } from "./hooks.ts";
import type { Entry } from "./journal.ts";
import { NotJson } from "./json.ts";
import type { StepOperation } from "./operation.ts";
import { runBody } from "./step.ts";
import { Stopped } from "./stop.ts";
import type { StopReason } from "./stop.ts";

// Timers take no more than 31 bits, and fire at once beyond.
const longestPause = 2 ** 31 - 1;

// A lone surrogate has no UTF-8 form.
const headerSafe = (key: string) => encodeURIComponent(key.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));

const ended = () => {};

export class Bodies {
  readonly #hooks: Hooks;
  readonly #onFinished: (operation: StepOperation, entry: Entry) => void;
  readonly #onFault: (fault: unknown) => void;
  readonly #onForbidden: () => void;
  #running = 0;
  #hasRun = false;
  /** The step whose body is being called at this very moment (R10). */
  #calling: string | undefined;
  #controller: AbortController | undefined;
  readonly #pauses = new Set<() => void>();
  #abortedFor: StopReason | "RunEnded" | undefined;

  constructor(
    hooks: Hooks,
    onFinished: (operation: StepOperation, entry: Entry) => void,
    onFault: (fault: unknown) => void,
    onForbidden: () => void,
  ) {
    this.#hooks = hooks;
    this.#onFinished = onFinished;
    this.#onFault = onFault;
    this.#onForbidden = onForbidden;
  }

  get running(): number {
    return this.#running;
  }

  /** Whether this run has executed a body: there is something to hand over (R11). */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  get calling(): string | undefined {
    return this.#calling;
  }

  start(operation: StepOperation): void {
    const { key, body, options, within } = operation;
    operation.state = "under way";
    this.#running += 1;
    this.#hasRun = true;
    const outcome = runBody({
      key,
      body,
      options,
      // Fit for a header, which is where services take it.
      idempotencyKey: `${this.#hooks.callId}/${headerSafe(key)}`,
      signal: () => this.#signal(),
      inside: (call) =>
        within === undefined ? this.#inside(key, call) : within(() => this.#inside(key, call)),
      pause: (ms) => this.#pause(ms),
    });
    this.#hooks.onBody?.(outcome.then(ended, ended));
    outcome.then(
      (entry) => {
        // After the end nothing is recorded: the next run, or nobody, knows what became of it.
        if (this.#abortedFor !== undefined) return;
        this.#running -= 1;
        this.#onFinished(operation, entry);
      },
      (error: unknown) => {
        if (this.#abortedFor !== undefined) return;
        this.#onFault(error instanceof NotJson ? faults.notJson(operation, error) : error);
      },
    );
  }

  abort(reason: StopReason | "RunEnded"): void {
    this.#abortedFor = reason;
    this.#controller?.abort(new Stopped(reason));
    for (const abandon of this.#pauses) abandon();
  }

  #inside(key: string, call: () => unknown): unknown {
    this.#calling = key;
    try {
      return this.#hooks.nesting === undefined ? call() : this.#hooks.nesting.run(key, call);
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

  /** Rejects where the run ends first: the body is not tried again, and nobody waits for it. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const abandon = () => {
        callOff();
        reject(new Error("The run has ended."));
      };
      const callOff = this.#hooks.after(Math.min(ms, longestPause), () => {
        this.#pauses.delete(abandon);
        // A further attempt is a body like any other, and the lease may be over by now.
        if (this.#hooks.mayStart?.() === false) this.#onForbidden();
        else resolve();
      });
      if (this.#abortedFor === undefined) this.#pauses.add(abandon);
      else abandon();
    });
  }
}
