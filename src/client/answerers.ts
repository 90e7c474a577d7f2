// What answers the questions of a server: the handlers that were passed to `connect`, or the code that reads the
// events of a call.

import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  InputResponse,
  Root,
} from "@modelcontextprotocol/client";
import { streamingExtension } from "../protocol/streaming.ts";
import { tasksExtension } from "../protocol/task.ts";
import { errorText } from "../util/error-text.ts";
import { CallError } from "./errors.ts";
import { answerTo } from "./check-answer.ts";
import type { FormQuestion, OpenQuestion, UrlQuestion } from "./question.ts";

/** The answer to a form or to a page. */
export type FormAnswer =
  | {
      /** The person filled in the form, or agreed to open the page. */
      readonly action: "accept";
      /** The values of the form's fields, by name. Fields with a default may be left out. Pages have no content. */
      readonly content?: Record<string, string | number | boolean | string[]> | undefined;
    }
  | {
      /** The person said no ("decline"), or closed the question without deciding ("cancel"). */
      readonly action: "decline" | "cancel";
    };

/** What a handler receives besides the question. */
export interface QuestionContext {
  /** Aborts when the answer is no longer needed. Close the dialog then. */
  readonly signal: AbortSignal;
}

/** What answers the questions of a server. Each handler declares a capability to the server, which then may ask. */
export interface QuestionHandlers {
  /**
   * Shows a form or a page to a person. With "events", questions become events of `start()`, and `call.answer`
   * answers them. Default: the server cannot ask for forms or pages.
   */
  readonly elicit?:
    | ((
        question: FormQuestion | UrlQuestion,
        context: QuestionContext,
      ) => FormAnswer | Promise<FormAnswer>)
    | "events"
    | undefined;
  /**
   * Runs a language model for the server. With "events", questions become events of `start()`. Default: the server
   * cannot use a model.
   */
  readonly sample?:
    | ((
        params: CreateMessageRequestParams,
        context: QuestionContext,
      ) => CreateMessageResult | Promise<CreateMessageResult>)
    | "events"
    | undefined;
  /** The folders that the server may work in, or a function that returns them. Default: the server cannot ask. */
  readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /** Whether the server may turn a call into a task. Default: true. */
  readonly tasks?: boolean | undefined;
}

export class Answerers {
  readonly #handlers: QuestionHandlers;
  readonly capabilities: ClientCapabilities;
  /** Whether the server may send what its tools stream. */
  readonly streams: boolean;

  constructor(handlers: QuestionHandlers, streams = true) {
    this.#handlers = handlers;
    this.streams = streams;
    const { elicit, sample, roots, tasks } = handlers;
    this.capabilities = {
      ...(elicit !== undefined && { elicitation: { form: {}, url: {} } }),
      ...(sample !== undefined && { sampling: {} }),
      ...(roots !== undefined && { roots: {} }),
      ...((tasks !== false || streams) && {
        extensions: {
          ...(tasks !== false && { [tasksExtension]: {} }),
          ...(streams && { [streamingExtension]: {} }),
        },
      }),
    };
  }

  /** What answers this kind of question. If undefined, the server must not ask it. */
  for(kind: OpenQuestion["kind"]): "handler" | "events" | undefined {
    const { elicit, sample, roots } = this.#handlers;
    const given = { form: elicit, url: elicit, sampling: sample, roots }[kind];
    if (given === undefined) return undefined;
    return given === "events" ? "events" : "handler";
  }

  get useEvents(): boolean {
    return this.#handlers.elicit === "events" || this.#handlers.sample === "events";
  }

  /** Lets the handler answer the question, and checks the answer. */
  async answer(question: OpenQuestion, signal: AbortSignal): Promise<InputResponse> {
    try {
      return answerTo(question, await this.#ask(question, { signal }));
    } catch (error) {
      const message = `The handler for question "${question.key}" did not give a valid answer: ${errorText(error)}`;
      throw new CallError("handler_failed", message, { question, cause: error });
    }
  }

  async #ask(question: OpenQuestion, context: QuestionContext): Promise<unknown> {
    const { elicit, sample, roots } = this.#handlers;
    switch (question.kind) {
      case "form":
      case "url":
        if (typeof elicit === "function") return elicit(question, context);
        break;
      case "sampling":
        if (typeof sample === "function") return sample(question.params, context);
        break;
      case "roots":
        return { roots: typeof roots === "function" ? await roots() : roots };
    }
    throw new TypeError(`connect() has no handler for ${question.kind} questions`);
  }
}

/** `isCalled`: the option is "events", but `connection.call` does not hand out events. */
export function unhandledQuestion(question: OpenQuestion, isCalled: boolean): CallError {
  const { key, kind } = question;
  const option = { form: "elicit", url: "elicit", sampling: "sample", roots: "roots" }[kind];
  const text = kind === "form" || kind === "url" ? ` (“${question.message}”)` : "";
  const advice = isCalled
    ? `With ${option}: "events", use start() and answer the questions in its events.`
    : `Pass connect() a handler for it: ${option}.`;
  const message = `The server asked "${key}"${text}, but this client has no way to answer. ${advice}`;
  return new CallError("unhandled_question", message, { question });
}
