// One run of an adopted tool. Its questions to the SDK become questions of the call. A tool can ask through the
// request's context, which is replaced, or through the methods of the server, which find the run by its asynchronous
// context.

import { AsyncLocalStorage } from "node:async_hooks";
import type {
  CreateMessageRequest,
  CreateMessageResultWithTools,
  ElicitResult,
  ListRootsResult,
  McpServer,
  RequestOptions,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { HandlerContext } from "../context/handler-context.ts";
import type { QuestionParams } from "../context/questions.ts";
import type { QuestionSpec } from "../../replay/operations.ts";
import { elicitQuestion, listRootsQuestion, messageQuestion } from "./adopted-questions.ts";
import type { ElicitParams } from "./adopted-questions.ts";

const current = new AsyncLocalStorage<AdoptedCall>();

/** Asks the questions of one run, each under its place in the order. */
export class AdoptedCall {
  readonly #ctx: HandlerContext;
  readonly #onQuestion: () => void;
  #asked = 0;

  constructor(ctx: HandlerContext, onQuestion: () => void) {
    this.#ctx = ctx;
    this.#onQuestion = onQuestion;
  }

  /** Runs the tool's callback as part of this call. */
  run<T>(callback: () => T): T {
    return current.run(this, callback);
  }

  elicitInput(params: ElicitParams, options?: RequestOptions): Promise<ElicitResult> {
    return this.#ask("elicitInput", options, (question) => elicitQuestion(question, params));
  }

  createMessage(
    params: CreateMessageRequest["params"],
    options?: RequestOptions,
  ): Promise<CreateMessageResultWithTools> {
    return this.#ask("createMessage", options, (question) => messageQuestion(question, params));
  }

  listRoots(options?: RequestOptions): Promise<ListRootsResult> {
    return this.#ask("listRoots", options, listRootsQuestion);
  }

  /** A question that is sent as a request. Undefined if it is another request. */
  send(
    { method, params }: { readonly method: string; readonly params?: unknown },
    options?: RequestOptions,
  ): Promise<object> | undefined {
    switch (method) {
      case "elicitation/create":
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the SDK's types require it
        return this.elicitInput(params as ElicitParams, options);
      case "sampling/createMessage":
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the SDK's types require it
        return this.createMessage(params as CreateMessageRequest["params"], options);
      case "roots/list":
        return this.listRoots(options);
      default:
        return undefined;
    }
  }

  /** The request's context for the callback. It hides answers and state, which are those of the call. */
  contextFrom(context: ServerContext): ServerContext {
    const { mcpReq } = context;
    const { inputResponses: _answers, droppedInputResponseKeys: _dropped, ...rest } = mcpReq;
    const send = (request: { readonly method: string }, ...more: readonly unknown[]): unknown =>
      this.send(request, optionsIn(more)) ?? Reflect.apply(mcpReq.send, mcpReq, [request, ...more]);
    return {
      ...context,
      mcpReq: {
        ...rest,
        requestState: () => undefined,
        elicitInput: (params, options) => this.elicitInput(params, options),
        requestSampling: (params, options) => this.createMessage(params, options),
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same overloads, passed on
        send: send as typeof mcpReq.send,
      },
    };
  }

  /** The SDK lets a tool go on without the answer, so the question counts as awaited (R10). */
  #ask<T>(
    verb: string,
    options: RequestOptions | undefined,
    make: (question: QuestionParams) => QuestionSpec,
  ): Promise<T> {
    this.#asked += 1;
    this.#onQuestion();
    const question = this.#ctx.askAs<T>(
      verb,
      `sdk-${this.#asked}`,
      { timeoutMs: options?.timeout },
      make,
    );
    return question.then((answer) => answer);
  }
}

/** The options are the last argument, after a schema for the result if there is one. */
function optionsIn(more: readonly unknown[]): RequestOptions | undefined {
  const last: unknown = more.at(-1);
  const isOptions = typeof last === "object" && last !== null && !("~standard" in last);
  return isOptions ? last : undefined;
}

const known = new WeakSet<McpServer>();

/** Leads the questions that callbacks ask through the server to the call that runs. Other calls do not notice. */
export function leadQuestions(server: McpServer): void {
  if (known.has(server)) return;
  known.add(server);
  const { server: protocol } = server;
  replace(protocol, "elicitInput", (call, [params, options]) => call.elicitInput(params, options));
  replace(protocol, "createMessage", (call, [params, options]) =>
    call.createMessage(params, options),
  );
  replace(protocol, "listRoots", (call, [, options]) => call.listRoots(options));
  replace(protocol, "request", (call, [request, ...more]) => call.send(request, optionsIn(more)));
  // 2026-07-28 has no such notification, and needs none: the client calls again when the person is done.
  replace(protocol, "createElicitationCompletionNotifier", () => () => Promise.resolve());
}

/** Replaces a method. Outside adopted calls, and if `lead` returns undefined, the original one is called. */
function replace(
  of: object,
  name: string,
  // oxlint-disable-next-line typescript/no-explicit-any -- the arguments are those of the method
  lead: (call: AdoptedCall, args: readonly any[]) => unknown,
): void {
  const original: unknown = Reflect.get(of, name);
  if (typeof original !== "function") return;
  const value = (...args: readonly unknown[]): unknown => {
    const call = current.getStore();
    return (call && lead(call, args)) ?? Reflect.apply(original, of, args);
  };
  Object.defineProperty(of, name, { value, configurable: true, writable: true });
}
