// The body of a request, read without a stream's machinery, and kept for whoever else is to read it.

import type { NodeRequest } from "./listen.ts";
import { mostBytes } from "./headers.ts";

export interface Body {
  /** Undefined: it is no JSON. */
  readonly json: unknown;
  /** The request for the SDK, which reads it anew. */
  readonly unread: () => NodeRequest;
}

/** As it was parsed on the way here, or read now. Undefined: the client went away. */
export function bodyOf(req: NodeRequest): Body | undefined | Promise<Body | undefined> {
  // Read by somebody who did not keep it, or who did.
  if (req.readableEnded || req.body !== undefined) return { json: req.body, unread: () => req };
  // Of one that has ended before it was here nothing is ever heard.
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

  /** Of the first part of one that is too large: none, even if nothing but white space comes after it. */
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the request, but for its chunks
    return Object.create(this.#req, { [Symbol.asyncIterator]: { value: again } }) as NodeRequest;
  }
}
