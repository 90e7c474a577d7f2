// The entry for Node's `http`. Its order costs a stranger the most and the server the least: it verifies the caller,
// then reads the body, and only then looks at the request.

import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "./node-adapter.ts";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { skipCrumbs } from "./crumbled-bodies.ts";
import type { Body } from "./request-body.ts";
import { forgetBody, turnAway } from "./turn-away.ts";
import { refusedBody } from "./web.ts";
import type { Caller, Serving } from "./web.ts";

/** A request of Node's `http`, with what middleware may have added to it. */
export type NodeRequest = IncomingMessage & {
  /** The verified caller, if middleware has verified it. */
  auth?: AuthInfo;
  /** The parsed body, if middleware has read it. */
  body?: unknown;
};

/** Serves one request of Node's `http`. */
export type NodeHandler = (req: NodeRequest, res: ServerResponse) => Promise<void>;

/** Serves a request without the SDK. Returns undefined if it leaves the request to the SDK. */
export type FastLane = (
  req: NodeRequest,
  res: ServerResponse,
  caller: Caller,
  json: unknown,
) => Promise<void> | undefined;

/** Serves every request. Uses `req.auth` and `req.body` where middleware has set them. */
export function nodeHandler(serving: Serving, fast?: FastLane): NodeHandler {
  return async (req, res) => {
    skipCrumbs(req);
    const verifying = serving.caller(req.headers.authorization, req.auth);
    const caller = verifying instanceof Promise ? await verifying : verifying;
    if (caller instanceof Response) return turnAway(req, res, caller);
    const reading = bodyOf(req, serving);
    const body = reading instanceof Promise ? await reading : reading;
    if (body.kind === "gone") return undefined;
    if (body.kind === "refused") return turnAway(req, res, refusedBody(body));
    const served = body.kind === "json" ? fast?.(req, res, caller, body.json) : undefined;
    // Awaited and not returned: V8 needs three turns of the microtask queue for a promise that an async function returns.
    await (served ?? overSdk(serving, req, res, caller, body));
    return undefined;
  };
}

/** The body that middleware has parsed. Otherwise the body is read now. */
function bodyOf(req: NodeRequest, serving: Serving): Body | Promise<Body> {
  if (req.body !== undefined) return { kind: "json", json: req.body };
  // Middleware has read the body and not kept it.
  if (req.readableEnded) return { kind: "text", text: "" };
  return serving.bodies.ofNode(req);
}

/** The SDK gets the request without its body, which has already been parsed, or with a body that it has to refuse. */
function overSdk(
  serving: Serving,
  req: NodeRequest,
  res: ServerResponse,
  caller: Caller,
  body: Extract<Body, { kind: "json" | "text" }>,
): Promise<void> {
  const [json, text] = body.kind === "json" ? [body.json, ""] : [undefined, body.text];
  if (!req.readableEnded) forgetBody(req);
  const again = async function* again() {
    if (text !== "") yield text;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same request with another body
  const request = Object.create(req, { [Symbol.asyncIterator]: { value: again } }) as Readable;
  const handle = toNodeHandler(
    {
      fetch: async (sent) => {
        const response = await serving.serve(sent, caller, json);
        // Nothing may be sent on this stream for long, and some clients wait until it has begun.
        if (req.method === "GET") setImmediate(() => res.headersSent && res.flushHeaders());
        return response;
      },
    },
    // The body has been checked already.
    { maxRequestBodySize: Number.MAX_SAFE_INTEGER },
  );
  return handle(request, res);
}

type Readable = Parameters<ReturnType<typeof toNodeHandler>>[0];
