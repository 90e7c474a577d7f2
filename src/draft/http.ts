// The draft over HTTP: one POST, one response. It is JSON, or a stream of events if notifications come before it. The
// server keeps no session: the session id contains what the client said about itself (peer.ts).

import type { DraftDialect, DraftTasks } from "../protocol/draft-plug-in.ts";
import { invalidRequest, sessionNotFound } from "../protocol/error-codes.ts";
import { refusedRequest } from "../protocol/rpc.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { EventReader, eventStreamType, messageEvent } from "../protocol/sse.ts";
import { draftStreamTokenIn } from "../protocol/streaming.ts";
import { draftVersion, modernVersion } from "../protocol/versions.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { peerIn, peerOf, sessionIdOf, stranger } from "./peer.ts";
import { serveDraft } from "./server.ts";
import type { Deferred } from "./server.ts";
import { opensDraft } from "./wire.ts";

/** Serves a 2026-07-28 request whose body has been read. */
type ServeHttp = Parameters<DraftDialect["serveHttp"]>[2];

/** Only what was agreed counts: the version in `initialize`, and in the header of every request after it. */
export function isDraftRequest(request: Request, body: unknown): boolean {
  if (own(body, "method") === "initialize") return opensDraft(body);
  return request.headers.get("mcp-protocol-version") === draftVersion;
}

/** Serves one HTTP request of a client that agreed to the draft. */
export async function serveDraftHttp(
  request: Request,
  body: unknown,
  serve: ServeHttp,
  tasks: DraftTasks,
  deferred: Deferred,
): Promise<Response> {
  // There is no stream to open with GET, and no session to end with DELETE.
  if (request.method !== "POST") return new Response(null, { status: 405, headers: onlyPost });
  if (!isMessage(body)) return refused(400, invalidRequest, "This is not a JSON-RPC request");
  const { id, method } = body;
  // A client cancels a request by closing its connection. No other notification needs to be handled.
  if (id === undefined) return new Response(null, { status: 202 });
  const params = isObject(body.params) ? body.params : {};
  const session = request.headers.get("mcp-session-id");
  const peer =
    method === "initialize" ? peerOf(params) : session === null ? stranger : peerIn(session);
  if (peer === undefined) return refused(404, sessionNotFound, "Session not found");
  const headers: Record<string, string> =
    method === "initialize" ? { "mcp-session-id": sessionIdOf(peer) } : {};
  return new Promise((resolve, reject) => {
    const outgoing = new OutgoingResponse(resolve, headers);
    const translated = new TranslatedRequests(request, serve, outgoing.notify);
    const stream = draftStreamTokenIn(body);
    const { signal } = request;
    serveDraft({ method, params, peer, stream, signal }, translated.serve, tasks, deferred)
      .then((response) => outgoing.end({ jsonrpc: "2.0", id, ...bodyOf(response) }))
      .catch((error: unknown) => {
        if (error instanceof NotJsonRpc) outgoing.pass(error.response);
        // The client has disconnected, so nothing reads this response.
        else if (request.signal.aborted) outgoing.pass(new Response(null, { status: 499 }));
        else reject(error);
      });
  });
}

interface Incoming {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: unknown;
}

/** A request or a notification. A response is refused, because the server of a draft sends no requests. */
function isMessage(body: unknown): body is Incoming {
  if (own(body, "jsonrpc") !== "2.0" || typeof own(body, "method") !== "string") return false;
  const id = own(body, "id");
  return id === undefined || typeof id === "string" || typeof id === "number";
}

const onlyPost = { allow: "POST" };

const refused = (status: number, code: number, message: string): Response =>
  refusedRequest(status, { code, message });

const bodyOf = (response: RpcResponse): Members =>
  response.kind === "result" ? { result: response.result } : { error: response.error };

/** The HTTP response: JSON, or a stream from the first notification on. */
class OutgoingResponse {
  readonly #respond: (response: Response) => void;
  readonly #headers: Readonly<Record<string, string>>;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isDisconnected = false;

