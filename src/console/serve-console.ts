// One request to the console: first what costs nothing, then who it is, and only then what it asks for.

import type { ServerResponse } from "node:http";
import type { Core } from "../server/core.ts";
import type { NodeRequest } from "../server/http/node.ts";
import { requestOf, send } from "../server/http/web-handler.ts";
import type { WebHandler } from "../server/http/web-handler.ts";
import type { Logger } from "../server/ops/logger.ts";
import { StoreTrouble } from "../server/tasks/store-needed.ts";
import { errorText } from "../util/error-text.ts";
import type { ConsoleApi } from "./api.ts";
import { DevelopmentDoor } from "./development-door.ts";
import { checkedOperator } from "./operator.ts";
import type { Admitted } from "./operator.ts";
import { json, notFound, Refusal } from "./refusal.ts";
import { jsonBody } from "./request-json.ts";
import { checkLoopback, checkOrigin } from "./same-origin.ts";
import { refusedPage, shell, staticFile } from "./shell.ts";
import type { LinkExchange, NewSession } from "./wire.ts";

/** Who lets people in: the author's `authorize`, or the link of development. */
export type Door = DevelopmentDoor | ((request: Request) => unknown);

/** Makes the handler. */
export function consoleHandler(door: Door, api: ConsoleApi, core: Core): WebHandler {
  const site = new Site(door, api, core.logger);
  const handler = async (request: Request, ...passed: readonly unknown[]): Promise<Response> =>
    core.following("console", passed, () => site.serve(request));
  return Object.assign(handler, {
    node: async (req: NodeRequest, res: ServerResponse): Promise<void> => {
      const redirect = withoutSlash(req);
      if (redirect !== undefined) return send(req, res, redirected(redirect));
      if (door instanceof DevelopmentDoor && !isLocal(req)) return void res.writeHead(403).end();
      await send(req, res, await site.serve(requestOf(req)));
    },
  });
}

class Site {
  readonly #door: Door;
  readonly #api: ConsoleApi;
  readonly #logger: Logger;

  constructor(door: Door, api: ConsoleApi, logger: Logger) {
    this.#door = door;
    this.#api = api;
    this.#logger = logger;
  }

  async serve(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const isApi = pathname.startsWith("/api/");
    try {
      return await (isApi ? this.#call(request, pathname) : this.#show(request, pathname));
    } catch (error) {
      const refusal = error instanceof Refusal ? error : this.#trouble(error);
      return isApi ? refusal.response : refusedPage(refusal);
    }
  }

  /** The page and its files. They say nothing about the app, but a stranger need not see them. */
  async #show(request: Request, pathname: string): Promise<Response> {
    const door = this.#door;
    if (request.method !== "GET" && request.method !== "HEAD") throw notFound("Not found.");
    if (door instanceof DevelopmentDoor) {
      checkLoopback(request);
    } else {
      const visitor = await door(request);
      if (visitor instanceof Response) return visitor;
      if (visitor === undefined) throw notAdmitted();
      checkedOperator(visitor);
    }
    if (pathname === "/") return shell();
    const file = await staticFile(pathname, request);
    if (file === undefined) throw notFound("There is nothing at this address.");
    return file;
  }

  async #call(request: Request, pathname: string): Promise<Response> {
    const door = this.#door;
    checkOrigin(request);
    if (door instanceof DevelopmentDoor) {
      checkLoopback(request);
      if (request.method === "POST" && pathname === "/api/session") {
        const { link } = (await jsonBody(request)) as Partial<LinkExchange>;
        return json({ session: door.exchange(link, request) } satisfies NewSession);
      }
      return this.#api.serve(request, pathname, door.admit(request));
    }
    const operator = await this.#admitted(door, request);
    if (operator instanceof Response) return operator;
    return this.#api.serve(request, pathname, operator);
  }

  async #admitted(
    authorize: (request: Request) => unknown,
    request: Request,
  ): Promise<Admitted | Response> {
    // What `authorize` reads of the body is then missing, so it gets a request without one.
    const visitor = await authorize(
      new Request(request.url, { method: request.method, headers: request.headers }),
    );
    if (visitor === undefined) throw notAdmitted();
    if (!(visitor instanceof Response)) return checkedOperator(visitor);
    // A script cannot follow a person to where they sign in.
    if (visitor.status < 300 || visitor.status >= 400) return visitor;
    throw new Refusal(401, "signed_out", "You are signed out. Reload this page to sign in.");
  }

  #trouble(error: unknown): Refusal {
    if (error instanceof StoreTrouble) {
      return new Refusal(
        503,
        "store_down",
        "The task store cannot be reached. Nothing is lost: tasks go on when it is back. Check the database and the network between.",
        this.#api.storeFailed(),
      );
    }
    this.#logger.error(`The console could not serve a request: ${errorText(error)}`);
    return new Refusal(500, "failed", "The request failed. The server's log says why.");
  }
}

const notAdmitted = () =>
  new Refusal(403, "not_allowed", "You may not see this console. Ask whoever runs the server.");

/** Express takes the prefix off, so only the original address shows whether its slash is missing. */
function withoutSlash(req: NodeRequest): string | undefined {
  const original = "originalUrl" in req ? req.originalUrl : undefined;
  if (typeof original !== "string" || req.method !== "GET") return undefined;
  const [path = "", query] = original.split("?");
  if (path.endsWith("/") || !/^\/(\?|$)/.test(req.url ?? "")) return undefined;
  // Only the last part, so that no host can be in the address.
  return `${path.slice(path.lastIndexOf("/") + 1)}/${query === undefined ? "" : `?${query}`}`;
}

const redirected = (to: string): Response =>
  new Response(null, {
    status: 308,
    headers: { location: `./${to}`, "cache-control": "no-store" },
  });

const isLocal = ({ socket }: NodeRequest): boolean => {
  const address = socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  return address === "::1" || address.startsWith("127.");
};
