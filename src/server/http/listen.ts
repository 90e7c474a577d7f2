// The HTTP server of this process, on `node:http`: it checks Host and Origin, reports health, and closes gracefully.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hostHeaderValidation, originValidation } from "./node-adapter.ts";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { errorText } from "../../util/error-text.ts";
import type { readinessOf } from "../ops/health.ts";
import type { Logger } from "../ops/logger.ts";
import { skipCrumbs } from "./crumbled-bodies.ts";
import { directRequests } from "./direct-body.ts";
import { PendingResponses } from "./in-flight.ts";
import type { NodeHandler } from "./node.ts";
import { closeWithConnection } from "./pipelined.ts";
import type { metadataHandler } from "./resource-metadata.ts";
import type { Routes, Site } from "./routes.ts";
import { forgetBody } from "./turn-away.ts";
import type { WebHandler } from "./web-handler.ts";

/** Options of `app.listen`. */
export interface ListenOptions {
  /** The address to listen on. Default: the loopback address, `127.0.0.1`. */
  readonly host?: string | undefined;
  /** The path that MCP is served at. Default: `/mcp`. */
  readonly path?: string | undefined;
  /** Host names that clients may use, besides those of the loopback address. Default: none. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Host names of web pages that may call the server. Default: the loopback names and `allowedHosts`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether this process also runs tasks. With `false` it only serves requests. Default: `true`. */
  readonly worker?: boolean | undefined;
  /**
   * Routes of your own, by path. `"/files/*"` takes everything below. Host and Origin are checked as for MCP. Default: none.
   */
  readonly routes?: Routes | undefined;
  /** The console, which `operatorConsole` of `mcp-parley/console` makes. It is served at `/console/`. Default: none. */
  readonly console?: WebHandler | undefined;
  /** Whether to serve common requests without the official SDK. With `false` all go through it. Default: `true`. */
  readonly fast?: boolean | undefined;
}

/** A server that `app.listen` has started. */
export interface Listening {
  /** The full URL for clients, with the port and the path. */
  readonly url: string;
  /** Accepts no new requests, waits up to 10 seconds for those in flight, then closes. */
  readonly close: () => Promise<void>;
}

/** A listening server as the app sees it. An app may have several. */
export interface Listener {
  /** The full URL for clients, with the port and the path. */
  readonly url: string;
  /** Accepts no new requests and waits up to 10 seconds for those in flight. Does not wait for long-lived streams. */
  readonly drain: () => Promise<void>;
  /** Drains, ends or cuts the long-lived streams, and closes. */
  readonly close: (endStreams?: () => Promise<void>) => Promise<void>;
}

/** Whether only this machine can reach an address. */
export const isLoopback = (host: string): boolean =>
  ["127.0.0.1", "::1", "localhost"].includes(host);

/** Warns that anyone can call. It does so once, however many addresses the app listens on. */
export function strangerWarning(
  warn: (message: string) => void,
  hasHandles: () => boolean,
): (host: string) => void {
  let isGiven = false;
  return (host) => {
    if (isGiven) return;
    isGiven = true;
    warn(
      `app.listen on ${host} without auth: anyone who can reach this address can call every tool, and all of them count as one caller. Pass parley({ auth, principal }), or let something in front of the app verify callers.${hasHandles() ? bearerHandles : ""}`,
    );
  };
}

const bearerHandles =
  " Whoever has the handle of a paused call can continue it, because it belongs to no caller.";

