// Long on purpose: claims, leases and places share their timers and their failures.
// The worker: it claims tasks that are due, renews its leases, and sweeps. A parked task costs it nothing, because one
// timer serves the next due task and one timer serves all leases.

import { backOff } from "../util/timers.ts";
import type { StoreClock } from "./clock.ts";
import { BlockedLoop } from "./execution/blocked-loop.ts";
import type { RunningStep } from "./execution/blocked-loop.ts";
import { Execution } from "./execution/execution.ts";
import type { ExecutionDeps } from "./execution/dependencies.ts";
import { LateOutcomes } from "./execution/late-outcomes.ts";
import { Lease } from "./execution/lease-time.ts";
import type { Program } from "./program.ts";
import type { ClaimedTask, ChangeHint } from "./store.ts";
import { Sweeper } from "./sweeper.ts";

/** The tools that this process can run as tasks. */
export interface Programs {
  readonly names: () => readonly string[];
  readonly get: (tool: string) => Program | undefined;
}

/** How a worker works. */
export interface WorkerOptions {
  /** The name that operators see as the holder of a lease. */
  readonly name: string;
  /** How many tasks run at once. */
  readonly concurrency: number;
  /** How often to look for due tasks when no hint comes, in milliseconds. */
  readonly pollMs: number;
  /** How often to sweep, in milliseconds. */
  readonly sweepMs: number;
}

/** Hints that come within this time share one renewal. */
const renewalGapMs = 20;
/** The shortest pause between two claims that found nothing, and how much longer a worker waits to let others go first. */
const claimGapMs = 20;
const standBackMs = { lag: 250, for: 60_000 };
/** How long a draining worker waits for the store. */
const drainMarginMs = 2_000;

/** A place in a worker, for a task that it gets without claiming it: with its creation, or with an answer. */
export interface Reservation {
  readonly worker: string;
  readonly adopt: (claimed: ClaimedTask) => void;
  readonly giveUp: () => void;
}

type Running = { readonly execution: Execution; readonly end: Promise<void> };

