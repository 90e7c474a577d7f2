// The draft over one channel: a transport around the transport. It does nothing until a client opens with the draft;
// from then on what comes is turned into 2026-07-28 before the official SDK sees it, and back on the way out.

import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
} from "@modelcontextprotocol/server";
import { peerOf, stranger } from "./peer.ts";
import type { Peer } from "./peer.ts";
import { answerDraft } from "./server.ts";
import type { Tasks } from "./server.ts";
import { isObject, own } from "../util/objects.ts";
import { opensDraft } from "./wire.ts";
import type { Members } from "../util/objects.ts";
import type { Reply } from "./wire.ts";

type Request = Extract<JSONRPCMessage, { method: string; id: RequestId }>;

/** A request of the draft, and the id of the one that it is at the moment. */
interface UnderWay {
  readonly stop: AbortController;
  finalId?: string;
}

export class DraftTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #tasks: Tasks;
  readonly #underWay = new Map<RequestId, UnderWay>();
  readonly #waiting = new Map<RequestId, (reply: Reply) => void>();
  #peer: Peer | undefined;
  #requests = 0;

  constructor(inner: Transport, tasks: Tasks) {
    this.#inner = inner;
    this.#tasks = tasks;
  }

  /** The client has opened with the draft. */
  get isDraft(): boolean {
    return this.#peer !== undefined;
  }

  async start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    this.#inner.onclose = () => {
      for (const { stop } of this.#underWay.values()) stop.abort();
      this.onclose?.();
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    this.#inner.onerror = (error) => this.onerror?.(error);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    this.#inner.onmessage = (message, extra) => this.#received(message, extra);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: Parameters<Transport["send"]>[1]): Promise<void> {
    if (!this.isDraft) return this.#inner.send(message, options);
    if ("method" in message) {
      // What is told of a request is told in the same words.
      if (!("id" in message)) await this.#inner.send(message, options);
      return;
    }
    if (message.id === undefined) return;
    const settle = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    settle?.(
      "error" in message
        ? { kind: "error", error: message.error }
        : { kind: "result", result: message.result },
    );
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  #received(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (opensDraft(message)) this.#peer = peerOf(own(message, "params"));
    if (!this.isDraft) return this.onmessage?.(message, extra);
    if (!("method" in message)) return;
    if ("id" in message) void this.#answer(message);
    else if (message.method === "notifications/cancelled") this.#cancel(message.params);
  }

  async #answer({ id, method, params }: Request): Promise<void> {
    const underWay: UnderWay = { stop: new AbortController() };
    this.#underWay.set(id, underWay);
    const { signal } = underWay.stop;
    const request = {
      method,
      params: isObject(params) ? params : {},
      peer: this.#peer ?? stranger,
      signal,
    };
    try {
      const serve = (final: string, members: Members) => this.#serve(underWay, final, members);
      const reply = await answerDraft(request, serve, this.#tasks);
      if (signal.aborted) return;
      const { kind: _, ...body } = reply;
      await this.#inner.send({ jsonrpc: "2.0", id, ...body });
    } catch (error) {
      if (!signal.aborted)
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    } finally {
      if (this.#underWay.get(id) === underWay) this.#underWay.delete(id);
    }
  }

  #serve(underWay: UnderWay, method: string, params: Members): Promise<Reply> {
    this.#requests += 1;
    const id = `draft-${this.#requests}`;
    underWay.finalId = id;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.onmessage?.({ jsonrpc: "2.0", id, method, params: { ...params } });
    });
  }

  #cancel(params: unknown): void {
    const id = own(params, "requestId");
    if (typeof id !== "string" && typeof id !== "number") return;
    const underWay = this.#underWay.get(id);
    if (underWay === undefined) return;
    const { stop, finalId } = underWay;
    this.#underWay.delete(id);
    stop.abort();
    if (finalId === undefined) return;
    this.#waiting.delete(finalId);
    const cancelled = { requestId: finalId };
    this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled });
  }
}
