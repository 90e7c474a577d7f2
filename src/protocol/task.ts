// Shapes of the tasks extension (SEP-2663).

/** The extension with which client and server say that they know tasks. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What every task message says of its task. */
export interface TaskBase {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601 */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** The answer to a `tools/call` that has become a task. */
export interface CreateTaskResult extends TaskBase {
  readonly resultType: "task";
}

/** The answer to `tasks/get`, and what `notifications/tasks` brings. */
export interface DetailedTask extends TaskBase {
  readonly inputRequests?: { readonly [key: string]: unknown };
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
