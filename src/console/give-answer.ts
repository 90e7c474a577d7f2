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
import { questionIn, whyNot } from "./open-question.ts";
import type { OpenQuestion } from "./open-question.ts";
import type { Admitted } from "./operator.ts";
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
  const reason = whyNot(operator, task, wait, question);
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
  const given = { value: value ?? null, isDecline };
  const outcome = await fromStore(deliver(view, task, wait, question, given));
  if (outcome.status === "delivered") await audited(view, operator, task, wait, given, note);
  return outcome;
}

const malformed = () =>
  new Refusal(400, "invalid", "Send { task, key, value }, or { task, key, decline: true, note }.");

interface Given {
  readonly value: Json;
  readonly isDecline: boolean;
}

async function deliver(
  { tasks }: StoreView,
  task: TaskRecord,
  wait: Wait,
  question: OpenQuestion | undefined,
  { value, isDecline }: Given,
): Promise<AnswerOutcome> {
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
    return { status: await tasks.deliver(callId, key, digest, raw) };
  }
  const read = await tasks.get(task.id);
  const answered = read && (await tasks.answer(read, new Map([[wire, raw]])));
  if (answered === undefined) return { status: "gone" };
  return { status: answered.accepted.includes(wire) ? "delivered" : "already_answered" };
}

/** That it was the operator, and not the client, stands in the audit. */
async function audited(
  { inside }: StoreView,
  { who }: Admitted,
  task: TaskRecord,
  { key, digest }: Wait,
  { isDecline, value }: Given,
  note: Json | undefined,
): Promise<void> {
  const { core } = inside;
  await core.audit({
    action: isDecline ? "declined" : "answered",
    tool: task.tool,
    callId: task.callId,
    taskId: task.id,
    principal: task.principal === "" ? undefined : task.principal,
    who,
    key,
    digest,
    via: "console",
    note: typeof note === "string" && note !== "" ? note : undefined,
    value: core.auditing.values === true && !isDecline ? value : undefined,
    occasion: `console ${who}`,
  });
}
