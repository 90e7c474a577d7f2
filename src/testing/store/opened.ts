// What the parts of the suite share: an opened store, and short ways to make what its operations take.

import type { ClaimResult, TaskStore } from "../../tasks/store.ts";
import type {
  Answer,
  Arrival,
  NewTask,
  ClaimRef,
  TaskRecord,
  Wait,
  Waiting,
} from "../../tasks/task.ts";

/** An empty store for one test. Its clock stands still, except when `advance` moves it. */
export interface OpenedStore {
  /** The store. */
  readonly store: TaskStore;
  /** Opens a second store on the same data, as another replica would. */
  readonly another: () => Promise<TaskStore>;
  /** Moves the clock forward by this many milliseconds, for all stores on this data. */
  readonly advance: (ms: number) => Promise<void>;
  /** Closes all stores and removes the data. */
  readonly close: () => Promise<void>;
  /** False: a store does not hear of changes through other handles, and the case about it is skipped. Default: true. */
  readonly hasHints?: boolean | undefined;
}

/**
 * Opens an empty store. A clock that you control can begin at `startsAt`, in milliseconds since 1970. The tests read all
 * times from the store, so a clock may also begin elsewhere.
 */
export type OpenStore = (clock: {
  /** Where a clock that you control can begin, in milliseconds since 1970. */
  readonly startsAt: number;
}) => Promise<OpenedStore>;

/** The time that a clock under the test's control begins with. */
export const startsAt = 1_800_000_000_000;
export const leaseMs = 10_000;
export const ttlMs = 3_600_000;
export const keepMs = 60_000;

/** The store's time. */
export const nowOf = async (store: TaskStore): Promise<number> => (await store.figures()).now;

/** A task to create, whose texts have this name in them. */
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

/** Creates a task. */
export async function create(
  store: TaskStore,
  name: string,
  more: Partial<NewTask> = {},
): Promise<TaskRecord> {
  const creation = await store.create(newTask(name, more), 1_000);
  if (creation.kind !== "created") throw new Error(`The task was not created: ${creation.kind}.`);
  return creation.task;
}

/** Creates a task that a worker holds from the start. */
export async function hold(
  store: TaskStore,
  name: string,
  more: Partial<NewTask> = {},
): Promise<ClaimRef> {
  return create(store, name, { claimedBy: { worker: "w", leaseMs }, ...more });
}

/** Creates a task that waits for these. */
export async function park(
  store: TaskStore,
  name: string,
  waits: readonly Wait[],
  more: Partial<NewTask> = {},
): Promise<ClaimRef> {
  const ref = await hold(store, name, more);
  if (!(await store.park(ref, waiting(waits)))) throw new Error("The task was not parked.");
  return ref;
}

/** A wait for a question to the client. */
export const question = (key: string, more: Partial<Wait> = {}): Wait => ({
  kind: "question",
  key,
  wire: key,
  digest: `digest of ${key}`,
  request: `ask ${key}`,
  ...more,
});

/** A wait for a delivery from elsewhere. */
export const external = (key: string, more: Partial<Wait> = {}): Wait => ({
  kind: "external",
  key,
  wire: key,
  digest: `digest of ${key}`,
  ...more,
});

/** A wait for a timer. */
export const timer = (key: string, dueAt: number): Wait => ({
  kind: "timer",
  key,
  wire: key,
  dueAt,
});

/** What a worker writes down when the handler waits for these. */
export function waiting(waits: readonly Wait[], taken: readonly string[] = []): Waiting {
  return { waits, asked: Object.fromEntries(waits.map(({ key }) => [key, 1])), taken };
}

/** An answer that has arrived. */
export const arrived = (key: string, at: number, more: Partial<Arrival> = {}): Arrival => ({
  id: key,
  key,
  digest: `digest of ${key}`,
  value: `value of ${key}`,
  at,
  ...more,
});

/** An answer on its way. */
export const answer = (wire: string, value = `answer to ${wire}`): Answer => ({ wire, value });

/** Claims everything that is due. */
export const claimAll = (
  store: TaskStore,
  worker = "w",
  tools: readonly string[] = ["tool"],
): Promise<ClaimResult> => store.claim({ worker, tools, most: 1_000, leaseMs });

/** Reads a task that must exist. */
export async function read(store: TaskStore, { id }: Pick<ClaimRef, "id">): Promise<TaskRecord> {
  const task = await store.read(id);
  if (task === undefined) throw new Error(`There is no task ${id}.`);
  return task;
}

/** The ids of tasks. */
export const idsOf = (tasks: readonly Pick<ClaimRef, "id">[]): string[] =>
  tasks.map(({ id }) => id);
