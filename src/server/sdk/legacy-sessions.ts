// A seam in the SDK: sessions for 2025-11-25 clients over HTTP. The SDK's own entry serves these clients statelessly, and
// a client without a session cannot be asked anything. A session lives in this process, so a load balancer must send all
// requests with the same `Mcp-Session-Id` here. 2026-07-28 needs none of this.
// The questions of a session are asked in legacy-rounds.ts.

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { AuthInfo, McpServer } from "@modelcontextprotocol/server";
import { sessionNotFound } from "../../protocol/error-codes.ts";

/** How many sessions there may be, for how long, and the environment they need. */
export interface SessionOptions {
  /** The most sessions at a time. One more ends the session that has been idle longest. */
  readonly most: number;
  /** How long a session lives without a request, in milliseconds. */
  readonly idleMs: number;
  readonly newId: () => string;
  readonly now: () => number;
  readonly eventually: (ms: number, callback: () => void) => () => void;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  /** The owner. For any other caller the session does not exist. */
  readonly principal: string | undefined;
  usedAt: number;
}

/** The open sessions of one app. */
export class LegacySessions {
  readonly #sessions = new Map<string, Session>();
  readonly #newServer: () => McpServer;
  readonly #options: SessionOptions;
  #callOffSweep: (() => void) | undefined;

  constructor(newServer: () => McpServer, options: SessionOptions) {
    this.#newServer = newServer;
    this.#options = options;
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
    const server = this.#newServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: this.#options.newId,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, { transport, server, principal, usedAt: this.#options.now() });
        this.#makeRoom();
        this.#sweepLater();
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    return transport.handleRequest(request, extra);
  }

  #makeRoom(): void {
    if (this.#sessions.size <= this.#options.most) return;
    const [oldest] = [...this.#sessions].toSorted(
      ([, one], [, other]) => one.usedAt - other.usedAt,
    );
    if (oldest !== undefined) this.#end(...oldest);
  }

  /** One timer serves all sessions. Without sessions there is no timer. */
  #sweepLater(): void {
    if (this.#sessions.size === 0) return;
    this.#callOffSweep ??= this.#options.eventually(this.#options.idleMs, () => {
      this.#callOffSweep = undefined;
      const deadline = this.#options.now() - this.#options.idleMs;
      for (const [id, session] of this.#sessions) {
        if (session.usedAt <= deadline) this.#end(id, session);
      }
      this.#sweepLater();
    });
  }

  #end(id: string, { server }: Session): void {
    this.#sessions.delete(id);
    // Closing can fail only for streams that are closed already.
    server.close().catch(() => {});
  }
}

/** The same response as for an id that never existed. */
function notFound(): Response {
  const error = { code: sessionNotFound, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
