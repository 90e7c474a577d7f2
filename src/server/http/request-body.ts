// Reads the bodies of requests, for every HTTP entry. It limits how large a body is, in how many chunks it comes, how
// much JSON it holds, and how much all unfinished bodies hold together. Only a body that the host's own middleware has
// parsed does not pass through here; the limits of that middleware apply to it.

import type { IncomingMessage } from "node:http";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { CollectedBytes } from "./collected-bytes.ts";
import { isSkipped } from "./crumbled-bodies.ts";
import { isDirect } from "./direct-body.ts";
import { budgetFor, jsonIn, tooMuchJson } from "./json-budget.ts";
import type { JsonBudget } from "./json-budget.ts";
import { UnfinishedBodies } from "./unfinished-bodies.ts";
import type { Place, UnfinishedBody } from "./unfinished-bodies.ts";

/** A body that has been read. */
export type Body =
  | { readonly kind: "json"; readonly json: unknown }
  /** It is empty, or not JSON. The SDK refuses such a body in its own words. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly status: 400 | 413 | 503; readonly message: string }
  /** The client disconnected. */
  | { readonly kind: "gone" };

/** The request has no body that the app would read. */
const none: Body = { kind: "text", text: "" };
const gone: Body = { kind: "gone" };

/** Reads the bodies of one app's requests. */
export class RequestBodies {
  readonly #mostBytes: number;
  readonly #budget: JsonBudget;
  readonly #unfinished: UnfinishedBodies;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#budget = budgetFor(mostBytes);
    this.#unfinished = new UnfinishedBodies(Math.max(16 * mostBytes, 16 * 1024 * 1024));
  }

  /** The body of a request of Node's `http`. Only JSON that is posted is read. */
  ofNode(req: IncomingMessage): Body | Promise<Body> {
    const { headers } = req;
    if (req.method !== "POST" || !isJsonContentType(headers["content-type"] ?? null)) return none;
    // A request that was destroyed before it came here emits no more events.
    if (req.destroyed) return gone;
    const length = headers["content-length"];
    if (Number(length) > this.#mostBytes) return this.#tooLarge();
    if (isSkipped(req)) return crumbled;
    return new Promise((resolve) => {
      const whole = length === undefined ? Number.NaN : Number(length);
      const arriving = new ArrivingBody(this, whole, (body) => {
        if (isTaken) req.leaveBody();
        else req.off("data", onData);
        if (body.kind === "refused") req.pause();
        resolve(body);
      });
      req.on("close", () => arriving.settle(gone));
      const isTaken = isDirect(req) && req.takeBody(arriving);
      if (isTaken) return;
      const onData = (chunk: Buffer) =>
        isSkipped(req) ? arriving.settle(crumbled) : arriving.add(chunk);
      req.on("data", onData);
      req.on("end", () => arriving.end());
    });
  }

  /** The body of a web-standard request. */
  async ofWeb(request: Request): Promise<Body> {
    const { headers, method, body } = request;
    if (method !== "POST" || !isJsonContentType(headers.get("content-type"))) return none;
    if (Number(headers.get("content-length")) > this.#mostBytes) return this.#tooLarge();
    if (body === null) return none;
    const reader = body.getReader();
    return new Promise((resolve) => {
      const arriving = new ArrivingBody(this, Number.NaN, (read) => {
        if (read.kind === "refused") reader.cancel().catch(() => {});
        resolve(read);
      });
      const readAll = async () => {
        while (!arriving.isSettled) {
          const { done, value } = await reader.read();
          if (done) return arriving.end();
          arriving.add(value);
        }
        return undefined;
      };
      readAll().catch(() => arriving.settle(unreadable));
    });
  }

  /** Where a body that has not ended is counted. */
  get unfinished(): UnfinishedBodies {
    return this.#unfinished;
  }

  /** Why a body that has arrived so far is refused. */
  problemWith(bytes: CollectedBytes): Body | undefined {
    if (bytes.length > this.#mostBytes) return this.#tooLarge();
    if (bytes.isCrumbled) return crumbled;
    return undefined;
  }

  /** The content of a body that has arrived completely. */
  contentsOf(bytes: CollectedBytes): Body {
    const problem = tooMuchJson(bytes.bytes(), this.#budget);
    if (problem !== undefined) return tooMuch(problem);
    const text = bytes.text();
    const json = jsonIn(text);
    return json === undefined ? { kind: "text", text } : { kind: "json", json };
  }

  #tooLarge(): Body {
    return tooMuch(`must not exceed ${this.#mostBytes} bytes`);
  }
}

/** Uses the SDK's words. */
const tooMuch = (problem: string): Body => ({
  kind: "refused",
  status: 413,
  message: `Payload Too Large: Request body ${problem}`,
});

const crumbled: Body = tooMuch("must not come in so many small chunks");

const unreadable: Body = {
  kind: "refused",
  status: 400,
  message: "Parse error: the request body could not be read",
};

const givenUp: Body = {
  kind: "refused",
  status: 503,
  message:
    "Service Unavailable: too many request bodies are arriving at the same time, and this one has taken the longest",
};

/** One body that is arriving. */
class ArrivingBody implements UnfinishedBody {
  readonly #bodies: RequestBodies;
  /** Its length, if the client has announced it. */
  readonly #whole: number;
  readonly #onSettled: (body: Body) => void;
  readonly #bytes = new CollectedBytes();
  #place: Place | undefined;
  #isSettled = false;

  constructor(bodies: RequestBodies, whole: number, onSettled: (body: Body) => void) {
    this.#bodies = bodies;
    this.#whole = whole;
    this.#onSettled = onSettled;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get held(): number {
    return this.#bytes.held;
  }

  add(chunk: Uint8Array): void {
    if (this.#isSettled) return;
    this.#bytes.add(chunk);
    const problem = this.#bodies.problemWith(this.#bytes);
    if (problem !== undefined) return this.settle(problem);
    // Most bodies come in one chunk and end at once. They are not worth counting.
    if (this.#bytes.length === this.#whole) return undefined;
    const { unfinished } = this.#bodies;
    this.#place ??= unfinished.add(this);
    return unfinished.count(this.#place);
  }

  end(): void {
    if (!this.#isSettled) this.settle(this.#bodies.contentsOf(this.#bytes));
  }

  settle(body: Body): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#place !== undefined) this.#bodies.unfinished.remove(this.#place);
    this.#onSettled(body);
  }

  giveUp(): void {
    this.settle(givenUp);
  }
}
