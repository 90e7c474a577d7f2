// Sessions for 2025-11-25 clients over HTTP. The official entry serves them without one, and without one nothing
// can be asked. A session lives in this process: requests of one must come back to it (affinity on
// `Mcp-Session-Id`). 2026-07-28 needs none of this.

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { AuthInfo, McpServer } from "@modelcontextprotocol/server";

export interface SessionOptions {
  /** Beyond this many, the one that has been idle longest ends. */
  readonly most: number;
  readonly idleMs: number;
  readonly newId: () => string;
  readonly now: () => number;
  readonly eventually: (ms: number, callback: () => void) => () => void;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  /** Whose it is: another caller's requests are answered as if there were no such session. */
  readonly principal: string | undefined;
  usedAt: number;
}

export class LegacySessions {
  readonly #sessions = new Map<string, Session>();
  readonly #newServer: () => McpServer;
  readonly #options: SessionOptions;
  #callOffSweep: (() => void) | undefined;

  constructor(newServer: () => McpServer, options: SessionOptions) {
    this.#newServer = newServer;
    this.#options = options;
  }

  has(request: Request): boolean {
    return request.headers.has("mcp-session-id");
  }

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
    if (session === undefined || session.principal !== principal) return gone();
    session.usedAt = this.#options.now();
    return session.transport.handleRequest(request, extra);
  }

  /** The servers behind the open sessions. */
  servers(): McpServer[] {
    return [...this.#sessions.values()].map(({ server }) => server);
  }

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

  /** One timer for all of them, and none when there are none. */
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
    // What is left of it is closed streams; there is nobody to tell.
    server.close().catch(() => {});
  }
}

/** As for an id that never was. */
function gone(): Response {
  const error = { code: -32001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
