// A task expires at an exact time, not when a sweep happens to pass.

import { laidToRest } from "./moves.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";

/**
 * The task at this time. A live task whose time is up has failed, even if its contents are still there for the next
 * sweep to delete. Every operation of a store begins with this, except the sweep.
 */
export function asOf(task: TaskRecord, now: number): TaskRecord {
  if (!isLive(task) || task.expiresAt > now) return task;
  // Its steps are undone once a sweep has made this move for good.
  const expired = laidToRest({ ...task, undos: 0 }, now, 0);
  return expired === undefined ? task : { ...expired, expiresAt: task.expiresAt };
}
