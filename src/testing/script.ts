// What the person, the model or the client says, as a test writes it down.

import type { CreateMessageResult, Root } from "@modelcontextprotocol/server";
import type { FormJson } from "../protocol/form.ts";
import type { InputRequest } from "../protocol/input-required.ts";
import type { Json } from "../util/json.ts";

export const declined: unique symbol = Symbol("declined");
export const cancelled: unique symbol = Symbol("cancelled");

/** The value (confirm: true/false; sample: text or a result; openUrl: true), or a refusal, or a function of the question. */
export type Scripted =
  | Json
  | CreateMessageResult
  | readonly Root[]
  | typeof declined
  | typeof cancelled
  | ((question: Asked) => Scripted | Promise<Scripted>);

export type Script =
  | { readonly [key: string]: Scripted }
  | ((question: Asked) => Scripted | Promise<Scripted>);

export interface Asked {
  readonly key: string;
  /** "external": a `waitFor`, delivered by someone who is not the client. */
  readonly kind: "form" | "url" | "sampling" | "roots" | "external";
  readonly message: string;
  readonly schema?: FormJson;
  readonly url?: string;
  readonly round: number;
}

export function asked(key: string, request: InputRequest, round: number): Asked {
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

/** The script's answer to this question, as it goes over the wire. */
export async function responseTo(
  question: Asked,
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
      throw new Error(`"${question.key}" is delivered, not answered.`);
  }
}

/** What someone delivers, as it is. */
export async function externalValue(question: Asked, script: Script): Promise<Json> {
  const scripted = await resolve(question, script);
  if (scripted === declined || scripted === cancelled) {
    throw new Error(`"${question.key}" is delivered by someone: the script gives the value.`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is no JSON is the test's mistake
  return scripted as Json;
}

async function resolve(question: Asked, script: Script): Promise<Scripted> {
  let scripted: Scripted | undefined;
  if (typeof script === "function") scripted = await script(question);
  else if (Object.hasOwn(script, question.key)) scripted = script[question.key];
  while (typeof scripted === "function") scripted = await scripted(question);
  if (scripted === undefined) {
    throw new Error(
      `The script has no answer to question "${question.key}" (round ${question.round}): ${question.message}\n` +
        `Add ${JSON.stringify(question.key)} to it, or declined, or cancelled.`,
    );
  }
  return scripted;
}

function formResponse(question: Asked, request: InputRequest, scripted: Scripted): object {
  if (request.method !== "elicitation/create" || request.params.mode !== "form") return {};
  const names = Object.keys(request.params.requestedSchema.properties);
  if (names.length === 0) {
    // An empty form is a confirmation: to accept it is to say yes.
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

function object(question: Asked, scripted: Scripted): object {
  if (typeof scripted === "object" && scripted !== null) return scripted;
  throw new Error(
    `The script's answer to "${question.key}" does not fit a ${question.kind} question.`,
  );
}
