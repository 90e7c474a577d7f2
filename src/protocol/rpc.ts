// A JSON-RPC response without its envelope: what came back for one request.

import type { Members } from "../util/objects.ts";

/** The `error` member of a JSON-RPC response. */
export interface RpcError {
  /** The number that says what went wrong, for example -32602. */
  readonly code: number;
  /** What went wrong, in the words of the server. */
  readonly message: string;
  /** Whatever else the server sent with the error. */
  readonly data?: unknown;
}

/** The outcome of a request: its result or its error. */
export type RpcResponse =
  | { readonly kind: "result"; readonly result: Members }
  | {
      readonly kind: "error";
      readonly error: RpcError;
      /** What the transport threw, if the error came with an HTTP error. */
      readonly cause?: unknown;
    };

/** The HTTP response to a request that is refused before its id is known. */
export function refusedRequest(status: number, { code, message }: RpcError): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
