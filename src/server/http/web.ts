// The web-standard way in, on which all HTTP ways are built: who is calling, which era, then the official entry.

import {
  bearerAuthChallengeResponse,
  createMcpHandler,
  readRequestBody,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import type {
  AuthInfo,
  BearerAuthOptions,
  McpHttpHandler,
  McpServer,
  ServerNotifier,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { DraftDialect, DraftTasks } from "../../protocol/drafts.ts";
import type { Core } from "../core.ts";
import { textOf } from "../round/failure.ts";
import type { Logger } from "../ops/logger.ts";
import { principalOf } from "../round/principal.ts";
import type { PrincipalOf } from "../round/principal.ts";
import type { RoundResponse } from "../round/request.ts";
import { servedBefore } from "../sdk/served.ts";
import { LegacySessions } from "../sdk/legacy-sessions.ts";
import { TaskStreams } from "../sdk/task-subscriptions/over-http.ts";
import { taskListenOf } from "../sdk/task-subscriptions/subscriptions.ts";

export interface ServingOptions {
  readonly newServer: () => McpServer;
  /** Serves a draft of the protocol as well. */
  readonly drafts?: ServedDraft | undefined;
  readonly auth: BearerAuthOptions | undefined;
  readonly derivePrincipal: PrincipalOf | undefined;
  readonly core: Core;
  readonly sessions: { readonly most: number; readonly idleMs: number };
}

interface ServedDraft {
  readonly dialect: DraftDialect;
  readonly newServer: () => McpServer;
  readonly tasks: DraftTasks;
}

export interface Verified {
  readonly authInfo?: AuthInfo | undefined;
  readonly parsedBody?: unknown;
}

export interface Caller {
  readonly authInfo: AuthInfo | undefined;
  readonly principal: string | undefined;
}

const anybody: Caller = { authInfo: undefined, principal: undefined };

export class Serving {
  readonly #options: ServingOptions;
  readonly #modern: McpHttpHandler;
  readonly #draft: McpHttpHandler | undefined;
  readonly #sessions: LegacySessions;
  readonly #tasks: TaskStreams;

  constructor(options: ServingOptions) {
    const { newServer, drafts, core, sessions } = options;
    const { environment, logger } = core;
    this.#options = options;
    this.#modern = entryFor(newServer, logger);
    this.#draft = drafts && entryFor(drafts.newServer, logger);
    this.#tasks = new TaskStreams(core);
    this.#sessions = new LegacySessions(newServer, { ...sessions, ...environment });
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
    const authInfo = await this.#verified(request.headers.get("authorization"));
    return authInfo instanceof Response ? authInfo : this.handle(request, { authInfo, parsedBody });
  }

  /** Who is calling: as it was verified before, or is now. A refusal, if that is nobody. */
  caller(
    authorization: string | undefined,
    verified: AuthInfo | undefined,
  ): Caller | Response | Promise<Caller | Response> {
    if (verified !== undefined) return this.#callerOf(verified);
    if (this.#options.auth === undefined) return anybody;
    return this.#verified(authorization).then((authInfo) =>
      authInfo instanceof Response ? authInfo : this.#callerOf(authInfo),
    );
  }

  /** The caller is verified, or there is nobody to verify. A legacy request with or for a session goes there. */
  async handle(request: Request, { authInfo, parsedBody }: Verified): Promise<Response> {
    const caller = this.#callerOf(authInfo);
    if (caller instanceof Response) return caller;
    const { principal } = caller;
    const draft = await this.#inDraft(request, authInfo, parsedBody);
    if (draft !== undefined) return draft;
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

  /** Undefined: it is none of the draft's. */
  async #inDraft(
    request: Request,
    authInfo: AuthInfo | undefined,
    parsedBody: unknown,
  ): Promise<Response | undefined> {
    const { drafts } = this.#options;
    const entry = this.#draft;
    if (drafts === undefined || entry === undefined) return undefined;
    const body = parsedBody ?? (await peek(request));
    if (!drafts.dialect.isRequest(request, body)) return undefined;
    const serve = (final: Request, message: unknown) =>
      entry.fetch(final, { ...(authInfo && { authInfo }), parsedBody: message });
    return drafts.dialect.serveHttp(request, body, serve, drafts.tasks);
  }

  /** The response to a request whose round has been served already. */
  finish(request: Request, verified: Verified, answer: RoundResponse): Promise<Response> {
    servedBefore.set(request, answer);
    return this.handle(request, verified);
  }

  async close(): Promise<void> {
    this.#tasks.close();
    await Promise.all([this.#modern.close(), this.#draft?.close(), this.#sessions.close()]);
  }

  /** As the SDK's `requireBearerAuth`, which wants a whole request. */
  async #verified(
    authorization: string | null | undefined,
  ): Promise<AuthInfo | undefined | Response> {
    const { auth, core } = this.#options;
    if (auth === undefined) return undefined;
    const [first = ""] = (authorization ?? "").split(",");
    try {
      return await verifyBearerToken(first === "" ? undefined : first, auth);
    } catch (error) {
      const refusal = bearerAuthChallengeResponse(error, auth);
      if (refusal.status >= 500) {
        core.logger.error("The caller could not be verified: the token verifier failed.");
      }
      return refusal;
    }
  }

  #callerOf(authInfo: AuthInfo | undefined): Caller | Response {
    if (authInfo === undefined) return anybody;
    try {
      return { authInfo, principal: principalOf(authInfo, this.#options.derivePrincipal) };
    } catch (error) {
      return this.#nobody(error);
    }
  }

  #nobody(error: unknown): Response {
    const code = error instanceof ParleyError ? error.code : "no_principal";
    this.#options.core.logger.error(textOf(error), { code });
    const body = { error: "invalid_token", error_description: "The token names no user." };
    return Response.json(body, { status: 403 });
  }
}

function entryFor(newServer: () => McpServer, logger: Logger): McpHttpHandler {
  return createMcpHandler(
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
