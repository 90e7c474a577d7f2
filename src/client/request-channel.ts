// Sends requests over the transport of the SDK's client, below its codec. The SDK refuses a result that is a task, and
// its rounds cannot be stopped and continued later. The SDK's own messages pass through unchanged; the requests sent
// here have ids that the SDK never uses.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/client";
import type {
  ClientCapabilities,
  Implementation,
  JSONRPCMessage,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import type { RpcResponse } from "../protocol/rpc.ts";
import { partIn } from "../protocol/streamed-content.ts";
import { partNotification, streamingExtension } from "../protocol/streaming.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { ResponseObserver } from "./bounded-fetch.ts";
import { badResponse, CallError, rpcErrorIn } from "./errors.ts";
import { loggingRequest, logMessageIn, logMethod } from "./log-messages.ts";
import { OpenRequest } from "./open-request.ts";
import type { Progress, RequestOptions } from "./open-request.ts";
import { responseIn, transportFailure } from "./transport-failure.ts";

/** What every 2026-07-28 request says about its client. */
interface Envelope {
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

/** The part of a channel that calls and tasks use. */
export type RequestSender = Pick<RequestChannel, "request">;

let channels = 0;

export class RequestChannel implements ResponseObserver {
  readonly #open = new Map<string, OpenRequest>();
  readonly #prefix: string;
  #transport: Transport | undefined;
  /** What every request says about its client. Empty in a 2025-11-25 session. */
  #meta: Members = {};
  #requests = 0;
  #sent: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #onTools: (tools: readonly unknown[]) => void;

  /** `onTools` receives every list of tools that the server sends, also those that the SDK asked for. */
  constructor(onTools: (tools: readonly unknown[]) => void = () => {}) {
    channels += 1;
    this.#prefix = `parley-${channels}-`;
    this.#onTools = onTools;
  }

  /** Call this when the SDK's client is connected. From then on the channel shares its transport. */
  attach(transport: Transport, envelope: Envelope | undefined, meta: Members = {}): void {
    this.#transport = transport;
    this.#meta = { ...meta, ...(envelope && metaOf(envelope)) };
    const { onmessage, onclose } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    transport.onmessage = (message, extra) => {
      if (!this.#take(message)) onmessage?.(message, extra);
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    transport.onclose = () => {
      onclose?.();
      this.#isClosed = true;
      const gone = new CallError("server_down", "The connection to the server ended.");
      for (const { fail } of this.#open.values()) fail(gone);
    };
  }

  /** Resolves to the response, which may be an error. Rejects if there is none. */
  request(method: string, params: Members, options: RequestOptions): Promise<RpcResponse> {
    const transport = this.#transport;
    if (transport === undefined || this.#isClosed) {
      const message = "The connection to the server has ended. Connect again.";
      return Promise.reject(new CallError("server_down", message));
    }
    if (options.signal.aborted) return Promise.reject(options.signal.reason);
    this.#requests += 1;
    const id = `${this.#prefix}${this.#requests}`;
    const request = new OpenRequest(method, options, (isCancelled) => {
      this.#open.delete(id);
      // If all requests share one channel, only a message can cancel one of them.
      if (isCancelled && transport.hasPerRequestStream !== true) {
        this.#cancel(transport, id, options.meta);
      }
    });
    this.#open.set(id, request);
    this.#send(transport, this.#message(id, method, params, options), {
      requestSignal: request.over,
      onRequestStreamEnd: request.brokeOff,
      headers: options.headers,
    }).then(request.read, (error: unknown) => {
      const response = responseIn(error);
      if (response === undefined) request.fail(transportFailure(error, method));
      else request.settle(response);
    });
    return request.response;
  }

  /** Over a shared channel, messages go out one at a time, because the SDK's transport adds listeners for each write. */
  #send(
    transport: Transport,
    message: JSONRPCMessage,
    options?: TransportSendOptions,
  ): Promise<void> {
    if (transport.hasPerRequestStream === true) return transport.send(message, options);
    const sent = this.#sent.then(() => transport.send(message, options));
    this.#sent = sent.catch(() => {});
    return sent;
  }

  responded(id: string, isStream: boolean): void {
    this.#open.get(id)?.responded(isStream);
  }

  wantsLog(id: string): boolean {
    return this.#open.get(id)?.options.onLog !== undefined;
  }

  tooLarge(id: string): void {
    const message =
      "The server's response is larger than limits.messageBytes allows and was cut off. " +
      "If you expect responses of this size, raise the limit.";
    this.#open.get(id)?.fail(new CallError("too_large", message));
  }

  #message(id: string, method: string, params: Members, options: RequestOptions): JSONRPCMessage {
    const _meta = {
      ...(options.meta ?? this.#meta),
      ...options.first,
      ...options.trace,
      ...(options.logLevel && { [LOG_LEVEL_META_KEY]: options.logLevel }),
      ...(options.onProgress && { progressToken: id }),
      ...(options.onPart && { [streamingExtension]: { token: id } }),
    };
    return { jsonrpc: "2.0", id, method, params: withMeta(params, _meta) };
  }

  #cancel(transport: Transport, requestId: string, meta: Members = this.#meta): void {
    const params = withMeta({ requestId }, meta);
    const message: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    this.#send(transport, message).catch(() => {});
  }

  /** True if the message belongs to a request of this channel. */
  #take(message: JSONRPCMessage): boolean {
    if ("method" in message)
      return !("id" in message) && this.#notified(message.method, message.params);
    this.#listed(message);
    const { id } = message;
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    const request = this.#open.get(id);
    // The request was cancelled. Its late response is dropped, so that the SDK does not see it either.
    if (request === undefined) return true;
    const error = "error" in message ? rpcErrorIn(message.error) : undefined;
    const result = "result" in message ? message.result : undefined;
    if (error !== undefined) request.settle({ kind: "error", error });
    else if (isObject(result)) request.settle({ kind: "result", result });
    else request.fail(badResponse("it is neither a result nor an error"));
    return true;
  }

  #notified(method: string, params: unknown): boolean {
    if (!isObject(params)) return false;
    if (method === logMethod) return this.#logged(params);
    const id = requestIdIn(method, params);
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    const request = this.#open.get(id);
    if (request === undefined) return true;
    if (method === "notifications/progress") {
      request.alive();
      request.options.onProgress?.(progressOf(params));
    } else if (method === partNotification) {
      request.alive();
      const part = partIn(params);
      if (part !== undefined) request.options.onPart?.(part);
    } else if (method === "notifications/cancelled") {
      request.fail(new CallError("server_down", "The server cancelled the request."));
    } else request.options.onNotification?.(method, params);
    return true;
  }

  /** False, because the SDK's client may have a handler of its own for log messages. */
  #logged(params: Members): false {
    const id = loggingRequest(params);
    const message = logMessageIn(params);
    // On a channel that all requests share, nothing says which of them a message belongs to.
    const requests =
      typeof id === "string"
        ? [this.#open.get(id)]
        : this.#transport?.hasPerRequestStream === true
          ? []
          : this.#open.values();
    for (const request of requests) {
      if (request?.options.onLog === undefined) continue;
      request.alive();
      request.options.onLog(message);
    }
    return false;
  }

  #listed(message: JSONRPCMessage): void {
    const tools = "result" in message ? own(message.result, "tools") : undefined;
    if (Array.isArray(tools)) this.#onTools(tools);
  }
}

/** The request that a notification belongs to. */
function requestIdIn(method: string, params: Members): unknown {
  if (method === "notifications/progress") return params["progressToken"];
  if (method === "notifications/cancelled") return params["requestId"];
  if (method === partNotification) return params["token"];
  return own(params["_meta"], SUBSCRIPTION_ID_META_KEY);
}

const metaOf = ({ protocolVersion, capabilities, clientInfo }: Envelope): Members => ({
  [PROTOCOL_VERSION_META_KEY]: protocolVersion,
  [CLIENT_CAPABILITIES_META_KEY]: capabilities,
  [CLIENT_INFO_META_KEY]: clientInfo,
});

const withMeta = (params: Members, _meta: Members): Members =>
  Object.keys(_meta).length === 0 ? params : { ...params, _meta: { ..._meta } };

function progressOf({ progress, total, message }: Members): Progress {
  return {
    ...(typeof progress === "number" && { done: progress }),
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}
