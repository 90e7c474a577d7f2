// Hints that a task has changed (`notifications/tasks` through `subscriptions/listen`), where the server pushes them.
// Whether it has, polling tells: who gets no hints, or only some, still polls.

import { methodNotFound } from "../protocol/error-codes.ts";
import { CallError } from "./errors.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { backOff, pause } from "./pace.ts";
import type { Requests } from "./wire.ts";

/** Over HTTP each holds a connection. What is beyond is polled alone. */
const mostOpen = 16;
/** How often a stream that has broken off is opened again. */
const mostTries = 5;

export class TaskHints {
  readonly #wire: Requests;
  #open = 0;
  /** This server has no subscriptions: there is no use in asking again. */
  #isRefused = false;

  constructor(wire: Requests) {
    this.#wire = wire;
  }

  /** Until the returned function is called. */
  listen(taskId: string, onHint: () => void, meta?: Members): () => void {
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
    const onNotification = (method: string, params: Members) => {
      if (method === "notifications/tasks") onHint();
      // It listens to us, but will not tell of this one.
      else if (method === acknowledged && !isIn(params, taskId)) over.abort();
    };
    const params = { notifications: { taskIds: [taskId] } };
    const options = { signal, meta, onNotification };
    this.#open += 1;
    try {
      for (let tries = 0; tries < mostTries; tries += 1) {
        const reply = await this.#wire
          .request("subscriptions/listen", params, options)
          .catch((error: unknown) => error);
        if (signal.aborted) return;
        if (isRefusal(reply)) this.#isRefused = true;
        // It ends when its task is over; and when it breaks off, something may be missed.
        onHint();
        if (this.#isRefused || !(reply instanceof Error)) return;
        await pause(backOff(1_000, 10_000, tries), signal);
      }
    } catch {
      // Nobody needs them any more.
    } finally {
      this.#open -= 1;
    }
  }
}

const acknowledged = "notifications/subscriptions/acknowledged";

function isIn(params: Members, taskId: string): boolean {
  const taskIds = own(own(params, "notifications"), "taskIds");
  return Array.isArray(taskIds) && taskIds.includes(taskId);
}

const isRefusal = (reply: unknown) =>
  own(own(reply, "error"), "code") === methodNotFound ||
  (reply instanceof CallError && reply.code === "refused");
