// How the store in memory orders and deletes what it keeps.

import type { TaskRecord } from "../task.ts";

/** Deletes what has expired, and returns how many there were. */
export function deleteExpired(
  kept: Map<string, { readonly expiresAt: number }>,
  now: number,
): number {
  const before = kept.size;
  for (const [id, { expiresAt }] of kept) if (expiresAt <= now) kept.delete(id);
  return before - kept.size;
}

/** What the order of a list depends on. */
type Placed = Pick<TaskRecord, "createdAt" | "id">;

/** The order of a list. */
export function newestFirst(one: Placed, other: Placed): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

/** The order that tasks are claimed in. */
export function earliestDue(one: TaskRecord, other: TaskRecord): number {
  return (one.dueAt ?? Infinity) - (other.dueAt ?? Infinity) || (one.id < other.id ? -1 : 1);
}
