// What the audit says about decisions.

import type { FoundApproval, OpenApproval } from "../../tasks/approvals.ts";
import { recordedQuestion } from "../audit/recorded-question.ts";
import type { Core } from "../core.ts";
import type { PageQuestion } from "../pages/page-question.ts";

/** A decision on its way. */
interface Decided {
  readonly callId: string;
  readonly key: string;
  readonly deciding: {
    readonly who: string;
    readonly groups: readonly string[];
    readonly approve: boolean;
    readonly note?: string | undefined;
    readonly via: "form" | "url" | "app" | "relay" | "link" | "delivery" | "console";
    readonly digest?: string | undefined;
  };
}

/** Records that someone decided. */
export async function auditDecision(
  core: Core,
  { callId, key, deciding }: Decided,
  { task, digest, page }: OpenApproval,
  at: number = core.environment.now(),
): Promise<void> {
  const { who, note, via, approve } = deciding;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the task, which made it
  const { message, about } = page as unknown as PageQuestion;
  await core.audit({
    action: approve ? "approved" : "rejected",
    at: new Date(at),
    callId,
    key,
    who,
    via,
    note: note || undefined,
    message,
    about,
    tool: task.tool,
    taskId: task.id,
    principal: task.principal,
    digest,
    occasion: at,
  });
}

/** Records that someone came too late, if it is someone who could have decided. */
export async function auditLate(
  core: Core,
  { callId, key, deciding }: Decided,
  found: FoundApproval,
): Promise<void> {
  if (!core.trail.isOn) return;
  const { who, groups, via } = deciding;
  const { task } = found;
  // What this person has seen, or else what was decided.
  const digest = deciding.digest ?? ("digest" in found ? found.digest : undefined);
  const asked = await recordedQuestion(core, { callId, key, digest });
  const { group, principal = task?.principal } = asked ?? {};
  if (who === principal || (group !== undefined && !groups.includes(group))) return;
  await core.audit({
    action: "too_late",
    callId,
    key,
    who,
    via,
    note: lateNote(deciding),
    message: asked?.message,
    about: asked?.about,
    tool: asked?.tool ?? task?.tool,
    taskId: asked?.taskId ?? task?.id,
    principal,
    digest: asked?.digest ?? digest,
    // Someone may come too late several times.
    occasion: core.environment.newId(),
  });
}

/** The action does not say what someone who came too late had decided. */
function lateNote({ approve, note }: Decided["deciding"]): string {
  const what = `would have ${approve ? "approved" : "declined"}`;
  return note ? `${what}: ${note}` : what;
}
