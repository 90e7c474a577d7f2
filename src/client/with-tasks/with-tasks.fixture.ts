// A server that responds with whatever a test wants, and a plain official client that is connected to it.

import { Client } from "@modelcontextprotocol/client";
import type {
  ClientOptions,
  JSONRPCMessage,
  JSONRPCRequest,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { withTasks } from "../index.ts";
import type { WithTasksOptions } from "../index.ts";

export interface Said {
  readonly [member: string]: unknown;
}

/** A response to a request. With undefined, there is no response yet. */
export type Answer =
  | { readonly result: Said }
  | { readonly error: Said }
  | { readonly fails: Error }
  | undefined;

export type Serve = { readonly [method: string]: (params: Said, nth: number) => Answer };

export class PretendServer implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly hasPerRequestStream: boolean;
  /** Every message it received, unchanged. */
  readonly heard: JSONRPCMessage[] = [];
  readonly options: (TransportSendOptions | undefined)[] = [];
  isClosed = false;
  readonly #serve: Serve;

  constructor(serve: Serve, { isHttp = true }: { readonly isHttp?: boolean } = {}) {
    this.#serve = serve;
    this.hasPerRequestStream = isHttp;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.isClosed = true;
    this.onclose?.();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.heard.push(structuredClone(message));
    this.options.push(options);
    if (!("method" in message) || !("id" in message)) return;
    const { id, method, params = {} } = message;
    const nth = this.of(method).length;
    const answer =
      method === "server/discover" ? { result: discovered } : this.#serve[method]?.(params, nth);
    if (answer === undefined) return;
    if ("fails" in answer) throw answer.fails;
    queueMicrotask(() => this.say({ id, ...answer }));
  }

  /** Sends a notification, or a late response. */
  say(message: Said): void {
    this.onmessage?.(JSON.parse(JSON.stringify({ jsonrpc: "2.0", ...message })));
  }

  of(method: string): JSONRPCRequest[] {
    return this.heard.filter(
      (one): one is JSONRPCRequest => "method" in one && one.method === method,
    );
  }

  methods(): string[] {
    return this.heard.flatMap((one) => ("method" in one ? [one.method] : []));
  }
}

const discovered = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
};

export const taskId = "t-1";

export const created = (more: Said = {}): Answer => ({
  result: { resultType: "task", ...stamps, taskId, status: "working", ...more },
});

/** A response to `tasks/get`. */
export const task = (status: string, more: Said = {}): Answer => ({
  result: { resultType: "complete", ...stamps, taskId, status, ...more },
});

const stamps = {
  createdAt: "2026-07-28T00:00:00.000Z",
  lastUpdatedAt: "2026-07-28T00:00:00.000Z",
  ttlMs: 3_600_000,
  pollIntervalMs: 200,
};

export const completed = (text: string): Answer =>
  task("completed", { result: { content: [{ type: "text", text }] } });

export const asks = (...keys: string[]): Answer =>
  task("input_required", {
    inputRequests: Object.fromEntries(keys.map((key) => [key, form(key)])),
  });

export const form = (message: string) => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { said: { type: "string" } } },
  },
});

/** Responds with each in turn, and then always with the last. */
export const inTurn =
  (...answers: Answer[]) =>
  (_: Said, nth: number): Answer =>
    answers[Math.min(nth, answers.length) - 1];

export interface Connected {
  readonly client: Client;
  readonly server: PretendServer;
  /** The messages of the questions that its handler received. */
  readonly shown: string[];
  readonly errors: Error[];
}

/** A plain client that answers every question with the question's own words. */
export async function connected(
  server: PretendServer,
  options?: WithTasksOptions,
  { capabilities = { elicitation: { form: {} } }, ...own }: ClientOptions = {},
): Promise<Connected> {
  const client = new Client(
    { name: "plain", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities, ...own },
  );
  const shown: string[] = [];
  const errors: Error[] = [];
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no addEventListener
  client.onerror = (error) => void errors.push(error);
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      shown.push(params.message);
      return { action: "accept", content: { said: `${params.message}!` } };
    });
  }
  await client.connect(withTasks(server, options));
  onTestFinished(() => client.close());
  return { client, server, shown, errors };
}

export const textIn = ({ content }: { readonly content: readonly Said[] }): string =>
  content.map(({ text }) => String(text)).join("\n");
