// What the task engine reports to logs and metrics.

import type { Sender } from "../replay/journal.ts";
import type { TaskRecord } from "./task.ts";

/** A limit that each caller has for itself, by its name in `parley({ limits })`. */
export type CallerLimit = "tasksPerPrincipal" | "storedBytesPerPrincipal";

/** How the undo of a step ended. */
interface EndedUndo {
  readonly step: string;
  /** The name of the undo. */
  readonly undo: string;
  /** The last error, if the undo was given up. */
  readonly error: string | undefined;
}

/** Receives the events of the task engine. */
export interface TaskObserver {
  /** The worker of this process has started, under this name. */
  readonly started?: (worker: string) => void;
  readonly created: (task: TaskRecord) => void;
  /** `ms` is how long the task has lived. */
  readonly finished: (task: TaskRecord, status: "completed" | "failed", ms: number) => void;
  /** The response to whoever cancelled it waits for it. Nobody is named if that was the caller. */
  readonly cancelled: (task: TaskRecord, by?: Sender) => void | Promise<void>;
  /** An answer or a delivery was accepted, this many milliseconds after the task asked for it. */
  readonly answered?: (task: Pick<TaskRecord, "tool">, waitedMs: number) => void;
  /** A call that ended in its rounds has left steps to undo. */
  readonly leftUndone?: () => void;
  /** A sweep ended this many live tasks, because their time was up. */
  readonly expired: (count: number) => void;
  /** A worker was too slow or was paused, so another worker has its task or may have it. */
  readonly leaseLost: (task: TaskRecord) => void;
  /** A task was claimed here that this worker still held when its lease ran out. */
  readonly takenOver?: (task: TaskRecord, from: string) => void;
  /** The event loop was blocked, or the process was paused, for so long that leases were at risk. */
  readonly blocked: (what: string) => void;
  /** A record could not be opened, or a program could not start. Another attempt follows. */
  readonly couldNotRun: (task: TaskRecord, error: unknown) => void;
  /** This code cannot follow the history of a task, which another version of the app wrote. The task is given back. */
  readonly diverged?: (task: TaskRecord, error: unknown, version: string | undefined) => void;
  /** The row of a task is not what was sealed, so the database was changed by something else. The task is not run, shown or answered. */
  readonly moved: (task: TaskRecord, error: Error) => void;
  /** The task fails, because several claims in a row made no progress. */
  readonly gaveUp: (task: TaskRecord, cause: string) => void;
  /** An undo has ended, and its record is about to be written. The record waits for it, so it may be called again. */
  readonly undoEnds?: (task: TaskRecord, undo: EndedUndo) => Promise<void>;
  /** A step of an ended task was undone. */
  readonly undone?: (task: TaskRecord, step: string) => void;
  /** An undo failed, and is tried again until this time. */
  readonly undoDelayed?: (task: TaskRecord, step: string, error: unknown, until: number) => void;
  /** An undo was given up, because its time is up. */
  readonly undoFailed?: (task: TaskRecord, step: string, error: unknown) => void;
  /** A caller was refused, because it is at a limit of its own. An observer decides how often to log it. */
  readonly limitReached: (principal: string, limit: CallerLimit, value: number) => void;
  /** An operation of the store failed. It is called for each failure, so an observer decides which ones to log. */
  readonly storeFailed: (error: unknown) => void;
  /** An operation of the store succeeded, perhaps after failures. */
  readonly storeBack: () => void;
}
