// The draft over HTTP: one POST, one answer, as JSON or, where something is told before it, as a stream of events.
// There is no session on the server: what the client said of itself is its session id (peer.ts).

import { answerDraft } from "./server.ts";
import type { Tasks } from "./server.ts";
import { peerIn, peerOf, sessionIdOf, stranger } from "./peer.ts";
import { isObject, own } from "../util/objects.ts";
import { draftVersion, opensDraft } from "./wire.ts";
import type { Members } from "../util/objects.ts";
import type { Reply } from "./wire.ts";

/** Serves a request of 2026-07-28 whose body is read already. */
export type ServeHttp = (request: Request, body: Members) => Promise<Response>;

/** By what was agreed alone: the version in `initialize`, and in the header of all that follows. */
export function isDraftRequest(request: Request, body: unknown): boolean {
  if (own(body, "method") === "initialize") return opensDraft(body);
  return request.headers.get("mcp-protocol-version") === draftVersion;
}

export async function serveDraftHttp(
  request: Request,
  body: unknown,
  serve: ServeHttp,
  tasks: Tasks,
): Promise<Response> {
  // Nothing is pushed, and there is nothing to end.
  if (request.method !== "POST") return new Response(null, { status: 405, headers: onlyPost });
  if (!isMessage(body)) return refused(400, -32_600, "This is not a JSON-RPC request");
  const { id, method } = body;
  // Who cancels a request closes its connection; of the others there is nothing to be done about.
  if (id === undefined) return new Response(null, { status: 202 });
  const params = isObject(body.params) ? body.params : {};
  const session = request.headers.get("mcp-session-id");
  const peer =
    method === "initialize" ? peerOf(params) : session === null ? stranger : peerIn(session);
  if (peer === undefined) return refused(404, -32_001, "Session not found");
  const headers: Record<string, string> =
    method === "initialize" ? { "mcp-session-id": sessionIdOf(peer) } : {};
  return new Promise((resolve, reject) => {
    const answering = new Answering(resolve, headers);
    const exchange = new Exchange(request, serve, answering.tell);
    answerDraft({ method, params, peer, signal: request.signal }, exchange.serve, tasks)
      .then((reply) => answering.end({ jsonrpc: "2.0", id, ...bodyOf(reply) }))
      .catch((error: unknown) => {
        if (error instanceof NoReply) answering.pass(error.response);
        // Nobody is there to be told.
        else if (request.signal.aborted) answering.pass(new Response(null, { status: 499 }));
        else reject(error);
      });
  });
}

interface Incoming {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: unknown;
}

/** A request or a notification. A response is none: nothing was asked that could be answered so. */
function isMessage(body: unknown): body is Incoming {
  if (own(body, "jsonrpc") !== "2.0" || typeof own(body, "method") !== "string") return false;
  const id = own(body, "id");
  return id === undefined || typeof id === "string" || typeof id === "number";
}

const onlyPost = { allow: "POST" };

function refused(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}

const bodyOf = (reply: Reply): Members =>
  reply.kind === "result" ? { result: reply.result } : { error: reply.error };

/** JSON, unless something has been told before. */
class Answering {
  readonly #respond: (response: Response) => void;
  readonly #headers: Readonly<Record<string, string>>;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The client has gone in the middle of it. */
  #isLeft = false;

  constructor(respond: (response: Response) => void, headers: Readonly<Record<string, string>>) {
    this.#respond = respond;
    this.#headers = headers;
  }

  readonly tell = (notification: Members): void => {
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

  /** What is no answer to the request, but a refusal of whoever sent it. */
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
        this.#isLeft = true;
      },
    });
    const headers = { ...this.#headers, "content-type": "text/event-stream" };
    this.#respond(new Response(body, { headers }));
  }

  #write(message: Members): void {
    const event = `event: message\ndata: ${JSON.stringify(message)}\n\n`;
    if (!this.#isLeft) this.#stream?.enqueue(new TextEncoder().encode(event));
  }

  #close(): void {
    if (!this.#isLeft) this.#stream?.close();
  }
}

/** The requests of 2026-07-28 that one of the draft becomes. */
class Exchange {
  readonly #request: Request;
  readonly #serve: ServeHttp;
  readonly #tell: (notification: Members) => void;

  constructor(request: Request, serve: ServeHttp, tell: (notification: Members) => void) {
    this.#request = request;
    this.#serve = serve;
    this.#tell = tell;
  }

  readonly serve = async (method: string, params: Members): Promise<Reply> => {
    const { url, signal } = this.#request;
    const request = new Request(url, {
      method: "POST",
      headers: this.#headers(method, params),
      signal,
    });
    const response = await this.#serve(request, { jsonrpc: "2.0", id: ownId, method, params });
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) return answered(response);
    for await (const message of messagesIn(response.body)) {
      const reply = replyIn(message);
      if (reply !== undefined) return reply;
      if (isObject(message)) this.#tell(message);
    }
    throw new NoReply(new Response(null, { status: 500 }));
  };

  /** The client's own, as its host may look at them, with those that 2026-07-28 wants. */
  #headers(method: string, params: Members): Headers {
    const headers = new Headers(this.#request.headers);
    for (const name of ["mcp-session-id", "content-length"]) headers.delete(name);
    headers.set("mcp-protocol-version", "2026-07-28");
    headers.set("mcp-method", method);
    const name = params["name"] ?? params["uri"] ?? params["taskId"];
    if (typeof name === "string") headers.set("mcp-name", headerText(name));
    return headers;
  }
}

const ownId = "draft";

/** As 2026-07-28 writes what a header might not hold. */
const headerText = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

/** The answer was none of JSON-RPC's, or to no request: it goes to the client as it is. */
class NoReply extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super(`There was no answer to a request, but HTTP ${response.status}`);
    this.response = response;
  }
}

function replyIn(message: unknown): Reply | undefined {
  if (own(message, "id") !== ownId) return undefined;
  const [found, error] = [own(message, "result"), own(message, "error")];
  if (isObject(found)) return { kind: "result", result: found };
  const [code, text, data] = [own(error, "code"), own(error, "message"), own(error, "data")];
  return {
    kind: "error",
    error: { code: Number(code), message: String(text), ...(data === undefined ? {} : { data }) },
  };
}

async function answered(response: Response): Promise<Reply> {
  const { status, headers } = response;
  const text = await response.text();
  const reply = replyIn(parsed(text));
  if (reply === undefined) throw new NoReply(new Response(text || null, { status, headers }));
  return reply;
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
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) yield JSON.parse(data.slice("data: ".length));
    }
  }
}
