// The official client of the tasks extension. It records every message that it receives.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient } from "./ext-tasks-package.ts";
import type {
  Dispatched,
  DispatchOptions,
  InputContext,
  InputRequest,
  Session,
} from "./ext-tasks-package.ts";
import { modern } from "./clients.ts";
import type { Place } from "./clients.ts";

type Message = Parameters<Transport["send"]>[0];

/** A message from the server, and the method of its request if it is a response. */
export interface Received {
  readonly message: Message;
  readonly to: string | undefined;
}

export interface ExtTasks {
  readonly client: Client;
  readonly session: Session;
  readonly received: readonly Received[];
  readonly close: () => Promise<void>;
}

export async function connectExtTasks(
  place: Place,
  onInputRequest: (request: InputRequest, context: InputContext) => Promise<object>,
): Promise<ExtTasks> {
  const transport = new RawTransport(transportTo(place));
  const clientInfo = { name: "interop", version: "1.0.0" };
  const capabilities = {
    elicitation: { form: {}, url: {} },
    sampling: {},
    roots: {},
    extensions: { "io.modelcontextprotocol/tasks": {} },
  };
  const client = new Client(clientInfo, { capabilities, versionNegotiation: modern });
  await client.connect(transport);
  const session = createTaskSessionFromClient(client, {
    endpointId: "interop",
    rawDispatch: transport.dispatch,
    v2RequestFraming: {
      protocolVersion: "2026-07-28",
      clientInfo,
      clientCapabilities: capabilities,
    },
    onInputRequest,
  });
  return {
    client,
    session,
    received: transport.received,
    close: async () => {
      await session.close();
      await client.close();
    },
  };
}

function transportTo(place: Place): Transport {
  return "url" in place
    ? new StreamableHTTPClientTransport(
        new URL(place.url),
        place.fetch ? { fetch: place.fetch } : {},
      )
    : new StdioClientTransport({ ...place, stderr: "ignore" });
}

/** Sends the requests of the extension's client past the SDK's codec, under ids of their own. */
class RawTransport implements Transport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly received: Received[] = [];
  readonly hasPerRequestStream?: boolean;
  readonly #inner: Transport;
  readonly #pending = new Map<unknown, (message: Message) => void>();
  readonly #methods = new Map<unknown, string>();
  #count = 0;

  constructor(inner: Transport) {
    this.#inner = inner;
    if (inner.hasPerRequestStream !== undefined) {
      this.hasPerRequestStream = inner.hasPerRequestStream;
    }
  }

  readonly start = async (): Promise<void> => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    this.#inner.onmessage = (message, extra) => {
      const id = "method" in message ? undefined : message.id;
      const to = id === undefined ? undefined : this.#methods.get(id);
      this.received.push({ message, to });
      const settle = this.#pending.get(id);
      if (settle === undefined) return this.onmessage?.(message, extra);
      this.#pending.delete(id);
      settle(message);
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    this.#inner.onclose = () => this.onclose?.();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    this.#inner.onerror = (error) => this.onerror?.(error);
    await this.#inner.start();
  };

  readonly send: Transport["send"] = (message, options) => {
    if ("method" in message && "id" in message) this.#methods.set(message.id, message.method);
    return this.#inner.send(message, options);
  };

  readonly close = (): Promise<void> => this.#inner.close();

  readonly setProtocolVersion = (version: string): void =>
    this.#inner.setProtocolVersion?.(version);

  readonly dispatch = async (
    request: object,
    { signal, context }: DispatchOptions = {},
  ): Promise<Dispatched> => {
    const id = `raw-${++this.#count}`;
    const answer = new Promise<Message>((resolve, reject) => {
      this.#pending.set(id, resolve);
      signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it makes is a request without an id
    const message = { jsonrpc: "2.0", id, ...request } as Message;
    const { headers } = context ?? {};
    await this.send(message, headers === undefined ? {} : { headers });
    const reply = await answer;
    if ("error" in reply) return { kind: "error", error: reply.error };
    return { kind: "result", result: "result" in reply ? reply.result : {} };
  };
}
