// A 2025-11-25 session. The server asks by sending requests of its own. This file finds the call that a question
// belongs to, and gets it answered.

import { RELATED_TASK_META_KEY } from "@modelcontextprotocol/client";
import type { Client, ClientContext, InputResponse } from "@modelcontextprotocol/client";
import { own } from "../util/objects.ts";
import type { Answerers } from "./answerers.ts";
import { CallError } from "./errors.ts";
import { nameOf } from "./question-names.ts";
import type { OpenQuestion } from "./question.ts";
import { readQuestion } from "./read-question.ts";
import { sdkFailure } from "./transport-failure.ts";

/** A call that the server can push questions to. */
export interface AskableCall {
  readonly taskId: string | undefined;
  /** Stops the clock of the call until the returned function is called. */
  readonly hold: () => () => void;
  readonly push: (question: OpenQuestion, unwanted: AbortSignal) => Promise<InputResponse>;
}

/** What the server says about its tasks and about one tool. */
export interface LegacyTool {
  readonly serverHasTasks: boolean;
  readonly taskSupport: unknown;
}

/** `params.task`: how a client asks for a task before 2026-07-28. */
export interface TaskParams {
  readonly ttl?: number | undefined;
}

/** What to send as `params.task`. Undefined if the call is not to be a task. */
export function taskFor(
  { serverHasTasks, taskSupport }: LegacyTool,
  wanted: TaskParams | undefined,
): TaskParams | undefined {
  if (!serverHasTasks) return undefined;
  if (taskSupport === "required") return wanted ?? {};
  return taskSupport === "optional" ? wanted : undefined;
}

/** How many questions a session may have open. A server can ask even if no call is running. */
const mostAtOnce = 100;

export class LegacySession {
  readonly #sdk: Client;
  readonly #answerers: Answerers;
  readonly #calls: ReadonlySet<AskableCall>;
  #beingAsked = 0;
  #turns: Promise<unknown> = Promise.resolve();

  /** `calls` is the live set of the connection's running calls. */
  constructor(sdk: Client, answerers: Answerers, calls: ReadonlySet<AskableCall>) {
    this.#sdk = sdk;
    this.#answerers = answerers;
    this.#calls = calls;
    this.#handleRequests();
  }

  /** True while a person is being asked something, for whichever call. */
  get isAsking(): boolean {
    return this.#beingAsked > 0;
  }

  #handleRequests(): void {
    const { elicitation, sampling, roots } = this.#answerers.capabilities;
    // oxlint-disable typescript/no-unsafe-type-assertion -- an answer has the kind of its question
    if (elicitation !== undefined) {
      this.#sdk.setRequestHandler("elicitation/create", this.#answer as never);
    }
    if (sampling !== undefined) {
      this.#sdk.setRequestHandler("sampling/createMessage", this.#answer as never);
    }
    if (roots !== undefined) this.#sdk.setRequestHandler("roots/list", this.#answer as never);
    // oxlint-enable typescript/no-unsafe-type-assertion
  }

  readonly #answer = async (
    request: { readonly method: string; readonly params?: unknown },
    { mcpReq }: ClientContext,
  ): Promise<InputResponse> => {
    if (this.#beingAsked >= mostAtOnce) {
      throw new CallError(
        "too_many_rounds",
        `This client already answers ${mostAtOnce} questions. Ask again later.`,
      );
    }
    const question = readQuestion(nameOf(request), request);
    const call = this.#callOf(request.params);
    // The request may not say which call it is for, so the clocks of all calls stop.
    const releases = [...this.#calls].map(({ hold }) => hold());
    this.#beingAsked += 1;
    try {
      if (call !== undefined) return await call.push(question, mcpReq.signal);
      return await this.#answerers.answer(question, mcpReq.signal);
    } catch (error) {
      // The server would take an error for an answer, and the question stays open for the next connection.
      if (error instanceof CallError && error.code === "closed") return await new Promise(() => {});
      throw error;
    } finally {
      this.#beingAsked -= 1;
      for (const release of releases) release();
    }
  };

  #callOf(params: unknown): AskableCall | undefined {
    const taskId = own(own(own(params, "_meta"), RELATED_TASK_META_KEY), "taskId");
    const calls = [...this.#calls];
    if (taskId !== undefined) return calls.find((call) => call.taskId === taskId);
    return calls.length === 1 || this.#answerers.useEvents ? calls[0] : undefined;
  }

  /** Runs one call at a time if questions become events, because a question may not say which call it is for. */
  readonly turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (!this.#answerers.useEvents) return work();
    const turn = this.#turns.then(work);
    this.#turns = turn.catch(() => {});
    return turn;
  };

  readonly toolOf = async (name: string): Promise<LegacyTool> => {
    const tasks = own(this.#sdk.getServerCapabilities(), "tasks");
    const serverHasTasks = own(own(own(tasks, "requests"), "tools"), "call") !== undefined;
    if (!serverHasTasks) return { serverHasTasks, taskSupport: undefined };
    const { tools } = await this.#sdk.listTools().catch((error: unknown) => {
      throw sdkFailure(error, "tools/list");
    });
    const tool: unknown = tools.find((one) => one.name === name);
    const taskSupport = own(own(tool, "execution"), "taskSupport");
    return { serverHasTasks, taskSupport };
  };
}