/** Starts an HTTP server. */
export async function listen(
  handle: NodeHandler,
  logger: Logger,
  port: number,
  options: ListenOptions,
  readiness: Readiness,
  metadata?: ReturnType<typeof metadataHandler>,
  site?: { readonly at: Site; readonly hosts: readonly string[] },
): Promise<Listener> {
  const { host = "127.0.0.1", path = "/mcp" } = options;
  const hosts = [
    ...localhostAllowedHostnames(),
    ...(options.allowedHosts ?? []),
    ...(site?.hosts ?? []),
  ];
  const isAllowed = allowed(hosts, options.allowedOrigins ?? hosts);
  // Otherwise idle keep-alive connections would hold up a closing server for seconds.
  const closeIdle = () => {
    if (!server.listening) setImmediate(() => server.closeIdleConnections());
  };
  const pending = new PendingResponses(closeIdle);
  const sendReadiness = sentReadiness(readiness);
  const publishes = metadata?.(() => url);
  const { createServer, IncomingMessage: Request } = process.getBuiltinModule("node:http");
  const server = createServer(
    {
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      IncomingMessage: directRequests(Request),
    },
    (req, res) => {
      fresh.delete(req.socket);
      skipCrumbs(req);
      closeWithConnection(res, req.socket);
      if (staysOpen(req)) res.on("close", closeIdle);
      else pending.add(res);
      const pathname = req.url === path ? path : pathOf(req);
      if (pathname !== path) {
        const isHealth = pathname === "/healthz" || pathname === "/readyz";
        const serve = isHealth || pathname === undefined ? undefined : site?.at(pathname);
        if (serve !== undefined) {
          return isAllowed(req, res) ? serve(req, res) : forgetBody(req);
        }
        forgetBody(req);
        if (pathname === "/healthz") return void res.writeHead(200).end("ok\n");
        if (pathname === "/readyz") return void sendReadiness(res);
        if (publishes?.(pathname, req, res) === true) return undefined;
        return void res.writeHead(404).end(`Not found. MCP is at ${path}\n`);
      }
      if (!isAllowed(req, res)) return forgetBody(req);
      handle(req, res).catch((error: unknown) => {
        logger.error(`The request could not be served: ${errorText(error)}`);
        if (!res.headersSent) res.writeHead(500);
        res.end();
      });
      return undefined;
    },
  );
  const fresh = new Set<Socket>();
  server.on("connection", (socket) => {
    fresh.add(socket);
    socket.once("close", () => fresh.delete(socket));
  });
  await listening(server, port, host);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}${path}`;
  logger.info(`listening on ${url}`);
  return { url, ...closing(server, pending, fresh) };
}

/** Checks Host and Origin. Where one is not allowed, it sends the response and returns false. */
function allowed(
  hosts: readonly string[],
  origins: readonly string[],
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const isHostAllowed = hostHeaderValidation([...hosts]);
  const isOriginAllowed = originValidation([...origins]);
  // Most requests have the same host, and parsing it as a URL takes as long as all other checks together.
  let lastAllowedHost: string | undefined;
  return (req, res) => {
    const { host } = req.headers;
    if (host !== lastAllowedHost || host === undefined) {
      if (!isHostAllowed(req, res)) return false;
      lastAllowedHost = host;
    }
    return isOriginAllowed(req, res);
  };
}

type Readiness = () => ReturnType<typeof readinessOf>;

/**
 * Anyone can request this, so the response names what is missing without any details, and the store is asked at most every
 * two seconds.
 */
function sentReadiness(readiness: Readiness): (res: ServerResponse) => Promise<void> {
  let known: { readonly at: number; readonly readiness: ReturnType<Readiness> } | undefined;
  return async (res) => {
    if (known === undefined || performance.now() - known.at > readinessMs) {
      known = { at: performance.now(), readiness: readiness() };
    }
    const { obstacles } = await known.readiness;
    if (obstacles.length === 0) res.writeHead(200).end("ready\n");
    else res.writeHead(503).end(`not ready: ${obstacles.join(", and ")}\n`);
  };
}

const readinessMs = 2_000;

/** How long a request may take to arrive whole. Node checks it every half minute. */
const requestMs = 120_000;

/**
 * How long an idle connection is kept. Common load balancers keep theirs for 60 seconds. If the server closed first, a request
 * that is already on its way would be lost.
 */
const idleMs = 75_000;

/** Subscriptions of 2026-07-28 and the streams of sessions end with the app, not by themselves. */
const staysOpen = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" || headers["mcp-method"] === "subscriptions/listen";

function listening(server: Server, port: number, host: string): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return Promise.reject(
      new TypeError(
        `${port} is not a valid port: app.listen takes a number from 0 (any free port) to 65535.`,
      ),
    );
  }
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new Error(`Port ${port} is taken. Pass another port, or 0 for any free port.`, {
              cause: error,
            })
          : error,
      ),
    );
    server.listen(port, host, resolve);
  });
}

/** Undefined for a request line that is not a URL, such as "//". Any client can send one. */
function pathOf({ url = "/" }: IncomingMessage): string | undefined {
  const base = "http://localhost";
  return URL.canParse(url, base) ? new URL(url, base).pathname : undefined;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** How long a closing server waits for requests in flight. */
const patienceMs = 10_000;

function closing(
  server: Server,
  pending: PendingResponses,
  fresh: ReadonlySet<Socket>,
): Pick<Listener, "drain" | "close"> {
  let ended: Promise<void> | undefined;
  const drain = async () => {
    ended ??= new Promise((resolve) => {
      const cutOff = setTimeout(() => server.closeAllConnections(), patienceMs);
      server.close(() => {
        clearTimeout(cutOff);
        resolve();
      });
      // A client may open a connection ahead of its first request. Node counts it as busy and would wait for it.
      for (const socket of fresh) socket.destroy();
    });
    await pending.none();
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
