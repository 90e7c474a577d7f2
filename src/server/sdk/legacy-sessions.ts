// A seam in the SDK: sessions for 2025-11-25 clients over HTTP. The SDK's own entry serves these clients statelessly, and
// a client without a session cannot be asked anything. A session lives in this process, so a load balancer must send all
// requests with the same `Mcp-Session-Id` here. 2026-07-28 needs none of this.
// The questions of a session are asked in legacy-rounds.ts.

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { AuthInfo, McpServer, RequestId, Transport } from "@modelcontextprotocol/server";
import { internalError, sessionNotFound } from "../../protocol/error-codes.ts";
import { refusedRequest } from "../../protocol/rpc.ts";
import { own } from "../../util/objects.ts";

/** How many sessions there may be, for how long, and the environment they need. */
export interface SessionOptions {
  /** The most sessions at a time. One more ends an idle one, or is refused. Default: 1,000. */
  readonly most?: number;
  /** The most sessions of one caller. Anonymous callers cannot be told apart, so this limit does not apply to them. */
  readonly mostOfOne: number;
  /** How long a session lives without a request, in milliseconds. Default: half an hour. */
  readonly idleMs?: number;
  readonly newId: () => string;
  readonly now: () => number;
  readonly eventually: (ms: number, callback: () => void) => () => void;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  /** The owner. For any other caller the session does not exist. */
  readonly principal: string | undefined;
  /** The requests of the client that have no response yet. */
  readonly underWay: ReadonlySet<RequestId>;
  usedAt: number;
}

/** The open sessions of one app. */
export class LegacySessions {
  readonly #sessions = new Map<string, Session>();
  readonly #newServer: () => McpServer;
  readonly #options: Required<SessionOptions>;
  #callOffSweep: (() => void) | undefined;

  constructor(newServer: () => McpServer, options: SessionOptions) {
    this.#newServer = newServer;
    this.#options = { most: 1_000, idleMs: 30 * 60_000, ...options };
  }

  /** Whether a request names a session. */
  has(request: Request): boolean {
    return request.headers.has("mcp-session-id");
  }

  /** Serves a request in its session, or opens one for it. */
  async handle(
    request: Request,
    parsedBody: unknown,
    authInfo: AuthInfo | undefined,
    principal: string | undefined,
  ): Promise<Response> {
    const extra = {
      ...(parsedBody === undefined ? {} : { parsedBody }),
      ...(authInfo === undefined ? {} : { authInfo }),
    };
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#open(request, extra, principal);
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal !== principal) return notFound();
    session.usedAt = this.#options.now();
    return session.transport.handleRequest(request, extra);
  }

  /** The servers behind the open sessions. */
  servers(): McpServer[] {
    return [...this.#sessions.values()].map(({ server }) => server);
  }

  /** Ends every session. */
  async close(): Promise<void> {
    this.#callOffSweep?.();
    this.#callOffSweep = undefined;
    const open = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(open.map(({ server }) => server.close()));
  }

  async #open(
    request: Request,
    extra: { readonly parsedBody?: unknown; readonly authInfo?: AuthInfo },
    principal: string | undefined,
  ): Promise<Response> {
    const room = this.#roomFor(principal);
    if (room instanceof Response) return room;
    const { now, newId } = this.#options;
    const server = this.#newServer();
    const underWay = new Set<RequestId>();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => asUuid(newId()),
      onsessioninitialized: (id) => {
        // Only now, because a request that the SDK refuses must not end anything.
        const making = this.#roomFor(principal);
        if (typeof making === "string") this.#end(making);
        this.#sessions.set(id, { transport, server, principal, underWay, usedAt: now() });
        this.#sweepLater();
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    noteAnswered(transport, (id) => {
      underWay.delete(id);
      const session = this.#sessions.get(transport.sessionId ?? "");
      if (session !== undefined) session.usedAt = now();
    });
    await server.connect(transport);
    noteAsked(transport, underWay);
    return transport.handleRequest(request, extra);
  }

  /**
   * The session that has to end so that this caller can open another: an idle session of this caller, or else of the
   * caller who has the most. Undefined if there is room. A refusal if every such session has a request under way.
   */
  #roomFor(principal: string | undefined): string | Response | undefined {
    const { most, mostOfOne } = this.#options;
    const owned = this.#owned(principal);
    if (principal !== undefined && owned.length >= mostOfOne) {
      return idlest(owned) ?? refusal(429, tooManyOfOne(owned.length));
    }
    if (this.#sessions.size < most) return undefined;
    return idlest(owned) ?? this.#idlestOfMost() ?? refusal(503, tooMany(most));
  }

  #owned(principal: string | undefined): Entry[] {
    return [...this.#sessions].filter(([, session]) => session.principal === principal);
  }

  #idlestOfMost(): string | undefined {
    const byOwner = new Map<string | undefined, Entry[]>();
    for (const entry of this.#sessions) {
      const [, { principal }] = entry;
      const others = byOwner.get(principal);
      if (others === undefined) byOwner.set(principal, [entry]);
      else others.push(entry);
    }
    return [...byOwner.values()]
      .toSorted((one, other) => other.length - one.length)
      .map(idlest)
      .find((id) => id !== undefined);
  }

  /** One timer serves all sessions. Without sessions there is no timer. */
  #sweepLater(): void {
    if (this.#sessions.size === 0) return;
    this.#callOffSweep ??= this.#options.eventually(this.#options.idleMs, () => {
      this.#callOffSweep = undefined;
      const deadline = this.#options.now() - this.#options.idleMs;
      for (const [id, session] of this.#sessions) {
        if (session.usedAt <= deadline && isIdle(session)) this.#end(id);
      }
      this.#sweepLater();
    });
  }

  #end(id: string): void {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    // Closing can fail only for streams that are closed already.
    session?.server.close().catch(() => {});
  }
}

type Entry = readonly [string, Session];

const isIdle = ({ underWay }: Session): boolean => underWay.size === 0;

/** The session that has been idle longest. */
function idlest(sessions: readonly Entry[]): string | undefined {
  const [oldest] = sessions
    .filter(([, session]) => isIdle(session))
    .toSorted(([, one], [, other]) => one.usedAt - other.usedAt);
  return oldest?.[0];
}

/** Notes requests as they come in. A client that cancels one gets no response. Call it after the server has connected. */
function noteAsked(transport: Transport, underWay: Set<RequestId>): void {
  const { onmessage } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
  transport.onmessage = (message, extra) => {
    if ("method" in message && "id" in message) underWay.add(message.id);
    if ("method" in message && message.method === "notifications/cancelled") {
      const id = own(message.params, "requestId");
      if (typeof id === "string" || typeof id === "number") underWay.delete(id);
    }
    onmessage?.call(transport, message, extra);
  };
}

/** Notes responses as they go out. Call it before the server connects. */
function noteAnswered(transport: Transport, answered: (id: RequestId) => void): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message) && message.id !== undefined) answered(message.id);
    return send(message, options);
  };
}

const tooMany = (most: number) =>
  `This server has no room for another session: all ${most} have a request under way. Try again later.`;

const tooManyOfOne = (count: number) =>
  `This caller already has ${count} sessions, the most it may have at a time, and each has a request under way. End one with DELETE and its Mcp-Session-Id, or try again later.`;

const refusal = (status: number, message: string): Response =>
  refusedRequest(status, { code: internalError, message });

/** The same response as for an id that never existed. */
const notFound = (): Response =>
  refusedRequest(404, { code: sessionNotFound, message: "Session not found" });

/** Some clients read the id of a session as a UUID, and send it back as one is written. */
const asUuid = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
