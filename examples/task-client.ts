// A 2026-07-28 client written by hand: it calls a tool, answers its questions, and follows the task that the call becomes.
// It shows what goes over the wire; a program would use `mcp-parley/client`.

import { setTimeout as pause } from "node:timers/promises";

const capabilities = {
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

export interface Form {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties: { readonly [name: string]: { readonly enum?: readonly string[] } };
  };
}

export interface FormAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: { readonly [name: string]: unknown };
}

/** `resultType` says what kind of result it is. */
interface Result {
  readonly resultType: "complete" | "input_required" | "task";
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly inputRequests?: { readonly [key: string]: { readonly params: Form } };
  readonly requestState?: string;
  readonly taskId?: string;
}

export interface Task {
  readonly taskId: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly statusMessage?: string;
  readonly pollIntervalMs: number;
  readonly inputRequests?: { readonly [key: string]: { readonly params: Form } };
  readonly result?: Result;
  readonly error?: { readonly message: string };
}

interface Reply<R> {
  readonly result?: R;
  readonly error?: { readonly message: string };
}

export interface TaskClientOptions {
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
  /** Answers a question. By default every question is declined. */
  readonly answer?: (form: Form) => Promise<FormAnswer>;
  readonly onTask?: (task: Task) => void;
}

export class TaskClient {
  readonly #options: TaskClientOptions;

  constructor(options: TaskClientOptions) {
    this.#options = options;
  }

  /** Calls a tool and answers its questions, until there is a result or a task. */
  readonly start = async (
    name: string,
    args: object,
  ): Promise<
    | { readonly text: string; readonly taskId?: undefined }
    | { readonly taskId: string; readonly text?: undefined }
  > => {
    const call = { name, arguments: args };
    let result = await this.#send<Result>("tools/call", name, call);
    while (result.resultType === "input_required") {
      const inputResponses = await this.#answers(result.inputRequests);
      const { requestState } = result;
      const round = { ...call, requestState, inputResponses };
      result = await this.#send("tools/call", name, round);
    }
    return result.taskId === undefined ? { text: textOf(result) } : { taskId: result.taskId };
  };

  readonly task = (taskId: string): Promise<Task> =>
    this.#sendAgain("tasks/get", taskId, { taskId });

  /** Answers what a task asks. */
  readonly answer = async ({ taskId, inputRequests }: Task): Promise<void> => {
    const inputResponses = await this.#answers(inputRequests);
    await this.#sendAgain("tasks/update", taskId, { taskId, inputResponses });
  };

  readonly cancel = (taskId: string): Promise<unknown> =>
    this.#sendAgain("tasks/cancel", taskId, { taskId });

  /** Follows a task to its end and answers its questions. Resolves with the text of the result. */
  readonly follow = async (taskId: string): Promise<string> => {
    for (;;) {
      const task = await this.task(taskId);
      this.#options.onTask?.(task);
      if (task.status === "input_required") {
        await this.answer(task);
      } else if (task.status === "working") {
        await pause(task.pollIntervalMs);
      } else {
        if (task.result !== undefined) return textOf(task.result);
        throw new Error(task.error?.message ?? `The task is ${task.status}.`);
      }
    }
  };

  async #answers(questions: Task["inputRequests"] = {}): Promise<Record<string, FormAnswer>> {
    const answers: Record<string, FormAnswer> = {};
    for (const [key, { params }] of Object.entries(questions)) {
      answers[key] = (await this.#options.answer?.(params)) ?? { action: "decline" };
    }
    return answers;
  }

  /** Reading a task and answering it can be repeated safely, so a request that gets lost is sent again. */
  async #sendAgain<R>(method: string, name: string, params: object): Promise<R> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#send(method, name, params);
      } catch (error) {
        if (tries === 5 || error instanceof Refused) throw error;
      }
    }
  }

  async #send<R>(method: string, name: string, params: object): Promise<R> {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const response = await fetch(this.#options.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": name,
        ...this.#options.headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    });
    const { result, error } = reply<R>(response.status, await response.text());
    if (result === undefined) throw new Refused(error?.message ?? `HTTP ${response.status}`);
    return result;
  }
}

/** The server understood the request and refused it. */
class Refused extends Error {}

/** The response is JSON, or the last event of a stream. */
function reply<R>(status: number, body: string): Reply<R> {
  if (status >= 500) throw new Error(`HTTP ${status}`);
  const json = body.startsWith("{") ? body : body.slice(body.lastIndexOf("data: ") + 6);
  return JSON.parse(json);
}

const textOf = ({ content = [] }: Result) => content.map(({ text }) => text).join("\n");
