// The runs of a task, for operators: who held it, from when to when, and how each run ended. A run is written down when it
// ends, in the operation that ends it. While it lasts, the task itself says who holds it and since when.

import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";

/** A run of a task by a worker. */
export interface TaskRun {
  /** The epoch of the claim. Records of this epoch were written in this run. */
  readonly epoch: number;
  /** The worker that held the task. */
  readonly worker: string;
  /** When the worker claimed the task. Undefined if an earlier version did. */
  readonly beganAt: number | undefined;
  /** When the run ended. Undefined while it lasts. */
  readonly endedAt: number | undefined;
  /** How the run ended. Undefined while it lasts. */
  readonly how: RunEnd | undefined;
}

/**
 * How a run ended. "parked": the handler waits. "released": the worker gave the task back in order. "failed": it gave the task
 * back because something went wrong. "finished": the handler is done. "cancelled": someone cancelled the task. "expired": its
 * time was up. "undone": what had to be undone is. "lost": the worker was silent, and another one or an operator took the task.
 */
export type RunEnd =
  | "parked"
  | "released"
  | "failed"
  | "finished"
  | "cancelled"
  | "expired"
  | "undone"
  | "lost";

/** A run that has ended. */
export interface EndedRun extends TaskRun {
  /** When the run ended. */
  readonly endedAt: number;
  /** How the run ended. */
  readonly how: RunEnd;
}

/** How many runs of a task are kept: the newest. */
export const mostRuns = 100;

/** The run that ends when a task changes in this way. Undefined if none does. */
export function endedRun(
  before: TaskRecord | undefined,
  next: TaskRecord,
  now: number,
): EndedRun | undefined {
  if (before?.worker === undefined) return undefined;
  const { epoch, worker, claimedAt: beganAt } = before;
  if (next.worker === worker && next.epoch === epoch) return undefined;
  return { epoch, worker, beganAt, endedAt: now, how: endOf(before, next) };
}

function endOf(before: TaskRecord, next: TaskRecord): RunEnd {
  if (next.worker !== undefined) return "lost";
  if (isLive(next)) {
    if (next.epoch !== before.epoch) return "lost";
    return next.revision === before.revision ? releaseOf(before, next) : "parked";
  }
  if (next.rest === "expired") return "expired";
  if (isLive(before)) return next.status === "cancelled" ? "cancelled" : "finished";
  if (next.epoch !== before.epoch) return "lost";
  return next.undos === 0 ? "undone" : releaseOf(before, next);
}

const releaseOf = (before: TaskRecord, next: TaskRecord): RunEnd =>
  next.cause !== undefined && next.cause !== before.cause ? "failed" : "released";

/** The runs in order, with the one that lasts. Its beginning is unknown if an earlier version of Parley claimed the task. */
export function runsOf(
  ended: readonly EndedRun[],
  task: Pick<TaskRecord, "epoch" | "worker" | "claimedAt"> | undefined,
): readonly TaskRun[] {
  const { epoch = 0, worker, claimedAt: beganAt } = task ?? {};
  const current =
    worker === undefined ? [] : [{ epoch, worker, beganAt, endedAt: undefined, how: undefined }];
  let last = 0;
  return [...ended, ...current].map((run) => {
    const isStale = run.beganAt !== undefined && run.beganAt < last;
    last = run.endedAt ?? last;
    return isStale ? { ...run, beganAt: undefined } : run;
  });
}
