// A seam in the SDK: task subscriptions over stdio. The SDK's `subscriptions/listen` does not carry tasks. So a wrapper
// around the SDK's transport passes its messages through the subscription.

import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server";
import type {
  Implementation,
  MessageExtraInfo,
  RequestId,
  Transport,
} from "@modelcontextprotocol/server";
import type { Core } from "../../core.ts";
import { notDeclared } from "../../tasks/requests.ts";
import type { TransportMessage } from "../response-overrides.ts";
import { isTaskListen, listenOf, members, TaskSubscription } from "./subscriptions.ts";
import type { TaskListen } from "./subscriptions.ts";

/** Adds tasks to the subscriptions of one connection. */
export class TaskListeningTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: TransportMessage, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #core: Core;
  readonly #serverInfo: Implementation | undefined;
  readonly #subscriptions = new Map<RequestId, TaskSubscription>();
  /** Subscriptions that were requested and not handed to the SDK yet. */
  readonly #opening = new Set<RequestId>();
  /** Requests that do not declare the extension. They are refused after the SDK has made its own checks. */
  readonly #undeclared = new Set<RequestId>();
  #sent: Promise<void> = Promise.resolve();

  constructor(inner: Transport, core: Core, serverInfo?: Implementation) {
    this.#inner = inner;
    this.#core = core;
    this.#serverInfo = serverInfo;
  }

  async start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    this.#inner.onclose = () => {
      this.#opening.clear();
      for (const subscription of this.#subscriptions.values()) subscription.close();
      this.onclose?.();
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    this.#inner.onerror = (error) => this.onerror?.(error);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    this.#inner.onmessage = (message, extra) => this.#received(message, extra);
    await this.#inner.start();
  }

  async send(message: TransportMessage, options?: Parameters<Transport["send"]>[1]): Promise<void> {
    const id = subscriptionOf(message);
    if (id !== undefined && this.#undeclared.delete(id) && "method" in message) {
      return this.#refuse(id);
    }
    const subscription = id === undefined ? undefined : this.#subscriptions.get(id);
    const outgoing = subscription === undefined ? message : subscription.outgoing(message);
    if (outgoing === undefined) return;
    const isResponse = !("method" in message);
    if (isResponse && id !== undefined) this.#close(id);
    await this.#send(outgoing, options);
  }

  /** Sends one message after the other: the SDK's transport adds listeners for every write that has to wait. */
  #send(message: TransportMessage, options?: Parameters<Transport["send"]>[1]): Promise<void> {
    const sent = this.#sent.then(() => this.#inner.send(message, options));
    this.#sent = sent.catch(() => {});
    return sent;
  }

  /** The SDK has ended its subscriptions, and the ones here end with them. */
  async close(): Promise<void> {
    for (const subscription of this.#subscriptions.values()) {
      const last = subscription.close();
      if (last !== undefined) await this.#send(last);
    }
    this.#subscriptions.clear();
    await this.#inner.close();
  }

  #received(message: TransportMessage, extra: MessageExtraInfo | undefined): void {
    if (this.#isCancelled(message)) return;
    const listen = listenOf(message);
    if (!isTaskListen(listen)) return this.onmessage?.(message, extra);
    if (!listen.isDeclared) {
      this.#undeclared.add(listen.id);
      return this.onmessage?.(message, extra);
    }
    this.#opening.add(listen.id);
    void this.#open(listen).then((subscription) => {
      if (!this.#opening.delete(listen.id)) return;
      this.#close(listen.id);
      this.#subscriptions.set(listen.id, subscription);
      this.onmessage?.(message, extra);
    });
  }

  #open(listen: TaskListen): Promise<TaskSubscription> {
    const { id } = listen;
    // If a message cannot be sent, there is no client left to read it.
    const send = (message: TransportMessage) => this.#send(message).catch(() => {});
    // Over stdio the caller is the user who started this process, so there is no principal.
    return TaskSubscription.open(this.#core, listen, undefined, {
      send,
      end: (_last, isAlone) => {
        if (!isAlone || !this.#subscriptions.delete(id)) return;
        // The client is notified as the specification says for stdio. So is the SDK, which still holds the subscription
        // open.
        const cancelled = cancellation(id, "All tasks are over.");
        void send(cancelled);
        const result = { resultType: "complete", _meta: this.#metaOf(id) };
        void send({ jsonrpc: "2.0", id, result });
        this.onmessage?.(cancelled);
      },
    });
  }

  #metaOf(id: RequestId): { [name: string]: unknown } {
    return {
      [SUBSCRIPTION_ID_META_KEY]: id,
      ...(this.#serverInfo === undefined ? {} : { [SERVER_INFO_META_KEY]: this.#serverInfo }),
    };
  }

  async #refuse(id: RequestId): Promise<void> {
    const { code, message, data } = notDeclared;
    this.onmessage?.(cancellation(id, message));
    await this.#send({ jsonrpc: "2.0", id, error: { code, message, data } });
  }

  #close(id: RequestId): void {
    this.#subscriptions.get(id)?.close();
    this.#subscriptions.delete(id);
  }

  /** True for the cancellation of a request that was not handed to the SDK yet. The SDK need not see either. */
  #isCancelled(message: TransportMessage): boolean {
    if (!("method" in message) || message.method !== "notifications/cancelled") return false;
    const { requestId } = members(message.params);
    if (typeof requestId !== "string" && typeof requestId !== "number") return false;
    this.#close(requestId);
    return this.#opening.delete(requestId);
  }
}

function cancellation(requestId: RequestId, reason: string): TransportMessage {
  const _meta = { [SUBSCRIPTION_ID_META_KEY]: requestId };
  return {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId, reason, _meta },
  };
}

/** The subscription that a message of the SDK belongs to. */
function subscriptionOf(message: TransportMessage): RequestId | undefined {
  if (!("method" in message)) return message.id;
  const id = members(members(message.params)["_meta"])[SUBSCRIPTION_ID_META_KEY];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
