// Who answers: the handlers that `connect` was given, or whoever reads the events of a call.

import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  InputResponse,
  Root,
} from "@modelcontextprotocol/client";
import { tasksExtension } from "../protocol/task.ts";
import { CallError, textOf } from "./errors.ts";
import { answerTo } from "./form-answer.ts";
import type { Kind, Pending } from "./pending.ts";

type MaybePromise<T> = T | Promise<T>;

export type FormAnswer =
  | {
      readonly action: "accept";
      readonly content?: Record<string, string | number | boolean | string[]> | undefined;
    }
  | { readonly action: "decline" | "cancel" };

export interface Asking {
  /** Aborts when the answer is no longer wanted: close the dialog. */
  readonly signal: AbortSignal;
}

export interface Handlers {
  /** What is given here is what the server is told we can do. "events": the questions come out of `start()` and `answer()` answers them. */
  readonly elicit?:
    | ((
        question: Extract<Pending, { kind: "form" | "url" }>,
        asking: Asking,
      ) => MaybePromise<FormAnswer>)
    | "events"
    | undefined;
  readonly sample?:
    | ((params: CreateMessageRequestParams, asking: Asking) => MaybePromise<CreateMessageResult>)
    | "events"
    | undefined;
  readonly roots?: readonly Root[] | (() => MaybePromise<readonly Root[]>) | undefined;
  /** False: the server is told that tasks are not known here. */
  readonly tasks?: boolean | undefined;
}

export class People {
  readonly #handlers: Handlers;
  readonly capabilities: ClientCapabilities;

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
    const { elicit, sample, roots, tasks } = handlers;
    this.capabilities = {
      ...(elicit !== undefined && { elicitation: { form: {}, url: {} } }),
      ...(sample !== undefined && { sampling: {} }),
      ...(roots !== undefined && { roots: {} }),
      ...(tasks !== false && { extensions: { [tasksExtension]: {} } }),
    };
  }

  /** Undefined: nobody. The server was not told that it may ask. */
  who(kind: Kind): "handler" | "events" | undefined {
    const { elicit, sample, roots } = this.#handlers;
    const given = { form: elicit, url: elicit, sampling: sample, roots }[kind];
    if (given === undefined) return undefined;
    return given === "events" ? "events" : "handler";
  }

  get useEvents(): boolean {
    return this.#handlers.elicit === "events" || this.#handlers.sample === "events";
  }

  /** The handler's answer, as it goes out. */
  async answer(question: Pending, signal: AbortSignal): Promise<InputResponse> {
    try {
      return answerTo(question, await this.#ask(question, { signal }));
    } catch (error) {
      const message = `The handler for question "${question.key}" gave no answer: ${textOf(error)}`;
      throw new CallError("handler_failed", message, { question, cause: error });
    }
  }

  async #ask(question: Pending, asking: Asking): Promise<unknown> {
    const { elicit, sample, roots } = this.#handlers;
    switch (question.kind) {
      case "form":
      case "url":
        if (typeof elicit === "function") return elicit(question, asking);
        break;
      case "sampling":
        if (typeof sample === "function") return sample(question.params, asking);
        break;
      case "roots":
        return { roots: typeof roots === "function" ? await roots() : roots };
    }
    throw new TypeError("nobody answers this here");
  }
}

export function unhandled(question: Pending, isCalled: boolean): CallError {
  const option = { form: "elicit", url: "elicit", sampling: "sample", roots: "roots" }[
    question.kind
  ];
  const what =
    question.kind === "form" || question.kind === "url" ? ` (“${question.message}”)` : "";
  const advice = isCalled
    ? `With ${option}: "events" use start(), and answer what its events ask.`
    : `Give connect() a handler for it: ${option}.`;
  const message = `The server asks "${question.key}"${what}, and nobody here answers. ${advice}`;
  return new CallError("unhandled_question", message, { question });
}
