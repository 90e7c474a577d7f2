// What a model passes to `continue_call`, or the App to `answer_call`, and how the answers become those of a form.

import { isObject, own } from "../../util/objects.ts";
import type { Way } from "../round/ways.ts";
import type { PausedQuestion, PausedQuestions } from "./kept-pause.ts";

/** The arguments of `continue_call` and of `answer_call`. */
export interface Relayed {
  readonly call: string;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly decline: readonly string[];
  readonly cancel: boolean;
  /** What only the App has been told. */
  readonly secret?: string | undefined;
}

/** Undefined if these are not such arguments. */
export function readRelayed(args: unknown): Relayed | undefined {
  if (!isObject(args)) return undefined;
  const { call, decline = [], cancel = false } = args;
  const answers = parsed(args["answers"] ?? {});
  if (typeof call !== "string" || typeof cancel !== "boolean") return undefined;
  if (!isObject(answers) || !Array.isArray(decline)) return undefined;
  const declined = decline.filter((key) => typeof key === "string");
  const secret = own(args, "secret");
  return {
    call,
    answers,
    decline: declined,
    cancel,
    secret: typeof secret === "string" ? secret : undefined,
  };
}

/** Some models write an object as its JSON text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The responses to open questions, by key, and the keys that were not taken. */
export interface TakenAnswers {
  readonly responses: Readonly<Record<string, object>>;
  readonly ignored: readonly string[];
}

/** Only questions that go this way can be answered. Everything that is open can be cancelled. */
export function takeAnswers(
  questions: PausedQuestions,
  { answers, decline, cancel }: Relayed,
  way: Way,
): TakenAnswers {
  const responses: [string, object][] = [];
  const ignored: string[] = [];
  const named = new Set([...Object.keys(answers), ...decline]);
  for (const key of named) {
    const question = questionIn(questions, key);
    const response =
      question?.way === way
        ? decline.includes(key)
          ? { action: "decline" }
          : responseTo(key, question, own(answers, key))
        : undefined;
    if (response === undefined) ignored.push(key);
    else responses.push([key, response]);
  }
  if (cancel) {
    const left = Object.keys(questions).filter((key) => !responses.some(([one]) => one === key));
    responses.push(...left.map((key): [string, object] => [key, { action: "cancel" }]));
  }
  return { responses: Object.fromEntries(responses), ignored };
}

const questionIn = (questions: PausedQuestions, key: string): PausedQuestion | undefined =>
  Object.hasOwn(questions, key) ? questions[key] : undefined;

/** Undefined if it is not an answer to a confirmation. Everything else is checked with the question's schema. */
function responseTo(
  key: string,
  { way, request }: PausedQuestion,
  value: unknown,
): object | undefined {
  const form =
    request.method === "elicitation/create" && request.params.mode === "form"
      ? request.params.requestedSchema.properties
      : {};
  const names = Object.keys(form);
  if (names.length === 0) {
    if (typeof value !== "boolean") return undefined;
    return value ? { action: "accept", content: {} } : { action: "decline" };
  }
  // The App sends the whole form, and the only field of it may be empty. A model may send the value of that field.
  if (way === "app") return { action: "accept", content: value };
  const isWhole = isObject(value) && names.some((name) => Object.hasOwn(value, name));
  const content = names.length === 1 && !isWhole ? { [names[0] ?? key]: value } : value;
  return { action: "accept", content };
}
