// A web-standard handler and its form for `node:http`, for what an app serves besides MCP.

import type { ServerResponse } from "node:http";
import type { HostContext } from "../tasks/after-response.ts";
import type { NodeRequest } from "./node.ts";
import { forgetBody } from "./turn-away.ts";

/** A web handler, and its form for `node:http`, which leaves what is not its own to `next`. */
export interface WebHandler {
  /** Serves one web-standard request, as `app.fetch` does. Responds with 404 to an address that is not its own. */
  (request: Request, host: HostContext): Promise<Response>;
  (request: Request): Promise<Response>;
  /** Serves one request of Express or `node:http`. Calls `next`, if there is one, for an address that is not its own. */
  readonly node: (
    req: NodeRequest,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ) => Promise<void>;
}

/** Makes a handler of a function that returns undefined for an address that is not its own. */
export function webHandler(
  serve: (request: Request, passed: readonly unknown[]) => Promise<Response> | undefined,
): WebHandler {
  const handler = async (request: Request, ...passed: readonly unknown[]): Promise<Response> =>
    serve(request, passed) ?? notFound();
  return Object.assign(handler, {
    node: async (
      req: NodeRequest,
      res: ServerResponse,
      next?: (error?: unknown) => void,
    ): Promise<void> => {
      const serving = serve(requestOf(req), []);
      if (serving === undefined && next !== undefined) return next();
      await send(req, res, (await serving) ?? notFound());
    },
  });
}

/** What `listen` has to know about a handler that it serves below a path. */
export interface Mount {
  /** Only this machine may reach it. */
  readonly isForThisMachine: boolean;
  /** It is served at this address, which ends with a slash. */
  readonly isAt: (address: string) => void;
}

const mounts = new WeakMap<object, Mount>();

/** Notes how a handler is mounted. Returns the handler. */
export function mountable(handler: WebHandler, mount: Mount): WebHandler {
  mounts.set(handler, mount);
  return handler;
}

/** How a handler is mounted. Undefined if it is none that this package made. */
export const mountOf = (handler: object): Mount | undefined => mounts.get(handler);

const notFound = () => new Response("Not found\n", { status: 404 });

/** The same request as the web has it. Its host is not the one of the header, which anyone can choose. */
export function requestOf(req: NodeRequest): Request {
  const { method = "GET", url = "/", headers } = req;
  const lists = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const isBare = method === "GET" || method === "HEAD";
  const at = URL.canParse(url, "http://localhost") ? url : "/";
  const body = isBare ? {} : { body: bodyOf(req), duplex: "half" };
  return new Request(new URL(at, "http://localhost"), { method, headers: lists, ...body });
}

/** Middleware may have read a form already. */
function bodyOf(req: NodeRequest): BodyInit {
  const { body } = req;
  if (req.readableEnded && typeof body === "object" && body !== null) {
    const fields = Object.entries(body).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, String(one)]),
    );
    return new URLSearchParams(fields).toString();
  }
  const { Readable } = process.getBuiltinModule("node:stream");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's type for the web's stream
  return Readable.toWeb(req) as unknown as BodyInit;
}

/** Sends a response of the web through Node. Its body goes out as it comes, because it may never end. */
export async function send(
  req: NodeRequest,
  res: ServerResponse,
  response: Response,
): Promise<void> {
  if (!req.readableEnded) forgetBody(req);
  res.writeHead(response.status, headersOf(response));
  const { body } = response;
  if (body === null || req.method === "HEAD") {
    await body?.cancel();
    return void res.end();
  }
  const reader = body.getReader();
  // Without a reader there is nobody to send to.
  res.once("close", () => void reader.cancel().catch(() => {}));
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (res.write(part.value) || res.destroyed) continue;
    await new Promise<void>((resolve) => {
      res.once("drain", resolve).once("close", resolve);
    });
  }
  res.end();
}

/** Several cookies are several headers. */
function headersOf({ headers }: Response): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  const all: Record<string, string | string[]> = Object.fromEntries(headers);
  if (cookies.length > 0) all["set-cookie"] = cookies;
  return all;
}
