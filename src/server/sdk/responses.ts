// A seam in the SDK: answering a request with exactly the error we mean, and seeing what it would hide.
//
// An error thrown by a registered tool becomes an `isError` result, whatever its code. So the tool returns a
// placeholder, and the response is replaced on its way out. `connect` and the transport's `send` are public.

import type { McpServer, RequestId, Transport } from "@modelcontextprotocol/server";

/** `params.task` of 2025-11-25. */
export interface TaskWish {
  readonly ttl: unknown;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

type Message = Parameters<Transport["send"]>[0];

/** Responses to requests of one server, by request id. */
export class Responses {
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

  /** Notes the error and returns a result that passes every check of the SDK. */
  fail(id: RequestId, error: RpcError): { content: []; isError: true } {
    this.#errors.set(id, error);
    return { content: [], isError: true };
  }

  /** The same for a result of another kind than the SDK knows. */
  answer(id: RequestId, result: object): { content: []; isError: true } {
    this.#results.set(id, result);
    return { content: [], isError: true };
  }

  /** Whether its answers were no map at all: the SDK hands on none then, as if none had been sent. */
  hadMalformedAnswers(id: RequestId): boolean {
    return this.#malformed.delete(id);
  }

  /** What a 2025-11-25 client has sent as `params.task`, which the SDK does not hand on. */
  wishForTask(id: RequestId): TaskWish | undefined {
    const wish = this.#wishes.get(id);
    this.#wishes.delete(id);
    return wish;
  }

  #watch(transport: Transport): void {
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    transport.onmessage = (message, extra) => {
      if ("method" in message && "id" in message) this.#note(message);
      onmessage?.call(transport, message, extra);
    };
  }

  #note({ id, method, params }: Extract<Message, { method: string; id: RequestId }>): void {
    // A client may use an id again whose request it has cancelled: that one got no response to clear this.
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

  #replaced(message: Message): Message {
    if ("method" in message || message.id === undefined) return message;
    const { id } = message;
    const [result, error] = [this.#results.get(id), this.#errors.get(id)];
    // Also of a tool that is not ours and never asked: over a long connection they would add up.
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
  return { ttl: "ttl" in params.task ? params.task.ttl : undefined };
}

function hasMalformedAnswers(params: object = {}): boolean {
  if (!("inputResponses" in params)) return false;
  const { inputResponses } = params;
  return (
    typeof inputResponses !== "object" || inputResponses === null || Array.isArray(inputResponses)
  );
}
