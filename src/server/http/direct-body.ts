// Takes the body of a request straight from Node's parser.
//
// Node passes every body through a stream, whose objects and callbacks take a tenth of the time of a whole call. The body
// of a call is short, wanted as a whole, and read only here, so it needs no stream. A body that is not taken goes
// through the stream as usual; a body in chunks always does (crumbled-bodies.ts). A request whose body was taken emits
// neither `end` nor `close`, unless its connection closes first.

import type { IncomingMessage } from "node:http";
import { bodyAt, isBodyCallback, parserOf } from "./node-parser.ts";

/** What takes a body. */
interface BodyTaker {
  readonly add: (chunk: Buffer) => void;
  readonly end: () => void;
}

/** A request whose body can be taken. */
export interface DirectRequest extends IncomingMessage {
  /** From now on, chunks go to the taker. Returns false if this is not possible. */
  readonly takeBody: (taker: BodyTaker) => boolean;
  /** What has not arrived yet goes through the stream. */
  readonly leaveBody: () => void;
}

/** Whether the body of a request can be taken. */
export const isDirect = (req: IncomingMessage): req is DirectRequest => "takeBody" in req;

/** The class of a server's requests, for the option `IncomingMessage` of Node's `createServer`. */
export function directRequests(Base: typeof IncomingMessage): typeof IncomingMessage {
  const isEnded = (req: IncomingMessage): unknown =>
    Reflect.get(Base.prototype, "readableEnded", req);

  // Its fields are not private names, because the SDK gets an object that inherits from the request (node.ts).
  return class Direct extends Base implements DirectRequest {
    static {
      // The types declare a property, and TypeScript lets no accessor override one.
      Object.defineProperty(this.prototype, "readableEnded", {
        get(this: Direct) {
          return this.hasArrived || isEnded(this);
        },
      });
    }

    taker: BodyTaker | undefined;
    /** Whether the taker has got the whole body. */
    hasArrived = false;

    takeBody(taker: BodyTaker): boolean {
      // While a caller was verified, for example, a part of the body may have gone into the stream.
      const hasBegun = this.complete || this.readableLength > 0 || this.readableFlowing !== null;
      if (hasBegun || !isBodyCallback(parserOf(this.socket)?.[bodyAt])) return false;
      this.taker = taker;
      return true;
    }

    leaveBody(): void {
      this.taker = undefined;
    }

    /** The parser calls this with each chunk, and with null at the end. */
    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (this.taker === undefined) return super.push(chunk, encoding);
      if (chunk === null) {
        this.hasArrived = true;
        this.taker.end();
      } else {
        this.taker.add(chunk);
      }
      return true;
    }

    /** Node calls this after the response, to read what is left of the body. Nothing is left of one that was taken. */
    override resume(): this {
      return this.hasArrived ? this : super.resume();
    }
  };
}
