// What the audit says about decisions.

import type { OpenApproval } from "../../tasks/approvals.ts";
import type { Core } from "../core.ts";
import type { PageQuestion } from "../pages/page-question.ts";

/** A decision on its way. */
interface Decided {
  readonly callId: string;
  readonly key: string;
  readonly deciding: {
    readonly who: string;
    readonly approve: boolean;
    readonly note?: string | undefined;
    readonly via: "form" | "url" | "app" | "relay" | "link" | "delivery" | "console";
  };
}

/** Records that someone decided, or came too late. */
export async function auditDecision(
  core: Core,
  { callId, key, deciding }: Decided,
  action: "approved" | "rejected" | "too_late",
  found?: OpenApproval,
  at: number = core.environment.now(),
): Promise<void> {
  const { who, note, via } = deciding;
  const isLate = action === "too_late";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the task, which made it
  const { message, about } = (found?.page ?? {}) as unknown as Partial<PageQuestion>;
  await core.audit({
    action,
    at: new Date(at),
    callId,
    key,
    who,
    via,
    note: isLate ? lateNote(deciding) : note || undefined,
    message,
    about,
    tool: found?.task.tool,
    taskId: found?.task.id,
    principal: found?.task.principal,
    digest: found?.digest,
    // Someone may come too late several times.
    occasion: isLate ? core.environment.newId() : at,
  });
}

/** The action does not say what someone who came too late had decided. */
function lateNote({ approve, note }: Decided["deciding"]): string {
  const what = `would have ${approve ? "approved" : "declined"}`;
  return note ? `${what}: ${note}` : what;
}
