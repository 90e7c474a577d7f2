// The options of `withTasks`, and the error that it reports.

import type { RequestId } from "@modelcontextprotocol/client";
import type { Part } from "../part.ts";

/** Options of `withTasks`. */
export interface WithTasksOptions {
  /**
   * Cancels the task when the client gives up the call. A transport cannot tell why a client gives up, so a task that
   * takes longer than the client's `timeout` is cancelled as well. Default: false.
   */
  readonly cancelOnAbort?: boolean | undefined;
  /** Subscribes to changes of the task (`subscriptions/listen`) besides polling it. Default: true. */
  readonly listen?: boolean | undefined;
  /** How long the server may be unreachable while a task is followed, in milliseconds. Default: 60 000 (one minute). */
  readonly outageMs?: number | undefined;
  /** How often a call with `onprogress` hears that its task still runs, in milliseconds. Default: 5000. */
  readonly progressMs?: number | undefined;
  /**
   * How long the client may take to answer a question of a task, in milliseconds. After that the task is cancelled. Set
   * it if a handler of yours can throw, because a transport does not learn about that. Default: no limit.
   */
  readonly answerMs?: number | undefined;
  /**
   * Asks for what tools stream, and receives each part, with the id of the request that it belongs to. Each round of a call is
   * a request of its own, and so is each time that its task has asked something. Default: no parts are asked for.
   *
   * @example
   * ```ts
   * withTasks(transport, { onPart: ({ text }) => process.stdout.write(text) });
   * ```
   */
  readonly onPart?: ((part: Part, request: RequestId) => void) | undefined;
}

/** Reported to the transport's `onerror` when a call ends but its task continues on the server. */
export class TaskLeftError extends Error {
  /** The id of the task. You can still read or cancel the task with it. */
  readonly taskId: string;

  /** `tool` is the tool that was called. */
  constructor(tool: string, taskId: string) {
    super(
      `The call of "${tool}" was given up, but its task is still running. If the client's timeout ended the call ` +
        "(60 s by default), pass callTool() a longer `timeout`, or `resetTimeoutOnProgress: true` together with " +
        "`onprogress`. To cancel the task with the call, use withTasks(transport, { cancelOnAbort: true }).",
    );
    this.name = "TaskLeftError";
    this.taskId = taskId;
  }
}
