// Runs the tasks that played calls become, one claim at a time, each run on its own instance of the app. There is no worker
// and no waiting: what is due next runs next, and the clock jumps to that time.

import type { WireResult } from "../server/define/definition.ts";
import { taskAudit } from "../server/audit/task-audit.ts";
import { sealerOf } from "../server/core.ts";
import type { Core } from "../server/core.ts";
import type { Definition } from "../server/define/definition.ts";
import { externalDigest } from "../server/context/questions.ts";
import type { StepObserver } from "../server/context/observed-body.ts";
import { programOf } from "../server/tasks/tool-program.ts";
import { limitsOf } from "../server/tasks/task-engine.ts";
import { Execution } from "../tasks/execution/execution.ts";
import { Lease } from "../tasks/execution/lease-time.ts";
import { TaskRuntime } from "../tasks/runtime.ts";
import { StorageShares } from "../tasks/shares.ts";
import type { TaskSnapshot } from "../tasks/snapshot.ts";
import type { MemoryStore } from "../tasks/stores/memory.ts";
import { isUndoing } from "../tasks/task.ts";
import type { TaskRecord, Wait } from "../tasks/task.ts";
import type { OpenApproval } from "../tasks/approvals.ts";
import { decideOn, shownIn } from "../server/approvals/decide.ts";
import type { TaskObserver } from "../tasks/observer.ts";
import type { Json } from "../util/json.ts";

const silent: TaskObserver = {
  created: () => {},
  finished: () => {},
  leaseLost: () => {},
  couldNotRun: () => {},
  moved: () => {},
  cancelled: () => {},
  expired: () => {},
  blocked: () => {},
  limitReached: () => {},
  gaveUp: () => {},
  storeFailed: () => {},
  storeBack: () => {},
};

/** What a task waits for. */
export interface ParkedTask {
  readonly questions: TaskSnapshot["questions"];
  /** The keys of the values that `app.deliver` would bring. */
  readonly external: readonly string[];
  /** The approvals by groups. */
  readonly approvals: readonly OpenApproval[];
  /** Whether the task goes on by itself when time passes. */
  readonly hasTimeLimit: boolean;
}

/** The tasks of one server. */
export class InProcessTasks {
  readonly #store: MemoryStore;
  readonly #definition: Definition;
  readonly #core: () => Core;
  readonly #skip: (ms: number) => void;

  constructor(
    store: MemoryStore,
    definition: Definition,
    core: () => Core,
    skip: (ms: number) => void,
  ) {
    this.#store = store;
    this.#definition = definition;
    this.#core = core;
    this.#skip = skip;
  }