  constructor(respond: (response: Response) => void, headers: Readonly<Record<string, string>>) {
    this.#respond = respond;
    this.#headers = headers;
  }

  readonly notify = (notification: Members): void => {
    if (this.#stream === undefined) this.#open();
    this.#write(notification);
  };

  end(message: Members): void {
    if (this.#stream === undefined) {
      return this.#respond(Response.json(message, { headers: this.#headers }));
    }
    this.#write(message);
    this.#close();
  }

  /** Passes on an HTTP response that is not JSON-RPC, such as a refusal of the caller. */
  pass(response: Response): void {
    if (this.#stream === undefined) this.#respond(response);
    else this.#close();
  }

  #open(): void {
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        this.#stream = stream;
      },
      cancel: () => {
        this.#isDisconnected = true;
      },
    });
    const headers = { ...this.#headers, "content-type": eventStreamType };
    this.#respond(new Response(body, { headers }));
  }

  #write(message: Members): void {
    const event = messageEvent(JSON.stringify(message));
    if (!this.#isDisconnected) this.#stream?.enqueue(new TextEncoder().encode(event));
  }

  #close(): void {
    if (!this.#isDisconnected) this.#stream?.close();
  }
}

/** The 2026-07-28 requests that one request of the draft becomes. */
class TranslatedRequests {
  readonly #request: Request;
  readonly #serve: ServeHttp;
  readonly #notify: (notification: Members) => void;

  constructor(request: Request, serve: ServeHttp, notify: (notification: Members) => void) {
    this.#request = request;
    this.#serve = serve;
    this.#notify = notify;
  }

  readonly serve = async (method: string, params: Members): Promise<RpcResponse> => {
    const { url, signal } = this.#request;
    const request = new Request(url, {
      method: "POST",
      headers: this.#headers(method, params),
      signal,
    });
    const response = await this.#serve(request, { jsonrpc: "2.0", id: ownId, method, params });
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith(eventStreamType)) return jsonResponse(response);
    for await (const message of messagesIn(response.body)) {
      const found = responseIn(message);
      if (found !== undefined) return found;
      if (isObject(message)) this.#notify(message);
    }
    throw new NotJsonRpc(new Response(null, { status: 500 }));
  };

  /** The client's own headers, because the host may read them, with those that 2026-07-28 requires. */
  #headers(method: string, params: Members): Headers {
    const headers = new Headers(this.#request.headers);
    for (const name of ["mcp-session-id", "content-length"]) headers.delete(name);
    headers.set("mcp-protocol-version", modernVersion);
    headers.set("mcp-method", method);
    const name = params["name"] ?? params["uri"] ?? params["taskId"];
    if (typeof name === "string") headers.set("mcp-name", headerText(name));
    return headers;
  }
}

const ownId = "draft";

/** How 2026-07-28 encodes text that a header cannot hold. */
const headerText = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

/** An HTTP response without a JSON-RPC response to the request. It goes to the client unchanged. */
class NotJsonRpc extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super(`HTTP ${response.status} came without a JSON-RPC response`);
    this.response = response;
  }
}

function responseIn(message: unknown): RpcResponse | undefined {
  if (own(message, "id") !== ownId) return undefined;
  const [found, error] = [own(message, "result"), own(message, "error")];
  if (isObject(found)) return { kind: "result", result: found };
  const [code, text, data] = [own(error, "code"), own(error, "message"), own(error, "data")];
  return {
    kind: "error",
    error: { code: Number(code), message: String(text), ...(data === undefined ? {} : { data }) },
  };
}

async function jsonResponse(response: Response): Promise<RpcResponse> {
  const { status, headers } = response;
  const text = await response.text();
  const found = responseIn(parsed(text));
  if (found === undefined) throw new NotJsonRpc(new Response(text || null, { status, headers }));
  return found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* messagesIn(body: Response["body"]): AsyncIterable<unknown> {
  if (body === null) return;
  const reader = new EventReader();
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    for (const { data } of reader.read(chunk)) if (data !== undefined) yield JSON.parse(data);
  }
}
