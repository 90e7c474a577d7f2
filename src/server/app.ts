// `parley()`: where tools, prompts and resources are registered, and the ways to serve them.

import type { ServerResponse } from "node:http";
import { McpServer, UriTemplate } from "@modelcontextprotocol/server";
import type {
  BearerAuthOptions,
  Implementation,
  ServerNotifier,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { openTicket } from "../token/ticket.ts";
import type { Keyring } from "../token/keyring.ts";
import { checkedLimits } from "./core.ts";
import type { Core, Limits } from "./core.ts";
import type { Definition } from "./definition.ts";
import { nodeEnvironment } from "./environment.ts";
import { textOf } from "./failure.ts";
import { resolveKeys } from "./keys.ts";
import { isLoopback, listen, nodeHandler } from "./listen.ts";
import type { Listener, Listening, ListenOptions, NodeRequest } from "./listen.ts";
import { stderrLogger } from "./logger.ts";
import type { Logger } from "./logger.ts";
import type { PrincipalOf } from "./principal.ts";
import { definePrompt } from "./prompt.ts";
import type { Prompt, PromptConfig, PromptHandler } from "./prompt.ts";
import { Registry } from "./registry.ts";
import { defineResource } from "./resource.ts";
import type { Resource, ResourceConfig, ResourceHandler } from "./resource.ts";
import type { InputOf, OutputOf, Schema } from "./schema.ts";
import { install } from "./sdk/install.ts";
import { Serving } from "./serving.ts";
import type { Verified } from "./serving.ts";
import { telemetry } from "./telemetry.ts";
import { defineTool } from "./tool.ts";
import type { Tool, ToolConfig, ToolHandler } from "./tool.ts";

export type ParleyOptions = Implementation & {
  readonly instructions?: string | undefined;
  /** First seals, all open. Default: PARLEY_KEYS; in development on this machine a kept key. Otherwise an error. */
  readonly keys?: string | readonly string[] | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly logger?: Logger | undefined;
} & (
    | { readonly auth?: undefined; readonly principal?: PrincipalOf | undefined }
    // with auth, say who the user is: authInfo.clientId is the application, the same for all its users
    | { readonly auth: BearerAuthOptions; readonly principal: PrincipalOf }
  );

export interface App {
  readonly tool: <
    In extends Schema | undefined = undefined,
    Out extends Schema | undefined = undefined,
  >(
    name: string,
    config: ToolConfig<In, Out>,
    handler: ToolHandler<In, Out>,
  ) => Tool<
    In extends Schema ? InputOf<In> : Record<string, never>,
    Out extends Schema ? OutputOf<Out> : undefined
  >;
  readonly prompt: <In extends Schema | undefined = undefined>(
    name: string,
    config: PromptConfig<In>,
    handler: PromptHandler<In>,
  ) => Prompt<In extends Schema ? InputOf<In> : Record<string, never>>;
  /** A fixed URI, or a template (`notes://{id}`) whose variables the handler gets. */
  readonly resource: <const U extends string>(
    name: string,
    uri: U,
    config: ResourceConfig<U>,
    handler: ResourceHandler<U>,
  ) => Resource;

  /** HTTP on the loopback address, at /mcp. Logs one line that says where. */
  readonly listen: (port?: number, options?: ListenOptions) => Promise<Listening>;
  readonly stdio: () => Promise<void>;
  /** Web-standard, one argument on purpose: Workers pass `env` second. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for a host that has verified the caller, or parsed the body, itself. */
  readonly handle: (request: Request, verified: Verified) => Promise<Response>;
  /** For Express, Fastify and node:http. Uses `req.auth` and `req.body` where middleware has set them. */
  readonly node: (req: NodeRequest, res: ServerResponse) => Promise<void>;
  /** Puts the tools, prompts and resources on a server the user has, before it connects; its own keep working. Returns it. */
  readonly attach: (server: McpServer) => McpServer;
  /** Called with every official server that is made to serve this app, for completion, subscriptions and whatever else is not wrapped. Not for `attach`: that server is yours. */
  readonly onServer: (configure: (server: McpServer) => void) => void;
  /** Tells clients that a list, or a resource, has changed: 2026-07-28 subscribers and open 2025-11-25 sessions of `listen`, `fetch`, `node` and `handle`. Over stdio and `attach`, use the server's own methods. */
  readonly notify: ServerNotifier;

  /** Opens a ticket in the page's route. Throws `ParleyError` ("bad_ticket"). */
  readonly readTicket: (ticket: string) => {
    readonly callId: string;
    readonly key: string;
    readonly principal: string | undefined;
    readonly expiresAt: Date;
  };
  readonly close: () => Promise<void>;
}

export function parley(options: ParleyOptions): App {
  return new ParleyApp(options);
}

class ParleyApp implements App {
  readonly #options: ParleyOptions;
  readonly #registry = new Registry();
  readonly #core: Core;
  readonly #configurations: ((server: McpServer) => void)[] = [];
  readonly #listeners = new Set<Listener>();
  #keyring: Keyring | undefined;
  #serving: Serving | undefined;
  #stdio: ReturnType<typeof serveStdio> | undefined;
  #node: App["node"] | undefined;

  constructor(options: ParleyOptions) {
    this.#options = options;
    this.#core = {
      name: options.name,
      keyring: () => this.#keys("app.fetch, app.node or app.attach", false),
      limits: checkedLimits(options.limits ?? {}),
      logger: options.logger ?? stderrLogger,
      environment: nodeEnvironment,
      telemetry: telemetry(),
    };
  }

  readonly tool: App["tool"] = (name, config, handler) => {
    const definition = defineTool(name, config, handler);
    this.#registry.add({ kind: "tool", name, config, definition });
    return this.#handle({ kind: "tool", name }, definition);
  };

  readonly prompt: App["prompt"] = (name, config, handler) => {
    const definition = definePrompt(name, config, handler);
    this.#registry.add({ kind: "prompt", name, config, definition });
    return this.#handle({ kind: "prompt", name }, definition);
  };

  readonly resource: App["resource"] = (name, uri, config, handler) => {
    const definition = defineResource(name, uri, config, handler);
    const isTemplate = UriTemplate.isTemplate(uri);
    this.#registry.add({ kind: "resource", name, uri, isTemplate, config, definition });
    return this.#handle({ kind: "resource", name }, definition);
  };

  readonly listen: App["listen"] = async (port = 3000, options = {}) => {
    const { host = "127.0.0.1" } = options;
    const isLocal = isLoopback(host);
    this.#keys(
      isLocal ? "app.listen" : `app.listen on ${host}, which other machines reach,`,
      isLocal,
    );
    const listener = await listen(this.#serve(), this.#core.logger, port, options);
    this.#listeners.add(listener);
    return {
      url: listener.url,
      close: async () => {
        this.#listeners.delete(listener);
        await listener.close();
      },
    };
  };

  readonly stdio: App["stdio"] = async () => {
    this.#keys("app.stdio", true);
    const { logger } = this.#core;
    this.#stdio = serveStdio(() => this.#newServer(), {
      onerror: ({ message }) => logger.debug(message),
    });
  };

  readonly fetch: App["fetch"] = (request) => this.#serve().fetch(request);

  readonly handle: App["handle"] = (request, verified) => this.#serve().handle(request, verified);

  readonly node: App["node"] = (req, res) => {
    this.#node ??= nodeHandler(this.#serve());
    return this.#node(req, res);
  };

  readonly attach: App["attach"] = (server) => {
    if (server.isConnected()) {
      throw new TypeError(
        "app.attach comes before connect: what a connected server offers is already told.",
      );
    }
    this.#install(server);
    return server;
  };

  readonly onServer: App["onServer"] = (configure) => void this.#configurations.push(configure);

  get notify(): ServerNotifier {
    return this.#serve().notify;
  }

  readonly readTicket: App["readTicket"] = (ticket) => {
    const { name, environment } = this.#core;
    const opened = openTicket(ticket, this.#core.keyring(), {
      audience: name,
      now: environment.now(),
    });
    const { callId, key, principal, expiresAt } = opened;
    return { callId, key, principal, expiresAt: new Date(expiresAt) };
  };

  readonly close: App["close"] = async () => {
    const listeners = [...this.#listeners];
    const serving = this.#serving;
    this.#listeners.clear();
    // Whoever comes later is served anew.
    this.#serving = undefined;
    this.#node = undefined;
    await Promise.all(listeners.map((listener) => listener.drain()));
    const streamsEnd = serving?.close();
    await Promise.all(listeners.map((listener) => listener.close(async () => streamsEnd)));
    await streamsEnd;
    await this.#stdio?.close();
  };

  #handle<H extends object>(handle: H, definition: Definition): H {
    registered.set(handle, { core: this.#core, definition });
    return handle;
  }

  #keys(way: string, isLocal: boolean): Keyring {
    this.#keyring ??= resolveKeys({ keys: this.#options.keys, way, isLocal });
    return this.#keyring;
  }

  /** A tool that asks nothing needs no key, so it is no reason to refuse service; but somebody should hear of it now. */
  #warnOfMissingKeys(): void {
    try {
      this.#core.keyring();
    } catch (error) {
      this.#core.logger.error(textOf(error), { code: "no_keys" });
    }
  }

  #serve(): Serving {
    if (this.#serving !== undefined) return this.#serving;
    this.#warnOfMissingKeys();
    const { auth, principal } = this.#options;
    const { environment, logger } = this.#core;
    this.#serving = new Serving({
      newServer: () => this.#newServer(),
      auth,
      derivePrincipal: principal,
      environment,
      logger,
      sessions: { most: 1_000, idleMs: 30 * 60_000 },
    });
    return this.#serving;
  }

  #newServer(): McpServer {
    const { instructions } = this.#options;
    const server = new McpServer(
      implementationOf(this.#options),
      instructions === undefined ? {} : { instructions },
    );
    this.#install(server);
    for (const configure of this.#configurations) configure(server);
    return server;
  }

  #install(server: McpServer): void {
    install(server, {
      core: this.#core,
      registrations: this.#registry,
      derivePrincipal: this.#options.principal,
    });
  }
}

/** What a client is told of this server, without our own options. */
function implementationOf(options: ParleyOptions): Implementation {
  const { name, version, title, description, icons, websiteUrl } = options;
  return {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
  };
}

// ---------------------------------------------------------------- for the test kit

interface Registered {
  readonly core: Core;
  readonly definition: Definition;
}

const registered = new WeakMap<object, Registered>();

/** The app behind a handle, and what was registered under it. */
export function registeredAs(handle: object): Registered {
  const found = registered.get(handle);
  if (found === undefined) throw new TypeError("Not a handle that app.tool() has returned.");
  return found;
}

/** Another instance of the same app: it shares the definitions and what is given here, nothing else. */
export function anotherInstance(
  core: Core,
  own: Pick<Core, "environment" | "logger"> & { readonly keyring: Keyring },
): Core {
  return { ...core, ...own, keyring: () => own.keyring };
}