  /** The task runtime of an instance that serves rounds. It creates tasks but does not run them. */
  runtime(core: Core): TaskRuntime {
    return new TaskRuntime({
      store: this.#store,
      sealer: sealerOf(core),
      programs: { names: () => [], get: () => programOf(core, this.#definition) },
      limits: limitsOf(core),
      observer: { ...silent, ...taskAudit(core) },
      newId: core.environment.newId,
      version: core.version,
    });
  }

  /** The task that a caller has created last. */
  async newest(principal: string | undefined): Promise<TaskSnapshot | undefined> {
    const [task] = await this.#runtime().list(principal, undefined, 1);
    return task;
  }

  async read(id: string): Promise<TaskSnapshot> {
    const task = await this.#runtime().get(id);
    if (task === undefined) throw new Error("The task is no longer in the store.");
    return task;
  }

  /** What the task waits for. Undefined if it is due and has yet to run. */
  async parked(id: string): Promise<ParkedTask | undefined> {
    const { dueAt, waits, callId } = await this.#record(id);
    const { questions } = await this.read(id);
    const others = waits.filter(({ kind }) => kind === "external");
    const external = others.flatMap(({ key, needs }) => (needs === undefined ? [key] : []));
    // The clock jumps to a timer only if there is nothing to answer first.
    if (questions.size === 0 && others.length === 0 && dueAt !== undefined) return undefined;
    const isDue = dueAt !== undefined && dueAt <= this.#core().environment.now();
    if (isDue) return undefined;
    const approvals = await this.#approvals(callId, others);
    return { questions, external, approvals, hasTimeLimit: dueAt !== undefined };
  }

  async #approvals(callId: string, waits: readonly Wait[]): Promise<readonly OpenApproval[]> {
    const found: OpenApproval[] = [];
    for (const { key, needs } of waits) {
      const approval =
        needs === undefined ? undefined : await this.#runtime().approvals.find(callId, key);
      if (approval?.status === "open") found.push(approval);
    }
    return found;
  }

  /** Lets one person decide. Their group is the one that is asked. */
  async decide(
    approval: OpenApproval,
    who: string,
    approve: boolean,
    note?: string,
  ): Promise<void> {
    const { by = "" } = shownIn(approval).approval ?? {};
    const { callId } = approval.task;
    await decideOn(
      { ...this.#core(), tasks: this.#runtime() },
      { callId, key: approval.key },
      { who, groups: [by], approve, note, via: "delivery" },
    );
  }

  /** Runs the task once, from its claim to the end of the run. The clock jumps to its due time. */
  async run(id: string, observer: StepObserver, onStop: (stop: () => void) => void): Promise<void> {
    const { dueAt } = await this.#record(id);
    const core = this.#core();
    const { environment } = core;
    if (dueAt === undefined)
      throw new Error("The task waits for something that play() cannot provide.");
    this.#skip(Math.max(0, dueAt - environment.now()));
    await this.#claimAndRun(core, (task) => task.id === id, observer, onStop);
  }

  /** Undoes steps of a call that has ended, in one claim. False if there is nothing to undo. */
  async undo(observer: StepObserver, onStop: (stop: () => void) => void): Promise<boolean> {
    const { undoing, now } = await this.#store.figures();
    if (undoing === 0) return false;
    const { leaseMs } = this.#store;
    const tools = [this.#definition.name];
    const { nextDueAt = now } = await this.#store.claim({ worker: "kit", tools, most: 0, leaseMs });
    this.#skip(Math.max(0, nextDueAt - now));
    await this.#claimAndRun(this.#core(), isUndoing, observer, onStop);
    return true;
  }

  async #claimAndRun(
    core: Core,
    isWanted: (task: TaskRecord) => boolean,
    observer: StepObserver,
    onStop: (stop: () => void) => void,
  ): Promise<void> {
    const { leaseMs } = this.#store;
    const tools = [this.#definition.name];
    const { claimed } = await this.#store.claim({ worker: "kit", tools, most: 100, leaseMs });
    const claim = claimed.find(({ task }) => isWanted(task));
    // A request that was sent twice may have made other tasks.
    for (const { task } of claimed) {
      const why = { afterMs: 1_000, isFruitless: false, cause: undefined };
      if (task.id !== claim?.task.id) await this.#store.release(task, why);
    }
    if (claim === undefined) return;
    const { environment } = core;
    const { eventually } = environment;
    const execution = new Execution(
      claim,
      programOf(core, this.#definition, observer),
      new Lease([() => performance.now()], leaseMs),
      {
        store: this.#store,
        sealer: sealerOf(core),
        clock: {
          now: environment.now,
          after: eventually,
          wait: (ms) => new Promise((resolve) => eventually(ms, resolve)),
        },
        limits: limitsOf(core),
        observer: { ...silent, ...taskAudit(core) },
        version: core.version,
        shares: new StorageShares(this.#store, limitsOf(core), silent),
      },
    );
    onStop(() => execution.stop("LostLease"));
    await execution.run();
  }

  /** Reads what the task streams, after a cursor. It ends when the task has asked something or has ended. */
  async readStreams(
    id: string,
    after: string | undefined,
  ): Promise<ReturnType<TaskRuntime["readStreams"]>> {
    return this.#runtime().readStreams(await this.#record(id), after, new AbortController().signal);
  }

  async answer(id: string, answers: ReadonlyMap<string, object>): Promise<void> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script's answers are JSON
    await this.#runtime().update(id, answers as unknown as ReadonlyMap<string, Json>);
  }

  /** Does what `app.deliver` does. Returns why the value does not fit, if it does not. */
  async deliver(id: string, key: string, value: Json): Promise<string | undefined> {
    const { callId } = await this.#record(id);
    const runtime = this.#runtime();
    const reason = await runtime.objection(callId, key, value);
    if (reason === undefined)
      await runtime.deliver(callId, key, externalDigest(key), value, { via: "delivery" });
    return reason;
  }

  #runtime(): TaskRuntime {
    return this.runtime(this.#core());
  }

  async #record(id: string): Promise<TaskRecord> {
    const task = await this.#store.read(id);
    if (task === undefined) throw new Error("The task is no longer in the store.");
    return task;
  }
}

/** The result of a finished task. Throws if it ended in an error. */
export function resultOfTask({ status, result, error }: TaskSnapshot): WireResult {
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
  if (status === "cancelled") throw new Error("The task was cancelled.");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire
  return (result ?? {}) as WireResult;
}
