// The fast entry: from Node's `http` straight to a round, for requests that it recognises exactly.
//
// For every call the official SDK makes a web-standard request and a server with all its tools, and runs a dozen schema
// checks. The fast entry checks a 2026-07-28 request for one of our handlers in a single pass. A request with anything
// unusual goes to the SDK, so refusals are always in the SDK's words. test/differential compares the two.

import type { ServerResponse } from "node:http";
import { toWebRequest } from "../node-adapter.ts";
import type { NodeIncomingMessageLike } from "../node-adapter.ts";
import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/server";
import type { Implementation } from "@modelcontextprotocol/server";
import { logLevels } from "../../../protocol/log-levels.ts";
import { partNotification } from "../../../protocol/streaming.ts";
import { Stop } from "../../../replay/stop.ts";
import { errorText } from "../../../util/error-text.ts";
import type { RoundRequest, RoundResponse } from "../../round/request.ts";
import { serveRound } from "../../round/round.ts";
import { ClientParts, wantedStream } from "../../round/client-parts.ts";
import type { PartChannel } from "../../round/client-parts.ts";
import { Notifier } from "../../round/notifier.ts";
import { serveStreams } from "../../tasks/stream-requests.ts";
import { serveTask } from "../../tasks/requests.ts";
import { ResponseEncoder } from "./encode-response.ts";
import { isNamed, methodIn } from "./fast-headers.ts";
import { InFlight } from "../in-flight.ts";
import { LazyFacts } from "./lazy-facts.ts";
import { Lockstep } from "./lockstep.ts";
import { isMessage } from "./fast-message.ts";
import type { Envelope, Message } from "./fast-message.ts";
import type { FastLane, NodeRequest } from "../node.ts";
import { OutgoingResponse, sendNow, sendTogether } from "./outgoing.ts";
import type { Send } from "./outgoing.ts";
import { RouteCache } from "./route-cache.ts";
import type { RouteSources } from "./route-cache.ts";
import type { RoundRoute, StreamsRoute, TaskRoute } from "./route-table.ts";
import type { Caller, Serving } from "../web.ts";

/** What the fast entry needs from its app. */
export interface EntryOptions extends RouteSources {
  readonly serving: Serving;
  readonly serverInfo: Implementation;
}

/** A request that is served here, and what serves it. */
interface Found {
  readonly message: Message;
  readonly route: RoundRoute | TaskRoute | StreamsRoute;
}

/** A request that is served here, its caller, and its response. */
interface HttpExchange {
  readonly req: NodeRequest;
  readonly res: ServerResponse;
  readonly message: Message;
  readonly caller: Caller;
  readonly outgoing: OutgoingResponse;
  /** Undefined if the round takes its turns by itself. */
  readonly lockstep: Lockstep | undefined;
}

/** The fast entry of one app. */
export class HttpEntry {
  readonly #options: EntryOptions;
  /** The handlers that are served here. */
  readonly #routes: RouteCache;
  readonly #encoder: ResponseEncoder;
  readonly #running = new InFlight<Stop>();
  readonly #lockstep: Lockstep;
  #isClosed = false;

  constructor(options: EntryOptions) {
    this.#options = options;
    this.#routes = new RouteCache(options);
    this.#encoder = new ResponseEncoder(options.serverInfo);
    this.#lockstep = new Lockstep(options.core.environment.turns);
  }

  /** For a host such as Express. When it resolves, the response is sent, because the host may check that. */
  readonly lane: FastLane = (req, res, caller, json) =>
    this.#serve(req, res, caller, json, sendNow);

  /** For our own server, which does not check. Rounds and responses are batched. */
  readonly ownLane: FastLane = (req, res, caller, json) =>
    this.#serve(req, res, caller, json, sendTogether, this.#lockstep);

