// What one process runs on a store: its worker, from the start to the end, and the rounds of tools with `once: true`, which
// the store records while they run. A process that ends lets both record what is under way.

import type { Stop } from "../replay/stop.ts";
import type { StoreClock } from "./clock.ts";
import type { ExecutionDeps } from "./execution/dependencies.ts";
import { DueRun } from "./due-run.ts";
import type { DueRunOptions, RunDueResult } from "./due-run.ts";
import { isOutage, Outage } from "./outage.ts";
import { Worker } from "./worker.ts";
import type { Programs, WorkerOptions } from "./worker.ts";

type Deps = ExecutionDeps & { readonly clock: StoreClock; readonly programs: Programs };

/** The work of one process. */
export class ProcessWork {
  readonly #deps: Deps;
  readonly #ready: () => Promise<void>;
  readonly #rounds = new Map<Stop, Promise<unknown>>();
  readonly #dueRuns = new Map<DueRun, Promise<RunDueResult>>();
  #worker: Worker | undefined;
  #draining: Promise<void> | undefined;
  /** The wait for a store that could not be reached at the start. */
  #outage: Outage | undefined;

  constructor(deps: Deps, ready: () => Promise<void>) {
    this.#deps = deps;
    this.#ready = ready;
  }

  /** The worker, once it is started. */
  get worker(): Worker | undefined {
    return this.#worker;
  }

  /** Whether this process had a worker and no longer has one. */
  get hasDrained(): boolean {
    return this.#worker === undefined && this.#draining !== undefined;
  }

  /**
   * Starts a worker. If the store cannot be reached at the moment, the worker starts as soon as it can, and the promise
   * resolves to false. Rejects for a mistake that waiting does not fix.
   */
  async start(options: WorkerOptions): Promise<boolean> {
    const { programs, observer } = this.#deps;
    if (this.#worker !== undefined) return true;
    const worker = new Worker(programs, options, this.#deps);
    this.#worker = worker;
    try {
      await this.#ready();
    } catch (error) {
      observer.storeFailed(error);
      if (isOutage(error)) {
        this.#outage = new Outage(this.#deps.clock, this.#ready, observer);
        void this.#outage.end().then((isOver) => {
          if (isOver) this.#begin(worker);
        });
        return false;
      }
      // The caller can start it again.
      if (this.#worker === worker) this.#worker = undefined;
      throw error;
    }
    this.#begin(worker);
    return true;
  }

  /** Starts this worker, unless it was drained meanwhile. */
  #begin(worker: Worker): void {
    if (this.#worker !== worker) return;
    worker.start();
    this.#deps.observer.started?.(worker.name);
  }

  /** Runs what is due, for a limited time. */
  async runDue(options: DueRunOptions): Promise<RunDueResult> {
    const { programs } = this.#deps;
    await this.#ready();
    if (programs.names().length === 0) return { ran: 0, nextDueAt: undefined };
    const dueRun = new DueRun(programs, options, this.#deps);
    const running = dueRun.run();
    this.#dueRuns.set(dueRun, running);
    try {
      return await running;
    } finally {
      this.#dueRuns.delete(dueRun);
    }
  }

  /** Stops the worker. Its tasks continue in other processes. */
  drain(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#outage?.giveUp();
    if (worker !== undefined) this.#draining = worker.drain();
    const drained = this.#draining ?? Promise.resolve();
    if (this.#dueRuns.size === 0) return drained;
    for (const dueRun of this.#dueRuns.keys()) dueRun.stop();
    return Promise.allSettled([drained, ...this.#dueRuns.values()]).then(() => drained);
  }

  /** Registers a running round whose entries go to the store. It may go on after its client has hung up. */
  addRound(drain: Stop, running: Promise<unknown>): void {
    const forget = () => void this.#rounds.delete(drain);
    this.#rounds.set(drain, running);
    running.then(forget, forget);
  }

  /** Lets the rounds that still run record what is under way, and waits for that, but not forever. */
  async drainRounds(): Promise<void> {
    const rounds = [...this.#rounds];
    if (rounds.length === 0) return;
    const { clock, limits } = this.#deps;
    for (const [drain] of rounds) drain.stop("Draining");
    await new Promise<void>((resolve) => {
      const cancelTimer = clock.after(limits.drainMs, resolve);
      void Promise.allSettled(rounds.map(([, running]) => running)).then(() => {
        cancelTimer();
        resolve();
      });
    });
  }
}
