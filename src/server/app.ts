// `parley()`: where tools, prompts and resources are registered, and the ways to serve them.

import type { ServerResponse } from "node:http";
import { McpServer, UriTemplate } from "@modelcontextprotocol/server";
import type {
  BearerAuthOptions,
  Implementation,
  ServerNotifier,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { ParleyError } from "../errors.ts";
import { dialectOf } from "../protocol/drafts.ts";
import type { DraftDialect, Drafts, DraftTasks } from "../protocol/drafts.ts";
import { NotJson, toJson } from "../util/json.ts";
import type { Json } from "../util/json.ts";
import type { Store } from "../tasks/store.ts";
import { openTicket } from "../token/ticket.ts";
import type { Ticket } from "../token/ticket.ts";
import type { Keyring } from "../token/keyring.ts";
import { checkedLimits } from "./core.ts";
import type { Core, Limits } from "./core.ts";
import type { Definition, TaskMode } from "./define/definition.ts";
import { nodeEnvironment } from "./ops/environment.ts";
import { textOf } from "./round/failure.ts";
import { healthOf } from "./ops/health.ts";
import type { Health } from "./ops/health.ts";
import { HttpEntry } from "./http/entry.ts";
import { RouteCache } from "./http/route-cache.ts";
import { resolveKeys } from "./ops/keys.ts";
import { isLoopback, listen } from "./http/listen.ts";
import type { Listener, Listening, ListenOptions } from "./http/listen.ts";
import { nodeHandler } from "./http/node.ts";
import type { NodeRequest } from "./http/node.ts";
import { stderrLogger } from "./ops/logger.ts";
import type { Logger } from "./ops/logger.ts";
import type { PrincipalOf } from "./round/principal.ts";
import type { RoundResponse } from "./round/request.ts";
import { definePrompt } from "./define/prompt.ts";
import type { Prompt, PromptConfig, PromptHandler } from "./define/prompt.ts";
import { externalDigest } from "./context/questions.ts";
import { Registry } from "./define/registry.ts";
import { defineResource } from "./define/resource.ts";
import type { Resource, ResourceConfig, ResourceHandler } from "./define/resource.ts";
import type { InputOf, OutputOf, Schema } from "./forms/schema.ts";
import { install } from "./sdk/install.ts";
import { TaskListeningTransport } from "./sdk/task-subscriptions/over-stdio.ts";
import { Serving } from "./http/web.ts";
import type { Verified } from "./http/web.ts";
import { beforeEnd } from "./ops/signals.ts";
import { needsStore, noStore } from "./tasks/store-needed.ts";
import { telemetry } from "./ops/telemetry.ts";
import { defineTool } from "./define/tool.ts";
import type { Tool, ToolConfig, ToolHandler } from "./define/tool.ts";
import { Work } from "./tasks/work.ts";
import type { WorkOptions } from "./tasks/work.ts";

export type ParleyOptions = Implementation & {
  readonly instructions?: string | undefined;
  /** First seals, all open. Default: PARLEY_KEYS; in development on this machine a kept key. Otherwise an error. */
  readonly keys?: string | readonly string[] | undefined;
  /** Needed by `task` and `once`. Default in development on this machine: SQLite in .parley/. */
  readonly store?: Store | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Also serves clients that agree to a draft of the protocol: `drafts()` from `mcp-parley/drafts`. Default: none. */
  readonly drafts?: Drafts | undefined;
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
    const T extends TaskMode | undefined = undefined,
  >(
    name: string,
    config: ToolConfig<In, Out, T>,
    handler: ToolHandler<In, Out, T>,
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

  /** HTTP on the loopback address, at /mcp, with a task worker where a tool needs one. Logs one line that says where. */
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
  /** Runs tasks in this process. `listen` and `stdio` do it by themselves; `fetch`, `node` and `attach` never do. */
  readonly work: (options?: WorkOptions) => Promise<{ readonly close: () => Promise<void> }>;
  /** Whether this process can do its work, and how the tasks stand. */
  readonly health: () => Promise<Health>;

  /** Opens a ticket in the page's route. Throws `ParleyError` ("bad_ticket"). */
  readonly readTicket: (ticket: string) => {
    readonly callId: string;
    readonly key: string;
    readonly principal: string | undefined;
    readonly expiresAt: Date;
  };
  /** Answers a `waitFor`. First wins. Who may, is for the application to check before. */
  readonly deliver: (
    ticket: string,
    value: unknown,
  ) => Promise<"delivered" | "already answered" | "gone">;
  /** Takes no new request, waits for those under way, hands the tasks it runs over to others. The store stays open: it may be shared. */
  readonly close: () => Promise<void>;
}

export function parley(options: ParleyOptions): App {
  // For JavaScript: the name is part of what every token is bound to.
  const { name }: { readonly name?: unknown } = Object(options);
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      'parley() needs a name and a version: parley({ name: "tracker", version: "1.0.0" }).',
    );
  }
  return new ParleyApp(options);
}

