// Requests of 2026-07-28 that are written by hand, and their responses.

import type { App } from "mcp-parley";

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id: number | string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface Envelope {
  readonly id?: number | string;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Further members of `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

const everything = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

/** A request with a full envelope. */
export function envelope(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { id = 1, capabilities = everything, meta = {} }: Envelope = {},
): Message {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1.0.0" },
    ...meta,
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}

/** The headers this request must have. */
function headersFor({ method, params }: Message): Headers {
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
  });
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  if (typeof name === "string") headers.set("mcp-name", headerSafe(name));
  return headers;
}

/** Encodes text that a header cannot hold, as the specification says. */
function headerSafe(value: string): string {
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** Where a request goes: to a URL, or into an app of this process. */
export type To = string | App | ((request: Request) => Promise<Response>);

export interface Sending {
  /** Replaces the usual headers. Undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** Replaces the text of the message. */
  readonly body?: string;
}

export function post(
  to: To,
  message: Message,
  { headers: own = {}, signal, body = JSON.stringify(message) }: Sending = {},
): Promise<Response> {
  const headers = headersFor(message);
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  const url = typeof to === "string" ? to : "http://127.0.0.1/mcp";
  const request = new Request(url, {
    method: "POST",
    headers,
    body,
    ...(signal === undefined ? {} : { signal }),
  });
  // The signal is passed again: if Node collects the request as garbage, the request no longer passes it on.
  if (typeof to === "string") return fetch(request, signal === undefined ? {} : { signal });
  return typeof to === "function" ? to(request) : to.fetch(request);
}

/** A message as it was received. The tests check what it really is. */
export interface Incoming {
  readonly id: unknown;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

export interface Answer extends Pick<Incoming, "id" | "result" | "error"> {
  readonly status: number;
  readonly headers: Headers;
  /** The notifications before the response, in order. */
  readonly notifications: readonly Incoming[];
}

/** Sends a message and reads the whole response, whether it is JSON or a stream of events. */
export async function exchange(to: To, message: Message, sending?: Sending): Promise<Answer> {
  const response = await post(to, message, sending);
  const { status, headers } = response;
  const text = await response.text();
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const messages = isStream ? messagesIn(text) : messagesIn(`data: ${text}`);
  const answer = messages.pop();
  if (answer === undefined) throw new Error(`HTTP ${status} without an answer`);
  return { status, headers, notifications: messages, ...answer };
}

/** The messages in a stream of events. */
export function messagesIn(text: string): Incoming[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line): Incoming => JSON.parse(line.slice("data: ".length)));
}

// ---------------------------------------------------------------- calls

export interface Leg extends Envelope, Sending {
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
}

/** One round of a tool call. */
export function callTool(
  to: To,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  { requestState, inputResponses, id, capabilities, meta, ...sending }: Leg = {},
): Promise<Answer> {
  const params = {
    name,
    arguments: args,
    ...(requestState === undefined ? {} : { requestState }),
    ...(inputResponses === undefined ? {} : { inputResponses }),
  };
  const own = {
    ...(id === undefined ? {} : { id }),
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(meta === undefined ? {} : { meta }),
  };
  return exchange(to, envelope("tools/call", params, own), sending);
}

/** The token of a response that asks. */
export function tokenIn({ result, error }: Answer): string {
  const token = result?.["requestState"];
  if (typeof token !== "string")
    throw new Error(`It did not ask: ${JSON.stringify(result ?? error)}`);
  return token;
}

/** The text of a result. */
export function textIn({ result, error }: Answer): string {
  const content: unknown = result?.["content"];
  const blocks: readonly { readonly text?: string }[] = Array.isArray(content) ? content : [];
  return blocks.map(({ text }) => text).join("\n") || JSON.stringify(result ?? error);
}

export const accept = (content: Readonly<Record<string, unknown>> = {}) => ({
  action: "accept",
  content,
});