  #find(req: NodeRequest, json: unknown): Found | undefined {
    const method = methodIn(req);
    const table = method && this.#routes.get();
    if (method === undefined || table === undefined) return undefined;
    const message = isMessage(json, method) && isNamed(req, json) ? json : undefined;
    const route = message && table.find(message);
    return message && route && { message, route };
  }

  /** Stops the rounds that run, and those that begin later. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#running.all()) stop.stop("Disconnected");
  }

  /** Undefined if the SDK has to serve the request. The promise never rejects, because a host may not await it. */
  #serve(
    req: NodeRequest,
    res: ServerResponse,
    caller: Caller,
    json: unknown,
    send: Send,
    lockstep?: Lockstep,
  ): Promise<void> | undefined {
    const found = this.#find(req, json);
    if (found === undefined) return undefined;
    const { message, route } = found;
    const outgoing = new OutgoingResponse(res, send);
    const exchange = { req, res, message, caller, outgoing, lockstep };
    // A round catches its errors itself. Another promise around it would be a measurable share of a short call.
    if (route.kind === "round") return this.#round(exchange, route);
    const serving = route.kind === "task" ? this.#task(exchange, route) : this.#streams(exchange);
    return serving.catch((error: unknown) => this.#failed(exchange, error));
  }

  #failed({ message, outgoing }: HttpExchange, error: unknown): void {
    outgoing.end(this.#encoder.unexpectedFailure(message.id));
    this.#options.core.logger.error(`The request could not be served: ${errorText(error)}`);
  }

  async #round(exchange: HttpExchange, route: RoundRoute): Promise<void> {
    const { req, res, message, caller, outgoing, lockstep } = exchange;
    const { handler, target, url } = route;
    const { _meta, inputResponses, requestState } = message.params;
    const room = lockstep?.room();
    if (room !== undefined) await room;
    const stop = new Stop();
    const slot = this.#running.add(stop);
    try {
      res.on("close", () => stop.stop("Disconnected"));
      if (res.destroyed || this.#isClosed) stop.stop("Disconnected");
      const response = await serveRound(this.#options.core, handler.definition, {
        target,
        url,
        arguments: (handler.hasArguments ? message.params.arguments : undefined) ?? {},
        requestState,
        inputResponses,
        capabilities: _meta[CLIENT_CAPABILITIES_META_KEY],
        principal: caller.principal,
        facts: new LazyFacts(req, _meta, caller.authInfo),
        stop,
        notify: this.#notifierFor(_meta, outgoing),
        turns: lockstep,
      });
      if (response.kind === "none") return outgoing.abandon();
      const encoded = this.#encoder.round(message, route, response);
      if (encoded !== undefined) return outgoing.end(encoded);
      return await this.#finishOverSdk(exchange, response);
    } catch (error) {
      return this.#failed(exchange, error);
    } finally {
      this.#running.remove(slot);
    }
  }

  /** Undefined if the client asked for nothing that comes before the response, as most do. */
  #notifierFor(envelope: Envelope, outgoing: OutgoingResponse): RoundRequest["notify"] {
    const { core } = this.#options;
    const { progressToken, [LOG_LEVEL_META_KEY]: least } = envelope;
    const stream = wantedStream(envelope, envelope[CLIENT_CAPABILITIES_META_KEY]);
    if (progressToken === undefined && least === undefined && stream === undefined)
      return undefined;
    return new Notifier(progressToken, {
      progress: (params) => outgoing.notify("notifications/progress", params),
      log: (level, data) => {
        if (least === undefined || logLevels.indexOf(level) < logLevels.indexOf(least)) return;
        outgoing.notify("notifications/message", { level, data });
      },
      parts: () =>
        stream === undefined ? undefined : new ClientParts(stream, partsOver(outgoing), core),
      now: core.environment.now,
    });
  }

  async #task({ message, caller, outgoing }: HttpExchange, { method }: TaskRoute): Promise<void> {
    const { taskId, inputResponses, _meta } = message.params;
    const response = await serveTask(this.#options.core, {
      method,
      taskId,
      inputResponses,
      capabilities: _meta[CLIENT_CAPABILITIES_META_KEY],
      principal: caller.principal,
    });
    outgoing.end(this.#encoder.task(message.id, response));
  }

  async #streams({ res, message, caller, outgoing }: HttpExchange): Promise<void> {
    const { taskId, after, _meta } = message.params;
    const gone = new AbortController();
    res.on("close", () => gone.abort());
    if (res.destroyed) gone.abort();
    const response = await serveStreams(this.#options.core, {
      taskId,
      after,
      meta: _meta,
      capabilities: _meta[CLIENT_CAPABILITIES_META_KEY],
      principal: caller.principal,
      channel: partsOver(outgoing),
      begin: () => outgoing.begin(),
      signal: gone.signal,
    });
    if (response === undefined) return outgoing.abandon();
    outgoing.end(this.#encoder.task(message.id, response));
  }

  /** For a response that the SDK would check or change: it gets the request, and the response of its round. */
  async #finishOverSdk(exchange: HttpExchange, response: RoundResponse): Promise<void> {
    const { req, message, caller, outgoing } = exchange;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs in how optional members are typed
    const request = await toWebRequest(req as NodeIncomingMessageLike, message);
    const { serving } = this.#options;
    await outgoing.relay(await serving.finish(request, caller, message, response));
  }
}

const partsOver = (outgoing: OutgoingResponse): PartChannel => ({
  send: (params) => {
    outgoing.notify(partNotification, params);
    return outgoing.room();
  },
});
