// HTTP from this process: `node:http`, Origin and Host checked, a place to ask whether it is alive.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { textOf } from "../round/failure.ts";
import type { Health } from "../ops/health.ts";
import type { Logger } from "../ops/logger.ts";
import { closeWithConnection } from "./pipelined.ts";
import type { Serving } from "./web.ts";
import { UnderWay } from "./under-way.ts";

export interface ListenOptions {
  /** Default: the loopback address. */
  readonly host?: string | undefined;
  /** Default: /mcp */
  readonly path?: string | undefined;
  /** Host names under which it may be called, besides those of the loopback address. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Host names of pages that may call it. Default: those of `allowedHosts`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** False: this process serves, and leaves running tasks to others. */
  readonly worker?: boolean | undefined;
  /** False: every request goes through the official SDK, also those that could be served without it. */
  readonly fast?: boolean | undefined;
}

export interface Listening {
  readonly url: string;
  /** Takes no new request, waits for those under way (10 s), then ends. */
  readonly close: () => Promise<void>;
}

/** A listening server as the app sees it, which may have others. */
export interface Listener {
  readonly url: string;
  /** Takes no new request and waits for those under way (10 s); streams that stay open are not waited for. */
  readonly drain: () => Promise<void>;
  /** Drains, has the streams that stay open ended, or cuts them, and ends. */
  readonly close: (endStreams?: () => Promise<void>) => Promise<void>;
}

export type NodeRequest = IncomingMessage & { auth?: AuthInfo; body?: unknown };

export type NodeHandler = (req: NodeRequest, res: ServerResponse) => Promise<void>;

/** Through the SDK. Uses `req.auth` and `req.body` where middleware has set them. */
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

export const isLoopback = (host: string): boolean =>
  ["127.0.0.1", "::1", "localhost"].includes(host);

export async function listen(
  handle: NodeHandler,
  logger: Logger,
  port: number,
  options: ListenOptions,
  health: () => Promise<Health>,
): Promise<Listener> {
  const { host = "127.0.0.1", path = "/mcp" } = options;
  const hosts = [...localhostAllowedHostnames(), ...(options.allowedHosts ?? [])];
  const isAllowed = allowed(hosts, options.allowedOrigins ?? hosts);
  // What was kept alive for a next request would otherwise keep a closing server for seconds.
  const closeIdle = () => {
    if (!server.listening) setImmediate(() => server.closeIdleConnections());
  };
  const underWay = new UnderWay(closeIdle);
  const readiness = readinessOf(health);
  const server = createServer((req, res) => {
    fresh.delete(req.socket);
    closeWithConnection(res, req.socket);
    if (staysOpen(req)) res.on("close", closeIdle);
    else underWay.add(res);
    const pathname = req.url === path ? path : pathOf(req);
    if (pathname === "/healthz") return void res.writeHead(200).end("ok\n");
    if (pathname === "/readyz") return void readiness(res);
    if (pathname !== path) return void res.writeHead(404).end(`Not found. MCP is at ${path}\n`);
    if (!isAllowed(req, res)) return undefined;
    handle(req, res).catch((error: unknown) => {
      logger.error(`The request could not be served: ${textOf(error)}`);
      if (!res.headersSent) res.writeHead(500);
      res.end();
    });
    return undefined;
  });
  const fresh = new Set<Socket>();
  server.on("connection", (socket) => {
    fresh.add(socket);
    socket.once("close", () => fresh.delete(socket));
  });
  await listening(server, port, host);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}${path}`;
  logger.info(`listening on ${url}`);
  return { url, ...closing(server, underWay, fresh) };
}

/** Whether Host and Origin are good. Where they are not, it has answered. */
function allowed(
  hosts: readonly string[],
  origins: readonly string[],
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const isHostAllowed = hostHeaderValidation([...hosts]);
  const isOriginAllowed = originValidation([...origins]);
  // One after the other has the same, and reading it as a URL takes as long as all other checks.
  let good: string | undefined;
  return (req, res) => {
    const { host } = req.headers;
    if (host !== good || host === undefined) {
      if (!isHostAllowed(req, res)) return false;
      good = host;
    }
    return isOriginAllowed(req, res);
  };
}

/** What is wrong is for the log: anybody may ask here. And as often as they like, so the store is asked now and then. */
function readinessOf(health: () => Promise<Health>): (res: ServerResponse) => Promise<void> {
  let known: { readonly at: number; readonly health: Promise<Health> } | undefined;
  return async (res) => {
    if (known === undefined || performance.now() - known.at > readinessMs) {
      known = { at: performance.now(), health: health() };
    }
    const { ready } = await known.health;
    res.writeHead(ready ? 200 : 503).end(ready ? "ready\n" : "not ready\n");
  };
}

const readinessMs = 2_000;

/** Subscriptions of 2026-07-28 and the streams of sessions: they end with the app, not by themselves. */
const staysOpen = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" || headers["mcp-method"] === "subscriptions/listen";

function listening(server: Server, port: number, host: string): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return Promise.reject(
      new TypeError(
        `${port} is no port: app.listen takes a number from 0 (any that is free) to 65535.`,
      ),
    );
  }
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

/** A request line can hold what is no URL ("//"), and anybody can send one. */
function pathOf({ url = "/" }: IncomingMessage): string | undefined {
  const base = "http://localhost";
  return URL.canParse(url, base) ? new URL(url, base).pathname : undefined;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const patienceMs = 10_000;

function closing(
  server: Server,
  underWay: UnderWay,
  fresh: ReadonlySet<Socket>,
): Pick<Listener, "drain" | "close"> {
  let ended: Promise<void> | undefined;
  const drain = async () => {
    ended ??= new Promise((resolve) => {
      const impatience = setTimeout(() => server.closeAllConnections(), patienceMs);
      server.close(() => {
        clearTimeout(impatience);
        resolve();
      });
      // Opened ahead by a client, and nothing asked on it: Node counts it among the busy ones and would wait for it.
      for (const socket of fresh) socket.destroy();
    });
    await underWay.over();
  };
  return {
    drain,
    close: async (endStreams = async () => server.closeAllConnections()) => {
      await drain();
      await endStreams();
      server.closeIdleConnections();
      await ended;
    },
  };
}
