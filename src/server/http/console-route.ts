// The console below `/console/` of a listening app.

import type { IncomingMessage, ServerResponse } from "node:http";
import { ParleyError } from "../../errors.ts";
import { mountOf } from "./web-handler.ts";
import type { WebHandler } from "./web-handler.ts";

export const consolePath = "/console";

export const isInConsole = (pathname: string): boolean =>
  pathname === consolePath || pathname.startsWith(`${consolePath}/`);

/** Throws if other machines could reach a console that lets everyone in, or if it is not a console at all. */
export function checkConsole(console: WebHandler | undefined, isLocal: boolean): void {
  if (console === undefined) return;
  const mount = mountOf(console);
  if (mount === undefined) {
    throw new TypeError(
      "app.listen: console takes what operatorConsole(app, { authorize }) of mcp-parley/console returned.",
    );
  }
  if (isLocal || !mount.isForThisMachine) return;
  throw new ParleyError(
    "no_auth",
    "operatorConsole(app) without authorize is for this machine only, and other machines can reach this address. Pass { authorize }, or listen on 127.0.0.1.",
  );
}

/** Serves a request, without the prefix. The slash at the end of `/console/` matters, because the page's addresses are relative. */
export function serveConsole(
  console: WebHandler,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { url = "" } = req;
  const { pathname, search } = new URL(url, "http://localhost");
  if (pathname === consolePath) {
    res.writeHead(308, { location: `${consolePath}/${search}`, "cache-control": "no-store" });
    res.end();
    return Promise.resolve();
  }
  req.url = pathname.slice(consolePath.length) + search;
  return console.node(req, res);
}

/** Tells the console where it is, so that it can print its link. */
export function announceConsole(console: WebHandler | undefined, mcpUrl: string): void {
  if (console !== undefined) mountOf(console)?.isAt(new URL(`${consolePath}/`, mcpUrl).href);
}
