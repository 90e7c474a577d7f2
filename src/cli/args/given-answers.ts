// Answers that were given beforehand: from a file, and word by word.

import type { CreateMessageResult, InputResponse } from "@modelcontextprotocol/client";
import { answerTo } from "../../client/check-answer.ts";
import { isObject, own } from "../../util/objects.ts";
import type { OpenQuestion } from "../../client/index.ts";
import { Usage } from "../command.ts";
import { jsonIn } from "./json-file.ts";

export class GivenAnswers {
  readonly #byKey: Map<string, unknown>;
  readonly #used = new Set<string>();

  /** `words` are `key=json`; what is not JSON is text. */
  constructor(file: string | undefined, words: readonly string[]) {
    this.#byKey = new Map([
      ...Object.entries(file === undefined ? {} : jsonIn(file, "the answers")),
      ...words.map(entry),
    ]);
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** Undefined: none was given. Throws where it does not fit. */
  for(question: OpenQuestion): InputResponse | undefined {
    const key = [question.key, baseOf(question.key)].find((one) => this.#byKey.has(one));
    // One that the server did not take is not given a second time: it would never end.
    if (key === undefined || this.#used.has(key)) return undefined;
    this.#used.add(key);
    return answered(question, this.#byKey.get(key));
  }

  get unused(): readonly string[] {
    return [...this.#byKey.keys()].filter((key) => !this.#used.has(key));
  }
}

/** A task puts a question again under `size~2`. */
const baseOf = (key: string) => key.replace(/~\d+$/, "");

function answered(question: OpenQuestion, given: unknown): InputResponse {
  return answerTo(question, shaped(question, given));
}

/** A whole answer as it is; else the content of a form, the only field of one, or what the model says. */
function shaped(question: OpenQuestion, given: unknown): unknown {
  if (["accept", "decline", "cancel"].includes(String(own(given, "action")))) return given;
  switch (question.kind) {
    case "form": {
      const names = Object.keys(question.schema.properties);
      const [only] = names;
      // What `ctx.confirm` asks has no field: accepting is the yes.
      if (only === undefined && typeof given === "boolean") {
        return { action: given ? "accept" : "decline" };
      }
      const isContent = isObject(given) || only === undefined || names.length > 1;
      return { action: "accept", content: isContent ? given : { [only]: given } };
    }
    case "url":
      return { action: given === true ? "accept" : "decline" };
    case "sampling":
      return typeof given === "string" ? saidByPerson(given) : given;
    case "roots":
      return given;
  }
}

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
  if (key === undefined) throw new Usage(`--answer takes key=json, and "${word}" is not.`);
  try {
    return [key, JSON.parse(text)];
  } catch {
    return [key, text];
  }
}
