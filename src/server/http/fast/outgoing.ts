// The response to one request: JSON, or, from the first notification on, a stream of events that ends with it.

import type { ServerResponse } from "node:http";
import process from "node:process";
import {
  eventStreamType,
  keepAliveEvent,
  keepAliveMs,
  messageEvent,
} from "../../../protocol/sse.ts";
import { errorText } from "../../../util/error-text.ts";
import { mostUnread } from "../../round/client-parts.ts";
import { backToBack } from "./batch-writes.ts";
import type { EncodedResponse } from "./encode-response.ts";

// Node adds the header "connection", because the client decides whether the connection stays open.
const streamHeaders = {
  "content-type": eventStreamType,
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Writes the response to one request, and the notifications before it. */
export class OutgoingResponse {
  readonly #res: ServerResponse;
  readonly #send: Send;
  #keepAlive: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(res: ServerResponse, send: Send) {
    this.#res = res;
    this.#send = send;
  }

  /** Sends a notification, which makes the response a stream. */
  notify(method: string, params: object): void {
    if (this.#isOver || this.#res.destroyed) return;
    this.#keepAlive ??= this.#beginStream();
    try {
      this.#event(JSON.stringify({ jsonrpc: "2.0", method, params }));
    } catch {
      // A notification that is not JSON is dropped. The call does not fail because of it.
    }
  }

  /** Makes the response a stream, and tells the client so at once. */
  begin(): void {
    if (this.#isOver || this.#res.destroyed) return;
    this.#keepAlive ??= this.#beginStream();
    this.#res.flushHeaders();
  }

  /** Undefined if the client has read most of what it was sent. Otherwise it resolves when it has, or has gone. */
  room(): Promise<void> | undefined {
    const res = this.#res;
    if (res.destroyed || !(res.writableLength > mostUnread)) return undefined;
    return new Promise((resolve) => {
      const done = () => {
        res.off("drain", done).off("close", done);
        resolve();
      };
      res.on("drain", done).on("close", done);
    });
  }

  /** Sends the response itself. The status does not count in a stream, whose status went out with its headers. */
  end({ status, json }: EncodedResponse): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#keepAlive === undefined) return this.#send({ res: this.#res, status, json });
    clearInterval(this.#keepAlive);
    this.#event(json);
    return void this.#res.end();
  }

  /** Sends a response that the SDK has made. */
  async relay(response: Response): Promise<void> {
    const text = await response.text();
    if (this.#keepAlive !== undefined) return this.end({ status: response.status, json: text });
    this.#isOver = true;
    this.#res.writeHead(response.status, Object.fromEntries(response.headers)).end(text);
  }

  /** Ends without a response, because the client disconnected or the call was stopped. */
  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#keepAlive);
    if (!this.#res.headersSent) this.#res.writeHead(499);
    this.#res.end();
  }

  #beginStream(): NodeJS.Timeout {
    this.#res.writeHead(200, streamHeaders);
    return setInterval(() => this.#res.write(keepAliveEvent), keepAliveMs).unref();
  }

  #event(json: string): void {
    this.#res.write(messageEvent(json));
  }
}

/** How a response that is not a stream leaves. */
export type Send = (response: WholeResponse) => void;

interface WholeResponse extends EncodedResponse {
  readonly res: ServerResponse;
}

/** Sends at once. */
export const sendNow: Send = ({ res, status, json }) => {
  res.writeHead(status, headersOf(Buffer.byteLength(json))).end(json);
};

/** Sends together with the responses that are ready at the same time. Only for our own server: a host may replace `end`. */
export const sendTogether: Send = backToBack(sendAsOne, ({ res }, error) => {
  res.destroy();
  process.emitWarning(`A response could not be sent: ${errorText(error)}`);
});

/**
 * Head and body leave as one string. `end(json)` would write them and then an empty string, and Node sends several
 * writes as a list, which takes a tenth of the time of a whole call.
 */
function sendAsOne({ res, status, json }: WholeResponse): void {
  // Something else has responded since this response was ready.
  if (res.headersSent) return;
  const bytes = Buffer.byteLength(json);
  res.writeHead(status, headersOf(bytes));
  const { socket } = res;
  // Without a socket it is not this response's turn on a pipelined connection yet, or the client disconnected.
  if (socket === null) return void res.end(json);
  socket.cork();
  res.write(json, encodingOf(json, bytes));
  socket.uncork();
  res.end();
}

const headersOf = (bytes: number) => ({
  "content-type": "application/json",
  "content-length": bytes,
});

/** A text of as many bytes as characters is ASCII, which Node writes faster if it does not have to look for anything else. */
const encodingOf = (text: string, bytes: number): "latin1" | "utf8" =>
  text.length === bytes ? "latin1" : "utf8";
