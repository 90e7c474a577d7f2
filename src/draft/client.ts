// The client's half: a request of 2026-07-28, sent as the draft has it, and its answer as 2026-07-28 has it. One that
// the draft has no counterpart of is refused here, as a server would.

import { methodNotFound } from "../protocol/error-codes.ts";
import { finalTask } from "./task.ts";
import { isObject, own } from "../util/objects.ts";
import { aboutTask, failure, result } from "./wire.ts";
import type { Members } from "../util/objects.ts";
import type { Reply } from "./wire.ts";

export interface Requests<Options> {
  readonly request: (method: string, params: Members, options: Options) => Promise<Reply>;
}

/** What one call sends. `taskFor` gives what goes with it as `task`, where it should become one. */
export class DraftRequests<Options> implements Requests<Options> {
  readonly #inner: Requests<Options>;
  readonly #taskFor: () => Promise<object | undefined>;
  /** How often each question of a task was answered. */
  readonly #answered = new Map<string, number>();

  constructor(inner: Requests<Options>, taskFor: () => Promise<object | undefined>) {
    this.#inner = inner;
    this.#taskFor = taskFor;
  }

  readonly request = async (method: string, params: Members, options: Options): Promise<Reply> => {
    const send = (draft: string, members: Members) => this.#inner.request(draft, members, options);
    switch (method) {
      case "tools/call": {
        const task = await this.#taskFor();
        return finalReply(await send(method, { ...params, ...(task && { task }) }), true);
      }
      case "prompts/get":
      case "resources/read":
        return finalReply(await send(method, params), false);
      case "tasks/get":
        return this.#got(params, send);
      case "tasks/update":
        return this.#updated(params, send);
      case "tasks/cancel": {
        const reply = await send(method, params);
        return reply.kind === "error" ? reply : acknowledged;
      }
      default:
        return failure(methodNotFound, `The draft has no ${method}`);
    }
  };

  /** Its questions, its result and its error are fetched apart. */
  async #got({ taskId }: Members, send: Send): Promise<Reply> {
    const reply = await send("tasks/get", { taskId });
    if (reply.kind === "error") return reply;
    const task = { ...finalTask(reply.result), resultType: "complete" };
    const { status } = reply.result;
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

  async #updated({ taskId, inputResponses }: Members, send: Send): Promise<Reply> {
    const given = isObject(inputResponses) ? Object.entries(inputResponses) : [];
    const answers = given.map(([name, answer]) => [this.#keyOf(name), answer] as const);
    const reply = await send("tasks/input_response", {
      inputResponses: Object.fromEntries(answers),
      _meta: aboutTask(taskId),
    });
    if (reply.kind === "error") return reply;
    for (const [key] of answers) this.#answered.set(key, this.#times(key) + 1);
    return acknowledged;
  }

  /**
   * A question that was answered and is there again is put again, under its old key: the answer was not what was
   * wanted. In 2026-07-28 a key is used once, so it gets another name here.
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

type Send = (method: string, params: Members) => Promise<Reply>;

const acknowledged = result({ resultType: "complete" });

/** There is nothing in the draft that says which it is, but what it has. */
function finalReply(reply: Reply, isTool: boolean): Reply {
  if (reply.kind === "error") return reply;
  const { task, ...rest } = reply.result;
  if (isTool && isObject(task)) return result({ ...finalTask(task), resultType: "task" });
  const isIncomplete =
    own(rest, "inputRequests") !== undefined || own(rest, "requestState") !== undefined;
  return result({ ...reply.result, resultType: isIncomplete ? "input_required" : "complete" });
}
