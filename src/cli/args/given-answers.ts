// Answers that were given in advance, with --answers and --answer.

import type { CreateMessageResult, InputResponse } from "@modelcontextprotocol/client";
import { answerTo } from "../../client/check-answer.ts";
import { isObject, own } from "../../util/objects.ts";
import { CallError } from "../../client/index.ts";
import type { OpenQuestion } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { readJsonObject } from "./command-line.ts";

/** The answers given in advance. Each is used once. */
export class GivenAnswers {
  readonly #byKey: Map<string, unknown>;
  readonly #used = new Set<string>();

  /** `words` are `key=value`. A value that is not JSON is text. */
  constructor(file: string | undefined, words: readonly string[]) {
    this.#byKey = new Map([
      ...Object.entries(file === undefined ? {} : readJsonObject(file, "the answers")),
      ...words.map(entry),
    ]);
  }

  /** Whether no answer was given. */
  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** The answer to a question, or undefined if none was given. Throws if it does not fit. */
  for(question: OpenQuestion): InputResponse | undefined {
    const key = [question.key, baseOf(question.key)].find((one) => this.#byKey.has(one));
    // An answer that the server rejected is not given again, because that would never end.
    if (key === undefined || this.#used.has(key)) return undefined;
    this.#used.add(key);
    return answered(question, this.#byKey.get(key));
  }

  /** The keys of the answers that no question has used. */
  get unused(): readonly string[] {
    return [...this.#byKey.keys()].filter((key) => !this.#used.has(key));
  }
}

/** A task asks a question again under `size~2`. */
const baseOf = (key: string) => key.replace(/~\d+$/, "");

function answered(question: OpenQuestion, given: unknown): InputResponse {
  return answerTo(question, shaped(question, given));
}

/**
 * Returns a whole answer unchanged. Anything else is the content of a form, the value of its only field, or the model's
 * reply.
 */
function shaped(question: OpenQuestion, given: unknown): unknown {
  if (["accept", "decline", "cancel"].includes(String(own(given, "action")))) return given;
  switch (question.kind) {
    case "form": {
      const names = Object.keys(question.schema.properties);
      const [only] = names;
      // A question of `ctx.confirm` has no field. Accepting it means yes.
      if (only === undefined && !isObject(given)) return yesOrNo(question, given);
      const isContent = isObject(given) || only === undefined || names.length > 1;
      return { action: "accept", content: isContent ? given : { [only]: given } };
    }
    case "url":
      return yesOrNo(question, given);
    case "sampling":
      return typeof given === "string" ? saidByPerson(given) : given;
    case "roots":
      return given;
  }
}

function yesOrNo(question: OpenQuestion, given: unknown): unknown {
  if (given === true || given === "yes") return { action: "accept" };
  if (given === false || given === "no") return { action: "decline" };
  const { key } = question;
  throw new CallError("bad_answer", `"${key}" must be yes or no (question "${key}").`, {
    question,
  });
}

/** A person's reply in the place of a model. */
export function saidByPerson(text: string): CreateMessageResult {
  return {
    role: "assistant",
    content: { type: "text", text },
    model: "a person at the terminal",
    stopReason: "endTurn",
  };
}

function entry(word: string): [string, unknown] {
  const [, key, text = ""] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (key === undefined) throw new UsageError(`--answer takes key=value, not "${word}".`);
  try {
    return [key, JSON.parse(text)];
  } catch {
    return [key, text];
  }
}
