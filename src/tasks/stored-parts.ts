// The parts of running streams, as a store keeps them. It keeps them under the claim of the worker, and only while the
// body of a stream runs.

import { isLive } from "./task.ts";
import type { Sealed, TaskRecord } from "./task.ts";

/** A batch of what the body of a stream has produced. */
export interface StoredPart {
  /** Its number in this claim. A later batch has a greater one. */
  readonly n: number;
  /** The stream. */
  readonly key: string;
  /** What was produced. */
  readonly record: Sealed;
}

/** A place among the parts of a task. */
export interface PartPlace {
  /** The epoch of the claim. */
  readonly epoch: number;
  /** The number of the last part. */
  readonly n: number;
}

/** Parts of running streams, and how far their task is. */
export interface PartPage {
  /** The epoch of the task. */
  readonly epoch: number;
  /** The number of records in its log. */
  readonly logLength: number;
  /** Its revision. */
  readonly revision: number;
  /** The parts, in the order of their numbers. */
  readonly parts: readonly StoredPart[];
}

/** The most parts that `readParts` returns. */
export const partsAtOnce = 32;

/**
 * Whether this change ends the claim that parts were written under. The SQL stores have the same rule in a trigger of
 * their migration 4, so that the parts are also deleted when a process of an earlier version makes the change.
 */
export function endsParts(before: TaskRecord | undefined, after: TaskRecord): boolean {
  if (before?.worker === undefined) return false;
  return after.worker !== before.worker || after.epoch !== before.epoch || !isLive(after);
}
