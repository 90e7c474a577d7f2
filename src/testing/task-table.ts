// Where a call is played that has become a task: every run of it on an instance of its own, one claim at a time.
// No worker and no waiting: what is due next is run next, and time passes at once.

import type { WireResult } from "../server/define/definition.ts";
import type { Core } from "../server/core.ts";
import type { Definition } from "../server/define/definition.ts";
import { externalDigest } from "../server/context/questions.ts";
import type { Watch } from "../server/context/context.ts";
import { programOf } from "../server/tasks/program.ts";
import { vaultOf } from "../server/tasks/vault.ts";
import { limitsOf } from "../server/tasks/work.ts";
import { Execution } from "../tasks/execution/execution.ts";
import { Lease } from "../tasks/execution/lease.ts";
import { TaskRuntime } from "../tasks/runtime.ts";
import type { TaskSnapshot } from "../tasks/snapshot.ts";
import type { MemoryStore } from "../tasks/stores/memory.ts";
import type { TaskRecord } from "../tasks/task.ts";
import type { TaskObserver } from "../tasks/observer.ts";
import type { Json } from "../util/json.ts";

const silent: TaskObserver = {
  created: () => {},
  finished: () => {},
  leaseLost: () => {},
  couldNotRun: () => {},
  gaveUp: () => {},
  storeFailed: () => {},
  storeBack: () => {},
};

/** What a parked task waits for. */
export interface ParkedTask {
  readonly questions: TaskSnapshot["questions"];
  /** Keys of what someone else is to deliver. */
  readonly external: readonly string[];
}

export class TaskTable {
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

  /** For an instance that serves: it creates tasks, and leaves running them to us. */
  runtime(core: Core): TaskRuntime {
    return new TaskRuntime({
      store: this.#store,
      sealer: vaultOf(core),
      programs: { names: () => [], get: () => undefined },
      limits: limitsOf(core),
      observer: silent,
      newId: core.environment.newId,
    });
  }

  async read(id: string): Promise<TaskSnapshot> {
    const task = await this.#runtime().get(id);
    if (task === undefined) throw new Error("The task is gone.");
    return task;
  }

  /** Undefined: it is due, and has yet to be run. */
  async parked(id: string): Promise<ParkedTask | undefined> {
    const { dueAt, waits } = await this.#record(id);
    const { questions } = await this.read(id);
    const external = waits.flatMap(({ kind, key }) => (kind === "external" ? [key] : []));
    // A timer is waited for only where nobody could answer anything first.
    if (questions.size === 0 && external.length === 0 && dueAt !== undefined) return undefined;
    const isDue = dueAt !== undefined && dueAt <= this.#core().environment.now();
    return isDue ? undefined : { questions, external };
  }

  /** One run, from the claim to its end. Time is moved on to when it is due. */
  async run(id: string, watch: Watch, onStop: (stop: () => void) => void): Promise<void> {
    const { dueAt } = await this.#record(id);
    const core = this.#core();
    const { environment } = core;
    if (dueAt === undefined) throw new Error("The task waits for nothing that could be played.");
    this.#skip(Math.max(0, dueAt - environment.now()));
    const { leaseMs } = this.#store;
    const tools = [this.#definition.name];
    const { claimed } = await this.#store.claim({ worker: "kit", tools, most: 1, leaseMs });
    const [claim] = claimed;
    if (claim === undefined) throw new Error("The task could not be claimed.");
    const { eventually } = environment;
    const execution = new Execution(
      claim,
      programOf(core, this.#definition, watch),
      new Lease([() => performance.now()], leaseMs),
      {
        store: this.#store,
        sealer: vaultOf(core),
        clock: {
          now: environment.now,
          after: eventually,
          wait: (ms) => new Promise((resolve) => eventually(ms, resolve)),
        },
        limits: limitsOf(core),
        observer: silent,
      },
    );
    onStop(() => execution.stop("LostLease"));
    await execution.run();
  }

  async answer(id: string, answers: ReadonlyMap<string, object>): Promise<void> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script's answers are JSON
    await this.#runtime().update(id, answers as unknown as ReadonlyMap<string, Json>);
  }

  async deliver(id: string, key: string, value: Json): Promise<void> {
    const { callId } = await this.#record(id);
    await this.#runtime().deliver(callId, key, externalDigest(key), value);
  }

  #runtime(): TaskRuntime {
    return this.runtime(this.#core());
  }

  async #record(id: string): Promise<TaskRecord> {
    const task = await this.#store.read(id);
    if (task === undefined) throw new Error("The task is gone.");
    return task;
  }
}

/** The result of a task that is over. Throws where it ended in an error. */
export function resultOfTask({ status, result, error }: TaskSnapshot): WireResult {
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
  if (status === "cancelled") throw new Error("The task was cancelled.");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire
  return (result ?? {}) as WireResult;
}
