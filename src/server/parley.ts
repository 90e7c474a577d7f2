// Long on purpose: every part of an app is made here, and they meet here.
//
// `parley()` makes an app: it keeps what is registered, serves it in each way, and closes in order.

import { type McpServer, type ServerNotifier, UriTemplate } from "@modelcontextprotocol/server";
import { dialectOf, type DraftDialect, type DraftTasks } from "../protocol/draft-plug-in.ts";
import type { Store } from "../tasks/store.ts";
import type { Keyring } from "../token/keyring.ts";
import { recentTokens } from "../token/recent-tokens.ts";
import { errorText } from "../util/error-text.ts";
import { onFirstUse } from "../util/on-first-use.ts";
import { RenewedSignal } from "../util/renewed-signal.ts";
import type { App, ParleyOptions } from "./app.ts";
import { auditOf } from "./audit/audit.ts";
import { checkedLimits } from "./limits.ts";
import type { Core } from "./core.ts";
import { definePrompt } from "./define/prompt.ts";
import { Registry } from "./define/registry.ts";
import { defineResource } from "./define/resource.ts";
import { defineTool } from "./define/tool.ts";
import { UndoRegistry } from "./define/undo.ts";
import { handleTo } from "./define/handles.ts";
import { remember } from "./inside.ts";
import { checkName, implementationOf, sdkServer } from "./implementation.ts";
import type { Listener } from "./http/listen.ts";
import { namingMetadata } from "./http/resource-metadata.ts";
import { Serving } from "./http/web.ts";
import { nodeEnvironment } from "./ops/environment.ts";
import { healthOf, readinessOf } from "./ops/health.ts";
import { resolveKeys } from "./ops/keys.ts";
import { checkMayServe } from "./ops/worker-only.ts";
import { loggerFor } from "./ops/logger.ts";
import { StartCheck } from "./ops/start-check.ts";
import { Attachments } from "./sdk/attachments.ts";
import { draftTasksOf } from "./sdk/draft-tasks.ts";
import { type Continuable, continues } from "./pause/continuable.ts";
import type { RoundResponse } from "./round/request.ts";
import { following } from "./tasks/after-response.ts";
import {
  closeOnSignal,
  closeWithClient,
  defaultConsole,
  HttpEntry,
  isLoopback,
  listen,
  metadataHandler,
  nodeHandler,
  serveOverStdio,
  storeByDefault,
  strangerWarning,
  telemetry,
  withStore,
} from "./node-only.ts";
import { bringStoreParts, neededParts, storeParts } from "./store-parts.ts";
import { noStore, nowhereToPause } from "./tasks/store-needed.ts";
import type { Work } from "./tasks/task-engine.ts";
import { GateRegistry } from "./approvals/gates.ts";
import { disconnect } from "./accounts/known-provider.ts";
import { AppPages } from "./pages/app-pages.ts";
import { ticketFacts } from "./pages/ticket-facts.ts";

/**
 * Makes an app: an MCP server on the official SDK, whose tools may ask questions in the middle of a call.
 *
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 *
 * const app = parley({ name: "tracker", version: "1.0.0" });
 * app.tool("hello", { description: "Say hello" }, async (ctx) => {
 *   const name = await ctx.ask("name", "What is your name?");
 *   return `Hello, ${name}!`;
 * });
 * await app.listen(3000);
 * ```
 */
export function parley(options: ParleyOptions): App {
  checkName(options);
  if (withStore !== undefined) bringStoreParts(withStore);
  return new ParleyApp(options);
}

class ParleyApp implements App {
  readonly #options: ParleyOptions;
  readonly #registry = new Registry();
  readonly #core: Core;
  readonly #dialect: DraftDialect | undefined;
  readonly #configurations: ((server: McpServer) => void)[] = [];
  readonly #listeners = new Set<Listener>();
  readonly #attachments: Attachments;
  readonly #draftTasks: DraftTasks;
  readonly #pages: AppPages;
  readonly #startCheck: StartCheck;
  #work: Work | undefined;
  /** The store for development, which the app makes itself and therefore closes. */
  #ownStore: Store | undefined;
  #endGauges: (() => void) | undefined;
  #removeSignalHandlers: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  /** Aborts when the app closes, to end requests that wait for a task. */
  readonly #waits = new RenewedSignal();
  #keyring: Keyring | undefined;
  readonly #warnOfStrangers = strangerWarning(
    (message) => this.#core.logger.warn(message),
    () => continues(this.#registry),
  );
  #serving: Serving | undefined;
  #stdio: ReturnType<typeof serveOverStdio> | undefined;
  #entry: HttpEntry | undefined;

