// Runs what is due for a limited time, for processes that do not stay: cron jobs, queues and functions. It is a worker that
// hears no hints, sweeps once, stops claiming in time for running bodies to end, and ends when nothing is due.

import type { StoreClock } from "./clock.ts";
import type { ExecutionDeps } from "./execution/dependencies.ts";
import { noteRunner } from "./runner-note.ts";
import type { ClaimResult, TaskStore } from "./store.ts";
import { Worker } from "./worker.ts";
import type { Programs } from "./worker.ts";

/** How one run is limited. */
export interface DueRunOptions {
  readonly name: string;
  readonly concurrency: number;
  readonly budgetMs: number;
}

/** What one run has done. */
export interface RunDueResult {
  /** How many tasks it has worked on. A task that was due twice counts twice. */
  readonly ran: number;
  /** When something is due again. Undefined: nothing is due until something arrives. */
  readonly nextDueAt: Date | undefined;
}

/** How often it looks for what is due while something runs. */
const pollMs = 100;
/** How soon it notices that nothing is left. */
const lookMs = 5;

/** One run. */
export class DueRun {
  readonly #worker: Worker;
  readonly #store: TaskStore;
  readonly #failed: (error: unknown) => void;
  readonly #clock: StoreClock;
  readonly #stopAt: number;
  #ran = 0;
  #isIdle = false;
  #isStopped = false;
  #nextDueAt: number | undefined;

  constructor(
    programs: Programs,
    { name, concurrency, budgetMs }: DueRunOptions,
    deps: ExecutionDeps & { readonly clock: StoreClock },
  ) {
    this.#store = deps.store;
    this.#failed = deps.observer.storeFailed;
    this.#clock = deps.clock;
    // By the clock of this process, because the store's may jump when it is first read.
    this.#stopAt = performance.now() + budgetMs - deps.limits.drainMs;
    this.#worker = new Worker(
      programs,
      { name, concurrency, pollMs, sweepMs: Infinity },
      { ...deps, budgetMs, store: this.#watched(deps.store) },
    );
  }

  /** Resolves when nothing is due, or when the time is up and all that ran is recorded. */
  async run(): Promise<RunDueResult> {
    const noteEnd = await noteRunner(this.#store, this.#worker.name);
    this.#worker.start();
    while (!this.#isIdle && !this.#isStopped && performance.now() < this.#stopAt) {
      await this.#clock.wait(lookMs);
    }
    const { running } = this.#worker;
    await this.#worker.drain();
    // All that ran is recorded. Whoever looks for a worker in vain says so in the log, and nothing else depends on it.
    await noteEnd().catch(this.#failed);
    const due = this.#isIdle && running === 0 ? this.#nextDueAt : this.#clock.now();
    return { ran: this.#ran, nextDueAt: due === undefined ? undefined : new Date(due) };
  }

  /** Ends the run early. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The store without hints, which notes what each claim found. */
  #watched(store: TaskStore): TaskStore {
    const own: Partial<TaskStore> = {
      subscribe: () => () => {},
      claim: async (request) => {
        const wasIdle = this.#worker.running === 0;
        const result = await store.claim(request);
        this.#note(result, wasIdle);
        return result;
      },
    };
    return new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(key in own ? own : target, key);
        // A store keeps its state in private members, so its methods need it as `this`.
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  #note({ claimed, nextDueAt, now }: ClaimResult, wasIdle: boolean): void {
    this.#ran += claimed.length;
    this.#nextDueAt = nextDueAt;
    const isDue = nextDueAt !== undefined && nextDueAt <= now;
    this.#isIdle = wasIdle && claimed.length === 0 && !isDue;
  }
}
