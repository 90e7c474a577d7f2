// The script of a test: what the person, the model and the client answer.

import type { CreateMessageResult, Root } from "@modelcontextprotocol/server";
import type { FormJson } from "../protocol/form.ts";
import type { InputRequest } from "../protocol/input-required.ts";
import type { Json } from "../util/json.ts";

/** In a script: the person declines the question. */
export const declined: unique symbol = Symbol("declined");
/** In a script: the person cancels the question without an answer. */
export const cancelled: unique symbol = Symbol("cancelled");

/**
 * The answer to one question in a script. Write the value that the handler gets: true or false for `confirm` and `openUrl`,
 * a text or a whole result for `sample`, a list of roots for `roots`, the delivered value for `waitFor`. Write `declined` or
 * `cancelled` for a person who does not answer, or a function that returns one of these.
 */
export type ScriptedAnswer =
  | Json
  | CreateMessageResult
  | readonly Root[]
  | typeof declined
  | typeof cancelled
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
   * "form" for `ask`, `choose`, `confirm` and `elicit`, "url" for `openUrl`, "sampling" for `sample`, "roots" for `roots`,
   * and "external" for `waitFor`, which the client is not asked.
   */
  readonly kind: "form" | "url" | "sampling" | "roots" | "external";
  /** What the person or the model is shown. */
  readonly message: string;
  /** The form, if the question has one. */
  readonly schema?: FormJson;
  /** The address of the page, for `openUrl`. */
  readonly url?: string;
  /** The round that asked it, counted from 1. In the background, the run of the task. */
  readonly round: number;
}

/** Describes a question to the script. */
export function askedQuestion(key: string, request: InputRequest, round: number): AskedQuestion {
  switch (request.method) {
    case "elicitation/create": {
      const { params } = request;
      return params.mode === "form"
        ? { key, kind: "form", message: params.message, schema: params.requestedSchema, round }
        : { key, kind: "url", message: params.message, url: params.url, round };
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

/** The script's answer to a question, as a client would send it. */
export async function responseTo(
  question: AskedQuestion,
  request: InputRequest,
  script: Script,
): Promise<object> {
  const scripted = await resolve(question, script);
  if (scripted === declined) return { action: "decline" };
  if (scripted === cancelled) return { action: "cancel" };
  switch (question.kind) {
    case "form":
      return formResponse(question, request, scripted);
    case "url":
      return { action: scripted === false ? "decline" : "accept" };
    case "sampling":
      return typeof scripted === "string" ? completion(scripted) : object(question, scripted);
    case "roots":
      return Array.isArray(scripted) ? { roots: scripted } : object(question, scripted);
    case "external":
      throw new Error(`The client is not asked "${question.key}". Its value is delivered.`);
  }
}

/** The value that is delivered to a `waitFor`. */
export async function externalValue(question: AskedQuestion, script: Script): Promise<Json> {
  const scripted = await resolve(question, script);
  if (scripted === declined || scripted === cancelled) {
    throw new Error(
      `The script declines or cancels "${question.key}". ctx.waitFor waits for a value, so give the value that app.deliver would deliver.`,
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value that is not JSON is a mistake of the test
  return scripted as Json;
}

async function resolve(question: AskedQuestion, script: Script): Promise<ScriptedAnswer> {
  let scripted: ScriptedAnswer | undefined;
  if (typeof script === "function") scripted = await script(question);
  else if (Object.hasOwn(script, question.key)) scripted = script[question.key];
  while (typeof scripted === "function") scripted = await scripted(question);
  if (scripted === undefined) {
    throw new Error(
      `The script has no answer to question "${question.key}" (round ${question.round}): ${question.message}\n` +
        `Add ${JSON.stringify(question.key)} to the script, with a value, declined or cancelled.`,
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
      `The script's answer to "${question.key}" is ${JSON.stringify(scripted)}. A confirmation takes true, false, declined or cancelled.`,
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
