// Whether this process can serve requests, and the state of the tasks, for health checks and metrics.

import type { Core } from "../core.ts";
import { errorText } from "../../util/error-text.ts";
import type { Work } from "../tasks/task-engine.ts";

/** What `app.health()` reports. */
export interface Health {
  /** Whether to send requests here: keys are configured, and the store, if there is one, works. */
  readonly ready: boolean;
  /** What is wrong, in sentences. Some problems, such as a missing worker, do not make the process unready. */
  readonly problems: readonly string[];
  /** The state of the tasks. Undefined without a store, or if it cannot be read. */
  readonly tasks: TaskHealth | undefined;
}

/** The state of all tasks in the store, and of the worker in this process. */
export interface TaskHealth {
  /** Tasks that have not ended. */
  readonly live: number;
  /** Tasks that wait for an answer, a delivery or a timer. They use no process. */
  readonly parked: number;
  /** How many of the parked tasks wait for an answer from the client. */
  readonly inputRequired: number;
  /** Tasks that a worker holds, in this process or another. */
  readonly held: number;
  /** Tasks that are ready to run and that no worker has claimed yet. */
  readonly due: number;
  /** How long the oldest of the due tasks has been due, in milliseconds. It grows when there are too few workers. */
  readonly oldestDueMs: number;
  /** How long ago any worker was seen on this store, in milliseconds. Undefined if none ever was. */
  readonly workerSeenMsAgo: number | undefined;
  /** Tasks that this process is running. */
  readonly runningHere: number;
  /** How many leases this process has lost since it started. */
  readonly leaseLosses: number;
  /** How many times the store has failed since this process started. */
  readonly storeErrors: number;
}

/** Why a process is not ready, in words that anyone may read. */
type Obstacle = "there are no keys" | "the store cannot be used";

/** Checks the keys and the store. Never rejects. */
export async function healthOf(core: Core, work: Work | undefined): Promise<Health> {
  return (await readinessOf(core, work)).health;
}

/** The health of a process, and what keeps it from being ready. Never rejects. */
export async function readinessOf(
  core: Core,
  work: Work | undefined,
): Promise<{ readonly health: Health; readonly obstacles: readonly Obstacle[] }> {
  const problems: string[] = [];
  const obstacles: Obstacle[] = [];
  const state = (tasks: TaskHealth | undefined) => ({
    health: { ready: obstacles.length === 0, problems, tasks },
    obstacles,
  });
  try {
    core.keyring();
  } catch (error) {
    obstacles.push("there are no keys");
    problems.push(errorText(error));
  }
  if (work === undefined) return state(undefined);
  try {
    const tasks = await tasksOf(work);
    const { workerSeenMsAgo = Infinity } = tasks;
    if (work.hasTools && (await work.isSilent(workerSeenMsAgo))) {
      problems.push(
        "No worker has been seen on this store lately, so tasks are created but not run.",
      );
    }
    return state(tasks);
  } catch (error) {
    obstacles.push("the store cannot be used");
    problems.push(`The ${work.store["~store"]} store cannot be used: ${errorText(error)}`);
    return state(undefined);
  }
}

async function tasksOf(work: Work): Promise<TaskHealth> {
  const { runtime, leaseLosses, storeErrors } = work;
  const { now, live, parked, inputRequired, held, due, oldestDueAt, workerSeenAt } =
    await runtime.figures();
  return {
    live,
    parked,
    inputRequired,
    held,
    due,
    oldestDueMs: oldestDueAt === undefined ? 0 : now - oldestDueAt,
    workerSeenMsAgo: workerSeenAt === undefined ? undefined : now - workerSeenAt,
    runningHere: runtime.worker?.running ?? 0,
    leaseLosses,
    storeErrors,
  };
}
