// The messages of the tasks extension (SEP-2663).

/** The extension that client and server declare to use tasks. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What every message about a task contains. */
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

/** The response to a `tools/call` that has become a task. */
export interface CreateTaskResult extends TaskBase {
  readonly resultType: "task";
}

/** The response to `tasks/get`, and the contents of `notifications/tasks`. */
export interface DetailedTask extends TaskBase {
  readonly inputRequests?: { readonly [key: string]: unknown };
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