class ParleyApp implements App {
  readonly #options: ParleyOptions;
  readonly #registry = new Registry();
  readonly #core: Core;
  readonly #dialect: DraftDialect | undefined;
  readonly #configurations: ((server: McpServer) => void)[] = [];
  readonly #routes: RouteCache;
  readonly #listeners = new Set<Listener>();
  #work: Work | undefined;
  /** Made here, so closed here. */
  #ownStore: Store | undefined;
  #endGauges: (() => void) | undefined;
  #takeOffSignals: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  /** Ends when it closes: for those who wait for a task. */
  #waits = new AbortController();
  #keyring: Keyring | undefined;
  #serving: Serving | undefined;
  #stdio: ReturnType<typeof serveStdio> | undefined;
  #entry: HttpEntry | undefined;

  constructor(options: ParleyOptions) {
    this.#options = options;
    this.#dialect = dialectOf(options.drafts);
    const work = () => this.#work;
    this.#core = {
      name: options.name,
      keyring: () => this.#keys("app.fetch, app.node or app.attach", false),
      limits: checkedLimits(options.limits ?? {}),
      logger: options.logger ?? stderrLogger,
      environment: nodeEnvironment,
      telemetry: telemetry(),
      get tasks() {
        return work()?.runtime;
      },
      get store() {
        return work()?.store;
      },
    };
    this.#routes = new RouteCache({
      core: this.#core,
      registry: this.#registry,
      configurations: this.#configurations,
      newServer: () => this.#bareServer(),
    });
    if (options.store !== undefined) this.#use(options.store);
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
    await this.#storeByDefault(isLocal);
    const { logger } = this.#core;
    // First, so that nothing listens where the store is not to be had.
    if (options.worker !== false) await this.#workIfNeeded();
    const serving = this.#serve();
    const handle = options.fast === false ? nodeHandler(serving) : this.#entryTo(serving).handleOwn;
    const listener = await listen(handle, logger, port, options, this.health);
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
    await this.#storeByDefault(true);
    await this.#workIfNeeded();
    const { logger } = this.#core;
    // Its client has gone: what runs here is handed over, and nothing keeps the process any longer.
    const gone = () =>
      void this.close().catch((error: unknown) => logger.error(`Closing failed: ${textOf(error)}`));
    process.stdin.once("end", gone).once("close", gone);
    const input = new StdioServerTransport();
    const draft = this.#dialect?.wrapTransport(input, this.#draftTasks);
    this.#stdio = serveStdio(() => this.#newServer(draft?.isDraft), {
      transport: new TaskListeningTransport(
        draft ?? input,
        this.#core,
        implementationOf(this.#options),
      ),
      onerror: ({ message }) => logger.debug(message),
    });
  };

  readonly fetch: App["fetch"] = (request) => this.#serve().fetch(request);

  readonly handle: App["handle"] = (request, verified) => this.#serve().handle(request, verified);

  readonly node: App["node"] = (req, res) => this.#entryTo(this.#serve()).handle(req, res);

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

  readonly work: App["work"] = async (options) => {
    const work = this.#work;
    if (work === undefined) throw noStore("app.work()");
    this.#keys("app.work", false);
    await work.start(options);
    this.#closeBeforeEnd();
    return { close: this.close };
  };

  readonly health: App["health"] = () => healthOf(this.#core, this.#work);

  readonly readTicket: App["readTicket"] = (ticket) => {
    const { callId, key, principal, expiresAt } = this.#openTicket(ticket);
    return { callId, key, principal, expiresAt: new Date(expiresAt) };
  };

  readonly deliver: App["deliver"] = async (ticket, value) => {
    const { kind, callId, key } = this.#openTicket(ticket);
    if (kind !== "external")
      throw new ParleyError("bad_ticket", "This ticket is for a page, not for a delivery.");
    const work = this.#work;
    if (work === undefined) throw noStore("app.deliver()");
    const outcome = await work.runtime.deliver(
      callId,
      key,
      externalDigest(key),
      asJson(key, value),
    );
    this.#core.logger.info(`"${key}" ${outcome}`, { call: callId, key, outcome });
    return outcome;
  };

  /** Whoever closes while it closes waits for the same end. */
  readonly close: App["close"] = () => {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  };

  async #close(): Promise<void> {
    const listeners = [...this.#listeners];
    const serving = this.#serving;
    this.#listeners.clear();
    // Whoever comes later is served anew.
    this.#serving = undefined;
    const entry = this.#entry;
    this.#entry = undefined;
    // Who waits for a task to end would be waited for.
    this.#waits.abort();
    this.#waits = new AbortController();
    await Promise.all(listeners.map((listener) => listener.drain()));
    await this.#work?.runtime.drain();
    entry?.close();
    const streamsEnd = serving?.close();
    await Promise.all(listeners.map((listener) => listener.close(async () => streamsEnd)));
    await streamsEnd;
    await this.#stdio?.close();
    this.#takeOffSignals?.();
    this.#takeOffSignals = undefined;
    if (this.#ownStore === undefined) return;
    await this.#ownStore.close();
    this.#ownStore = undefined;
    this.#endGauges?.();
    this.#work = undefined;
  }

  #use(store: Store): void {
    this.#work = new Work(store, this.#core, this.#registry);
    this.#endGauges = this.#core.telemetry.gauges(async () => (await this.health()).tasks);
  }

  /** In development on this machine a tool that needs a store gets one. */
  async #storeByDefault(isLocal: boolean): Promise<void> {
    if (this.#work !== undefined) return;
    const needy = [...this.#registry].find(({ definition }) => needsStore(definition));
    if (needy === undefined) return;
    if (!isLocal || process.env["NODE_ENV"] === "production") throw noStore(`Tool "${needy.name}"`);
    const { sqliteStore } = await import("../tasks/stores/sqlite/index.ts");
    this.#ownStore = sqliteStore();
    this.#use(this.#ownStore);
  }

  async #workIfNeeded(): Promise<void> {
    const work = this.#work;
    // Also without a tool that becomes a task: somebody has to sweep what rounds leave there.
    if (work === undefined) return;
    await work.start();
    this.#closeBeforeEnd();
  }

  /** Once, however many ways in there are. */
  #closeBeforeEnd(): void {
    this.#takeOffSignals ??= beforeEnd(this.close, (error) =>
      this.#core.logger.error(`Closing failed: ${textOf(error)}`),
    );
  }

  #openTicket(ticket: string): Ticket {
    const { name, environment } = this.#core;
    return openTicket(ticket, this.#core.keyring(), { audience: name, now: environment.now() });
  }

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
    const dialect = this.#dialect;
    this.#serving = new Serving({
      newServer: (served) => this.#newServer(false, served),
      drafts: dialect && {
        dialect,
        newServer: () => this.#newServer(true),
        tasks: this.#draftTasks,
      },
      auth,
      derivePrincipal: principal,
      core: this.#core,
      sessions: { most: 1_000, idleMs: 30 * 60_000 },
    });
    return this.#serving;
  }

  readonly #draftTasks: DraftTasks = {
    support: (tool) =>
      [...this.#registry].find(({ kind, name }) => kind === "tool" && name === tool)?.definition
        .task,
    changes: (id, signal) =>
      this.#core.tasks?.watch(id, 0, AbortSignal.any([signal, this.#waits.signal])) ?? [],
  };

  #entryTo(serving: Serving): HttpEntry {
    this.#entry ??= new HttpEntry({
      core: this.#core,
      serving,
      serverInfo: implementationOf(this.#options),
      routes: this.#routes.get,
      overSdk: nodeHandler(serving),
    });
    return this.#entry;
  }

  #newServer(isDraft = false, served?: RoundResponse): McpServer {
    const server = this.#bareServer(isDraft, served);
    for (const configure of this.#configurations) configure(server);
    return server;
  }

  /** With what is ours, before the author has configured it. */
  #bareServer(isDraft = false, served?: RoundResponse): McpServer {
    const { instructions } = this.#options;
    // For sessions of 2025-11-25, whose rounds the SDK goes through by itself: as many as elsewhere, not its eight.
    const inputRequired = { maxRounds: this.#core.limits.rounds };
    const server = new McpServer(implementationOf(this.#options), {
      inputRequired,
      ...(instructions === undefined ? {} : { instructions }),
    });
    this.#install(server, isDraft, served);
    return server;
  }

  #install(server: McpServer, isDraft = false, served?: RoundResponse): void {
    install(server, {
      core: this.#core,
      registrations: this.#registry,
      derivePrincipal: this.#options.principal,
      isDraft,
      served,
    });
  }
}

function asJson(key: string, value: unknown): Json {
  try {
    return toJson(value) ?? null;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new ParleyError("not_json", `The value delivered for "${key}" has ${error.message}.`);
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
  own: Pick<Core, "environment" | "logger"> &
    Partial<Pick<Core, "store" | "tasks">> & { readonly keyring: Keyring },
): Core {
  return { ...core, store: undefined, tasks: undefined, ...own, keyring: () => own.keyring };
}
