// Runs a task again from one of its entries, in development. It makes a new task of the same principal, which begins with the
// entries before that one. They are sealed again under the id of a new call, and so the steps that follow have new
// idempotency keys: what they do can happen twice.

import { ParleyError } from "../errors.ts";
import { fromStore } from "../server/tasks/store-needed.ts";
import { readEntries } from "../tasks/execution/log-records.ts";
import { openInput } from "../tasks/ownership.ts";
import { isObject } from "../util/objects.ts";
import type { ApiCall } from "./api-call.ts";
import { noteRerun, rerunMember } from "./linked-tasks.ts";
import { Refusal } from "./refusal.ts";
import { taskIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { mayRerun } from "./task-details.ts";
import type { TaskOutcome } from "./wire.ts";

/** POST api/tasks/:id/rerun */
export async function rerunTask(
  view: StoreView,
  { operator, id, body }: Pick<ApiCall, "operator" | "id" | "body">,
): Promise<TaskOutcome> {
  const { inside, store, tasks, sealer } = view;
  const { logger, environment, audit } = inside.core;
  const task = await taskIn(view, id);
  if (sealer === undefined || !mayRerun(view, operator, task)) {
    throw new Refusal(
      403,
      "not_allowed",
      "Only in development can a task be run again, by a console that has its tool and its keys.",
    );
  }
  const { from } = body;
  const isPlace = typeof from === "number" && Number.isInteger(from) && from >= 0;
  if (!isPlace || from > task.logLength) {
    throw new Refusal(400, "invalid", '"from" must be the number of an entry of this task.');
  }
  const log = await fromStore(store.readLog(id));
  const entries = readEntries(sealer, task.callId, log.slice(0, from));
  const input = openInput(sealer, task);
  const origin = { task: id, entries: from, at: environment.now() };
  const newId = environment.newId();
  try {
    const made = await fromStore(
      tasks.create({
        callId: store.idFor?.(newId, task.principal) ?? newId,
        tool: task.tool,
        principal: task.principal === "" ? undefined : task.principal,
        input: isObject(input) ? { ...input, [rerunMember]: origin } : input,
        entries,
        unused: [],
        ttlMs: undefined,
      }),
    );
    await audit({
      action: "rerun",
      tool: task.tool,
      callId: task.callId,
      taskId: id,
      principal: task.principal === "" ? undefined : task.principal,
      who: operator.who,
      via: "console",
      note: made.id,
      occasion: made.id,
    });
    await noteRerun(view, task, { ...origin, task: made.id });
    logger.info(`A task was run again from entry ${from}, by ${operator.who}.`, {
      task: made.id,
      of: id,
    });
    return { task: made.id, status: made.status };
  } catch (error) {
    if (error instanceof ParleyError) throw new Refusal(409, "conflict", error.message);
    throw error;
  }
}
