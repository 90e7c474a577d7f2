// What there is to tell of the task engine, for logs and metrics.

import type { TaskRecord } from "./task.ts";

export interface TaskObserver {
  readonly created: (task: TaskRecord) => void;
  readonly finished: (task: TaskRecord, status: "completed" | "failed") => void;
  /** A worker was too slow, or paused: another has its task, or may have. */
  readonly leaseLost: (task: TaskRecord) => void;
  /** A record does not open, a program cannot start. Tried again later. */
  readonly couldNotRun: (task: TaskRecord, error: unknown) => void;
  readonly gaveUp: (task: TaskRecord, cause: string) => void;
  /** Called for each failure; telling them apart is the reader's. */
  readonly storeFailed: (error: unknown) => void;
  readonly storeBack: () => void;
}
