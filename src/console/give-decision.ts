// Decisions about approvals that come from the console.

import { decideOn, mostNote } from "../server/approvals/decide.ts";
import type { Decided } from "../tasks/decisions.ts";
import type { ApiCall } from "./api-call.ts";
import { obstacleFor } from "./going-on.ts";
import { whyMayNotDecide } from "./operator.ts";
import { Refusal } from "./refusal.ts";
import { taskIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import type { DecisionFacts, DecisionOutcome } from "./wire.ts";

/** POST api/decisions */
export async function giveDecision(
  view: StoreView,
  { operator, body }: Pick<ApiCall, "operator" | "body">,
): Promise<DecisionOutcome> {
  const { task: id, key, approve, note = "", digest } = body;
  const isText = typeof note === "string" && note.length <= mostNote;
  if (
    typeof id !== "string" ||
    typeof key !== "string" ||
    typeof approve !== "boolean" ||
    (digest !== undefined && typeof digest !== "string") ||
    !isText
  ) {
    throw new Refusal(
      400,
      "invalid",
      "Send { task, key, approve, note }, with approve true or false.",
    );
  }
  const task = await taskIn(view, id);
  const why = whyMayNotDecide(operator, task.principal);
  if (why !== undefined) throw new Refusal(403, "no_principal", why);
  const group = task.waits.find((wait) => wait.key === key && wait.needs !== undefined)?.group;
  // In development one person is everyone.
  const own = operator.isInEveryGroup === true && group !== undefined ? [group] : [];
  const { status, decisions } = await decideOn(
    view.inside.core,
    { callId: task.callId, key },
    {
      who: operator.principal ?? "",
      groups: [...operator.groups, ...own],
      approve,
      note,
      via: "console",
      digest,
    },
  );
  if (status === "not_allowed") {
    throw new Refusal(
      403,
      "not_allowed",
      "Members of the group decide, and nobody decides about their own call.",
    );
  }
  const isIn = status === "approved" || status === "declined";
  const obstacle = isIn ? await obstacleFor(view, task) : undefined;
  const isOwn = decisions.some(({ who }) => who === operator.principal);
  const isLate = status === "gone" || (status === "already_decided" && !isOwn);
  return {
    status,
    ...(isLate && { isLate }),
    ...(obstacle !== undefined && { obstacle }),
    decisions: decisions.map(({ at, ...rest }) => decisionFacts({ ...rest, at: at.getTime() })),
  };
}

/** A decision as the page shows it. */
export const decisionFacts = ({ who, isApproved, at, note, via }: Decided): DecisionFacts => ({
  who,
  isApproved,
  at,
  via,
  ...(note !== undefined && note !== "" && { note }),
});
