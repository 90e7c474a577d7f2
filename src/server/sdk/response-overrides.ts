// A seam in the SDK: sends exactly the response that is meant, and sees request members that the SDK hides.
//
// The SDK turns every error that a registered tool throws into an `isError` result, and refuses results of a kind it does
// not know, such as tasks. So the tool returns a placeholder, and the response is replaced on its way out. The SDK also
// withholds `params.task` and answers that are not a map; they are noted on the way in. Both ways need only `connect` and
// the transport's `send` and `onmessage`, which are public.

import type { McpServer, RequestId, Transport } from "@modelcontextprotocol/server";
import type { RpcError } from "../../protocol/rpc.ts";
import { isObject } from "../../util/objects.ts";

/** `params.task` of 2025-11-25. */
export interface TaskWish {
  readonly ttl: unknown;
  /** In the draft: whether the handler decides when the task is created. */
  readonly isDeferred: boolean;
}

/** The requested lifetime in milliseconds, cut to the limit. Undefined if the client did not request a valid one. */
export function ttlOf({ ttl }: TaskWish, most: number): number | undefined {
  if (typeof ttl !== "number" || !(ttl >= 1)) return undefined;
  return Math.min(Math.floor(ttl), most);
}

/** A result that passes every check of the SDK and is replaced before it is sent. */
export interface Placeholder {
  content: [];
  isError: true;
}

/** A JSON-RPC message, as a transport of the SDK takes it. */
export type TransportMessage = Parameters<Transport["send"]>[0];

/** Replaces the responses of one server, by request id. */
export class ResponseOverrides {
  readonly #errors = new Map<RequestId, RpcError>();
  readonly #results = new Map<RequestId, object>();
  readonly #malformed = new Set<RequestId>();
  readonly #wishes = new Map<RequestId, TaskWish>();

  constructor(server: McpServer) {
    const connect = server.connect.bind(server);
    server.connect = async (transport) => {
      this.#replaceIn(transport);
      await connect(transport);
      this.#watch(transport);
    };
  }

  /** Makes the response to a request this error. Return the placeholder to the SDK. */
  fail(id: RequestId, error: RpcError): Placeholder {
    this.#errors.set(id, error);
    return { content: [], isError: true };
  }

  /** Makes the response to a request this result. Return the placeholder to the SDK. */
  succeed(id: RequestId, result: object): Placeholder {
    this.#results.set(id, result);
    return { content: [], isError: true };
  }

  /** Whether the answers of a request were not a map. The SDK then behaves as if none had been sent. */
  hadMalformedAnswers(id: RequestId): boolean {
    return this.#malformed.delete(id);
  }

  /** The `params.task` of a request, which the SDK does not hand on. */
  wishForTask(id: RequestId): TaskWish | undefined {
    const wish = this.#wishes.get(id);
    this.#wishes.delete(id);
    return wish;
  }

  #watch(transport: Transport): void {
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    transport.onmessage = (message, extra) => {
      if ("method" in message && "id" in message) this.#note(message);
      onmessage?.call(transport, message, extra);
    };
  }

  #note({
    id,
    method,
    params,
  }: Extract<TransportMessage, { method: string; id: RequestId }>): void {
    // A client may reuse the id of a request that it cancelled. That request had no response that cleared its notes.
    this.#forget(id);
    if (hasMalformedAnswers(params)) this.#malformed.add(id);
    const wish = method === "tools/call" ? taskWish(params) : undefined;
    if (wish !== undefined) this.#wishes.set(id, wish);
  }

  #forget(id: RequestId): void {
    this.#malformed.delete(id);
    this.#wishes.delete(id);
    this.#errors.delete(id);
    this.#results.delete(id);
  }

  #replaceIn(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#replaced(message), options);
  }

  #replaced(message: TransportMessage): TransportMessage {
    if ("method" in message || message.id === undefined) return message;
    const { id } = message;
    const [result, error] = [this.#results.get(id), this.#errors.get(id)];
    // Also for tools of other code, which never read the notes. On a long connection the notes would add up.
    this.#forget(id);
    if (!("result" in message)) return message;
    if (error !== undefined) return { jsonrpc: "2.0", id, error };
    if (result === undefined) return message;
    const { _meta } = message.result;
    return { jsonrpc: "2.0", id, result: { ...result, ...(_meta === undefined ? {} : { _meta }) } };
  }
}

function taskWish(params: object = {}): TaskWish | undefined {
  if (!("task" in params) || typeof params.task !== "object" || params.task === null) {
    return undefined;
  }
  const { task } = params;
  return {
    ttl: "ttl" in task ? task.ttl : undefined,
    isDeferred: "deferred" in task && task.deferred === true,
  };
}

function hasMalformedAnswers(params: object = {}): boolean {
  return "inputResponses" in params && !isObject(params.inputResponses);
}
