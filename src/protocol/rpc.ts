// A JSON-RPC response without its envelope: what came back for one request.

import type { Members } from "../util/objects.ts";

/** The `error` member of a JSON-RPC response. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a request came to: its result or its error. */
export type RpcResponse =
  | { readonly kind: "result"; readonly result: Members }
  | { readonly kind: "error"; readonly error: RpcError };
