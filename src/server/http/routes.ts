// What `app.listen` serves besides MCP: the author's own routes, and then the pages.

import type { IncomingMessage, ServerResponse } from "node:http";
import { errorText } from "../../util/error-text.ts";
import type { Logger } from "../ops/logger.ts";
import { consolePath, isInConsole, serveConsole } from "./console-route.ts";
import { requestOf, send } from "./web-handler.ts";
import type { WebHandler } from "./web-handler.ts";

/** Routes of the author, by path. `"/files/*"` takes everything below. */
export type Routes = {
  readonly [path: `/${string}`]: (request: Request) => Response | Promise<Response>;
};

/** What serves a path. Undefined if nothing does. */
export type Site = (
  pathname: string,
) => ((req: IncomingMessage, res: ServerResponse) => void) | undefined;

/** What an author may serve besides MCP. */
export interface SiteOptions {
  readonly routes?: Routes | undefined;
  readonly path?: string | undefined;
  readonly console?: WebHandler | undefined;
}

/** Makes the site. Throws a TypeError for a route that could never answer. */
export function siteOf(
  { routes = {}, path: mcpPath = "/mcp", console }: SiteOptions,
  pages: { readonly isOwn: (pathname: string) => boolean; readonly handler: WebHandler },
  logger: Logger,
): Site {
  const taken: Readonly<Record<string, string>> = {
    [mcpPath]: "the MCP endpoint",
    "/healthz": "the health check",
    "/readyz": "the health check",
    ...(console !== undefined && { [consolePath]: "the console" }),
  };
  for (const path of Object.keys(routes)) {
    const by = Object.hasOwn(taken, path) ? taken[path] : undefined;
    if (by === undefined) continue;
    throw new TypeError(`app.listen: the route "${path}" is taken by ${by}. Choose another path.`);
  }
  const own = Object.entries(routes);
  return (pathname) => {
    const route = own.find(([path]) => isAt(path, pathname))?.[1];
    const isConsole = console !== undefined && isInConsole(pathname);
    if (route === undefined && !isConsole && !pages.isOwn(pathname)) return undefined;
    const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      if (route !== undefined) return send(req, res, await route(requestOf(req)));
      return isConsole ? serveConsole(console, req, res) : pages.handler.node(req, res);
    };
    return (req, res) =>
      void serve(req, res).catch((error: unknown) => {
        logger.error(`The request could not be served: ${errorText(error)}`);
        if (!res.headersSent) res.writeHead(500);
        res.end();
      });
  };
}

const isAt = (path: string, pathname: string): boolean =>
  path.endsWith("/*") ? pathname.startsWith(path.slice(0, -1)) : pathname === path;
