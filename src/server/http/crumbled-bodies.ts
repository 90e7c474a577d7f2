// Bodies in so many tiny chunks that reading them costs far more than sending them.
//
// Node parses a whole packet at once, and a packet has room for eleven thousand chunks of one byte. Node makes a buffer
// of each and passes it on, even if the request has been destroyed meanwhile. That costs as much as twenty calls, and
// no public function stops it. So this file replaces the function that Node's parser passes the chunks to. The
// replacement passes small chunks on together, and removes itself when there are too many of them; the parser then
// skips the rest. In a version of Node whose parser is made differently, this file does nothing: such a body costs
// more, but is still refused.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { CollectedBytes, fewestPerChunk, isCrumbled } from "./collected-bytes.ts";
import { bodyAt, endAt, isBodyCallback, parserOf } from "./node-parser.ts";
import type { Callback, Parser } from "./node-parser.ts";

/** How many small chunks of an unread body are received before the rest is skipped. */
const mostForgotten = 64;

const watched = new WeakMap<IncomingMessage, ChunkedBody>();

/** Skips the rest of a body as soon as it is too crumbled. Call it at once when the request comes. */
export function skipCrumbs(req: IncomingMessage): void {
  if (req.headers["transfer-encoding"] === undefined || req.complete) return;
  const parser = parserOf(req.socket);
  const onBody = parser?.[bodyAt];
  const onEnd = parser?.[endAt];
  if (parser === undefined || !isBodyCallback(onBody) || onEnd === undefined) return;
  watched.set(req, new ChunkedBody(req, parser, onBody, onEnd));
}

/** Whether a part of the body was skipped, so that it must be refused. */
export const isSkipped = (req: IncomingMessage): boolean => watched.get(req)?.isSkipped === true;

/** Call it when the body will not be read. Its small chunks are then dropped as they arrive. */
export const forgetCrumbs = (req: IncomingMessage): void => watched.get(req)?.forget();

/** A body on its way from Node's parser to the request. */
class ChunkedBody {
  readonly #req: IncomingMessage;
  readonly #socket: Socket;
  readonly #parser: Parser;
  readonly #onBody: Callback;
  readonly #onEnd: Callback;
  #chunks = 0;
  #bytes = 0;
  /** Small chunks that have not been passed on yet. */
  #held: CollectedBytes | undefined;
  #isSkipped = false;
  #isForgotten = false;

  constructor(req: IncomingMessage, parser: Parser, onBody: Callback, onEnd: Callback) {
    this.#req = req;
    this.#socket = req.socket;
    this.#parser = parser;
    this.#onBody = onBody;
    this.#onEnd = onEnd;
    parser[bodyAt] = this.#receive;
    parser[endAt] = this.#end;
    this.#socket.prependOnceListener("close", this.#restore);
  }

  get isSkipped(): boolean {
    return this.#isSkipped;
  }

  forget(): void {
    if (this.#isForgotten) return;
    this.#isForgotten = true;
    this.#held = undefined;
    this.#chunks = 0;
  }

  readonly #receive = (chunk: unknown): void => {
    if (!(chunk instanceof Uint8Array)) return;
    this.#chunks += 1;
    this.#bytes += chunk.length;
    const isSmall = chunk.length < fewestPerChunk;
    if (!isSmall) this.#passOn(chunk);
    else if (!this.#isForgotten) this.#hold(chunk);
    const isTooMuch = this.#isForgotten
      ? isSmall && this.#chunks > mostForgotten
      : isCrumbled(this.#chunks, this.#bytes);
    if (isTooMuch || this.#req.destroyed) this.#skip();
  };

  #hold(chunk: Uint8Array): void {
    if (this.#held === undefined) {
      this.#held = new CollectedBytes();
      // Wait until the packet is parsed: Node runs microtasks and nextTicks after every chunk.
      setImmediate(this.#passHeldOn);
    }
    this.#held.add(chunk);
  }

  readonly #passHeldOn = (): void => {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined || this.#req.destroyed || !this.#isCurrent()) return;
    this.#onBody.call(this.#parser, Buffer.from(held.bytes()));
  };

  #passOn(chunk: Uint8Array): void {
    this.#passHeldOn();
    this.#onBody.call(this.#parser, chunk);
  }

  /**
   * The rest of this packet is skipped. The next packet is read only when something asks for more of the body, and by
   * then the request has been refused.
   */
  #skip(): void {
    this.#isSkipped = true;
    this.#passHeldOn();
    this.#parser[bodyAt] = undefined;
    stopReading(this.#socket);
    setImmediate(() => {
      if (this.#isCurrent()) this.#parser[bodyAt] = this.#cut;
    });
  }

  readonly #cut = (): void => {
    this.#parser[bodyAt] = undefined;
    this.#socket.destroy();
  };

  readonly #end = (...values: readonly unknown[]): unknown => {
    this.#passHeldOn();
    this.#restore();
    // What was read must not pass for the whole body, so the request never ends. Its refusal cuts the connection.
    return this.#isSkipped ? undefined : this.#onEnd.apply(this.#parser, [...values]);
  };

  /** Whether the parser is still at this body. */
  #isCurrent(): boolean {
    return this.#parser[endAt] === this.#end && parserOf(this.#socket) === this.#parser;
  }

  /** Node uses the parser again for other connections. */
  readonly #restore = (): void => {
    this.#parser[bodyAt] = this.#onBody;
    this.#parser[endAt] = this.#onEnd;
    this.#socket.off("close", this.#restore);
  };
}

/** Pauses as Node's parser does when a body arrives faster than it is read. */
function stopReading(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, "_handle");
  const stop: unknown = typeof handle === "object" && handle && Reflect.get(handle, "readStop");
  if (typeof stop === "function") Reflect.apply(stop, handle, []);
}
