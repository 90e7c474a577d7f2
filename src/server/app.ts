// What `parley()` takes and returns: the options of an app, and the app as its author sees it.

import type { ServerResponse } from "node:http";
import type { Implementation, McpServer, ServerNotifier } from "@modelcontextprotocol/server";
import type { Drafts } from "../protocol/draft-plug-in.ts";
import type { Store } from "../tasks/store.ts";
import type { AuditOptions, AuditSink } from "./audit/audit-record.ts";
import type { Provider } from "./accounts/account.ts";
import type { Limits } from "./limits.ts";
import type { WebHandler } from "./http/web-handler.ts";
import type { DecideInput, DecideResult } from "./approvals/decide.ts";
import type { Gate } from "./approvals/rules.ts";
import type { TicketFacts } from "./pages/ticket-facts.ts";
import type { DeliverResult } from "./pages/tickets.ts";
import type { PagesOptions } from "./pages/visitors.ts";
import type { TaskMode } from "./define/definition.ts";
import type { Prompt, PromptConfig, PromptHandler } from "./define/prompt.ts";
import type { Resource, ResourceConfig, ResourceHandler } from "./define/resource.ts";
import type { Tool, ToolConfig, ToolHandler } from "./define/tool.ts";
import type { Undo } from "./define/undo.ts";
import type { UndoInfo } from "../tasks/program.ts";
import type { InputOf, OutputOf, Schema } from "./forms/schema.ts";
import type { Listening, ListenOptions } from "./http/listen.ts";
import type { AuthConfig } from "./http/resource-metadata.ts";
import type { NodeRequest } from "./http/node.ts";
import type { Verified } from "./http/web.ts";
import type { Health } from "./ops/health.ts";
import type { Logger } from "./ops/logger.ts";
import type { PrincipalOf } from "./round/principal.ts";
import type { AttachOptions } from "./sdk/adopt.ts";
import type { HostContext } from "./tasks/after-response.ts";
import type { RunDueResult } from "../tasks/due-run.ts";
import type { RunDueOptions, WorkOptions } from "./tasks/task-engine.ts";

/** The options of `parley()`: the server's name and version as in the SDK, and more. */
export type ParleyOptions = Implementation & CommonOptions & AuthOptions;

/** The options of an app that do not concern authentication. */
export interface CommonOptions {
  /** Instructions for the client's model on how to use this server. Default: none. */
  readonly instructions?: string | undefined;
  /**
   * The keys that seal the state of calls. The first one seals; all of them open. Default: the PARLEY_KEYS variable, or, in
   * development on this machine, a generated key in `.parley/keys`. Make a key with `npx mcp-parley keys new`.
   */
  readonly keys?: string | readonly string[] | undefined;
  /**
   * Where tasks are kept. Tools with `task` or `once` need it. Default: none; in development on this machine, a SQLite file in
   * `.parley/`.
   */
  readonly store?: Store | undefined;
  /**
   * Serves clients that cannot be asked, through paused calls: the model asks in the chat and calls the tool `continue_call`
   * with the answers. Only questions with `relay: true` are asked in this way. Needs a store. Default: false.
   */
  readonly relay?: boolean | undefined;
  /**
   * The public address of this server, for links to pages. The pages of questions are below it, at `/ask/…`. Default: in
   * development where `listen` listens, and otherwise none, so that there are no pages.
   */
  readonly url?: string | URL | undefined;
  /** Who visits the pages. Required outside development if the app has `auth` and a `url`. Default: anyone who has a link. */
  readonly pages?: PagesOptions | undefined;
  /**
   * Who was asked what, who answered, and how: a function that gets each record of the audit, or options. Default: no sink.
   *
   * @example
   * ```ts
   * const app = parley({ name: "deploy", version: "1.0.0", audit: (record) => warehouse.insert(record) });
   * ```
   */
  readonly audit?: AuditSink | AuditOptions | undefined;
  /**
   * Where callers can have accounts, for `ctx.connect`: what `oauth()` of "mcp-parley/oauth" returned. Needs a store, a `url`,
   * and `auth` unless the app is served over stdio. Default: none.
   */
  readonly connections?: readonly Provider[] | undefined;
  /**
   * Serves `tasks/get`, `tasks/update` and `tasks/cancel` over HTTP without the header `Mcp-Name` too, which the tasks extension
   * requires and some clients leave out. A header that names another task is refused in any case. Proxies cannot route such
   * requests by task. It does not concern `app.attach`. Default: false.
   */
  readonly lenientTaskRouting?: boolean | undefined;
  /** Limits to change. The others keep their defaults. */
  readonly limits?: Partial<Limits> | undefined;
  /** Also serves clients that agree to a draft of the protocol. Pass `drafts()` from `mcp-parley/drafts`. Default: none. */
  readonly drafts?: Drafts | undefined;
  /** Where the server writes its log. "json": one object per line, on standard error. Default: text on standard error. */
  readonly logger?: Logger | "json" | undefined;
}

/**
 * How callers are verified. With `auth`, `principal` is required, because `authInfo.clientId` names the application, which is
 * the same for all its users.
 */
