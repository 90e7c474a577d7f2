// Answers that come from the console: to what a group is asked, and in the place of a client.

import { objectionAtTheDoor } from "../server/pages/page-question.ts";
import { externalDigest } from "../server/context/questions.ts";
import { mostNote } from "../server/approvals/decide.ts";
import { fromStore } from "../server/tasks/store-needed.ts";
import { isLive } from "../tasks/task.ts";
import type { TaskRecord, Wait } from "../tasks/task.ts";
import { isObject } from "../util/objects.ts";
import type { Json } from "../util/json.ts";
import type { ApiCall } from "./api-call.ts";
import { obstacleFor } from "./going-on.ts";
import { questionIn, whyNot } from "./open-question.ts";
import type { OpenQuestion } from "./open-question.ts";
import { Refusal } from "./refusal.ts";
import { taskIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { kindOf } from "./task-rows.ts";
import type { AnswerOutcome } from "./wire.ts";

/** POST api/answers */
export async function giveAnswer(
  view: StoreView,
  { operator, body }: Pick<ApiCall, "operator" | "body">,
): Promise<AnswerOutcome> {
  const { task: id, key, decline, value, note } = body;
  const isDecline = decline === true;
  const isNote = note === undefined || (typeof note === "string" && note.length <= mostNote);
  if (typeof id !== "string" || typeof key !== "string" || !isNote) throw malformed();
  if (isDecline === (value !== undefined)) throw malformed();
  const task = await taskIn(view, id);
  const wait = task.waits.find((one) => one.key === key && one.kind !== "timer");
  if (!isLive(task)) return { status: "gone" };
  if (wait === undefined) {
    return { status: Object.hasOwn(task.asked, key) ? "already_answered" : "gone" };
  }
  const question = questionIn(view, task, wait);
  const reason = whyNot(view, operator, task, wait, question);
  if (reason !== undefined) throw new Refusal(403, "not_allowed", reason);
  if (kindOf(wait) === "approval") {
    throw new Refusal(409, "conflict", "This is an approval. Approve or decline it.");
  }
  if (isDecline && wait.kind === "external") {
    throw new Refusal(
      409,
      "conflict",
      "The task waits for a value here, so this cannot be declined. Answer it, or cancel the task.",
    );
  }
  const given = { value: value ?? null, isDecline, who: operator.who };
  const outcome = await fromStore(deliver(view, task, wait, question, given));
  const isNoted = outcome.status === "delivered" && typeof note === "string" && note !== "";
  if (isNoted) await noted(view, task, wait, given, note);
  const obstacle = outcome.status === "delivered" ? await obstacleFor(view, task) : undefined;
  return obstacle === undefined ? outcome : { ...outcome, obstacle };
}

const malformed = () =>
  new Refusal(400, "invalid", "Send { task, key, value }, or { task, key, decline: true, note }.");

interface Given {
  readonly value: Json;
  readonly isDecline: boolean;
  readonly who: string;
}

async function deliver(
  { tasks }: StoreView,
  task: TaskRecord,
  wait: Wait,
  question: OpenQuestion | undefined,
  { value, isDecline, who }: Given,
): Promise<AnswerOutcome> {
  // The task records that it was the operator, and not the client, with the answer.
  const from = { via: "console", who };
  const { callId } = task;
  const { key, wire, digest = externalDigest(key) } = wait;
  const isQuestion = wait.kind === "question";
  if (isQuestion && !isDecline && !isObject(value)) {
    return { status: "invalid", reason: "expected an object with the fields of the form" };
  }
  const raw: Json = isDecline
    ? { action: "decline" }
    : isQuestion
      ? { action: "accept", content: value }
      : value;
  const reason =
    (await tasks.objection(callId, key, raw)) ??
    (isDecline || question === undefined
      ? undefined
      : await objectionAtTheDoor(
          { ...question, field: isQuestion ? undefined : question.field },
          value,
        ));
  if (reason !== undefined) return { status: "invalid", reason };
  if (!isQuestion || wait.page !== undefined) {
    return { status: await tasks.deliver(callId, key, digest, raw, from) };
  }
  const read = await tasks.get(task.id);
  const answered = read && (await tasks.answer(read, new Map([[wire, raw]]), from));
  if (answered === undefined) return { status: "gone" };
  return { status: answered.accepted.includes(wire) ? "delivered" : "already_answered" };
}

/** What the operator says about it goes to the audit alone, because the task keeps no notes. */
async function noted(
  { inside }: StoreView,
  { tool, callId, id, principal }: TaskRecord,
  { key, digest }: Wait,
  { isDecline, who }: Given,
  note: string,
): Promise<void> {
  await inside.core.audit({
    action: isDecline ? "declined" : "answered",
    tool,
    callId,
    taskId: id,
    principal: principal === "" ? undefined : principal,
    who,
    key,
    digest,
    via: "console",
    note,
    occasion: inside.core.environment.newId(),
  });
}
