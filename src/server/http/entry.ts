// The fast entry: from Node's `http` straight to a round, for what it recognises exactly.
//
// For every call the official SDK makes a web-standard request, a server with all its tools, and a dozen checks by
// schema. Here a request of 2026-07-28 for a handler of ours is looked at once. Whatever is unusual about it goes to
// the SDK as it came: what is refused is refused in the SDK's words. test/differential holds the two together.

import type { ServerResponse } from "node:http";
import { toWebRequest } from "@modelcontextprotocol/node";
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import { CLIENT_CAPABILITIES_META_KEY } from "@modelcontextprotocol/server";
import type { Implementation } from "@modelcontextprotocol/server";
import { Stop } from "../../replay/stop.ts";
import type { Core } from "../core.ts";
import { textOf } from "../round/failure.ts";
import { Answers } from "./answers.ts";
import { bodyOf } from "./body.ts";
import { Facts } from "./facts.ts";
import { isNamed, methodIn } from "./headers.ts";
import { isMessage } from "./message.ts";
import type { Message } from "./message.ts";
import { notifier } from "./notifier.ts";
import { Reply, sendNow, sendTogether } from "./reply.ts";
import type { Send } from "./reply.ts";
import type { RoundRoute, Routes, TaskRoute } from "./routes.ts";
import type { NodeHandler, NodeRequest } from "./listen.ts";
import { serveRound } from "../round/round.ts";
import type { RoundResponse } from "../round/request.ts";
import type { Caller, Serving } from "./web.ts";
import { Slots } from "./slots.ts";
import { serveTask } from "../tasks/requests.ts";

export interface EntryOptions {
  readonly core: Core;
  readonly serving: Serving;
  readonly serverInfo: Implementation;
  /** What is served here. Undefined: nothing at all. */
  readonly routes: () => Routes | undefined;
  /** The way through the SDK. */
  readonly overSdk: NodeHandler;
}

/** A request that is served here, by whom it was sent, and where its response goes. */
interface Exchange {
  readonly req: NodeRequest;
  readonly res: ServerResponse;
  readonly message: Message;
  readonly caller: Caller;
  readonly reply: Reply;
}

export class HttpEntry {
  readonly #options: EntryOptions;
  readonly #answers: Answers;
  readonly #running = new Slots<Stop>();
  #isClosed = false;

  constructor(options: EntryOptions) {
    this.#options = options;
    this.#answers = new Answers(options.serverInfo);
  }

  /** For a host, which may look whether a response was sent when this is over. */
  readonly handle: NodeHandler = (req, res) => this.#handle(req, res, sendNow);

  /** For our own server, which does not wait. */
  readonly handleOwn: NodeHandler = (req, res) => this.#handle(req, res, sendTogether);

  async #handle(req: NodeRequest, res: ServerResponse, send: Send): Promise<void> {
    const { overSdk, routes } = this.#options;
    const method = this.#isClosed ? undefined : methodIn(req);
    const table = method && routes();
    if (method === undefined || table === undefined) return overSdk(req, res);
    const body = await bodyOf(req);
    if (body === undefined) return undefined;
    const { json } = body;
    const message = isMessage(json, method) && isNamed(req, json) ? json : undefined;
    const route = message && table.find(message);
    if (message === undefined || route === undefined) return overSdk(body.unread(), res);
    return this.#serve(req, res, message, route, send);
  }

  /** Ends what runs. Who comes later goes to the SDK, which says that it is closed. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#running.all()) stop.stop("Disconnected");
  }

  /** Not the SDK from here on, so nobody is verified twice. Like it, never rejects: a host may not wait for us. */
  async #serve(
    req: NodeRequest,
    res: ServerResponse,
    message: Message,
    route: RoundRoute | TaskRoute,
    send: Send,
  ): Promise<void> {
    const { core, serving } = this.#options;
    const reply = new Reply(res, send);
    try {
      const caller = await serving.caller(req.headers.authorization, req.auth);
      if (caller instanceof Response) return await reply.relay(caller);
      const exchange = { req, res, message, caller, reply };
      await (route.kind === "task" ? this.#task(exchange, route) : this.#round(exchange, route));
    } catch (error) {
      reply.end(this.#answers.toMishap(message.id));
      core.logger.error(`The request could not be served: ${textOf(error)}`);
    }
    return undefined;
  }

  async #round(exchange: Exchange, route: RoundRoute): Promise<void> {
    const { req, res, message, caller, reply } = exchange;
    const { handler, target } = route;
    const { _meta, inputResponses, requestState } = message.params;
    const stop = new Stop();
    res.on("close", () => stop.stop("Disconnected"));
    if (res.destroyed || this.#isClosed) stop.stop("Disconnected");
    const slot = this.#running.take(stop);
    try {
      const answer = await serveRound(this.#options.core, handler.definition, {
        target,
        arguments: (handler.hasArguments ? message.params.arguments : undefined) ?? {},
        requestState,
        inputResponses,
        capabilities: _meta[CLIENT_CAPABILITIES_META_KEY],
        principal: caller.principal,
        facts: new Facts(req, _meta, caller.authInfo),
        stop,
        notify: notifier(_meta, reply),
      });
      if (answer.kind === "none") return reply.abandon();
      const response = this.#answers.toRound(message, route, answer);
      if (response !== undefined) return reply.end(response);
      return await this.#finishOverSdk(exchange, answer);
    } finally {
      this.#running.free(slot);
    }
  }

  async #task({ message, caller, reply }: Exchange, { method }: TaskRoute): Promise<void> {
    const { taskId, inputResponses, _meta } = message.params;
    const answer = await serveTask(this.#options.core, {
      method,
      taskId,
      inputResponses,
      capabilities: _meta[CLIENT_CAPABILITIES_META_KEY],
      principal: caller.principal,
    });
    reply.end(this.#answers.toTask(message.id, answer));
  }

  /** An answer that the SDK has something to say about: it gets the request and what the handler made of it. */
  async #finishOverSdk(exchange: Exchange, answer: RoundResponse): Promise<void> {
    const { req, message, caller, reply } = exchange;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs in how optional members are typed
    const request = await toWebRequest(req as NodeIncomingMessageLike, message);
    const verified = { authInfo: caller.authInfo, parsedBody: message };
    await reply.relay(await this.#options.serving.finish(request, verified, answer));
  }
}
