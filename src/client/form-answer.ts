// An answer of the right kind, and a form filled in as it says: with its defaults, and nothing that does not fit.

import type { InputResponse } from "@modelcontextprotocol/client";
import { elicitAnswer, rootsAnswer, sampleAnswer } from "../protocol/answers.ts";
import { expectation, fits, isFormat } from "../protocol/form.ts";
import type { FormField, FormJson } from "../protocol/form.ts";
import { CallError } from "./errors.ts";
import { isObject } from "../util/objects.ts";
import type { Pending } from "./pending.ts";

/** The answer as it goes out, or an error that says what does not fit. */
export function answerTo(question: Pending, given: unknown): InputResponse {
  const answer = read(question, given);
  if (answer !== undefined) return answer;
  throw misfit(
    question,
    `That is no answer to a ${question.kind} question: write ${anAnswerTo(question)}`,
  );
}

function anAnswerTo(question: Pending): string {
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

const misfit = (question: Pending, why: string) =>
  new CallError("bad_answer", `${why} (question "${question.key}").`, { question });

function read(question: Pending, given: unknown): InputResponse | undefined {
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
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as it was given: only looked at here
      return sampleAnswer(given) === undefined ? undefined : (given as InputResponse);
    case "roots": {
      const roots = rootsAnswer(given);
      return roots && { roots };
    }
  }
}

type Content = Record<string, string | number | boolean | string[]>;

function filledIn(question: Extract<Pending, { kind: "form" }>, content: unknown): Content {
  if (!isObject(content)) throw misfit(question, "A form's content is an object");
  const { schema } = question;
  const values = new Map([...defaultsOf(schema), ...Object.entries(content)]);
  for (const [name, value] of values) {
    if (value === undefined) values.delete(name);
    else if (!isValue(value)) throw misfit(question, `A form cannot hold what is in "${name}"`);
    else checkField(question, name, value);
  }
  for (const name of schema.required ?? []) {
    if (!values.has(name)) throw misfit(question, `"${name}" is missing`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each was looked at above
  return Object.fromEntries(values) as Content;
}

function* defaultsOf(schema: FormJson): Iterable<[string, unknown]> {
  for (const [name, field] of Object.entries(schema.properties)) {
    if (Object.hasOwn(field, "default")) yield [name, field.default];
  }
}

function checkField(
  question: Extract<Pending, { kind: "form" }>,
  name: string,
  value: unknown,
): void {
  const { properties } = question.schema;
  const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
  // One that is unknown, or made in a way that is unknown here, is for the server to judge.
  if (field === undefined || !isKnown(field) || fits(field, value)) return;
  throw misfit(question, `"${name}" should be ${expectation(field)}`);
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
