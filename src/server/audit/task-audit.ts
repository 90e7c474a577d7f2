// What the audit says about a task, apart from its questions.

import type { TaskObserver } from "../../tasks/observer.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import type { Core } from "../core.ts";
import type { Via } from "../round/ways.ts";
import type { AuditedCaller } from "./call-audit.ts";

/** The events of the task engine that are recorded. */
export function taskAudit(
  core: Pick<Core, "audit">,
): Required<Pick<TaskObserver, "cancelled" | "undoEnds">> {
  return {
    cancelled: (task, { via, who } = {}) =>
      core.audit(
        {
          ...callerOf(task),
          action: "call_cancelled",
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the ways of this version are passed
          via: via as Via | undefined,
          who: who === task.principal ? undefined : who,
        },
        { isEnd: true },
      ),
    // Before the log has it: if the process dies in between, the undo runs again, and this record is the same.
    undoEnds: (task, { step, undo, error }) =>
      core.audit({
        ...callerOf(task),
        action: error === undefined ? "undone" : "undo_failed",
        key: step,
        note: error === undefined ? undo : `${undo}: ${error}`,
      }),
  };
}

const callerOf = ({ id, callId, tool, principal }: TaskRecord): AuditedCaller => ({
  tool,
  callId,
  taskId: id,
  ...(principal === "" ? {} : { principal }),
});
