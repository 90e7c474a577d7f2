// Watches for timers and time limits that end while the handler of a task keeps running.

import type { Arrival } from "../task.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import type { HeldClaim } from "./held-claim.ts";
import type { TaskJournal } from "./task-journal.ts";

/** The run, as its timer sees it. */
interface TimedRun {
  readonly journal: TaskJournal | undefined;
  readonly arrived: (inbox: readonly Arrival[]) => void;
}

/** The timer of one run. It is set to what ends next. */
export class DueTimer {
  readonly #claim: HeldClaim;
  readonly #deps: Pick<ExecutionDeps, "store" | "clock" | "observer">;
  readonly #run: TimedRun;
  #cancel: (() => void) | undefined;

  constructor(
    claim: HeldClaim,
    deps: Pick<ExecutionDeps, "store" | "clock" | "observer">,
    run: TimedRun,
  ) {
    this.#claim = claim;
    this.#deps = deps;
    this.#run = run;
  }

  close(): void {
    this.#cancel?.();
  }

  /** Sets the timer. */
  watch(): void {
    const { clock } = this.#deps;
    this.#cancel?.();
    this.#cancel = undefined;
    const { journal } = this.#run;
    const next = journal?.arrivals.nextDue(journal.waits.list);
    if (next === undefined || this.#claim.isOver) return;
    this.#cancel = clock.after(Math.max(0, next - clock.now()), () => void this.#ended());
  }

  /** An answer that came in time may be in the store while its hint is still under way, so the store is read first. */
  async #ended(): Promise<void> {
    const { store, clock, observer } = this.#deps;
    const { id, epoch } = this.#claim.ref;
    const now = clock.now();
    try {
      const task = await store.read(id);
      if (this.#claim.isOver) return;
      if (task?.epoch === epoch) this.#run.arrived(task.inbox);
      const { journal } = this.#run;
      journal?.arrivals.pushDue(journal.waits.list, now);
    } catch (error) {
      observer.storeFailed(error);
      if (!this.#claim.isOver) this.#cancel = clock.after(250, () => void this.#ended());
      return;
    }
    this.watch();
  }
}
