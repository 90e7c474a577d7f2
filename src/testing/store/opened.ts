// What the contract's parts share: an opened store, and short ways to make what its operations take.

import type { TaskStore } from "../../tasks/store.ts";
import type { Arrival, NewTask, ClaimRef, TaskRecord, Wait, Waiting } from "../../tasks/task.ts";

/** A store for one test, empty. Its clock stands still but for `advance`. */
export interface Opened {
  readonly store: TaskStore;
  /** A second handle on the same data, as another replica has one. */
  readonly another: () => Promise<TaskStore>;
  /** Moves the store's clock, for all handles. */
  readonly advance: (ms: number) => Promise<void>;
  /** Closes all handles and removes the data. */
  readonly close: () => Promise<void>;
}

/** `startsAt` is where a clock that can be set may begin; the contract reads all times from the store. */
export type Open = (clock: { readonly startsAt: number }) => Promise<Opened>;

export const startsAt = 1_800_000_000_000;
export const leaseMs = 10_000;
export const ttlMs = 3_600_000;
export const keepMs = 60_000;

/** The store's clock, as the store tells it. */
export const nowOf = async (store: TaskStore): Promise<number> => (await store.figures()).now;

export function newTask(name: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id: `task-${name}`,
    callId: `call-${name}`,
    tool: "tool",
    principal: "ann",
    input: `input of ${name}`,
    log: [],
    inbox: [],
    ttlMs,
    claimedBy: undefined,
    ...more,
  };
}

export async function create(
  store: TaskStore,
  name: string,
  more: Partial<NewTask> = {},
): Promise<TaskRecord> {
  const creation = await store.create(newTask(name, more), 1_000);
  if (creation.kind !== "created") throw new Error(`not created: ${creation.kind}`);
  return creation.task;
}

/** One that a worker holds from the start. */
export async function hold(
  store: TaskStore,
  name: string,
  more: Partial<NewTask> = {},
): Promise<ClaimRef> {
  return create(store, name, { claimedBy: { worker: "w", leaseMs }, ...more });
}

/** One that waits for these. */
export async function park(
  store: TaskStore,
  name: string,
  waits: readonly Wait[],
  more: Partial<NewTask> = {},
): Promise<ClaimRef> {
  const ref = await hold(store, name, more);
  if (!(await store.park(ref, waiting(waits)))) throw new Error("not parked");
  return ref;
}

export const question = (key: string, more: Partial<Wait> = {}): Wait => ({
  kind: "question",
  key,
  wire: key,
  digest: `digest of ${key}`,
  request: `ask ${key}`,
  ...more,
});

export const external = (key: string, more: Partial<Wait> = {}): Wait => ({
  kind: "external",
  key,
  wire: key,
  digest: `digest of ${key}`,
  ...more,
});

export const timer = (key: string, dueAt: number): Wait => ({
  kind: "timer",
  key,
  wire: key,
  dueAt,
});

export function waiting(waits: readonly Wait[], taken: readonly string[] = []): Waiting {
  return { waits, asked: Object.fromEntries(waits.map(({ key }) => [key, 1])), taken };
}

export const arrived = (key: string, at: number, more: Partial<Arrival> = {}): Arrival => ({
  id: key,
  key,
  digest: `digest of ${key}`,
  value: `value of ${key}`,
  at,
  ...more,
});

export const answer = (wire: string, value = `answer to ${wire}`) => ({ wire, value });

export const claimAll = (store: TaskStore, worker = "w", tools = ["tool"]) =>
  store.claim({ worker, tools, most: 1_000, leaseMs });

/** The record as the store has it now. */
export async function read(store: TaskStore, { id }: Pick<ClaimRef, "id">): Promise<TaskRecord> {
  const task = await store.read(id);
  if (task === undefined) throw new Error(`no task ${id}`);
  return task;
}

export const idsOf = (tasks: readonly Pick<ClaimRef, "id">[]): string[] =>
  tasks.map(({ id }) => id);
