// The response to one request: JSON, or, from the first notification on, a stream of events that ends with it.

import type { ServerResponse } from "node:http";
import process from "node:process";
import { textOf } from "../round/failure.ts";
import type { Encoded } from "./answers.ts";
import { backToBack } from "./batch-writes.ts";

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  connection: "keep-alive",
  "x-accel-buffering": "no",
};

/** So that nobody on the way takes a quiet stream for a dead one. */
const keepAliveMs = 15_000;

export class Reply {
  readonly #res: ServerResponse;
  readonly #send: Send;
  #keepAlive: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(res: ServerResponse, send: Send) {
    this.#res = res;
    this.#send = send;
  }

  notify(method: string, params: object): void {
    if (this.#isOver || this.#res.destroyed) return;
    this.#keepAlive ??= this.#beginStream();
    try {
      this.#event(JSON.stringify({ jsonrpc: "2.0", method, params }));
    } catch {
      // What JSON cannot hold is nobody's to hear, and no reason for the call to fail.
    }
  }

  /** The response itself. In a stream its status is sent long since. */
  end({ status, json }: Encoded): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#keepAlive === undefined) return this.#send({ res: this.#res, status, json });
    clearInterval(this.#keepAlive);
    this.#event(json);
    return void this.#res.end();
  }

  /** One that the SDK has made. */
  async relay(response: Response): Promise<void> {
    const text = await response.text();
    if (this.#keepAlive !== undefined) return this.end({ status: response.status, json: text });
    this.#isOver = true;
    this.#res.writeHead(response.status, Object.fromEntries(response.headers)).end(text);
  }

  /** Nobody is there to read one, or somebody has put an end to it. */
  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#keepAlive);
    if (!this.#res.headersSent) this.#res.writeHead(499);
    this.#res.end();
  }

  #beginStream(): NodeJS.Timeout {
    this.#res.writeHead(200, streamHeaders);
    return setInterval(() => this.#res.write(": keepalive\n\n"), keepAliveMs).unref();
  }

  #event(json: string): void {
    this.#res.write(`event: message\ndata: ${json}\n\n`);
  }
}

/** How a whole response leaves. */
export type Send = (response: Whole) => void;

interface Whole extends Encoded {
  readonly res: ServerResponse;
}

export const sendNow: Send = ({ res, status, json }) => {
  res.writeHead(status, headersOf(json)).end(json);
};

/** With those that are ready at the same time. For our own server: a host may have its own idea of `end`. */
export const sendTogether: Send = backToBack(sendAsOne, ({ res }, error) => {
  res.destroy();
  process.emitWarning(`A response could not be sent: ${textOf(error)}`);
});

/**
 * Head and body leave as one string. `end(json)` would write them and an empty string after them, and several that are
 * written together go the way of lists, which takes a tenth of a whole call.
 */
function sendAsOne({ res, status, json }: Whole): void {
  // By somebody else, since it was ready.
  if (res.headersSent) return;
  res.writeHead(status, headersOf(json));
  const { socket } = res;
  // Not its turn yet on a connection with many requests, or the client has gone.
  if (socket === null) return void res.end(json);
  socket.cork();
  res.write(json);
  socket.uncork();
  res.end();
}

const headersOf = (json: string) => ({
  "content-type": "application/json",
  "content-length": Buffer.byteLength(json),
});
