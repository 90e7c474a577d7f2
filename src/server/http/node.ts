// The way in from Node's `http` through the official SDK, and the shapes that every Node way in shares.

import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "./node-adapter.ts";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Serving } from "./web.ts";

/** A request of Node's `http`, with what middleware may have added to it. */
export type NodeRequest = IncomingMessage & {
  /** The verified caller, if middleware has verified it. */
  auth?: AuthInfo;
  /** The parsed body, if middleware has read it. */
  body?: unknown;
};

/** Serves one request of Node's `http`. */
export type NodeHandler = (req: NodeRequest, res: ServerResponse) => Promise<void>;

/** Serves every request through the SDK. Uses `req.auth` and `req.body` where middleware has set them. */
export function nodeHandler(serving: Serving): NodeHandler {
  const handle = toNodeHandler({
    fetch: (request, options = {}) =>
      options.authInfo === undefined
        ? serving.fetch(request, options.parsedBody)
        : serving.handle(request, options),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs in how optional members are typed
  return (req, res) => handle(req as Parameters<typeof handle>[0], res, req.body);
}
