// The body of a request, read without the overhead of a stream, and kept so that the SDK can read it again.

import { mostBytes } from "./fast-headers.ts";
import type { NodeRequest } from "../node.ts";

/** A body that has been read. */
export interface Body {
  /** The parsed body. Undefined if it is not JSON. */
  readonly json: unknown;
  /** The request for the SDK, which reads the body again. */
  readonly unread: () => NodeRequest;
}

/** The body as middleware has parsed it, or read now. Undefined if the client disconnected. */
export function bodyOf(req: NodeRequest): Body | undefined | Promise<Body | undefined> {
  // Middleware has read it already, and may have kept it.
  if (req.readableEnded || req.body !== undefined) return { json: req.body, unread: () => req };
  // A request that was destroyed before it came here emits no more events.
  if (req.destroyed) return undefined;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= mostBytes) return;
      req.off("data", onData).pause();
      resolve(new ReadBody(req, chunks, false));
    };
    req.on("data", onData);
    req.on("end", () => resolve(new ReadBody(req, chunks, true)));
    req.on("close", () => resolve(undefined));
  });
}

class ReadBody implements Body {
  readonly #req: NodeRequest;
  readonly #chunks: readonly Buffer[];
  readonly #isWhole: boolean;

  constructor(req: NodeRequest, chunks: readonly Buffer[], isWhole: boolean) {
    this.#req = req;
    this.#chunks = chunks;
    this.#isWhole = isWhole;
  }

  /** A body that is too large has none, even if its first part is JSON and only white space follows. */
  get json(): unknown {
    if (!this.#isWhole) return undefined;
    const [first] = this.#chunks;
    const isOne = this.#chunks.length === 1 && first !== undefined;
    try {
      return JSON.parse((isOne ? first : Buffer.concat(this.#chunks)).toString());
    } catch {
      return undefined;
    }
  }

  unread(): NodeRequest {
    const chunks = this.#chunks;
    const again = async function* again() {
      yield* chunks;
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same request with other chunks
    return Object.create(this.#req, { [Symbol.asyncIterator]: { value: again } }) as NodeRequest;
  }
}