  constructor(options: ParleyOptions) {
    this.#options = options;
    this.#dialect = dialectOf(options.drafts);
    const work = () => this.#work;
    const measured = onFirstUse(telemetry);
    this.#core = {
      name: options.name,
      version: options.version,
      keyring: () => this.#keys("app.fetch, app.node, app.attach or app.deliver", false),
      recentTokens: recentTokens(),
      limits: checkedLimits(options.limits ?? {}),
      logger: loggerFor(options.logger),
      environment: nodeEnvironment,
      get telemetry() {
        return measured();
      },
      isClosing: () => this.#closing !== undefined,
      watching: { watcher: undefined },
      undos: new UndoRegistry(),
      gates: new GateRegistry(),
      reach: { relay: options.relay === true, hasPages: () => this.#pages.isOpen },
      publicUrl: () => this.#pages.publicUrl(),
      accounts: () => this.#pages.accounts,
      get tasks() {
        return work()?.runtime;
      },
      get store() {
        return work()?.store;
      },
      ...auditOf(() => this.#core, options.audit),
      storeFailed: (error, fields) => work()?.outages.failed(error, fields),
      following: (way, passed, serve) => following(work()?.afterResponse, way, passed, serve),
    };
    this.#attachments = new Attachments({
      core: this.#core,
      registrations: this.#registry,
      derivePrincipal: options.principal,
    });
    this.#pages = new AppPages(this.#core, options);
    const closing = () => this.#waits.signal;
    const storeErrors = () => this.#work?.storeErrors ?? 0;
    const storeFailingSince = () => this.#work?.outages.since;
    remember(this, {
      core: this.#core,
      registrations: this.#registry,
      closing,
      storeErrors,
      storeFailingSince,
      handle: (...of) => this.#handle(...of),
    });
    this.#draftTasks = draftTasksOf(this.#core, this.#registry, closing);
    if (options.relay === true) storeParts()?.addContinueCall(this.#continuable);
    if (options.store !== undefined) this.#use(options.store);
    this.#startCheck = new StartCheck(this.#core.logger, {
      keys: () => this.#core.keyring(),
      store: () => this.#work ?? this.#checkStore(),
      pages: this.#pages.checkDoor,
      gates: () => this.#core.gates.checkAll(this.#registry, this.#core.logger),
    });
  }

  readonly tool: App["tool"] = (name, config, handler) => {
    const definition = defineTool(name, config, handler);
    const tool = { kind: "tool", name, config, definition } as const;
    const parts = storeParts();
    if (parts === undefined) this.#registry.add(tool);
    else parts.addTool(this.#continuable, tool);
    this.#startCheck.registered();
    return handleTo({ kind: "tool", name }, this.#core, definition);
  };

  get #continuable(): Continuable {
    const { principal } = this.#options;
    return { core: this.#core, registry: this.#registry, derivePrincipal: principal };
  }

  readonly prompt: App["prompt"] = (name, config, handler) => {
    const definition = definePrompt(name, config, handler);
    this.#registry.add({ kind: "prompt", name, config, definition });
    return handleTo({ kind: "prompt", name }, this.#core, definition);
  };

  readonly resource: App["resource"] = (name, uri, config, handler) => {
    const definition = defineResource(name, uri, config, handler);
    const isTemplate = UriTemplate.isTemplate(uri);
    this.#registry.add({ kind: "resource", name, uri, isTemplate, config, definition });
    return handleTo({ kind: "resource", name }, this.#core, definition);
  };

  readonly undo: App["undo"] = (name, run) => this.#core.undos.add(name, run);
  readonly gate: App["gate"] = (name, gate) => this.#core.gates.add(name, gate);

  readonly listen: App["listen"] = async (port = 3000, given = {}) => {
    checkMayServe();
    const { host = "127.0.0.1" } = given;
    const isLocal = isLoopback(host);
    const options = { ...given, console: given.console ?? defaultConsole(this, isLocal) };
    this.#keys(
      isLocal ? "app.listen" : `app.listen on ${host}, which other machines can reach`,
      isLocal,
    );
    if (!isLocal && this.#options.auth === undefined) this.#warnOfStrangers(host);
    this.#pages.checkListening(isLocal);
    const site = this.#pages.site(options, isLocal);
    await this.#storeByDefault(isLocal);
    const { logger } = this.#core;
    // The worker starts first, so that the app does not listen with a store that can never be used.
    if (options.worker !== false) await this.#workIfNeeded();
    const serving = this.#serve();
    const handle = nodeHandler(
      serving,
      options.fast === false ? undefined : this.#entryTo(serving).ownLane,
    );
    const { auth, name } = this.#options;
    const metadata = metadataHandler(auth, name, options.path ?? "/mcp");
    const readiness = () => readinessOf(this.#core, this.#work);
    const listener = await listen(handle, logger, port, options, readiness, metadata, site);
    this.#pages.listensAt(listener.url, isLocal, options.console);
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
    checkMayServe();
    this.#keys("app.stdio", true);
    this.#pages.checkStdio();
    await this.#storeByDefault(true);
    await this.#workIfNeeded();
    // When the client has gone, running tasks are released to other workers, and the process can end.
    closeWithClient(this.close, this.#closingFailed);
    this.#stdio = serveOverStdio({
      core: this.#core,
      dialect: this.#dialect,
      draftTasks: this.#draftTasks,
      serverInfo: implementationOf(this.#options),
      newServer: (isDraft) => this.#newServer(isDraft),
    });
  };

  // Getters, because a host takes the handler when it starts, and that is when something missing should show.
  get fetch(): App["fetch"] {
    this.#startCheck.mounted();
    return this.#fetch;
  }

  get handle(): App["handle"] {
    this.#startCheck.mounted();
    return this.#handle;
  }

  get node(): App["node"] {
    this.#startCheck.mounted();
    return this.#node;
  }

  get pages(): App["pages"] {
    this.#startCheck.mounted();
    return this.#pages.handler;
  }

  readonly #fetch = async (request: Request, ...passed: readonly unknown[]): Promise<Response> =>
    this.#core.following("app.fetch", passed, () => this.#serve().fetch(request));

  readonly #handle: App["handle"] = async (request, verified) =>
    this.#core.following("app.handle", [verified], () => this.#serve().handle(request, verified));

  readonly #node: App["node"] = (req, res) => {
    const serving = this.#serve();
    return nodeHandler(serving, this.#entryTo(serving).lane)(req, res);
  };

  readonly attach: App["attach"] = (server, options = {}) => {
    this.#attachments.attach(server, options);
    this.#measure();
    this.#startCheck.mounted();
    return server;
  };

  readonly onServer: App["onServer"] = (configure) => void this.#configurations.push(configure);

  get notify(): ServerNotifier {
    return this.#serve().notify;
  }

  readonly work: App["work"] = async (options) => {
    const work = this.#work;
    if (work === undefined) throw noStore("app.work()");
    this.#startCheck.must("gates");
    this.#keys("app.work", false);
    this.#measure();
    await work.start(options);
    this.#closeBeforeExit();
    return { stop: () => work.runtime.drain(), close: this.close };
  };

  readonly runDue: App["runDue"] = async (options) => {
    const work = this.#work;
    if (work === undefined) throw noStore("app.runDue()");
    this.#startCheck.must("gates");
    this.#keys("app.runDue", false);
    this.#measure();
    return work.runDue(options);
  };

  readonly health: App["health"] = () => healthOf(this.#core, this.#work);
  readonly readTicket: App["readTicket"] = (ticket) => ticketFacts(this.#core, ticket);
  readonly deliver: App["deliver"] = async (ticket, value) => {
    const parts = storeParts();
    if (parts === undefined) throw noStore("app.deliver()");
    return parts.deliver(this.#core, ticket, value);
  };

  readonly disconnect: App["disconnect"] = (...whose) => disconnect(this.#pages.accounts, ...whose);
  readonly decide: App["decide"] = async (ticket, input) => {
    const parts = storeParts();
    if (parts === undefined) throw noStore("app.decide()");
    return parts.decide(this.#core, ticket, input);
  };

  /** A second call while the app is closing waits for the same end. */
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
    // A request after this is served by a new one.
    this.#serving = undefined;
    const entry = this.#entry;
    this.#entry = undefined;
    // Otherwise closing would wait for requests that wait for a task.
    this.#waits.abort();
    // Both at the same time, so that the worker claims nothing more while requests in progress finish.
    await Promise.all([
      this.#work?.runtime.drain(),
      ...listeners.map((listener) => listener.drain()),
    ]);
    // Their clients have hung up, or did not get a response in time.
    await this.#work?.runtime.process.drainRounds();
    entry?.close();
    const streamsEnd = serving?.close();
    await Promise.all(listeners.map((listener) => listener.close(async () => streamsEnd)));
    await streamsEnd;
    await this.#stdio?.close();
    this.#work?.outages.close();
    this.#removeSignalHandlers?.();
    this.#removeSignalHandlers = undefined;
    if (this.#ownStore === undefined) return;
    await this.#ownStore.close();
    this.#ownStore = undefined;
    this.#endGauges?.();
    this.#endGauges = undefined;
    this.#work = undefined;
  }

  #use(store: Store): void {
    const { Work: WorkOfApp } = neededParts();
    this.#work = new WorkOfApp(store, this.#core, this.#registry);
  }

  /** Throws if something needs a store and there is none. */
  #checkStore(): void {
    // With the parts of a store, the tool that relay adds is found among the others.
    if (this.#options.relay === true && storeParts() === undefined) {
      throw nowhereToPause("parley({ relay: true })");
    }
    this.#pages.checkStore(this.#registry);
  }

  /** In development on this machine, a tool that needs a store gets one. */
  async #storeByDefault(isLocal: boolean): Promise<void> {
    this.#startCheck.must("gates");
    if (this.#work !== undefined) return this.#measure();
    this.#ownStore = await storeByDefault(this.#registry, isLocal, this.#pages.isWanted);
    if (this.#ownStore === undefined) this.#pages.checkStore([]);
    else this.#use(this.#ownStore);
    this.#measure();
  }

  /** Collects figures of the tasks from now on. This is not done when the app is made, because it loads OpenTelemetry. */
  #measure(): void {
    if (this.#work === undefined) return;
    this.#endGauges ??= this.#core.telemetry.gauges(async () => (await this.health()).tasks);
  }

  async #workIfNeeded(): Promise<void> {
    const work = this.#work;
    // Even if no tool can become a task, a worker deletes what rounds leave in the store.
    if (work === undefined) return;
    await work.start();
    this.#closeBeforeExit();
  }

  /** Runs once, however many times the app is served. */
  #closeBeforeExit(): void {
    this.#removeSignalHandlers ??= closeOnSignal(this.close, this.#closingFailed);
  }

  readonly #closingFailed = (error: unknown): void =>
    this.#core.logger.error(`Closing failed: ${errorText(error)}`);

  #keys(way: string, isLocal: boolean): Keyring {
    this.#keyring ??= resolveKeys({ keys: this.#options.keys, way, isLocal });
    return this.#keyring;
  }

  #serve(): Serving {
    if (this.#serving !== undefined) return this.#serving;
    // A tool that asks nothing needs neither keys nor a store, so the app serves without them.
    this.#startCheck.now();
    this.#measure();
    const { auth, principal, lenientTaskRouting } = this.#options;
    const dialect = this.#dialect;
    this.#serving = new Serving({
      newServer: (served) => this.#newServer(false, served),
      drafts: dialect && {
        dialect,
        newServer: () => this.#newServer(true),
        tasks: this.#draftTasks,
      },
      auth: auth && namingMetadata(auth),
      derivePrincipal: principal,
      lenientTaskRouting,
      core: this.#core,
    });
    return this.#serving;
  }

  #entryTo(serving: Serving): HttpEntry {
    this.#entry ??= new HttpEntry({
      core: this.#core,
      serving,
      serverInfo: implementationOf(this.#options),
      registry: this.#registry,
      configurations: this.#configurations,
      newServer: () => this.#bareServer(),
    });
    return this.#entry;
  }

  #newServer(isDraft = false, served?: RoundResponse): McpServer {
    const server = this.#bareServer(isDraft, served);
    for (const configure of this.#configurations) configure(server);
    return server;
  }

  /** A server with this app's handlers, before the author configures it. */
  #bareServer(isDraft = false, served?: RoundResponse): McpServer {
    const server = sdkServer(this.#options, this.#core.limits.rounds);
    this.#attachments.install(server, { isDraft, served });
    return server;
  }
}
