// Requests of our own over the SDK client's transport, below its codec: that one refuses a result that is a task, and
// drives rounds in a way that cannot be stopped and gone on with. Its messages pass through untouched; ours have ids
// that it never uses.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SdkHttpError,
  SUBSCRIPTION_ID_META_KEY,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type {
  ClientCapabilities,
  Implementation,
  JSONRPCMessage,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import type { Observer } from "./bounded-fetch.ts";
import { badResponse, CallError, rpcErrorIn, textOf } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { Waiting } from "./waiting.ts";

export type Reply =
  | { readonly kind: "result"; readonly result: Members }
  | { readonly kind: "error"; readonly error: RpcError };

interface Progress {
  readonly done?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** For an answer, or a sign of life (progress). None: for ever. */
  readonly timeoutMs?: number | undefined;
  /** While true, time does not count. */
  readonly isPaused?: (() => boolean) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What it says of its client, instead of the wire's own envelope. */
  readonly meta?: Members | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Of a subscription: its notifications. */
  readonly onNotification?: ((method: string, params: Members) => void) | undefined;
}

/** What every request of 2026-07-28 says of its client. */
interface Envelope {
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

/** All that calls and tasks have of it. */
export type Requests = Pick<Wire, "request">;

let wires = 0;

export class Wire implements Observer {
  readonly #waiting = new Map<string, Waiting>();
  readonly #prefix: string;
  #transport: Transport | undefined;
  /** What every request says of its client; nothing in a session of 2025-11-25. */
  #meta: Members = {};
  #requests = 0;
  #sent: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #onTools: (tools: readonly unknown[]) => void;

  /** `onTools` is told of tools as the server lists them, whoever has asked for the list. */
  constructor(onTools: (tools: readonly unknown[]) => void = () => {}) {
    wires += 1;
    this.#prefix = `parley-${wires}-`;
    this.#onTools = onTools;
  }

  /** Once the SDK's client is connected: from here on its transport is shared. */
  attach(transport: Transport, envelope: Envelope | undefined, meta: Members = {}): void {
    this.#transport = transport;
    this.#meta = { ...meta, ...(envelope && metaOf(envelope)) };
    const { onmessage, onclose } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    transport.onmessage = (message, extra) => {
      if (!this.#take(message)) onmessage?.(message, extra);
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    transport.onclose = () => {
      onclose?.();
      this.#isClosed = true;
      const gone = new CallError("server_down", "The connection to the server has ended.");
      for (const { fail } of this.#waiting.values()) fail(gone);
    };
  }

  /** The answer, whatever it is; rejects where none came. */
  request(method: string, params: Members, options: RequestOptions): Promise<Reply> {
    const transport = this.#transport;
    if (transport === undefined || this.#isClosed) {
      return Promise.reject(new CallError("server_down", "There is no connection to the server."));
    }
    if (options.signal.aborted) return Promise.reject(options.signal.reason);
    this.#requests += 1;
    const id = `${this.#prefix}${this.#requests}`;
    const waiting = new Waiting(method, options, (isCalledOff) => {
      this.#waiting.delete(id);
      // Where requests share one channel, closing it is no way to cancel one of them.
      if (isCalledOff && transport.hasPerRequestStream !== true) {
        this.#cancel(transport, id, options.meta);
      }
    });
    this.#waiting.set(id, waiting);
    this.#send(transport, this.#message(id, method, params, options), {
      requestSignal: waiting.over,
      onRequestStreamEnd: waiting.brokeOff,
      headers: options.headers,
    }).then(waiting.read, (error: unknown) => {
      const reply = replyIn(error);
      if (reply === undefined) waiting.fail(failureOf(error, method));
      else waiting.settle(reply);
    });
    return waiting.reply;
  }

  /** Over one channel one after the other: the SDK's transport waits for each write with listeners of its own. */
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
    this.#waiting.get(id)?.responded(isStream);
  }

  tooLarge(id: string): void {
    this.#waiting
      .get(id)
      ?.fail(new CallError("too_large", "The server's answer is too long and was broken off."));
  }

  #message(id: string, method: string, params: Members, options: RequestOptions): JSONRPCMessage {
    const _meta = {
      ...(options.meta ?? this.#meta),
      ...(options.onProgress && { progressToken: id }),
    };
    return { jsonrpc: "2.0", id, method, params: withMeta(params, _meta) };
  }

  #cancel(transport: Transport, requestId: string, meta: Members = this.#meta): void {
    const params = withMeta({ requestId }, meta);
    const message: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    this.#send(transport, message).catch(() => {});
  }

  /** True: it was ours. */
  #take(message: JSONRPCMessage): boolean {
    if ("method" in message)
      return !("id" in message) && this.#notified(message.method, message.params);
    this.#listed(message);
    const { id } = message;
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    const waiting = this.#waiting.get(id);
    // Of one that was called off: dropped, and the SDK need not hear of it either.
    if (waiting === undefined) return true;
    const error = "error" in message ? rpcErrorIn(message.error) : undefined;
    const result = "result" in message ? message.result : undefined;
    if (error !== undefined) waiting.settle({ kind: "error", error });
    else if (isObject(result)) waiting.settle({ kind: "result", result });
    else waiting.fail(badResponse("it is neither a result nor an error"));
    return true;
  }

  #notified(method: string, params: unknown): boolean {
    if (!isObject(params)) return false;
    const id = requestIn(method, params);
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return true;
    if (method === "notifications/progress") {
      waiting.alive();
      waiting.options.onProgress?.(progressOf(params));
    } else if (method === "notifications/cancelled") {
      waiting.fail(new CallError("server_down", "The server has called the request off."));
    } else waiting.options.onNotification?.(method, params);
    return true;
  }

  #listed(message: JSONRPCMessage): void {
    const tools = "result" in message ? own(message.result, "tools") : undefined;
    if (Array.isArray(tools)) this.#onTools(tools);
  }
}