export type AuthOptions =
  | {
      /** Without `auth`, the app verifies nothing itself. A host can pass verified callers to `app.handle` or `app.node`. */
      readonly auth?: undefined;
      /** Names the user behind credentials that a host has verified. Default: the token's issuer and subject. */
      readonly principal?: PrincipalOf | undefined;
    }
  | {
      /** Verifies bearer tokens, as the SDK does. With `expectedResource`, only tokens for this server are accepted. */
      readonly auth: AuthConfig;
      /** Names the user behind the verified credentials. State is sealed for that user alone. */
      readonly principal: PrincipalOf;
    };

/** An MCP server whose tools, prompts and resources may ask questions in the middle of a call. Made by `parley()`. */
export interface App {
  /**
   * Registers a tool. The handler is one async function that may ask the caller and run steps along the way.
   *
   * @example
   * ```ts
   * const Bug = z.object({ id: z.int() });
   * app.tool("resolve_bug", { description: "Resolve a bug", inputSchema: Bug }, async ({ id }, ctx) => {
   *   const how = await ctx.choose("how", `How was #${id} resolved?`, ["Fixed", "Duplicate"]);
   *   await ctx.step("close", () => tracker.close(id, how));
   *   return `#${id} closed as ${how}`;
   * });
   * ```
   */
  readonly tool: <
    In extends Schema | undefined = undefined,
    Out extends Schema | undefined = undefined,
    const T extends TaskMode | undefined = undefined,
    const O extends boolean | undefined = undefined,
  >(
    name: string,
    config: ToolConfig<In, Out, T, O>,
    handler: ToolHandler<In, Out, T, O>,
  ) => Tool<
    In extends Schema ? InputOf<In> : Record<string, never>,
    Out extends Schema ? OutputOf<Out> : undefined
  >;
  /**
   * Registers how to undo a step of a call that did not end well: its handler threw, its client cancelled it, or its time was
   * up. `app.undo<Vm>(…)` names the type that the step returns. Calls under way are recorded with the name, so keep it
   * registered while such calls can exist.
   *
   * @example
   * ```ts
   * const deleteVm = app.undo<Vm>("delete_vm", ({ value, idempotencyKey }) =>
   *   cloud.delete(value?.id ?? idempotencyKey),
   * );
   * app.tool("create_vm", { description: "Make a machine", task: "optional" }, async (ctx) => {
   *   await ctx.background();
   *   const vm = await ctx.step("create", ({ idempotencyKey }) => cloud.create(idempotencyKey), { undo: deleteVm });
   *   await ctx.step("attach", () => cloud.attach(vm.id));
   *   return vm.id;
   * });
   * ```
   */
  readonly undo: <V = unknown>(name: string, run: (undone: UndoInfo<V>) => unknown) => Undo<V>;
  /** Registers a prompt. Its handler returns text or messages, and may ask questions first. */
  readonly prompt: <In extends Schema | undefined = undefined>(
    name: string,
    config: PromptConfig<In>,
    handler: PromptHandler<In>,
  ) => Prompt<In extends Schema ? InputOf<In> : Record<string, never>>;
  /** Registers a resource under a fixed URI or a template such as `notes://{id}`, whose variables the handler gets. */
  readonly resource: <const U extends string>(
    name: string,
    uri: U,
    config: ResourceConfig<U>,
    handler: ResourceHandler<U>,
  ) => Resource;

