// The script of a test: what the person, the model and the client answer.

import type { CreateMessageResult, Root } from "@modelcontextprotocol/server";
import type { FormJson } from "../protocol/form.ts";
import type { InputRequest } from "../protocol/input-required.ts";
import { playedSignIn } from "../server/accounts/account.ts";
import type { AuditRecord } from "../server/audit/audit-record.ts";
import type { Via } from "../server/round/ways.ts";
import type { About } from "../server/pages/page-question.ts";
import type { Json } from "../util/json.ts";

/** In a script: the person declines the question. */
export const declined: unique symbol = Symbol("declined");
/** In a script: the person cancels the question without an answer. */
export const cancelled: unique symbol = Symbol("cancelled");
/** In a script: no answer comes until the time limit of the question (`timeoutMs`) is over. */
export const timedOut: unique symbol = Symbol("timedOut");

/** In a script: what members of a group decide about an approval. Made by `approvedBy` and `rejectedBy`. */
export class Decided {
  /** The people, in the order in which they decide. The last one may refuse. */
  readonly who: readonly string[];
  /** Whether all of them agree. */
  readonly isApproved: boolean;
  /** What the last one writes beside it. */
  readonly note: string | undefined;

  constructor(who: readonly string[], isApproved: boolean, note: string | undefined) {
    this.who = who;
    this.isApproved = isApproved;
    this.note = note;
  }
}

/**
 * In a script: these people approve, one after the other.
 *
 * @example
 * ```ts
 * const { result } = await play(pay, { amount: 500 }, { pay: approvedBy("bo", "cy") }, { principal: "ada" });
 * ```
 */
export const approvedBy = (...who: readonly string[]): Decided => new Decided(who, true, undefined);

/**
 * In a script: this person refuses.
 *
 * @example
 * ```ts
 * await play(pay, { amount: 500 }, { pay: rejectedBy("bo", "too expensive") }, { principal: "ada" });
 * ```
 */
export const rejectedBy = (who: string, note?: string): Decided => new Decided([who], false, note);

/**
 * The answer to one question in a script. Write the value that the handler gets: true or false for `confirm`, `openUrl` and
 * `connect`, a text or a whole result for `sample`, a list of roots for `roots`, the delivered value for `waitFor`,
 * `approvedBy(…)` or `rejectedBy(…)` for an approval by a group, and true or false for one by the caller. Write `declined` or
 * `cancelled` for a person who refuses, `timedOut` for one who does not answer in time, or a function that returns one of
 * these.
 */
