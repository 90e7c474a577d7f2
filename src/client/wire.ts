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
} from "@modelcontextprotocol/client";
import type { Observer } from "./bounded-fetch.ts";
import { badResponse, CallError, textOf } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import { isObject, own } from "./json.ts";
import type { Members } from "./json.ts";
import { longestMs } from "./pace.ts";

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
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Of a subscription: its notifications. */
  readonly onNotification?: ((method: string, params: Members) => void) | undefined;
}

/** What every request of 2026-07-28 says of its client; nothing in a session of 2025-11-25. */
export interface Envelope {
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

interface Waiting {
  readonly settle: (reply: Reply) => void;
  readonly fail: (error: Error) => void;
  readonly options: RequestOptions;
  readonly alive: () => void;
  isStream: boolean | undefined;
}

let wires = 0;

export class Wire implements Observer {
  readonly #waiting = new Map<string, Waiting>();
  readonly #prefix: string;
  #transport: Transport | undefined;
  #envelope: Envelope | undefined;
  #requests = 0;
  #isClosed = false;
  /** Tells of tools as the server lists them, whoever has asked for the list. */
  readonly onTools: (tools: readonly unknown[]) => void;

  constructor(onTools: (tools: readonly unknown[]) => void) {
    wires += 1;
    this.#prefix = `parley-${wires}-`;
    this.onTools = onTools;
  }

  /** Once the SDK's client is connected: from here on its transport is shared. */
  attach(transport: Transport, envelope: Envelope | undefined): void {
    this.#transport = transport;
    this.#envelope = envelope;
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

  get isPerRequest(): boolean {
    return this.#transport?.hasPerRequestStream === true;
  }

  /** The answer, whatever it is; rejects where none came. */
  request(method: string, params: Members, options: RequestOptions): Promise<Reply> {
    const transport = this.#transport;
    if (transport === undefined || this.#isClosed) {
      return Promise.reject(new CallError("server_down", "There is no connection to the server."));
    }
    const { signal, timeoutMs, isPaused } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#requests += 1;
    const id = `${this.#prefix}${this.#requests}`;
    return new Promise((resolve, reject) => {
      const stop = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(id);
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
      };
      const callOff = (error: unknown) => {
        if (!this.#waiting.has(id)) return;
        fail(error);
        stop.abort();
        // Where requests share one channel, closing it is no way to cancel one of them.
        if (transport.hasPerRequestStream !== true) this.#cancel(transport, id);
      };
      const onAbort = () => callOff(signal.reason);
      const alive = () => {
        clearTimeout(timer);
        if (timeoutMs === undefined) return;
        timer = setTimeout(
          () => {
            if (isPaused?.() === true) return alive();
            callOff(silence(method, timeoutMs));
          },
          Math.min(timeoutMs, longestMs),
        );
      };
      const settle = (reply: Reply) => {
        end();
        resolve(reply);
      };
      signal.addEventListener("abort", onAbort);
      const waiting: Waiting = { settle, fail, options, alive, isStream: undefined };
      this.#waiting.set(id, waiting);
      alive();
      const onRequestStreamEnd = () =>
        fail(new CallError("server_down", `The server broke off before it answered ${method}.`));
      transport
        .send(this.#message(id, method, params, options), {
          requestSignal: stop.signal,
          onRequestStreamEnd: () => {
            if (this.#waiting.has(id)) onRequestStreamEnd();
          },
          headers: options.headers,
        })
        .then(
          () => {
            // All of it has been read, and no answer to this was in it.
            if (waiting.isStream === false && this.#waiting.has(id)) {
              fail(badResponse(`${method} was answered under another id, or not at all`));
            }
          },
          (error: unknown) => {
            if (!this.#waiting.has(id)) return;
            const reply = replyIn(error);
            if (reply === undefined) fail(failureOf(error, method));
            else settle(reply);
          },
        );
    });
  }

  responded(id: string, isStream: boolean): void {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) waiting.isStream = isStream;
  }

  tooLarge(id: string): void {
    this.#waiting
      .get(id)
      ?.fail(new CallError("too_large", "The server's answer is too long and was broken off."));
  }

  #message(id: string, method: string, params: Members, options: RequestOptions): JSONRPCMessage {
    const envelope = this.#envelope;
    const _meta = {
      ...(envelope && {
        [PROTOCOL_VERSION_META_KEY]: envelope.protocolVersion,
        [CLIENT_CAPABILITIES_META_KEY]: envelope.capabilities,
        [CLIENT_INFO_META_KEY]: envelope.clientInfo,
      }),
      ...(options.onProgress && { progressToken: id }),
    };
    const isEmpty = Object.keys(_meta).length === 0;
    return { jsonrpc: "2.0", id, method, params: isEmpty ? params : { ...params, _meta } };
  }

  #cancel(transport: Transport, requestId: string): void {
    const cancelled = { method: "notifications/cancelled", params: { requestId } };
    transport.send({ jsonrpc: "2.0", ...cancelled }).catch(() => {});
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
    if ("error" in message) waiting.settle({ kind: "error", error: message.error });
    else if (isObject(message.result)) waiting.settle({ kind: "result", result: message.result });
    else waiting.fail(badResponse("its result is no object"));
    return true;
  }

  #notified(method: string, params: unknown): boolean {
    if (!isObject(params)) return false;
    const isProgress = method === "notifications/progress";
    const id = isProgress
      ? params["progressToken"]
      : own(params["_meta"], SUBSCRIPTION_ID_META_KEY);
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return true;
    if (isProgress) {
      waiting.alive();
      waiting.options.onProgress?.(progressOf(params));
    } else waiting.options.onNotification?.(method, params);
    return true;
  }

  #listed(message: JSONRPCMessage): void {
    const tools = "result" in message ? own(message.result, "tools") : undefined;
    if (Array.isArray(tools)) this.onTools(tools);
  }
}

function progressOf({ progress, total, message }: Members): Progress {
  return {
    ...(typeof progress === "number" && { done: progress }),
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}

const silence = (method: string, timeoutMs: number) =>
  new CallError("timed_out", `The server has not answered ${method} for ${timeoutMs} ms.`);

/** An error that came with an HTTP status of its own, as for a method that is not there. */
function replyIn(error: unknown): Reply | undefined {
  if (!(error instanceof SdkHttpError)) return undefined;
  const text = own(error.data, "text");
  if (typeof text !== "string") return undefined;
  try {
    const sent = own(JSON.parse(text), "error");
    const code = own(sent, "code");
    const message = own(sent, "message");
    if (typeof code !== "number" || typeof message !== "string") return undefined;
    return { kind: "error", error: { code, message, data: own(sent, "data") } };
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
          ? "Is that the server's path, and the session still open?"
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
