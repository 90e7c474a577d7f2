// The draft over a single connection such as stdio: a transport around the transport. It does nothing until a client
// opens with the draft. From then on it translates each request to 2026-07-28 before the official SDK sees it, and each
// response back on the way out.

import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
} from "@modelcontextprotocol/server";
import type { DraftTasks } from "../protocol/draft-plug-in.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { draftStreamTokenIn } from "../protocol/streaming.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { peerOf, stranger } from "./peer.ts";
import type { Peer } from "./peer.ts";
import { serveDraft } from "./server.ts";
import type { Deferred } from "./server.ts";
import { opensDraft } from "./wire.ts";

type Request = Extract<JSONRPCMessage, { method: string; id: RequestId }>;

/** A request of the draft that has no response yet. */
interface InFlight {
  readonly stop: AbortController;
  /** The id of the 2026-07-28 request that is being served for it now. */
  finalId?: string;
}

/** Speaks the draft with a client that opens with it, and passes on the messages of any other client unchanged. */
export class DraftTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #tasks: DraftTasks;
  readonly #deferred: Deferred;
  readonly #inFlight = new Map<RequestId, InFlight>();
  readonly #waiting = new Map<RequestId, (response: RpcResponse) => void>();
  #peer: Peer | undefined;
  #requests = 0;

  constructor(inner: Transport, tasks: DraftTasks, deferred: Deferred) {
    this.#inner = inner;
    this.#tasks = tasks;
    this.#deferred = deferred;
  }

  /** Whether the client opened with the draft. */
  get isDraft(): boolean {
    return this.#peer !== undefined;
  }

  async start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    this.#inner.onclose = () => {
      for (const { stop } of this.#inFlight.values()) stop.abort();
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
      // Notifications are the same in both forms. The draft has no requests from the server.
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
    if ("id" in message) void this.#respond(message);
    else if (message.method === "notifications/cancelled") this.#cancel(message.params);
  }

  async #respond(message: Request): Promise<void> {
    const { id, method, params } = message;
    const inFlight: InFlight = { stop: new AbortController() };
    this.#inFlight.set(id, inFlight);
    const { signal } = inFlight.stop;
    const request = {
      method,
      params: isObject(params) ? params : {},
      peer: this.#peer ?? stranger,
      stream: draftStreamTokenIn(message),
      signal,
    };
    try {
      const serve = (final: string, members: Members) => this.#serve(inFlight, final, members);
      const response = await serveDraft(request, serve, this.#tasks, this.#deferred);
      if (signal.aborted) return;
      const { kind: _, ...body } = response;
      await this.#inner.send({ jsonrpc: "2.0", id, ...body });
    } catch (error) {
      if (!signal.aborted)
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    } finally {
      if (this.#inFlight.get(id) === inFlight) this.#inFlight.delete(id);
    }
  }

  #serve(inFlight: InFlight, method: string, params: Members): Promise<RpcResponse> {
    this.#requests += 1;
    const id = `draft-${this.#requests}`;
    inFlight.finalId = id;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.onmessage?.({ jsonrpc: "2.0", id, method, params: { ...params } });
    });
  }

  #cancel(params: unknown): void {
    const id = own(params, "requestId");
    if (typeof id !== "string" && typeof id !== "number") return;
    const inFlight = this.#inFlight.get(id);
    if (inFlight === undefined) return;
    const { stop, finalId } = inFlight;
    this.#inFlight.delete(id);
    stop.abort();
    if (finalId === undefined) return;
    this.#waiting.delete(finalId);
    const cancelled = { requestId: finalId };
    this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled });
  }
}
