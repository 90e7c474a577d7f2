// Requests of our own on a connection that belongs to a client: under ids the client never gives.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { errorIn } from "./with-tasks-wire.ts";
import type { WireError } from "./with-tasks-wire.ts";

export type Reply =
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly error: WireError; readonly result?: undefined };

export interface Request {
  readonly method: string;
  readonly params: { readonly [name: string]: unknown };
}

/** For one answer. A server that needs longer has not understood what polling is. */
const patienceMs = 30_000;

export class OwnRequests {
  readonly #send: Transport["send"];
  /** Unguessable, so that nothing a server says can be taken for an answer to another's request. */
  readonly #prefix: string;
  readonly #waiting = new Map<string, (message: JSONRPCMessage) => void>();
  #count = 0;

  constructor(send: Transport["send"], prefix: string) {
    this.#send = send;
    this.#prefix = prefix;
  }

  newId(): string {
    this.#count += 1;
    return `${this.#prefix}:${this.#count}`;
  }

  /** True: it is an answer to one of ours, even if nobody waits for it any more. */
  take(message: JSONRPCMessage): boolean {
    if ("method" in message || typeof message.id !== "string") return false;
    if (!message.id.startsWith(`${this.#prefix}:`)) return false;
    this.#waiting.get(message.id)?.(message);
    return true;
  }

  /** Rejects when it cannot be sent, when no answer comes, and when `signal` aborts. */
  async ask({ method, params }: Request, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const id = this.newId();
    const over = new AbortController();
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const late = () => reject(new Error(`No answer to ${method} in ${patienceMs / 1000} s`));
        const timer = setTimeout(late, patienceMs);
        over.signal.addEventListener("abort", () => clearTimeout(timer));
        const stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop, { signal: over.signal });
        this.#waiting.set(id, (message) => resolve(replyOf(message)));
        const onRequestStreamEnd = () => reject(new Error(`The answer to ${method} broke off`));
        this.#send(
          { jsonrpc: "2.0", id, method, params },
          { requestSignal: over.signal, onRequestStreamEnd },
        ).catch(reject);
      });
    } finally {
      this.#waiting.delete(id);
      over.abort();
    }
  }
}

function replyOf(message: JSONRPCMessage): Reply {
  if ("result" in message) return { result: message.result };
  const error = "error" in message ? errorIn(message.error) : undefined;
  return { error: error ?? { code: -32603, message: "The server's answer is no JSON-RPC answer" } };
}
