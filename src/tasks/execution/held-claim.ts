// A worker's claim on a task: its lease, the writes that it makes under its fence, and how it is lost.

import { ParleyError } from "../../errors.ts";
import { Stop } from "../../replay/stop.ts";
import type { StopReason } from "../../replay/stop.ts";
import { errorText } from "../../util/error-text.ts";
import { backOff } from "../../util/timers.ts";
import type { ClaimRef, TaskRecord } from "../task.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import type { Lease } from "./lease-time.ts";

/** Another worker has the task, or the store could not be reached for as long as the lease lasted. */
export class AbandonedError extends Error {
  override readonly name = "AbandonedError";
}

/** The store can be reached and refuses the write again and again. Its last error is the cause. */
export class UnwrittenError extends Error {
  override readonly name = "UnwrittenError";
}

/** A claim while its run goes on. */
export class HeldClaim {
  readonly ref: ClaimRef;
  readonly lease: Lease;
  /** Stops the run when the claim is lost, or when the worker drains. */
  readonly stop: Stop = new Stop();
  readonly #task: TaskRecord;
  readonly #deps: ExecutionDeps;
  #cancelLeaseTimer: (() => void) | undefined;
  #isOver = false;

  constructor(task: TaskRecord, lease: Lease, deps: ExecutionDeps) {
    this.ref = { id: task.id, epoch: task.epoch };
    this.lease = lease;
    this.#task = task;
    this.#deps = deps;
  }

  /** The run has ended. A lease that ends later loses nothing. */
  close(): void {
    this.#isOver = true;
    this.#cancelLeaseTimer?.();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The store has renewed the lease, by a request that was sent at this mark. */
  renewed(mark: readonly number[], leaseMs: number): void {
    // If the run ended while the renewal was under way, the timer must not be set again.
    if (this.#isOver) return;
    this.lease.renew(mark, leaseMs);
    this.watchLease();
  }

  /**
   * Gives the claim up when its lease ends without a renewal. Another worker may have the task from then on, so
   * nothing more may be started or recorded here.
   */
  watchLease(): void {
    this.#cancelLeaseTimer?.();
    const { clock, store, confirm } = this.#deps;
    const left = Math.max(0, this.lease.leftMs);
    const dueAt = performance.now() + left;
    this.#cancelLeaseTimer = clock.after(left, () => {
      if (!this.lease.isOver) return this.watchLease();
      const isLate = performance.now() - dueAt > store.leaseMs / 10;
      if (!isLate || confirm === undefined) return this.lose("LostLease");
      // The event loop was blocked, so nothing could be renewed. If no other worker has come, the task is still ours.
      confirm();
      this.#cancelLeaseTimer = clock.after(store.leaseMs / 3, () => {
        if (this.lease.isOver) this.lose("LostLease");
        else this.watchLease();
      });
      return undefined;
    });
  }

  /** Stops the run, because the claim no longer counts. */
  lose(reason: StopReason): void {
    if (this.stop.reason !== undefined) return;
    if (reason === "LostLease") this.#deps.observer.leaseLost(this.#task);
    this.stop.stop(reason);
  }

  /**
   * Why the store no longer counts this claim. Undefined if it does: the run itself has just ended or parked the
   * task.
   */
  async whyLost(): Promise<StopReason | undefined> {
    try {
      const task = await this.#deps.store.read(this.ref.id);
      if (task?.status === "cancelled" || task?.rest !== undefined) return "Cancelled";
      return task?.epoch === this.ref.epoch ? undefined : "LostLease";
    } catch {
      return "LostLease";
    }
  }

  /**
   * Repeats a write until it is done, it is refused, or the lease is over, because a body whose outcome is lost runs
   * again. If renewals succeed and this write does not, it gives up after one lease.
   */
  async persist(write: () => Promise<boolean>): Promise<void> {
    const { clock, observer, store } = this.#deps;
    const giveUpAt = clock.now() + store.leaseMs;
    for (let tries = 1; ; tries += 1) {
      // A run that has to drain while it writes its last record still writes it.
      const { reason } = this.stop;
      if (reason !== undefined && (reason !== "Draining" || tries > 1)) throw new AbandonedError();
      let isWritten: boolean;
      try {
        isWritten = await write();
      } catch (error) {
        // The store works, and will never take this.
        if (error instanceof ParleyError) throw error;
        observer.storeFailed(error);
        if (this.lease.isOver) throw this.#lost("LostLease");
        if (clock.now() > giveUpAt) throw new UnwrittenError(errorText(error), { cause: error });
        await clock.wait(backOff(tries, { firstMs: 25, mostMs: 1_000 }));
        continue;
      }
      if (isWritten) return;
      const why = await this.whyLost();
      // The claim still counts, so an earlier try was written and only its acknowledgement was lost.
      if (why === undefined && tries > 1) return;
      throw this.#lost(why ?? "LostLease");
    }
  }

  #lost(reason: StopReason): AbandonedError {
    this.lose(reason);
    return new AbandonedError();
  }
}
