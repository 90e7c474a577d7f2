// The step bodies of one run: started, finished in whatever order, aborted when the run ends (R9).

import * as faults from "./author-errors.ts";
import type { Carrier } from "./carrier.ts";
import type { Entry } from "./journal.ts";
import { NotJson } from "../util/json.ts";
import type { StepOperation } from "./operation.ts";
import { runBody } from "./step.ts";
import { Stopped } from "./stop.ts";
import type { StopReason } from "./stop.ts";

// Timers take no more than 31 bits, and fire at once beyond.
const longestPause = 2 ** 31 - 1;

// A lone surrogate has no UTF-8 form.
const headerSafe = (key: string) =>
  /^[\w.-]+$/.test(key) ? key : encodeURIComponent(key.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));

const ended = () => {};

export class Bodies {
  readonly #hooks: Carrier;
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
    hooks: Carrier,
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

  /** The entry, where the body gives its value at once; else `onFinished` hears of it. */
  start(operation: StepOperation): Entry | undefined {
    const { key, body, options, within } = operation;
    operation.state = "under way";
    this.#running += 1;
    this.#hasRun = true;
    const attempts = {
      key,
      body,
      options,
      // Fit for a header, which is where services take it.
      idempotencyKey: `${this.#hooks.callId}/${headerSafe(key)}`,
      signal: () => this.#signal(),
      inside: (call: () => unknown) =>
        within === undefined ? this.#inside(key, call) : within(() => this.#inside(key, call)),
      pause: (ms: number) => this.#pause(ms),
    };
    try {
      const outcome = runBody(attempts);
      if (!(outcome instanceof Promise)) return this.#counts() ? outcome : undefined;
      this.#hooks.onBody?.(outcome.then(ended, ended));
      outcome.then(
        (entry) => {
          if (this.#counts()) this.#onFinished(operation, entry);
        },
        (error: unknown) => this.#failed(operation, error),
      );
    } catch (error) {
      this.#failed(operation, error);
    }
    return undefined;
  }

  /** A body has ended. False after the end of the run: the next one, or nobody, knows what became of it. */
  #counts(): boolean {
    this.#running -= 1;
    return this.#abortedFor === undefined;
  }

  #failed(operation: StepOperation, error: unknown): void {
    if (!this.#counts()) return;
    this.#onFault(error instanceof NotJson ? faults.notJson(operation, error) : error);
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
