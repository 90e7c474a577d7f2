// Whether this process can do its work, and how the tasks stand.

import type { Core } from "../core.ts";
import { textOf } from "../round/failure.ts";
import type { Work } from "../tasks/work.ts";

export interface Health {
  /** Fit to be sent requests: there are keys, and the store, if any, answers. */
  readonly ready: boolean;
  /** What is wrong, in words; some of it does not keep requests from being served. */
  readonly problems: readonly string[];
  readonly tasks: TaskHealth | undefined;
}

export interface TaskHealth {
  readonly live: number;
  /** Waiting for an answer, a delivery or a time: they cost nothing. */
  readonly parked: number;
  /** Of these, how many wait for an answer of the client. */
  readonly inputRequired: number;
  /** In the hands of a worker, here or elsewhere. */
  readonly held: number;
  readonly due: number;
  /** How long the longest of these has been due: what grows when there are too few workers. */
  readonly oldestDueMs: number;
  /** When any worker was last seen on this store. */
  readonly workerSeenMsAgo: number | undefined;
  /** In this process: tasks being run, leases lost and failures of the store since it started. */
  readonly runningHere: number;
  readonly leaseLosses: number;
  readonly storeErrors: number;
}

export async function healthOf(core: Core, work: Work | undefined): Promise<Health> {
  const problems: string[] = [];
  let isReady = true;
  try {
    core.keyring();
  } catch (error) {
    isReady = false;
    problems.push(textOf(error));
  }
  if (work === undefined) return { ready: isReady, problems, tasks: undefined };
  try {
    const tasks = await tasksOf(work);
    const { workerSeenMsAgo = Infinity } = tasks;
    if (work.hasTools && workerSeenMsAgo > work.silenceMs) {
      problems.push(
        "No worker has been seen on this store lately: tasks are created, but not run.",
      );
    }
    return { ready: isReady, problems, tasks };
  } catch (error) {
    problems.push(`The ${work.store["~store"]} store cannot be used: ${textOf(error)}`);
    return { ready: false, problems, tasks: undefined };
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
