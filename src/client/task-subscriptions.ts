// Subscribes to changes of tasks (`subscriptions/listen`), if the server supports it. A notification is only a hint
// to poll now: the state of a task always comes from polling, which also works without any hints.

import { methodNotFound } from "../protocol/error-codes.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { backOff } from "../util/timers.ts";
import { CallError } from "./errors.ts";
import { pause } from "./pause.ts";
import type { RequestSender } from "./request-channel.ts";
import { isPassing } from "./verdict.ts";

/** Over HTTP each subscription holds a connection. Tasks beyond this number are only polled. */
const mostOpen = 16;
/** How often a broken subscription is opened again. */
const mostTries = 5;
const retryDelay = { firstMs: 1_000, mostMs: 10_000 };

export class TaskSubscriptions {
  readonly #channel: RequestSender;
  #open = 0;
  /** This server does not support subscriptions, so it is not asked again. */
  #isRefused = false;

  constructor(channel: RequestSender) {
    this.#channel = channel;
  }

  /** Calls `onHint` whenever the task may have changed, until the returned function is called. */
  subscribe(taskId: string, onHint: () => void, meta?: Members): () => void {
    if (this.#isRefused || this.#open >= mostOpen) return () => {};
    const over = new AbortController();
    void this.#keepOpen(taskId, onHint, meta, over);
    return () => over.abort();
  }

  /** Never rejects. */
  async #keepOpen(
    taskId: string,
    onHint: () => void,
    meta: Members | undefined,
    over: AbortController,
  ): Promise<void> {
    const { signal } = over;
    let isOpen = false;
    const onNotification = (method: string, params: Members) => {
      isOpen = true;
      if (method === "notifications/tasks") onHint();
      // The server accepts the subscription but leaves out this task.
      else if (method === acknowledged && !names(params, taskId)) over.abort();
    };
    const params = { notifications: { taskIds: [taskId] } };
    const options = { signal, meta, onNotification };
    this.#open += 1;
    try {
      for (let tries = 1; tries <= mostTries; tries += 1) {
        const response = await this.#channel
          .request("subscriptions/listen", params, options)
          .catch((error: unknown) => error);
        if (signal.aborted) return;
        if (isRefusal(response)) this.#isRefused = true;
        // A subscription ends when its task does. If it breaks, a change may have been missed. One that the server has
        // not accepted says nothing about the task.
        if (isOpen) onHint();
        isOpen = false;
        if (this.#isRefused || !(response instanceof Error)) return;
        await pause(backOff(tries, retryDelay), signal);
      }
    } catch {
      // The signal aborted during the pause, so the subscription is not needed any more.
    } finally {
      this.#open -= 1;
    }
  }
}

const acknowledged = "notifications/subscriptions/acknowledged";

function names(params: Members, taskId: string): boolean {
  const taskIds = own(own(params, "notifications"), "taskIds");
  return Array.isArray(taskIds) && taskIds.includes(taskId);
}

const isRefusal = (response: unknown) =>
  own(own(response, "error"), "code") === methodNotFound ||
  (response instanceof CallError && response.code === "refused" && !isPassing(response));
