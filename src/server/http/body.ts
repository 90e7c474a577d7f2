// The body of a request, read without a stream's machinery, and kept for whoever else is to read it.

import type { NodeRequest } from "../listen.ts";
import { mostBytes } from "./headers.ts";

export interface Body {
  /** Undefined: it is no JSON. */
  readonly json: unknown;
  /** The request for the SDK, which reads it anew. */
  readonly unread: () => NodeRequest;
}

/** As it was parsed on the way here, or read now. Undefined: the client went away. */
export function bodyOf(req: NodeRequest): Body | Promise<Body | undefined> {
  // Read by somebody who did not keep it, or who did.
  if (req.readableEnded || req.body !== undefined) return { json: req.body, unread: () => req };
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= mostBytes) return;
      req.off("data", onData).pause();
      resolve(new ReadBody(req, chunks));
    };
    req.on("data", onData);
    req.on("end", () => resolve(new ReadBody(req, chunks)));
    req.on("close", () => resolve(undefined));
  });
}

/** All of its chunks, or the first that are too many. */
class ReadBody implements Body {
  readonly #req: NodeRequest;
  readonly #chunks: readonly Buffer[];

  constructor(req: NodeRequest, chunks: readonly Buffer[]) {
    this.#req = req;
    this.#chunks = chunks;
  }

  get json(): unknown {
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the request, but for its chunks
    return Object.create(this.#req, { [Symbol.asyncIterator]: { value: again } }) as NodeRequest;
  }
}
