// The web-standard way in, on which all HTTP ways are built: who is calling, which era, then the official entry.

import { createMcpHandler, readRequestBody, requireBearerAuth } from "@modelcontextprotocol/server";
import type {
  AuthInfo,
  BearerAuthOptions,
  McpHttpHandler,
  McpServer,
  ServerNotifier,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../errors.ts";
import type { Core } from "./core.ts";
import { textOf } from "./failure.ts";
import { principalOf } from "./principal.ts";
import type { PrincipalOf } from "./principal.ts";
import { LegacySessions } from "./sdk/legacy-sessions.ts";
import { TaskStreams } from "./sdk/task-listen-http.ts";
import { taskListenOf } from "./sdk/task-listen.ts";

export interface ServingOptions {
  readonly newServer: () => McpServer;
  readonly auth: BearerAuthOptions | undefined;
  readonly derivePrincipal: PrincipalOf | undefined;
  readonly core: Core;
  readonly sessions: { readonly most: number; readonly idleMs: number };
}

export interface Verified {
  readonly authInfo?: AuthInfo | undefined;
  readonly parsedBody?: unknown;
}

export class Serving {
  readonly #options: ServingOptions;
  readonly #modern: McpHttpHandler;
  readonly #sessions: LegacySessions;
  readonly #tasks: TaskStreams;
  readonly #gate: ((request: Request) => Promise<AuthInfo | Response>) | undefined;

  constructor(options: ServingOptions) {
    const { newServer, auth, core, sessions } = options;
    const { environment, logger } = core;
    this.#options = options;
    this.#modern = createMcpHandler(
      () => {
        try {
          return newServer();
        } catch (error) {
          // The entry answers 500 and says nothing.
          logger.error(`No server could be made for a request: ${textOf(error)}`);
          throw error;
        }
      },
      { onerror: (error) => logger.debug(`request refused: ${error.message}`) },
    );
    this.#tasks = new TaskStreams(core);
    this.#sessions = new LegacySessions(newServer, { ...sessions, ...environment });
    this.#gate = auth && requireBearerAuth(auth);
  }

  /** Tells subscribers, and open sessions of 2025-11-25, that lists or resources have changed. */
  readonly notify: ServerNotifier = {
    toolsChanged: () => {
      this.#modern.notify.toolsChanged();
      for (const server of this.#sessions.servers()) server.sendToolListChanged();
    },
    promptsChanged: () => {
      this.#modern.notify.promptsChanged();
      for (const server of this.#sessions.servers()) server.sendPromptListChanged();
    },
    resourcesChanged: () => {
      this.#modern.notify.resourcesChanged();
      for (const server of this.#sessions.servers()) server.sendResourceListChanged();
    },
    resourceUpdated: (uri) => {
      this.#modern.notify.resourceUpdated(uri);
      for (const { server } of this.#sessions.servers()) {
        // To a session that has gone, or does not offer subscriptions, there is nothing to tell.
        server.sendResourceUpdated({ uri }).catch(() => {});
      }
    },
  };

  /** Verifies the caller where `auth` was given. */
  async fetch(request: Request, parsedBody?: unknown): Promise<Response> {
    if (this.#gate === undefined) return this.handle(request, { parsedBody });
    const verified = await this.#gate(request);
    if (!(verified instanceof Response)) {
      return this.handle(request, { authInfo: verified, parsedBody });
    }
    if (verified.status >= 500) {
      this.#options.core.logger.error(
        "The caller could not be verified: the token verifier failed.",
      );
    }
    return verified;
  }

  /** The caller is verified, or there is nobody to verify. A legacy request with or for a session goes there. */
  async handle(request: Request, { authInfo, parsedBody }: Verified): Promise<Response> {
    let principal: string | undefined;
    try {
      principal = principalOf(authInfo, this.#options.derivePrincipal);
    } catch (error) {
      return this.#nobody(error);
    }
    const isOfASession =
      isLegacy(request) &&
      (this.#sessions.has(request) ||
        (request.method === "POST" && isInitialize(parsedBody ?? (await peek(request)))));
    if (isOfASession) return this.#sessions.handle(request, parsedBody, authInfo, principal);
    const listen = isListen(request)
      ? taskListenOf(parsedBody ?? (await peek(request)))
      : undefined;
    const served = await this.#modern.fetch(request, {
      ...(authInfo === undefined ? {} : { authInfo }),
      ...(parsedBody === undefined ? {} : { parsedBody }),
    });
    return listen === undefined
      ? served
      : this.#tasks.serve(listen, principal, served, request.signal);
  }

  async close(): Promise<void> {
    this.#tasks.close();
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
  }

  #nobody(error: unknown): Response {
    const code = error instanceof ParleyError ? error.code : "no_principal";
    this.#options.core.logger.error(textOf(error), { code });
    const body = { error: "invalid_token", error_description: "The token names no user." };
    return Response.json(body, { status: 403 });
  }
}

const isListen = (request: Request): boolean =>
  request.headers.get("mcp-method") === "subscriptions/listen";

/** Every request of 2026-07-28 names its method in a header; to it a session id means nothing. */
function isLegacy(request: Request): boolean {
  return !request.headers.has("mcp-method");
}

/** The body, if it is JSON of a decent size; what else it may be is for the official entry to refuse. */
async function peek(request: Request): Promise<unknown> {
  try {
    const body = await readRequestBody(request.clone());
    return body.tooLarge ? undefined : JSON.parse(body.text);
  } catch {
    return undefined;
  }
}

/** A client of 2025-11-25 begins so; without a session nothing could be asked of it later. */
function isInitialize(body: unknown): boolean {
  return (
    typeof body === "object" && body !== null && "method" in body && body.method === "initialize"
  );
}
