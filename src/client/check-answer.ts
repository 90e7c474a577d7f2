// Checks an answer against its question, and fills in the defaults of a form.

import type { InputResponse } from "@modelcontextprotocol/client";
import { elicitAnswer, rootsAnswer, sampleAnswer } from "../protocol/answers.ts";
import { expectation, fits, isFormat } from "../protocol/form.ts";
import type { FormField, FormJson } from "../protocol/form.ts";
import { isObject } from "../util/objects.ts";
import { CallError } from "./errors.ts";
import type { FormQuestion, OpenQuestion } from "./question.ts";

/** Returns the answer in the form that is sent. If it does not fit, throws `bad_answer`, which says what is wrong. */
export function answerTo(question: OpenQuestion, given: unknown): InputResponse {
  const answer = read(question, given);
  if (answer !== undefined) return answer;
  throw misfit(
    question,
    `That is not an answer to a ${question.kind} question. Write ${exampleFor(question)}`,
  );
}

function exampleFor(question: OpenQuestion): string {
  switch (question.kind) {
    case "form": {
      const [first] = Object.keys(question.schema.properties);
      const content = first === undefined ? "{}" : `{ ${JSON.stringify(first)}: … }`;
      return `{ action: "accept", content: ${content} }, or "decline" or "cancel" as the action`;
    }
    case "url":
      return `{ action: "accept" }, "decline" or "cancel"`;
    case "sampling":
      return `{ role: "assistant", content: { type: "text", text: … }, model: … }`;
    case "roots":
      return `{ roots: [{ uri: "file:///…" }] }`;
  }
}

const misfit = (question: OpenQuestion, why: string) =>
  new CallError("bad_answer", `${why} (question "${question.key}").`, { question });

function read(question: OpenQuestion, given: unknown): InputResponse | undefined {
  switch (question.kind) {
    case "form": {
      const answer = elicitAnswer(given);
      if (answer?.action !== "accept") return answer;
      return { action: "accept", content: filledIn(question, answer.content ?? {}) };
    }
    case "url": {
      const answer = elicitAnswer(given);
      return answer && { action: answer.action };
    }
    case "sampling":
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked in the line above, and sent as it is
      return sampleAnswer(given) === undefined ? undefined : (given as InputResponse);
    case "roots": {
      const roots = rootsAnswer(given);
      return roots && { roots };
    }
  }
}

type Content = Record<string, string | number | boolean | string[]>;

function filledIn(question: FormQuestion, content: unknown): Content {
  if (!isObject(content)) throw misfit(question, "The content of a form must be an object");
  const { schema } = question;
  const values = new Map([...defaultsOf(schema), ...Object.entries(content)]);
  for (const [name, value] of values) {
    if (value === undefined) values.delete(name);
    else if (!isValue(value))
      throw misfit(
        question,
        `"${name}" must be a string, a number, a boolean or a list of strings`,
      );
    else checkField(question, name, value);
  }
  for (const name of schema.required ?? []) {
    if (!values.has(name)) throw misfit(question, `"${name}" is missing`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value was checked above
  return Object.fromEntries(values) as Content;
}

function* defaultsOf(schema: FormJson): Iterable<[string, unknown]> {
  for (const [name, field] of Object.entries(schema.properties)) {
    if (Object.hasOwn(field, "default")) yield [name, field.default];
  }
}

function checkField(question: FormQuestion, name: string, value: unknown): void {
  const { properties } = question.schema;
  const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
  // The server judges fields that this client does not know, or whose schema it does not understand.
  if (field === undefined || !isKnown(field) || fits(field, value)) return;
  throw misfit(question, `"${name}" must be ${expectation(field)}`);
}

function isKnown(field: FormField): boolean {
  switch (field.type) {
    case "boolean":
    case "number":
    case "integer":
      return true;
    case "string":
      return isList(field.enum) && isList(field.oneOf) && isKnownFormat(field.format);
    case "array":
      return (
        isObject(field.items) && (isChoices(field.items, "enum") || isChoices(field.items, "anyOf"))
      );
    default:
      return false;
  }
}

const isList = (value: unknown) => value === undefined || Array.isArray(value);
const isChoices = (items: object, name: string) => Array.isArray(Reflect.get(items, name));
const isKnownFormat = (value: unknown) => value === undefined || isFormat(value);

function isValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
