// The first record of a task.

import type { NewTask, Sealed, TaskRecord } from "./task.ts";

/** The record of a new task. */
export function created(task: NewTask, now: number): TaskRecord {
  const { id, callId, tool, principal, input, log, inbox, ttlMs, claimedBy, ended } = task;
  return {
    id,
    callId,
    tool,
    principal,
    status: ended?.status ?? "working",
    revision: 1,
    epoch: claimedBy === undefined ? 0 : 1,
    worker: claimedBy?.worker,
    dueAt: claimedBy === undefined ? now : now + claimedBy.leaseMs,
    waits: [],
    inbox,
    asked: {},
    logLength: log.length,
    logBytes: bytesOf(log),
    undos: task.undos ?? 0,
    fruitless: claimedBy === undefined ? 0 : 1,
    cause: undefined,
    input,
    statusMessage: undefined,
    result: ended?.result,
    rest: undefined,
    isUnread: true,
    createdAt: now,
    claimedAt: claimedBy === undefined ? undefined : now,
    updatedAt: now,
    expiresAt: now + ttlMs,
  };
}

/** The size of records in characters. It equals the size in bytes, because sealed text is ASCII. */
export function bytesOf(records: readonly Sealed[]): number {
  return records.reduce((sum, record) => sum + record.length, 0);
}