/** Runs tasks in this process. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #programs: Programs;
  readonly #deps: ExecutionDeps & { readonly clock: StoreClock };
  readonly #sweeper: Sweeper;
  readonly #blockedLoop: BlockedLoop;
  readonly #leaseClocks = [() => performance.now(), Date.now];
  readonly #running = new Map<string, Running>();
  #draining: Promise<void> | undefined;
  #state: "new" | "working" | "draining" = "new";
  #unsubscribe: (() => void) | undefined;
  #timers: { claim?: () => void; renew?: () => void } = {};
  /** The claim that is under way. */
  #claiming: Promise<void> | undefined;
  /** Whether there may be something to claim that the claim under way does not see. */
  #isWoken = false;
  #renewing: Promise<void> | undefined;
  #isLooking = false;
  /** Whether a renewal follows shortly, because it brings new arrivals. */
  #isRenewalNear = false;
  /** When this process was last seen to respond, when it should be seen again, and what ran in the task that ended last. */
  #aliveAt = performance.now();
  #renewDueAt = Infinity;
  #lastEnded: readonly RunningStep[] = [];
  #failures = 0;
  #reserved = 0;
  /** Those of the running tasks that have just been parked, so that their places are free. */
  readonly #parked = new Set<Execution>();
  /** Until when this worker lets others claim first, because it could not follow a task that another version can. */
  #behindUntil = 0;
  /** When the next look at the store is due, by the store's clock. */
  #claimAt = Infinity;
  /** Whether more tasks were due than there was room for. */
  #hasMore = false;

  constructor(
    programs: Programs,
    options: WorkerOptions,
    deps: ExecutionDeps & { readonly clock: StoreClock },
  ) {
    this.#programs = programs;
    this.#options = options;
    this.#sweeper = new Sweeper(deps, options.sweepMs, (error) => this.#failed(error));
    this.#blockedLoop = new BlockedLoop(deps.store.leaseMs);
    this.#deps = {
      ...deps,
      late: new LateOutcomes(),
      blockedLoop: this.#blockedLoop,
      confirm: () => void this.#confirm(),
      standBack: () => void (this.#behindUntil = deps.clock.now() + standBackMs.for),
    };
  }

  get name(): string {
    return this.#options.name;
  }

  /** Whether it claims tasks: it has started and does not drain. */
  get isWorking(): boolean {
    return this.#state === "working";
  }

  get running(): number {
    return this.#running.size;
  }

  /** How many more tasks it could run. */
  get #room(): number {
    const taken = this.#running.size - this.#parked.size + this.#reserved;
    return this.isWorking ? this.#options.concurrency - taken : 0;
  }

  /** Keeps a place for a task of this tool that is about to be created or answered. Undefined if there is no place. */
  reserve(tool: string, isNew: boolean): Reservation | undefined {
    // Tasks that have been due for longer come first.
    const isFull = this.#room <= 0 || this.#hasMore;
    if (isFull || this.#programs.get(tool) === undefined) return undefined;
    // An answered task may be one that another version can follow.
    if (!isNew && this.#deps.clock.now() < this.#behindUntil) return undefined;
    this.#reserved += 1;
    const mark = this.#mark();
    return {
      worker: this.name,
      adopt: (claimed) => {
        this.#reserved -= 1;
        this.#run(claimed, mark);
      },
      giveUp: () => {
        this.#reserved -= 1;
        this.#roomMade();
      },
    };
  }

  /** Starts to claim tasks. */
  start(): void {
    if (this.#state !== "new") return;
    this.#state = "working";
    this.#unsubscribe = this.#deps.store.subscribe((hint) => this.#hinted(hint));
    this.#renew();
    this.#sweeper.start();
    this.#wake();
  }

  /** Stops claiming, and hands its tasks over as soon as the outcomes of their running bodies are recorded. */
  drain(): Promise<void> {
    this.#draining ??= this.#drainAll();
    return this.#draining;
  }

  async #drainAll(): Promise<void> {
    this.#state = "draining";
    this.#unsubscribe?.();
    this.#timers.claim?.();
    const swept = this.#sweeper.stop();
    for (const { execution } of this.#running.values()) execution.drain();
    // A task that is being claimed or created for this worker right now still arrives, and is handed over, too.
    await this.#settled(
      () => this.#claiming !== undefined || this.#reserved > 0 || this.running > 0,
    );
    this.#timers.renew?.();
    // The caller may close the store next, so nothing of this worker may be under way then.
    const { clock, store } = this.#deps;
    await clock.within(drainMarginMs, Promise.all([this.#renewing, swept]));
    const left = store.leave(this.name).catch((error: unknown) => this.#failed(error));
    await clock.within(drainMarginMs, left);
  }

  /** Waits until the condition no longer holds, but not forever: a store that does not respond must not block a shutdown. */
  async #settled(isSo: () => boolean): Promise<void> {
    const { clock, limits } = this.#deps;
    const patience = clock.now() + limits.drainMs + drainMarginMs;
    while (isSo() && clock.now() < patience) await clock.wait(5);
  }

  // ---------------------------------------------------------------- claims

  #hinted({ id, isDue, isNews }: ChangeHint): void {
    if (id === undefined) void this.#lookForNews();
    else if (this.#running.has(id) && isNews !== false) this.#renewSoon();
    if (isDue !== false) this.#wake();
  }

  #wake(): void {
    this.#isWoken = true;
    if (this.#claiming !== undefined || this.#room <= 0) return;
    this.#claiming = this.#claimAll().finally(() => {
      this.#claiming = undefined;
      if (this.#isWoken && this.#failures === 0) this.#wake();
    });
  }

  /** A place is free. Claims again if tasks were left over, or if a hint came while there was no place. */
  #roomMade(): void {
    if (this.#hasMore || this.#isWoken) this.#wake();
  }

  async #claimAll(): Promise<void> {
    this.#timers.claim?.();
    // A run that parks during the claim may set an earlier time.
    this.#claimAt = Infinity;
    let waitMs = this.#options.pollMs;
    try {
      while (this.#isWoken && this.#room > 0) {
        this.#isWoken = false;
        waitMs = await this.#claim();
      }
      this.#succeeded();
    } catch (error) {
      this.#failed(error);
      waitMs = backOff(this.#failures, { firstMs: 100, mostMs: 5_000 });
    }
    this.#lookIn(waitMs);
  }

  #lookIn(ms: number): void {
    const at = this.#deps.clock.now() + ms;
    if (!this.isWorking || at >= this.#claimAt) return;
    this.#claimAt = at;
    this.#at("claim", ms, () => {
      this.#claimAt = Infinity;
      this.#wake();
    });
  }

  /** Claims once, and returns how long there will be nothing to claim. */
  async #claim(): Promise<number> {
    const { store, clock } = this.#deps;
    // After the event loop was blocked, this worker would otherwise take its own tasks away from itself.
    if (this.#hasExpired) await this.#confirm();
    const mark = this.#mark();
    const most = this.#room;
    const tools = this.#programs.names();
    if (tools.length === 0) return this.#options.pollMs;
    const { claimed, nextDueAt, now } = await store.claim({
      worker: this.name,
      tools,
      most,
      leaseMs: store.leaseMs,
    });
    clock.set(now);
    for (const one of claimed) this.#run(one, mark);
    this.#hasMore = nextDueAt !== undefined && nextDueAt <= now;
    if (this.#hasMore && claimed.length > 0) this.#isWoken = true;
    const lag = now < this.#behindUntil ? standBackMs.lag : 0;
    const untilDue = nextDueAt === undefined ? Infinity : nextDueAt - now + lag;
    // If a task is due and could not be claimed, another worker is claiming it at this moment.
    return Math.min(this.#options.pollMs, Math.max(claimGapMs, untilDue));
  }

  #run(claimed: ClaimedTask, mark: readonly number[]): void {
    const { task, before: holder } = claimed;
    const program = this.#programs.get(task.tool);
    if (program === undefined) return;
    if (holder !== undefined && holder !== this.name) this.#deps.observer.takenOver?.(task, holder);
    const lease = new Lease(this.#leaseClocks, this.#deps.store.leaseMs);
    lease.renew(mark, this.#deps.store.leaseMs);
    const execution = new Execution(claimed, program, lease, this.#deps);
    // Its client may answer before the run is over here, and the answer wants the place.
    execution.onParked = () => {
      if (this.#running.get(task.id)?.execution === execution) this.#parked.add(execution);
    };
    const end = execution.run().then((nextDueAt) => {
      this.#parked.delete(execution);
      if (this.#running.get(task.id)?.execution === execution) this.#running.delete(task.id);
      this.#lastEnded = execution.stepsSince(this.#aliveAt);
      this.#roomMade();
      if (nextDueAt !== undefined) this.#lookIn(Math.max(0, nextDueAt - this.#deps.clock.now()));
    });
    const before = this.#running.get(task.id);
    if (before !== undefined) this.#parked.delete(before.execution);
    this.#running.set(task.id, { execution, end });
    if (this.#state === "draining") execution.drain();
  }

  // ---------------------------------------------------------------- leases

  /** Renews all leases in one statement, which also shows that this worker is alive. */
  #renew(): void {
    this.#lookForBlock();
    this.#isRenewalNear = false;
    if (this.#renewing !== undefined) return this.#renewSoon();
    this.#renewing = this.#renewAll().then((waitMs) => {
      this.#renewing = undefined;
      if ((this.isWorking || this.running > 0) && !this.#isRenewalNear) this.#renewIn(waitMs);
    });
  }

  /** Whether a lease has ended by the clocks of this process. The store may still count the claim. */
  get #hasExpired(): boolean {
    return [...this.#running.values()].some(({ execution }) => execution.hasExpired);
  }

  /** Renews what this worker holds. Then every claim is either good or known to be lost. */
  async #confirm(): Promise<void> {
    // A renewal that was under way before the event loop was blocked does not count from now.
    await this.#renewing;
    if (!this.#hasExpired) return;
    this.#renew();
    await this.#renewing;
  }

  /** Returns how long to wait before the next renewal. */
  async #renewAll(): Promise<number> {
    const { store, clock } = this.#deps;
    const held = [...this.#running.values()].map(({ execution }) => execution);
    let waitMs = store.leaseMs / 3;
    try {
      const mark = this.#mark();
      const refs = held.map(({ ref }) => ref);
      const renewal = await store.renew(this.name, refs, store.leaseMs);
      clock.set(renewal.now);
      const still = new Map(renewal.held.map((one) => [one.id, one]));
      for (const execution of held) {
        const renewed = still.get(execution.ref.id);
        if (renewed === undefined) void this.#lost(execution);
        else {
          execution.renewed(mark, store.leaseMs, renewed.isUndoing === true);
          execution.arrived(renewed.inbox);
        }
      }
      this.#succeeded();
    } catch (error) {
      this.#failed(error);
      // The next try comes sooner than usual, because the leases are running out.
      waitMs = Math.min(waitMs, backOff(this.#failures, { firstMs: 50, mostMs: 1_000 }));
    }
    return waitMs;
  }

  /**
   * Any task may have changed. This only reads: a renewal would be a change itself, and two processes would keep each
   * other busy with hints about renewals.
   */
  async #lookForNews(): Promise<void> {
    const held = [...this.#running.values()].map(({ execution }) => execution);
    if (held.length === 0 || this.#isLooking) return;
    this.#isLooking = true;
    try {
      const revisions = await this.#deps.store.revisions(held.map(({ ref }) => ref.id));
      if (held.some((one) => one.isNews(revisions.get(one.ref.id)))) this.#renewSoon();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isLooking = false;
    }
  }

  #renewSoon(): void {
    if (this.#isRenewalNear) return;
    this.#isRenewalNear = true;
    this.#renewIn(renewalGapMs);
  }

  #renewIn(ms: number): void {
    this.#renewDueAt = performance.now() + ms;
    this.#at("renew", ms, () => this.#renew());
  }

  /** Says so if this renewal comes far too late. A body that blocked the event loop has often ended by now. */
  #lookForBlock(): void {
    const [now, aliveAt, ended] = [performance.now(), this.#aliveAt, this.#lastEnded];
    const lateMs = now - this.#renewDueAt;
    this.#renewDueAt = Infinity;
    this.#aliveAt = now;
    this.#lastEnded = [];
    if (!this.#blockedLoop.isLate(lateMs)) return;
    const running = [...this.#running.values()];
    const steps = running.flatMap(({ execution }) => execution.stepsSince(aliveAt));
    this.#deps.observer.blocked(this.#blockedLoop.note(lateMs, [...steps, ...ended]));
  }

  /** The store did not renew this claim. The task was cancelled or taken over, unless its run has just ended. */
  async #lost(execution: Execution): Promise<void> {
    if (this.#running.get(execution.ref.id)?.execution === execution) await execution.lose();
  }

  // ---------------------------------------------------------------- clocks and failures

  /** The moment before a request that claims or renews. Its leases count from here. */
  #mark(): readonly number[] {
    return this.#leaseClocks.map((clock) => clock());
  }

  #at(name: "claim" | "renew", ms: number, callback: () => void): void {
    this.#timers[name]?.();
    this.#timers[name] = this.#deps.clock.after(ms, callback);
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    this.#deps.observer.storeFailed(error);
  }

  #succeeded(): void {
    this.#deps.observer.storeBack();
    this.#failures = 0;
  }
}
