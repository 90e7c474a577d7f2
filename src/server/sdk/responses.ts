// A seam in the SDK: answering a request with exactly the error we mean.
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

  constructor(server: McpServer) {
    const connect = server.connect.bind(server);
    server.connect = (transport) => {
      this.#replaceIn(transport);
      return connect(transport);
    };
  }

  /** Notes the error and returns a result that passes every check of the SDK. */
  fail(id: RequestId, error: RpcError): { content: []; isError: true } {
    this.#errors.set(id, error);
    return { content: [], isError: true };
  }

  #replaceIn(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#replaced(message), options);
  }

  #replaced(message: Message): Message {
    if (!("result" in message) || message.id === undefined) return message;
    const error = this.#errors.get(message.id);
    if (error === undefined) return message;
    this.#errors.delete(message.id);
    return { jsonrpc: "2.0", id: message.id, error };
  }
}
