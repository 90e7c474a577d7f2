// The web-standard entry: it verifies the caller, finds the protocol version, and hands the request to the official
// SDK. It does not check Host and Origin: that is the job of listen.ts, or of the host that calls `app.fetch`.

import {
  bearerAuthChallengeResponse,
  createMcpHandler,
  isJsonContentType,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import type {
  AuthInfo,
  McpHttpHandler,
  McpRequestContext,
  McpServer,
  ServerNotifier,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { DraftDialect, DraftTasks } from "../../protocol/draft-plug-in.ts";
import type { Core } from "../core.ts";
import { parseError, serverError } from "../../protocol/error-codes.ts";
import { draftStreamTokenIn, streamTokenIn } from "../../protocol/streaming.ts";
import { refusedRequest } from "../../protocol/rpc.ts";
import { modernVersion } from "../../protocol/versions.ts";
import { errorText } from "../../util/error-text.ts";
import { own } from "../../util/objects.ts";
import type { Logger } from "../ops/logger.ts";
import { principalOf } from "../round/principal.ts";
import type { PrincipalOf } from "../round/principal.ts";
import type { RoundResponse } from "../round/request.ts";
import { LegacySessions } from "../sdk/legacy-sessions.ts";
import { UnreadBytes } from "../sdk/unread-bytes.ts";
import type { AuthConfig } from "./resource-metadata.ts";
import { withTaskName } from "./task-name.ts";
import { RequestBodies } from "./request-body.ts";
import type { Body } from "./request-body.ts";
import { TaskStreams } from "../sdk/task-subscriptions/over-http.ts";
import { listenOf } from "../sdk/task-subscriptions/subscriptions.ts";

/** What serving needs from its app. */
export interface ServingOptions {
  /** Makes an official server. `served` is the response to its request, if the round has been served already. */
  readonly newServer: (served?: RoundResponse) => McpServer;
  /** Serves a draft of the protocol as well. */
  readonly drafts?: ServedDraft | undefined;
  readonly auth: AuthConfig | undefined;
  readonly derivePrincipal: PrincipalOf | undefined;
  readonly lenientTaskRouting: boolean | undefined;
  readonly core: Core;
}

interface ServedDraft {
  readonly dialect: DraftDialect;
  readonly newServer: () => McpServer;
  readonly tasks: DraftTasks;
}

/** What your host has already found out about a request. */
export interface Verified {
  /** The verified caller, from your own check of its credentials. Default: anonymous. */
  readonly authInfo?: AuthInfo | undefined;
  /** The parsed JSON body, if your host has read it. Default: read from the request. */
  readonly parsedBody?: unknown;
  /** Keeps the instance alive after the response, for what `app.fetch(request, { waitUntil })` does. */
  readonly waitUntil?: ((promise: Promise<unknown>) => unknown) | undefined;
}

/** The sender of a request. */
export interface Caller {
  readonly authInfo: AuthInfo | undefined;
  /** The user, derived from `authInfo`. Undefined for an anonymous caller. */
  readonly principal: string | undefined;
}

const anonymous: Caller = { authInfo: undefined, principal: undefined };

/** Serves web-standard requests, and tells clients about changes. */
export class Serving {
  /**
   * Responses of rounds that the fast entry has served and the SDK is to finish. The SDK passes none of our values from
   * its `fetch` to the server that it makes for a request, but it does pass the request, so the request is the key.
   */
  readonly #served = new WeakMap<Request, RoundResponse>();
  readonly #options: ServingOptions;
  readonly #modern: McpHttpHandler;
  readonly #draft: McpHttpHandler | undefined;
  readonly #sessions: LegacySessions;
  readonly #tasks: TaskStreams;
  /** Reads the bodies of this app's requests. */
  readonly bodies: RequestBodies;

  constructor(options: ServingOptions) {
    const { newServer, drafts, core } = options;
    const { environment, logger, limits } = core;
    this.#options = options;
    this.bodies = new RequestBodies(limits.requestBytes);
    this.#modern = entryFor(
      ({ requestInfo }) => newServer(requestInfo && this.#served.get(requestInfo)),
      logger,
    );
    this.#draft = drafts && entryFor(() => drafts.newServer(), logger);
    this.#tasks = new TaskStreams(core);
    this.#sessions = new LegacySessions(() => newServer(), {
      mostOfOne: core.limits.sessionsPerPrincipal,
      ...environment,
    });
  }

  /** Tells 2026-07-28 subscribers and open 2025-11-25 sessions that lists or resources have changed. */
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
        // A session that has ended, or that does not offer subscriptions, needs no notification.
        server.sendResourceUpdated({ uri }).catch(() => {});
      }
    },
  };

  /** Serves a request. Verifies the caller, if the app has `auth`, before it reads the body. */
  async fetch(request: Request): Promise<Response> {
    const caller = await this.caller(request.headers.get("authorization") ?? undefined, undefined);
    return caller instanceof Response ? caller : this.#read(request, caller);
  }

  /** The caller, as verified by the host or verified now. A response if the caller is refused. */
  caller(
    authorization: string | undefined,
    verified: AuthInfo | undefined,
  ): Caller | Response | Promise<Caller | Response> {
    if (verified !== undefined) return this.#callerOf(verified);
    if (this.#options.auth === undefined) return anonymous;
    return this.#verified(authorization).then((authInfo) =>
      authInfo instanceof Response ? authInfo : this.#callerOf(authInfo),
    );
  }

  /** Serves a request whose caller the host has verified. */
  async handle(request: Request, { authInfo, parsedBody }: Verified): Promise<Response> {
    const caller = this.#callerOf(authInfo);
    if (caller instanceof Response) return caller;
    return parsedBody === undefined
      ? this.#read(request, caller)
      : this.serve(request, caller, parsedBody);
  }

  async #read(request: Request, caller: Caller): Promise<Response> {
    const body = await this.bodies.ofWeb(request);
    switch (body.kind) {
      case "json":
        return this.serve(request, caller, body.json);
      case "text":
        return this.serve(request.bodyUsed ? withText(request, body.text) : request, caller);
      case "refused":
        return refusedBody(body);
      case "gone":
        return new Response(null, { status: 499 });
    }
  }

  /**
   * Serves a request whose body has been parsed. Without a parsed body, the SDK reads the body itself and refuses it. A
   * 2025-11-25 request with a session, or for a new one, goes to the sessions.
   */
  async serve(sent: Request, caller: Caller, parsedBody?: unknown): Promise<Response> {
    const request =
      this.#options.lenientTaskRouting === true ? withTaskName(sent, parsedBody) : sent;
    const response =
      (await this.#inDraft(request, caller.authInfo, parsedBody)) ??
      (await this.#counted(request, caller, parsedBody));
    // The SDK writes "keep-alive" into streams. The host would then keep a connection that its client wants closed.
    response.headers.delete("connection");
    return response;
  }

  /** Counts what the client has not read, if it wants parts. */
  async #counted(request: Request, caller: Caller, parsedBody: unknown): Promise<Response> {
    if (!wantsParts(parsedBody)) return this.#inFinal(request, caller, parsedBody);
    const unread = new UnreadBytes().count(request);
    return unread.in(await this.#inFinal(request, caller, parsedBody));
  }

  /** Serves a request of 2026-07-28 or 2025-11-25. */
  async #inFinal(
    request: Request,
    { authInfo, principal }: Caller,
    parsedBody: unknown,
  ): Promise<Response> {
    const isOfASession =
      isLegacy(request) &&
      (this.#sessions.has(request) || (request.method === "POST" && isInitialize(parsedBody)));
    if (isOfASession) return this.#sessions.handle(request, parsedBody, authInfo, principal);
    const listen = isListen(request) ? listenOf(parsedBody) : undefined;
    const served = await this.#modern.fetch(request, {
      ...(authInfo === undefined ? {} : { authInfo }),
      ...(parsedBody === undefined ? {} : { parsedBody }),
    });
    return listen === undefined
      ? served
      : this.#tasks.serve(listen, principal, served, request.signal);
  }

  /** Undefined if the request does not speak the draft. */
  async #inDraft(
    request: Request,
    authInfo: AuthInfo | undefined,
    body: unknown,
  ): Promise<Response | undefined> {
    const { drafts } = this.#options;
    const entry = this.#draft;
    if (drafts === undefined || entry === undefined) return undefined;
    // The SDK refuses what is not sent as JSON.
    const isUnread = body === undefined && !isJsonContentType(request.headers.get("content-type"));
    if (isUnread && request.method === "POST") return undefined;
    if (!drafts.dialect.isRequest(request, body)) return undefined;
    const unread = draftStreamTokenIn(body) === undefined ? undefined : new UnreadBytes();
    const serve = (final: Request, message: unknown) => {
      unread?.count(final);
      return entry.fetch(final, { ...(authInfo && { authInfo }), parsedBody: message });
    };
    const response = await drafts.dialect.serveHttp(request, body, serve, drafts.tasks);
    return unread === undefined ? response : unread.in(response);
  }

  /** Lets the SDK finish a request whose round has been served. */
  finish(
    request: Request,
    caller: Caller,
    parsedBody: unknown,
    served: RoundResponse,
  ): Promise<Response> {
    this.#served.set(request, served);
    return this.serve(request, caller, parsedBody);
  }

  /** Ends streams, sessions and requests in flight. */
  async close(): Promise<void> {
    this.#tasks.close();
    await Promise.all([this.#modern.close(), this.#draft?.close(), this.#sessions.close()]);
  }

  /** Does what the SDK's `requireBearerAuth` does, which needs a whole request. */
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
    if (authInfo === undefined) return anonymous;
    try {
      return { authInfo, principal: principalOf(authInfo, this.#options.derivePrincipal) };
    } catch (error) {
      return this.#noPrincipal(error);
    }
  }

  #noPrincipal(error: unknown): Response {
    const code = error instanceof ParleyError ? error.code : "no_principal";
    this.#options.core.logger.error(errorText(error), { code });
    const body = {
      error: "invalid_token",
      error_description: "The token does not identify a user.",
    };
    return Response.json(body, { status: 403 });
  }
}

function entryFor(newServer: (of: McpRequestContext) => McpServer, logger: Logger): McpHttpHandler {
  return createMcpHandler(
    (context) => {
      try {
        return newServer(context);
      } catch (error) {
        // The SDK responds with status 500 and logs nothing.
        logger.error(`Could not create a server for a request: ${errorText(error)}`);
        throw error;
      }
    },
    { onerror: (error) => logger.debug(`request refused: ${error.message}`) },
  );
}

/** Whether the client wants parts. Whatever else it sends, its response is then counted. */
const wantsParts = (body: unknown): boolean =>
  streamTokenIn(own(own(body, "params"), "_meta")) !== undefined;

const isListen = (request: Request): boolean =>
  request.headers.get("mcp-method") === "subscriptions/listen";

/**
 * A 2026-07-28 request always names its method and its version in headers. A session id means nothing there. There are
 * 2025-11-25 clients that name the method too.
 */
function isLegacy({ headers }: Request): boolean {
  return !headers.has("mcp-method") || headers.get("mcp-protocol-version") !== modernVersion;
}

/** The same request with a body that has been read. */
function withText({ url, method, headers, signal }: Request, body: string): Request {
  return new Request(url, { method, headers, signal, body });
}

/** The response to a request whose body was not read, or not to its end. */
export function refusedBody({ status, message }: Extract<Body, { kind: "refused" }>): Response {
  const code = status === 400 ? parseError : serverError;
  return refusedRequest(status, { code, message });
}

/**
 * A 2025-11-25 client begins with `initialize`. It gets a session, because a client without one cannot be asked
 * anything.
 */
const isInitialize = (body: unknown): boolean => own(body, "method") === "initialize";
