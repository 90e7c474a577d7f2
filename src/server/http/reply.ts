// The response to one request: JSON, or, from the first notification on, a stream of events that ends with it.

import type { ServerResponse } from "node:http";
import type { Encoded } from "./answers.ts";

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
  #keepAlive: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(res: ServerResponse) {
    this.#res = res;
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
    if (this.#keepAlive === undefined) {
      const length = Buffer.byteLength(json);
      this.#res.writeHead(status, { "content-type": "application/json", "content-length": length });
      this.#res.end(json);
      return;
    }
    clearInterval(this.#keepAlive);
    this.#event(json);
    this.#res.end();
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