export type ScriptedAnswer =
  | Json
  | CreateMessageResult
  | readonly Root[]
  | typeof declined
  | typeof cancelled
  | typeof timedOut
  | Decided
  | ((question: AskedQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** The answers of a test: by the key of the question, or a function that answers each question. */
export type Script =
  | { readonly [key: string]: ScriptedAnswer }
  | ((question: AskedQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A question that was asked during a played call. */
export interface AskedQuestion {
  /** The key that the handler gave it. */
  readonly key: string;
  /**
   * "form" for `ask`, `choose`, `confirm` and `elicit`, "url" for `openUrl`, "connect" for `connect`, "sampling" for `sample`,
   * "roots" for `roots`, "external" for `waitFor` and "approval" for a group's `approve`, which the client is not asked.
   */
  readonly kind: "form" | "url" | "connect" | "sampling" | "roots" | "external" | "approval";
  /** What the person or the model is shown. */
  readonly message: string;
  /** The form, if the question has one. */
  readonly schema?: FormJson;
  /** What is shown beside an approval by a group. */
  readonly about?: About;
  /** The address of the page, for `openUrl`. */
  readonly url?: string;
  /** How it reaches the person, or "delivery" for `waitFor`. Undefined for `sample` and `roots`, which no person answers. */
  readonly via?: Via;
  /** The round that asked it, counted from 1. In the background, the run of the task. */
  readonly round: number;
}

/** Describes a question to the script. */
export function askedQuestion(
  key: string,
  request: InputRequest,
  round: number,
  audit: readonly AuditRecord[] = [],
): AskedQuestion {
  switch (request.method) {
    case "elicitation/create": {
      const { params } = request;
      const asked = audit.findLast((one) => one.action === "asked" && one.key === key);
      const via = asked?.via ?? (params.mode === "form" ? "form" : "url");
      return params.mode === "form"
        ? { key, kind: "form", message: params.message, schema: params.requestedSchema, via, round }
        : { key, kind: pageKind(params.url), message: params.message, url: params.url, via, round };
    }
    case "sampling/createMessage": {
      const said = request.params.messages.flatMap(({ content }) =>
        [content].flat().flatMap((block) => (block.type === "text" ? [block.text] : [])),
      );
      return { key, kind: "sampling", message: said.join("\n"), round };
    }
    case "roots/list":
      return { key, kind: "roots", message: "The client's roots", round };
  }
}

const pageKind = (url: string) => (url.startsWith(playedSignIn) ? "connect" : "url");

/** An answer of the script as a client would send it. */
export function responseTo(
  question: AskedQuestion,
  request: InputRequest,
  scripted: ScriptedAnswer,
): object {
  if (scripted === declined || scripted === cancelled) {
    if (!refusable.has(question.kind)) throw notRefusable(question);
    return { action: scripted === declined ? "decline" : "cancel" };
  }
  switch (question.kind) {
    case "form":
      return formResponse(question, request, scripted);
    case "url":
    case "connect":
      return { action: scripted === false ? "decline" : "accept" };
    case "sampling":
      return typeof scripted === "string" ? completion(scripted) : object(question, scripted);
    case "roots":
      return Array.isArray(scripted) ? { roots: scripted } : object(question, scripted);
    case "external":
    case "approval":
      throw new Error(`The client is not asked "${question.key}". Its value is delivered.`);
  }
}

/** The value that is delivered to a `waitFor`. */
export function externalValue(question: AskedQuestion, scripted: ScriptedAnswer): Json {
  if (scripted === declined || scripted === cancelled) throw notRefusable(question);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value that is not JSON is a mistake of the test
  return scripted as Json;
}

/** What a group decides. */
export function decidedFor(
  question: AskedQuestion,
  scripted: ScriptedAnswer,
  caller: string | undefined,
): Decided {
  const { key } = question;
  if (!(scripted instanceof Decided)) {
    const written = typeof scripted === "symbol" ? scripted.description : JSON.stringify(scripted);
    throw new Error(
      `The script's answer to "${key}" is ${written}. An approval by a group takes ${expectedFor(question)}.`,
    );
  }
  const own = scripted.who.find((who) => who === caller);
  if (own === undefined) return scripted;
  throw new Error(
    `The script approves "${key}" as "${own}", who made the call. The caller cannot approve their own request.`,
  );
}

/** What can be written for a question, in words. */
export function expectedFor({ kind, schema }: AskedQuestion): string {
  switch (kind) {
    case "form": {
      const isConfirmation = schema !== undefined && Object.keys(schema.properties).length === 0;
      const value = isConfirmation ? "true, false" : "a value";
      return `${value}, declined, cancelled or timedOut`;
    }
    case "url":
    case "connect":
      return "true, declined, cancelled or timedOut";
    case "sampling":
      return "a text, a whole result or timedOut";
    case "roots":
      return "a list of roots or timedOut";
    case "external":
      return "the value that app.deliver brings, or timedOut";
    case "approval":
      return 'approvedBy("bo", "cy"), rejectedBy("bo", "why") or timedOut';
  }
}

const refusable: ReadonlySet<string> = new Set(["form", "url", "connect"]);

const notRefusable = (question: AskedQuestion) =>
  new Error(
    `The script declines or cancels "${question.key}", but only a form or a page can be refused. ` +
      `Write ${expectedFor(question)}.`,
  );

/** The error for a question that waits forever. */
export const noTimeLimit = (key: string): Error =>
  new Error(
    `The script lets question "${key}" time out, but the question has no time limit. ` +
      "Pass timeoutMs to the question, or give an answer.",
  );

/** What the script has for a question. Throws if it has nothing. */
export async function scriptedFor(
  question: AskedQuestion,
  script: Script,
): Promise<ScriptedAnswer> {
  let scripted: ScriptedAnswer | undefined;
  if (typeof script === "function") scripted = await script(question);
  else if (Object.hasOwn(script, question.key)) scripted = script[question.key];
  while (typeof scripted === "function") scripted = await scripted(question);
  if (scripted === undefined) {
    throw new Error(
      `The script has no answer to question "${question.key}" (round ${question.round}): ${question.message}\n` +
        `Add ${JSON.stringify(question.key)} to the script: ${expectedFor(question)}.`,
    );
  }
  return scripted;
}

function formResponse(
  question: AskedQuestion,
  request: InputRequest,
  scripted: ScriptedAnswer,
): object {
  if (request.method !== "elicitation/create" || request.params.mode !== "form") return {};
  const names = Object.keys(request.params.requestedSchema.properties);
  if (names.length === 0) {
    // A form without fields is a confirmation, and accepting it means yes.
    if (typeof scripted === "boolean")
      return { action: scripted ? "accept" : "decline", content: {} };
    throw new Error(
      `The script's answer to "${question.key}" is ${JSON.stringify(scripted)}. A confirmation takes ${expectedFor(question)}.`,
    );
  }
  const isObject = typeof scripted === "object" && scripted !== null && !Array.isArray(scripted);
  const content = isObject ? scripted : { [names[0] ?? question.key]: scripted };
  return { action: "accept", content };
}

function completion(text: string): CreateMessageResult {
  return {
    role: "assistant",
    content: { type: "text", text },
    model: "scripted",
    stopReason: "endTurn",
  };
}

function object(question: AskedQuestion, scripted: ScriptedAnswer): object {
  if (typeof scripted === "object" && scripted !== null) return scripted;
  throw new Error(
    `The script's answer to "${question.key}" does not fit a ${question.kind} question.`,
  );
}
