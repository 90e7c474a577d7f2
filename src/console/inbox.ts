// Everything that waits for a person.

import { fromStore } from "../server/tasks/store-needed.ts";
import type { OpenWait } from "../tasks/task-reader.ts";
import { openDecisions } from "../tasks/decisions.ts";
import { isLive } from "../tasks/task.ts";
import type { TaskRecord, Wait } from "../tasks/task.ts";
import type { ApiCall } from "./api-call.ts";
import { questionFacts, questionIn, whyNot } from "./open-question.ts";
import type { Admitted } from "./operator.ts";
import { Refusal } from "./refusal.ts";
import { decisionFacts } from "./give-decision.ts";
import { numberIn, opened, textIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { kindOf } from "./task-rows.ts";
import type { DecisionFacts, Inbox, InboxItem } from "./wire.ts";

/** A page of the inbox. */
export async function listInbox(
  view: StoreView,
  { operator, query }: Pick<ApiCall, "operator" | "query">,
): Promise<Inbox> {
  const limit = Math.max(1, numberIn(query, "limit", 50, 200));
  const group = textIn(query, "group");
  const waits = await view.reader.waiting({
    groups: group === undefined ? undefined : [group],
    tool: textIn(query, "tool"),
    after: placeIn(textIn(query, "after")),
    limit,
  });
  const items = await Promise.all(waits.map((wait) => itemOf(view, operator, wait)));
  const last = waits.at(-1);
  return {
    items: items.flat(),
    ...(waits.length === limit && last !== undefined && { next: nextOf(last) }),
  };
}

/** What has been decided so far. Why is sealed, and is for those who decide and those who may see values. */
function decisionsIn(
  { sealer }: StoreView,
  { principal, values }: Admitted,
  { callId }: TaskRecord,
  { wire, decisions = [] }: Wait,
  mayAnswer: boolean,
): readonly DecisionFacts[] {
  const all = opened(sealer, (open) => openDecisions(open, callId, wire, decisions)) ?? [];
  const isShown = values || mayAnswer || all.some((one) => one.who === principal);
  return all.map((one) => decisionFacts(isShown ? one : { ...one, note: undefined }));
}

const nextOf = ({ since, taskId, wire }: OpenWait): string =>
  `${since}.${encodeURIComponent(taskId)}.${encodeURIComponent(wire)}`;

function placeIn(
  after: string | undefined,
): Pick<OpenWait, "since" | "taskId" | "wire"> | undefined {
  if (after === undefined) return undefined;
  const [, since, task, wire] = /^(\d{1,16})\.([^.]*)\.(.*)$/s.exec(after) ?? [];
  try {
    if (since !== undefined) {
      const taskId = decodeURIComponent(task ?? "");
      return { since: Number(since), taskId, wire: decodeURIComponent(wire ?? "") };
    }
  } catch {
    // Not what a page before returned.
  }
  throw new Refusal(400, "invalid", '"after" must be what the page before returned as "next".');
}

/** Nothing if the question was answered since it was listed. */
async function itemOf(
  view: StoreView,
  operator: Admitted,
  { taskId, wire, since }: OpenWait,
): Promise<readonly InboxItem[]> {
  const task = await fromStore(view.store.read(taskId));
  const wait = task?.waits.find((one) => one.wire === wire);
  if (task === undefined || wait === undefined || !isLive(task)) return [];
  const kind = kindOf(wait);
  if (kind === "timer") return [];
  const { key, group, dueAt } = wait;
  const question = questionIn(view, task, wait);
  const reason = whyNot(view, operator, task, wait, question);
  const mayAnswer = reason === undefined;
  return [
    {
      task: task.id,
      callId: task.callId,
      key,
      kind,
      tool: task.tool,
      ...(group !== undefined && { group }),
      ...(task.principal !== "" && { principal: task.principal }),
      since,
      ...(dueAt !== undefined && { dueAt }),
      ...questionFacts(question, mayAnswer || operator.values),
      decisions: kind === "approval" ? decisionsIn(view, operator, task, wait, mayAnswer) : [],
      ...(wait.needs !== undefined && { needed: wait.needs, digest: wait.digest ?? "" }),
      mayAnswer,
      ...(reason !== undefined && { whyNot: reason }),
    },
  ];
}