/** Of which request a notification is. */
function requestIn(method: string, params: Members): unknown {
  if (method === "notifications/progress") return params["progressToken"];
  if (method === "notifications/cancelled") return params["requestId"];
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

/** An error that came with an HTTP status of its own, as for a method that is not there. */
export function replyIn(error: unknown): Reply | undefined {
  if (!(error instanceof SdkHttpError)) return undefined;
  const text = own(error.data, "text");
  if (typeof text !== "string") return undefined;
  try {
    const sent = rpcErrorIn(own(JSON.parse(text), "error"));
    return sent && { kind: "error", error: sent };
  } catch {
    return undefined;
  }
}

/** Signing in is between the SDK and its provider: that error goes through as it is. */
export function failureOf(error: unknown, method: string): Error {
  if (error instanceof CallError || error instanceof UnauthorizedError) return error;
  if (error instanceof SdkHttpError) {
    const { status } = error;
    if (status === 413 || status === 431) {
      return new CallError("too_large", `${method} is too large for the server (${status}).`);
    }
    if (status >= 500 || status === 404) {
      const advice =
        status === 404
          ? "Is that the server's path (Parley serves at /mcp)? A session that was open may have ended."
          : "Try again later.";
      return new CallError("server_down", `The server answered ${status}. ${advice}`, {
        cause: error,
      });
    }
    return new CallError("refused", `The server refused ${method} with HTTP ${status}.`, {
      cause: error,
    });
  }
  if (error instanceof SyntaxError || isUnreadable(error)) {
    return badResponse(`what came for ${method} cannot be read`);
  }
  const why = textOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
  const message = `The server cannot be reached (${why}). Is it running, and is that its address?`;
  return new CallError("server_down", message, { cause: error });
}

/** What the SDK's schemas say to something that is no JSON-RPC message, or no JSON at all. */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === "ZodError" || own(error, "code") === "CLIENT_HTTP_UNEXPECTED_CONTENT")
  );
}
