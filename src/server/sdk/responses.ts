// A seam in the SDK: answering a request with exactly the error we mean, and seeing what it would hide.
//
// An error thrown by a registered tool becomes an `isError` result, whatever its code. So the tool returns a
// placeholder, and the response is replaced on its way out. `connect` and the transport's `send` are public.

import type { McpServer, RequestId, Transport } from "@modelcontextprotocol/server";

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

type Message = Parameters<Transport["send"]>[0];

/** Responses to requests of one server, by request id. */
export class Responses {
  readonly #errors = new Map<RequestId, RpcError>();
  readonly #malformed = new Set<RequestId>();

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

  /** Whether its answers were no map at all: the SDK hands on none then, as if none had been sent. */
  hadMalformedAnswers(id: RequestId): boolean {
    return this.#malformed.delete(id);
  }

  #watch(transport: Transport): void {
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    transport.onmessage = (message, extra) => {
      if ("method" in message && "id" in message && hasMalformedAnswers(message.params)) {
        this.#malformed.add(message.id);
      }
      onmessage?.call(transport, message, extra);
    };
  }

  #replaceIn(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#replaced(message), options);
  }

  #replaced(message: Message): Message {
    if ("method" in message || message.id === undefined) return message;
    // Also of a tool that is not ours and never asked: over a long connection they would add up.
    this.#malformed.delete(message.id);
    if (!("result" in message)) return message;
    const error = this.#errors.get(message.id);
    if (error === undefined) return message;
    this.#errors.delete(message.id);
    return { jsonrpc: "2.0", id: message.id, error };
  }
}

function hasMalformedAnswers(params: object = {}): boolean {
  if (!("inputResponses" in params)) return false;
  const { inputResponses } = params;
  return (
    typeof inputResponses !== "object" || inputResponses === null || Array.isArray(inputResponses)
  );
}