  /**
   * Serves over HTTP, by default at `/mcp` on the loopback address and port 3000. Pass port 0 for any free port. It also runs
   * tasks if the app has a store, and logs one line with the address.
   *
   * @example
   * ```ts
   * const { url } = await app.listen(3000);
   * await app.listen(8080, { host: "0.0.0.0", allowedHosts: ["tools.example.com"] });
   * ```
   */
  readonly listen: (port?: number, options?: ListenOptions) => Promise<Listening>;
  /** Serves over standard input and output, for a client that starts the server itself. It also runs tasks if the app has a store. */
  readonly stdio: () => Promise<void>;
  /**
   * Serves one web-standard request. Takes whatever a platform passes after the request, and uses `waitUntil` of the last
   * argument if it has one: after a response that created or answered a task, it runs what is due, for up to 25 seconds.
   *
   * @example
   * ```ts
   * export default { fetch: app.fetch };
   * ```
   */
  readonly fetch: {
    (request: Request, host: HostContext): Promise<Response>;
    // The last one, because that is what `Parameters` reads, and what handlers of platforms are compared with.
    (request: Request): Promise<Response>;
  };
  /** Serves one request for a host that has verified the caller, or parsed the body, itself. */
  readonly handle: (request: Request, verified: Verified) => Promise<Response>;
  /** Serves one request of Express, Fastify or `node:http`. It uses `req.auth` and `req.body` if middleware has set them. */
  readonly node: (req: NodeRequest, res: ServerResponse) => Promise<void>;
  /**
   * Adds the tools, prompts and resources to your own SDK server, before it connects, and returns that server. What the
   * server has already keeps working. The SDK serves subscriptions there and does not know tasks, so clients poll the
   * app's tasks.
   *
   * With `adopt`, tools of that server that await the SDK's own `elicitInput`, `requestSampling` or `listRoots` also work with
   * 2026-07-28 clients. In `app.onServer`, where the app's own tools are there already, it only adopts.
   *
   * @example
   * ```ts
   * const handler = createMcpHandler(() => app.attach(existingServer(), { adopt: ["book"] }));
   * ```
   */
  readonly attach: (server: McpServer, options?: AttachOptions) => McpServer;
  /** Calls the function with each SDK server that is made to serve this app, so that you can add what Parley does not wrap, such as subscriptions. It is not called for `attach`. */
  readonly onServer: (configure: (server: McpServer) => void) => void;
  /**
   * Notifies clients that a list or a resource has changed: 2026-07-28 subscribers and open 2025-11-25 sessions of `listen`,
   * `fetch`, `node` and `handle`. Over stdio and `attach`, use the SDK server's own methods.
   */
  readonly notify: ServerNotifier;
  /**
   * Runs what is due, then returns: for cron jobs, queues and functions, where no process stays to run tasks. A step that
   * is still running when the time is up is cut off and runs again next time. After five times in a row the task fails.
   *
   * @example
   * ```ts
   * const { ran, nextDueAt } = await app.runDue({ budgetMs: 25_000 });
   * ```
   */
  readonly runDue: (options: RunDueOptions) => Promise<RunDueResult>;
  /**
   * Runs tasks in this process. `listen` and `stdio` do so by themselves; `fetch`, `node` and `attach` do not. If the process
   * runs tasks already, this returns the same worker, so that you can stop it.
   *
   * @example
   * ```ts
   * const worker = await app.work();
   * await worker.stop(); // the app goes on serving
   * ```
   */
  readonly work: (options?: WorkOptions) => Promise<{
    /**
     * Stops running tasks in this process, as SIGTERM does, and releases them to other workers. The app goes on serving.
     * `app.work()` starts a worker again.
     */
    readonly stop: () => Promise<void>;
    /** Does the same as `app.close()`. */
    readonly close: () => Promise<void>;
  }>;
  /** Reports whether this process can serve requests, and the state of the tasks. Never rejects. */
  readonly health: () => Promise<Health>;

  /**
   * Serves the pages of questions and sign-ins (`/ask/…` and `/oauth/…` below `parley({ url })`), for a host framework.
   * `listen` serves them by itself.
   *
   * @example
   * ```ts
   * express().use(app.pages.node).post("/mcp", app.node);
   * new Hono().get("/ask/*", (c) => app.pages(c.req.raw)).post("/ask/*", (c) => app.pages(c.req.raw));
   * ```
   */
  readonly pages: WebHandler;
  /** Opens a ticket, in the route of the page that got it. Throws `ParleyError` with the code "bad_ticket" if it is forged or expired. */
  readonly readTicket: (ticket: string) => TicketFacts;
  /**
   * Adds an operator's rule over many tools: before such a tool runs, the caller is asked, or a group with `by`. A call must
   * pass every gate that matches it, in the order in which the gates were added, and then the tool's own `approve`. A gate
   * does not apply to calls that are under way when it is deployed.
   *
   * @example
   * ```ts
   * app.gate("deletions", { tools: ["delete_*"], message: ({ tool, args }) => `Run ${tool} on ${String(args["name"])}?` });
   * ```
   */
  readonly gate: (name: string, gate: Gate) => void;
  /**
   * Records what one person decided about a `ctx.approve` by a group, or about a gate. Check who the person is before you
   * call it. The first decision of a person counts, and one refusal ends it.
   *
   * @example
   * ```ts
   * const { status } = await app.decide(ticket, { who: user.id, groups: user.groups, approve: true });
   * if (status === "counted") return page("Thank you. Someone else has to agree, too.");
   * ```
   */
  readonly decide: (ticket: string, decision: DecideInput) => Promise<DecideResult>;
  /**
   * Answers any question that has a ticket, except an approval: a `ctx.waitFor`, and a `ctx.openUrl` with a schema. The first answer counts. The
   * ticket proves which question is meant, not who answers, so check first whether this person may.
   *
   * The value is checked with the question's schema. If it does not fit, the status is "invalid", with a reason to show to the
   * person, and the question stays open.
   *
   * @example
   * ```ts
   * const outcome = await app.deliver(ticket, { isApproved: true, by: user.name });
   * if (outcome.status === "invalid") return page(`Please try again: ${outcome.reason}`);
   * if (outcome.status !== "delivered") return page("This request has already been decided, or is over.");
   * ```
   */
  readonly deliver: (ticket: string, value: unknown) => Promise<DeliverResult>;
  /**
   * Deletes a person's tokens of a provider, and revokes them if the provider can. False: there were none.
   *
   * @example
   * ```ts
   * await app.disconnect(user.id, github);
   * ```
   */
  readonly disconnect: (principal: string, provider: Provider) => Promise<boolean>;
  /**
   * Stops taking requests, waits for those in progress, and releases running tasks to other workers. A round whose steps have
   * run ends before its next step, and its client brings the state to another instance, which goes on. A store that you passed
   * in stays open, because other apps may use it.
   */
  readonly close: () => Promise<void>;
}
