// Hints that a task has changed, where the server pushes them. Whether it has, polling tells.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { methodNotFound } from "../protocol/error-codes.ts";
import { isObject } from "./json.ts";
import type { Members } from "./json.ts";
import { members, subscriptionIn } from "./with-tasks-wire.ts";

/** Over HTTP each holds a connection. What is beyond is polled alone. */
const mostOpen = 16;

export class TaskHints {
  readonly #inner: Transport;
  readonly #newId: () => string;
  readonly #open = new Map<string, Hint>();
  /** This server has no subscriptions: there is no use in asking again. */
  #isRefused = false;

  constructor(inner: Transport, newId: () => string) {
    this.#inner = inner;
    this.#newId = newId;
  }

  /** Until the returned function is called. */
  listen(taskId: string, meta: Members, onHint: () => void): () => void {
    if (this.#isRefused || this.#open.size >= mostOpen) return () => {};
    const id = this.#newId();
    const over = new AbortController();
    const drop = () => {
      this.#open.delete(id);
      over.abort();
    };
    const close = () => {
      if (!this.#open.has(id)) return;
      drop();
      // Elsewhere that has closed the stream, which says the same.
      if (this.#inner.hasPerRequestStream !== true) this.#cancel(id, meta);
    };
    this.#open.set(id, { taskId, onHint, drop, close });
    const params = { notifications: { taskIds: [taskId] }, _meta: { ...meta } };
    this.#inner
      .send(
        { jsonrpc: "2.0", id, method: "subscriptions/listen", params },
        { requestSignal: over.signal, onRequestStreamEnd: drop },
      )
      .catch((error: unknown) => {
        if (isRefusal(error)) this.#isRefused = true;
        drop();
      });
    return close;
  }

  /** True: it belongs to one of these subscriptions, and to nobody else. */
  take(message: JSONRPCMessage, isOurs: (id: unknown) => boolean): boolean {
    if (!("method" in message)) return this.#ended(message);
    const { method, params } = message;
    const isCancelled = method === "notifications/cancelled";
    const id = isCancelled ? members(params)["requestId"] : subscriptionIn(params);
    if (!isOurs(id)) return false;
    const hint = typeof id === "string" ? this.#open.get(id) : undefined;
    if (hint === undefined) return true;
    const { taskIds } = members(members(params)["notifications"]);
    if (isCancelled) hint.drop();
    else if (method === "notifications/tasks") hint.onHint();
    else if (method === "notifications/subscriptions/acknowledged" && !includes(taskIds, hint)) {
      hint.close();
    }
    return true;
  }

  #cancel(requestId: string, meta: Members): void {
    const params = { requestId, _meta: { ...meta } };
    this.#inner.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
  }

  #ended(message: JSONRPCMessage): boolean {
    const id = "id" in message ? message.id : undefined;
    const hint = typeof id === "string" ? this.#open.get(id) : undefined;
    if (hint === undefined) return false;
    if ("error" in message && isObject(message.error) && message.error.code === methodNotFound) {
      this.#isRefused = true;
    }
    hint.drop();
    // It ends when its task is over.
    hint.onHint();
    return true;
  }
}

interface Hint {
  readonly taskId: string;
  readonly onHint: () => void;
  /** It is over. */
  readonly drop: () => void;
  /** It shall be over. */
  readonly close: () => void;
}

/** Over HTTP a method that is not there is 404. */
const isRefusal = (error: unknown) =>
  error instanceof Error && "status" in error && error.status === 404;

const includes = (taskIds: unknown, { taskId }: Hint) =>
  Array.isArray(taskIds) && taskIds.includes(taskId);
