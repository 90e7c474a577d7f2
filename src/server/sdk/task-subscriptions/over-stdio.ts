// Task subscriptions over stdio: the transport the SDK serves, with ours around it.

import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server";
import type {
  Implementation,
  MessageExtraInfo,
  RequestId,
  Transport,
} from "@modelcontextprotocol/server";
import type { Core } from "../../core.ts";
import { notDeclared } from "../../tasks/requests.ts";
import { members, taskListenOf, TaskSubscription } from "./subscriptions.ts";
import type { Message, TaskListen } from "./subscriptions.ts";

export class TaskListeningTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: Message, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #core: Core;
  readonly #serverInfo: Implementation | undefined;
  readonly #subscriptions = new Map<RequestId, TaskSubscription>();
  /** Asked for, and not handed to the SDK yet. */
  readonly #opening = new Set<RequestId>();
  /** Of clients that do not declare the extension. The SDK says first what else is wrong with them. */
  readonly #undeclared = new Set<RequestId>();
  #sent: Promise<void> = Promise.resolve();

  constructor(inner: Transport, core: Core, serverInfo?: Implementation) {
    this.#inner = inner;
    this.#core = core;
    this.#serverInfo = serverInfo;
  }

  async start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    this.#inner.onclose = () => {
      this.#opening.clear();
      for (const subscription of this.#subscriptions.values()) subscription.close();
      this.onclose?.();
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    this.#inner.onerror = (error) => this.onerror?.(error);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    this.#inner.onmessage = (message, extra) => this.#received(message, extra);
    await this.#inner.start();
  }

  async send(message: Message, options?: Parameters<Transport["send"]>[1]): Promise<void> {
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

  /** One after the other: the SDK's transport waits for each write that does not fit with listeners of its own. */
  #send(message: Message, options?: Parameters<Transport["send"]>[1]): Promise<void> {
    const sent = this.#sent.then(() => this.#inner.send(message, options));
    this.#sent = sent.catch(() => {});
    return sent;
  }

  /** The SDK has said its last words to those who listen; ours end with it. */
  async close(): Promise<void> {
    for (const subscription of this.#subscriptions.values()) {
      const last = subscription.close();
      if (last !== undefined) await this.#send(last);
    }
    this.#subscriptions.clear();
    await this.#inner.close();
  }

  #received(message: Message, extra: MessageExtraInfo | undefined): void {
    if (this.#isCancelled(message)) return;
    const listen = taskListenOf(message);
    if (listen === undefined) return this.onmessage?.(message, extra);
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
    const send = (message: Message) => void this.#send(message).catch(() => {});
    // Over stdio nobody is told who is calling: it is whoever started this process.
    return TaskSubscription.open(this.#core, listen, undefined, {
      send,
      end: (_last, isAlone) => {
        if (!isAlone || !this.#subscriptions.delete(id)) return;
        // To the client as the specification has it for stdio, and to the SDK, which still holds it open.
        const cancelled = cancellation(id, "All tasks are over.");
        send(cancelled);
        send({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta: this.#metaOf(id) } });
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

  /** True: of one that the SDK has not heard of yet, and need not. */
  #isCancelled(message: Message): boolean {
    if (!("method" in message) || message.method !== "notifications/cancelled") return false;
    const { requestId } = members(message.params);
    if (typeof requestId !== "string" && typeof requestId !== "number") return false;
    this.#close(requestId);
    return this.#opening.delete(requestId);
  }
}

function cancellation(requestId: RequestId, reason: string): Message {
  const _meta = { [SUBSCRIPTION_ID_META_KEY]: requestId };
  return {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId, reason, _meta },
  };
}

/** The subscription a message of the SDK's belongs to. */
function subscriptionOf(message: Message): RequestId | undefined {
  if (!("method" in message)) return message.id;
  const id = members(members(message.params)["_meta"])[SUBSCRIPTION_ID_META_KEY];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
