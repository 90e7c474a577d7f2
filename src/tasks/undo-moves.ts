// The moves of a task that has ended and whose steps are undone (R16). Workers claim it like a live one, and nothing else
// happens to it until all is undone.

import { isLive, isUndoing } from "./task.ts";
import type { ClaimRef, TaskRecord, UndoProgress } from "./task.ts";

/**
 * What becomes of a task that ends while it has steps to undo (U3). A worker that holds it keeps its claim, because bodies
 * may still be running there: it waits for them, records them, and undoes the steps. Otherwise the task is due at once.
 */
export function keptForUndo(task: TaskRecord, ended: TaskRecord, now: number): TaskRecord {
  if (task.undos === 0) return ended;
  const isHeld = task.worker !== undefined;
  return {
    ...ended,
    epoch: isHeld ? task.epoch : ended.epoch,
    worker: task.worker,
    dueAt: isHeld ? task.dueAt : now,
    // From here on this counts the attempts at one undo.
    fruitless: isHeld ? 1 : 0,
    cause: undefined,
  };
}

/** Ends a task whose time is up. It keeps its contents until its steps are undone. */
export function expired(
  task: TaskRecord,
  ended: TaskRecord,
  now: number,
  keepMs: number,
): TaskRecord {
  const epoch = task.epoch + 1;
  const failed = { ...ended, status: "failed", rest: "expired", epoch } as const;
  return keptForUndo(task, { ...failed, expiresAt: now + keepMs }, now);
}

/** Whether this same progress was already written, so that only its acknowledgement was lost. */
export function wasUndone(task: TaskRecord, ref: ClaimRef, progress: UndoProgress): boolean {
  const { at, records, undos } = progress;
  const isLonger = task.logLength === at + records.length && task.undos === undos;
  return !isLive(task) && task.epoch === ref.epoch && isLonger;
}

/** Writes down what was undone. Returns undefined if the claim is lost or another writer was faster. */
export function undone(
  task: TaskRecord,
  ref: ClaimRef,
  { at, records, undos, keepMs }: UndoProgress,
  now: number,
): TaskRecord | undefined {
  const isHeld = isUndoing(task) && task.worker !== undefined && task.epoch === ref.epoch;
  if (!isHeld || task.logLength !== at) return undefined;
  const bytes = records.reduce((sum, record) => sum + record.length, 0);
  const next = {
    ...task,
    logLength: at + records.length,
    logBytes: task.logBytes + bytes,
    undos,
    cause: undefined,
  };
  if (undos > 0) return { ...next, fruitless: 1 };
  const expiresAt = Math.max(task.expiresAt, now + keepMs);
  return { ...next, fruitless: 0, worker: undefined, dueAt: undefined, expiresAt };
}

/**
 * Whether a sweep may delete the contents of a task. It may not while the steps are being undone, unless that takes too
 * long.
 */
export function mayBeSwept(task: TaskRecord, now: number, undoMs: number): boolean {
  return !isUndoing(task) || task.updatedAt <= now - undoMs;
}
