// HTTP from this process: `node:http`, Origin and Host checked, a place to ask whether it is alive.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Logger } from "./logger.ts";
import type { Serving } from "./serving.ts";

export interface ListenOptions {
  /** Default: the loopback address. */
  readonly host?: string | undefined;
  /** Default: /mcp */
  readonly path?: string | undefined;
  /** Host names under which it may be called, besides those of the loopback address. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Host names of pages that may call it. Default: those of `allowedHosts`. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

export interface Listening {
  readonly url: string;
  /** Takes no new request, waits for those under way (10 s), then ends. */
  readonly close: () => Promise<void>;
}

export type NodeRequest = IncomingMessage & { auth?: AuthInfo; body?: unknown };

/** For Express, Fastify and node:http. Uses `req.auth` and `req.body` where middleware has set them. */
export function nodeHandler(
  serving: Serving,
): (req: NodeRequest, res: ServerResponse) => Promise<void> {
  const handle = toNodeHandler({
    fetch: (request, options = {}) =>
      options.authInfo === undefined
        ? serving.fetch(request, options.parsedBody)
        : serving.handle(request, options),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs in how optional members are typed
  return (req, res) => handle(req as Parameters<typeof handle>[0], res, req.body);
}

export const isLoopback = (host: string): boolean =>
  ["127.0.0.1", "::1", "localhost"].includes(host);

export async function listen(
  serving: Serving,
  logger: Logger,
  port: number,
  options: ListenOptions,
): Promise<Listening> {
  const { host = "127.0.0.1", path = "/mcp" } = options;
  const hosts = [...localhostAllowedHostnames(), ...(options.allowedHosts ?? [])];
  const isHostAllowed = hostHeaderValidation(hosts);
  const isOriginAllowed = originValidation([...(options.allowedOrigins ?? hosts)]);
  const handle = nodeHandler(serving);
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? "/", "http://localhost");
    if (pathname === "/healthz") return void res.writeHead(200).end("ok\n");
    if (pathname !== path) return void res.writeHead(404).end(`Not found. MCP is at ${path}\n`);
    // Each has answered by itself where it says no.
    if (!isHostAllowed(req, res) || !isOriginAllowed(req, res)) return undefined;
    handle(req, res).catch((error: unknown) => {
      logger.error(`The request could not be served: ${String(error)}`);
      if (!res.headersSent) res.writeHead(500);
      res.end();
    });
    return undefined;
  });
  await listening(server, port, host);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}${path}`;
  logger.info(`listening on ${url}`);
  return { url, close: () => closed(server, serving) };
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new Error(`Port ${port} is taken. Pass another one, or 0 for any that is free.`, {
              cause: error,
            })
          : error,
      ),
    );
    server.listen(port, host, resolve);
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const patienceMs = 10_000;

async function closed(server: Server, serving: Serving): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const impatience = setTimeout(() => server.closeAllConnections(), patienceMs);
  // Streams that stay open by their nature, subscriptions and sessions, would keep it waiting for nothing.
  await Promise.race([ended, serving.idle()]);
  await serving.close();
  server.closeIdleConnections();
  await ended;
  clearTimeout(impatience);
}
