// Cancels a task for an operator.

import { fromStore } from "../server/tasks/store-needed.ts";
import { defaultTaskLimits } from "../tasks/limits.ts";
import { isLive } from "../tasks/task.ts";
import type { Status } from "../tasks/task.ts";
import type { ApiCall } from "./api-call.ts";
import { notFound, Refusal } from "./refusal.ts";
import { taskIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import type { TaskOutcome } from "./wire.ts";

/** POST api/tasks/:id/cancel */
export async function cancelTask(
  view: StoreView,
  { operator, id }: Pick<ApiCall, "operator" | "id">,
): Promise<TaskOutcome> {
  const { store, tasks, sealer, inside } = view;
  const task = await taskIn(view, id);
  if (!isLive(task)) {
    throw new Refusal(409, "conflict", `The task is over: its status is ${task.status}.`);
  }
  // Without the keys the task can be cancelled all the same, and not be read.
  const ended = await fromStore<{ readonly status: Status } | undefined>(
    sealer === undefined
      ? store.cancel(id, defaultTaskLimits.keepMs)
      : tasks.cancel(id, { via: "console", who: operator.who }),
  );
  if (ended === undefined) throw notFound("There is no such task.");
  if (sealer === undefined) {
    inside.core.logger.warn(
      `A task was cancelled by ${operator.who}. The audit does not say so, because this console does not have the keys.`,
      { task: id },
    );
  }
  return { task: id, status: ended.status };
}
