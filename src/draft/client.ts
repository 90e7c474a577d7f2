// The client's half: it sends a 2026-07-28 request in the form of the draft and gives the response in the form of
// 2026-07-28. A method without a counterpart in the draft is refused here, as a server would refuse it.

import type { RpcRequests } from "../protocol/draft-plug-in.ts";
import { methodNotFound } from "../protocol/error-codes.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { finalTask } from "./task.ts";
import { aboutTask, failure, result } from "./wire.ts";

/** The requests of one call. */
export class DraftRequests<Options> implements RpcRequests<Options> {
  readonly #inner: RpcRequests<Options>;
  readonly #taskFor: () => Promise<object | undefined>;
  /** How many times each question of a task was answered. */
  readonly #answered = new Map<string, number>();

  /** `taskFor` gives the `task` parameter of `tools/call`, or undefined for a call that is not to become a task. */
  constructor(inner: RpcRequests<Options>, taskFor: () => Promise<object | undefined>) {
    this.#inner = inner;
    this.#taskFor = taskFor;
  }

  readonly request = async (
    method: string,
    params: Members,
    options: Options,
  ): Promise<RpcResponse> => {
    const send = (draft: string, members: Members) => this.#inner.request(draft, members, options);
    switch (method) {
      case "tools/call": {
        const task = await this.#taskFor();
        return finalResponse(await send(method, { ...params, ...(task && { task }) }), true);
      }
      case "prompts/get":
      case "resources/read":
        return finalResponse(await send(method, params), false);
      case "tasks/get":
        return this.#got(params, send);
      case "tasks/update":
        return this.#updated(params, send);
      case "tasks/cancel": {
        const response = await send(method, params);
        return response.kind === "error" ? response : acknowledged;
      }
      default:
        return failure(methodNotFound, `The draft has no ${method}`);
    }
  };

  /** The draft has a task's questions, result and error in `tasks/result`, not in `tasks/get`. */
  async #got({ taskId }: Members, send: Send): Promise<RpcResponse> {
    const response = await send("tasks/get", { taskId });
    if (response.kind === "error") return response;
    const task = { ...finalTask(response.result), resultType: "complete" };
    const { status } = response.result;
    if (status !== "input_required" && status !== "completed" && status !== "failed") {
      return result(task);
    }
    const fetched = await send("tasks/result", { taskId });
    if (fetched.kind === "error") {
      return status === "failed" ? result({ ...task, error: fetched.error }) : fetched;
    }
    const { inputRequests, ...rest } = fetched.result;
    if (inputRequests !== undefined) {
      const questions = isObject(inputRequests) ? this.#anew(inputRequests) : inputRequests;
      return result({ ...task, status: "input_required", inputRequests: questions });
    }
    return result({ ...task, status: "completed", result: { ...rest, resultType: "complete" } });
  }

  async #updated({ taskId, inputResponses }: Members, send: Send): Promise<RpcResponse> {
    const given = isObject(inputResponses) ? Object.entries(inputResponses) : [];
    const answers = given.map(([name, answer]) => [this.#keyOf(name), answer] as const);
    const response = await send("tasks/input_response", {
      inputResponses: Object.fromEntries(answers),
      _meta: aboutTask(taskId),
    });
    if (response.kind === "error") return response;
    for (const [key] of answers) this.#answered.set(key, this.#times(key) + 1);
    return acknowledged;
  }

  /**
   * In the draft, a question that comes again under a key that was answered is asked again, because its answer was not
   * usable. In 2026-07-28 a key is used once, so the question gets another name here.
   */
  #anew(questions: Members): Members {
    return Object.fromEntries(
      Object.entries(questions).map(([key, question]) => [this.#nameOf(key), question]),
    );
  }

  #nameOf(key: string): string {
    const times = this.#times(key);
    return times === 0 ? key : `${key} (${times + 1})`;
  }

  #keyOf(name: string): string {
    return [...this.#answered.keys()].find((key) => this.#nameOf(key) === name) ?? name;
  }

  #times(key: string): number {
    return this.#answered.get(key) ?? 0;
  }
}

type Send = (method: string, params: Members) => Promise<RpcResponse>;

const acknowledged = result({ resultType: "complete" });

/** The draft does not name the kind of a result, so its members decide. */
function finalResponse(response: RpcResponse, isTool: boolean): RpcResponse {
  if (response.kind === "error") return response;
  const { task, ...rest } = response.result;
  if (isTool && isObject(task)) return result({ ...finalTask(task), resultType: "task" });
  const isIncomplete =
    own(rest, "inputRequests") !== undefined || own(rest, "requestState") !== undefined;
  return result({ ...response.result, resultType: isIncomplete ? "input_required" : "complete" });
}
