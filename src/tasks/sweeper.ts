// The sweeper: now and then it ends tasks whose time is up, and deletes what can no longer be read.

import type { ExecutionDeps } from "./execution/dependencies.ts";
import type { SweepResult } from "./store.ts";

const batch = 500;
/** The audit is kept for long, so there is no hurry. */
const auditSweepMs = 3_600_000;

/** Does one part of a sweep. */
export function sweepOnce({
  store,
  limits,
}: Pick<ExecutionDeps, "store" | "limits">): Promise<SweepResult> {
  const { keepMs, unreadMs, undoMs } = limits;
  // When its time is up, a worker still tries each undo once more.
  return store.sweep(batch, keepMs, unreadMs, undoMs + keepMs);
}

/** Sweeps the store at intervals. */
export class Sweeper {
  readonly #deps: Pick<ExecutionDeps, "store" | "limits" | "clock" | "observer">;
  readonly #intervalMs: number;
  readonly #onFailure: (error: unknown) => void;
  #isOn = false;
  #auditDueAt = 0;
  #sweeping: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(
    deps: Pick<ExecutionDeps, "store" | "limits" | "clock" | "observer">,
    intervalMs: number,
    onFailure: (error: unknown) => void,
  ) {
    this.#deps = deps;
    this.#intervalMs = intervalMs;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#isOn = true;
    this.#sweep();
  }

  /** Resolves when the sweep that is under way has ended. */
  async stop(): Promise<void> {
    this.#isOn = false;
    this.#cancelTimer?.();
    await this.#sweeping;
  }

  #sweep(): void {
    this.#sweeping = this.#sweepAll().then(() => {
      this.#sweeping = undefined;
      // The interval varies, so that replicas do not all sweep at the same time.
      const waitMs = this.#intervalMs * (0.75 + Math.random() / 2);
      if (this.#isOn) this.#cancelTimer = this.#deps.clock.after(waitMs, () => this.#sweep());
    });
  }

  async #sweepAll(): Promise<void> {
    const { observer } = this.#deps;
    try {
      for (let isMore = true; isMore && this.#isOn;) {
        const swept = await sweepOnce(this.#deps);
        if (swept.expired > 0) observer.expired(swept.expired);
        ({ isMore } = swept);
      }
      await this.#sweepAudit();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  async #sweepAudit(): Promise<void> {
    const { store, limits, clock } = this.#deps;
    if (store.audit === undefined || clock.now() < this.#auditDueAt) return;
    this.#auditDueAt = clock.now() + auditSweepMs;
    for (let deleted = batch; deleted >= batch && this.#isOn;) {
      deleted = await store.audit.sweep(limits.auditMs, batch);
    }
  }
}
