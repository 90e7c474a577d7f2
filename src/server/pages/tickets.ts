// Tickets that come back: a page finds its question with one, an approver's page delivers a value with one.

import { ParleyError } from "../../errors.ts";
import type { Ticket } from "../../token/ticket.ts";
import { NotJson, toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { externalDigest } from "../context/questions.ts";
import type { Core } from "../core.ts";
import type { Via } from "../round/ways.ts";
import { fromStore, noStore } from "../tasks/store-needed.ts";
import { keptQuestion, mailIn, putMail } from "./mailbox.ts";
import { objectionAtTheDoor } from "./page-question.ts";
import type { PageQuestion } from "./page-question.ts";
import { readTicket } from "./ticket-facts.ts";
import { isObject, own } from "../../util/objects.ts";

/** What became of a delivery. */
export type DeliverResult =
  | {
      /**
       * "delivered": this answer counts. "already_answered": another one came first. "gone": the call has ended, or the time
       * limit of the question has passed.
       */
      readonly status: "delivered" | "already_answered" | "gone";
    }
  | {
      /** The value does not fit the schema of the question, which stays open. */
      readonly status: "invalid";
      /** What is wrong with the value. */
      readonly reason: string;
    };

/** Answers the question that the ticket stands for. */
export async function deliver(core: Core, ticket: string, value: unknown): Promise<DeliverResult> {
  const opened = readTicket(core, ticket);
  if (opened.kind === "url" && opened.digest === undefined) {
    throw new ParleyError(
      "bad_ticket",
      "This ticket is for a page that brings no value. Pass ctx.openUrl a schema, or use the ticket of a ctx.waitFor.",
    );
  }
  if (opened.kind === "approval") {
    throw new ParleyError(
      "bad_ticket",
      "This ticket is for an approval. Use app.decide(ticket, { who, groups, approve }).",
    );
  }
  const { callId, key } = opened;
  const outcome = await attempt(core, opened, asJson(key, value));
  const { status } = outcome;
  core.logger.info(`app.deliver for "${key}": ${status}`, { call: callId, key, outcome: status });
  return outcome;
}

async function attempt(core: Core, ticket: Ticket, value: Json): Promise<DeliverResult> {
  if (core.tasks === undefined) throw noStore("app.deliver()");
  const found = await questionOf(core, ticket);
  if (found.question?.provider !== undefined) {
    throw new ParleyError(
      "bad_ticket",
      "This ticket is for signing in elsewhere. Only the page of the provider can complete it.",
    );
  }
  const raw = ticket.kind === "url" ? accepted(found, value) : value;
  return answer(core, ticket, found, raw, { via: "delivery" }, value);
}

/** How an answer came, and from whom if that is known. */
export interface AnswerSender {
  /** Undefined: the way of the question. */
  readonly via?: Via | undefined;
  readonly who?: string | undefined;
}

/**
 * Gives an answer that is raw, as the handler reads it. If it has a value, the value is checked: with the handler's own
 * schema where that can be asked, and otherwise with what is kept of it.
 */
export async function answer(
  core: Core,
  ticket: Ticket,
  { status, question, isTask }: FoundQuestion,
  raw: Json,
  from: AnswerSender,
  value?: Json,
): Promise<DeliverResult> {
  if (status === "gone") return { status };
  if (status === "answered") return { status: "already_answered" };
  const { callId, key, digest = externalDigest(key), asked = 1 } = ticket;
  const reason =
    (isTask ? await core.tasks?.objection(callId, key, raw) : undefined) ??
    (question && value !== undefined ? await objectionAtTheDoor(question, value) : undefined);
  if (reason !== undefined) return { status: "invalid", reason };
  if (isTask)
    return { status: (await core.tasks?.deliver(callId, key, digest, raw, from)) ?? "gone" };
  const put = await putMail(core, { callId, key, digest, asked }, raw, from);
  if (
    put === "filled" &&
    (await fromStore(core.tasks?.page(callId, key) ?? noTask)) !== undefined
  ) {
    // The call has become a task meanwhile, and may have looked into the mailbox before.
    return { status: (await core.tasks?.deliver(callId, key, digest, raw, from)) ?? "gone" };
  }
  return { status: put === "filled" ? "delivered" : put === "full" ? "already_answered" : "gone" };
}

const noTask = Promise.resolve(undefined);

/** The value as the answer to an elicitation, which is what the handler reads. */
function accepted({ question }: FoundQuestion, value: Json): Json {
  const { form, field, schema } = question ?? {};
  // A form of one value may be answered with the value.
  const [only, ...others] = Object.keys(form?.properties ?? {});
  const isBare = schema === undefined && only !== undefined && others.length === 0;
  const content = isBare && field === undefined && !isObject(value) ? { [only]: value } : value;
  return { action: "accept", content };
}

/** Where a question stands, and what its page shows. */
export interface FoundQuestion {
  /** "not_yet": the task is about to ask it. Its answer is taken already. */
  readonly status: "open" | "not_yet" | "answered" | "gone";
  readonly question?: PageQuestion | undefined;
  readonly isTask: boolean;
}

/** The question of a ticket. */
export async function questionOf(core: Core, ticket: Ticket): Promise<FoundQuestion> {
  const { kind, callId, key, digest = "", asked = 1 } = ticket;
  const now = core.environment.now();
  const task = await fromStore(core.tasks?.page(callId, key) ?? noTask);
  if (task !== undefined) {
    if (task.status !== "open") return { status: task.status, isTask: true };
    const isOther = kind === "url" && task.digest !== digest;
    if (isOther || (task.dueAt ?? Infinity) <= now) return { status: "gone", isTask: true };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the task, which made it
    const question = task.page as unknown as PageQuestion | undefined;
    return { status: "open", question, isTask: true };
  }
  if (kind !== "url") return { status: "gone", isTask: false };
  const of = { callId, key, digest, asked };
  const question = await keptQuestion(core, of);
  if (question === undefined || (question.dueAt ?? Infinity) <= now) {
    return { status: "gone", isTask: false };
  }
  const mail = await mailIn(core, of);
  // No page cancels: the whole call was cancelled elsewhere.
  const isOver = mail === "over" || own(mail?.answer, "action") === "cancel";
  if (isOver) return { status: "gone", isTask: false };
  return { status: mail === undefined ? "open" : "answered", question, isTask: false };
}

function asJson(key: string, value: unknown): Json {
  try {
    return toJson(value) ?? null;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new ParleyError(
      "not_json",
      `The value delivered for "${key}" has ${error.message}, which JSON cannot restore. Deliver plain data, for example ${error.advice}.`,
    );
  }
}
