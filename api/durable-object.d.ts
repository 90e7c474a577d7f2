import type { AuthInfo } from '@modelcontextprotocol/server';
import type { ContentBlock } from '@modelcontextprotocol/server';
import type { CreateMessageRequestParams } from '@modelcontextprotocol/server';
import type { CreateMessageResult } from '@modelcontextprotocol/server';
import type { CreateMessageResultWithTools } from '@modelcontextprotocol/server';
import type { GetPromptResult } from '@modelcontextprotocol/server';
import type { Icon } from '@modelcontextprotocol/server';
import type { Implementation } from '@modelcontextprotocol/server';
import type { IncomingMessage } from 'node:http';
import type { InputResponses } from '@modelcontextprotocol/server';
import type { LoggingLevel } from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { ResourceMetadata } from '@modelcontextprotocol/server';
import type { Root } from '@modelcontextprotocol/server';
import type { ScopeChallengeHandler } from '@modelcontextprotocol/server';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import type { ServerResponse } from 'node:http';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { ToolAnnotations } from '@modelcontextprotocol/server';

/** What the page and the console show beside the question. At most 4 KiB. */
declare type About = Readonly<Record<string, string | number | boolean>>;

/** The caller's account at a provider. */
declare interface Account {
    /** The name of the provider. */
    readonly provider: string;
    /**
     * Returns the access token, which is renewed if necessary. Call it inside a step, and do not return the token from there:
     * what a step returns is recorded. Rejects with `ParleyError` ("not_connected") if the account can no longer be used.
     */
    readonly accessToken: () => Promise<string>;
}

/** The type of the answer to a question with this schema. */
declare type AnswerOf<S> = S extends FormJson ? FormValue<S> : OutputOf<S>;

/** An MCP server whose tools, prompts and resources may ask questions in the middle of a call. Made by `parley()`. */
export declare interface App {
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
    readonly tool: <In extends Schema | undefined = undefined, Out extends Schema | undefined = undefined, const T extends TaskMode | undefined = undefined, const O extends boolean | undefined = undefined>(name: string, config: ToolConfig<In, Out, T, O>, handler: ToolHandler<In, Out, T, O>) => Tool<In extends Schema ? InputOf<In> : Record<string, never>, Out extends Schema ? OutputOf<Out> : undefined>;
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
    readonly prompt: <In extends Schema | undefined = undefined>(name: string, config: PromptConfig<In>, handler: PromptHandler<In>) => Prompt<In extends Schema ? InputOf<In> : Record<string, never>>;
    /** Registers a resource under a fixed URI or a template such as `notes://{id}`, whose variables the handler gets. */
    readonly resource: <const U extends string>(name: string, uri: U, config: ResourceConfig<U>, handler: ResourceHandler<U>) => Resource;
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

/** An approval that was given. */
declare interface Approval {
    /** Who agreed, in the order in which they did. */
    readonly decisions: readonly Decision[];
}

/** When to ask, whom, and what. `message` and `about` must depend on what they get alone: they are computed in every round. */
declare interface ApprovalRule<Args extends readonly unknown[], By> {
    /** What is asked. A function may return undefined: this call needs no approval. */
    readonly message: string | ((...args: Args) => string | undefined);
    /** What is shown beside the question. Default: nothing. */
    readonly about?: About | ((...args: Args) => About) | undefined;
    /** Passes the address of the page, or the ticket, on to the group. */
    readonly notify?: ((notice: Notice, ...args: Args) => unknown) | undefined;
    /** How long to wait, in milliseconds. The call then ends. Default: no limit. */
    readonly timeoutMs?: number | undefined;
    /** How many members of the group must agree. Default: 1. */
    readonly of?: number | undefined;
    /** The group whose members decide. Default: the caller decides. */
    readonly by?: By | undefined;
}

/** `ctx.approve` of a tool without `task`. */
declare type ApproveByCaller = (key: string, message: string, options?: ApproveOptions & {
    /** Needs `task: "optional"` in the tool's config. */
    readonly by?: Missing<NeedsTask> | undefined;
}) => Question<Approval>;

/** The options of `ctx.approve`, if the caller approves. */
declare interface ApproveOptions {
    /** What is shown beside the question, such as `{ Amount: "$500", To: "ACME" }`. At most 4 KiB. Default: nothing. */
    readonly about?: About | undefined;
    /** How long to wait, in milliseconds. `approve` then throws `UnansweredError` with the reason "timed_out". Default: no limit. */
    readonly timeoutMs?: number | undefined;
    /**
     * If the client offers nothing better, the model may ask in the chat and pass the answer on. The model's word is then the
     * only proof, so this has no effect over HTTP for callers who are not verified. Default: false.
     */
    readonly relay?: boolean | undefined;
}

/**
 * `unknown` if a form can show the schema. Otherwise a type that no schema has and that says why, for the compiler's message.
 *
 * It sees TypeScript types only. So `string[]` passes, because the choices of a list may be computed; if the list is
 * empty, the question fails when it is asked.
 */
declare type Askable<S> = S extends Schema ? AskableInput<InputOf<S>> : unknown;

/** `Askable` for the type that a schema accepts. */
declare type AskableInput<T> = IsField<T> extends true ? unknown : [T] extends [Opaque] ? NotAskable<"it is not a string, number, boolean, enum, list of enum strings or object of these"> : [BadField<T>] extends [never] ? unknown : NotAskable<`field "${BadField<T> & string}" is not a string, number, boolean, enum or list of enum strings`>;

/** What `app.attach` does with the server's own tools. */
declare interface AttachOptions {
    /**
     * The server's own tools, by name (`*` stands for any text), whose questions to the SDK reach 2026-07-28 clients in
     * rounds. Such a tool runs again from its beginning in each round, with the answers so far. Default: none.
     */
    readonly adopt?: readonly string[] | undefined;
    /** Runs each round of the adopted tools once, as in a tool's config. Needs a store. Default: false. */
    readonly once?: boolean | undefined;
}

/** How `ctx.background` moves a call to the background. */
declare interface BackgroundOptions {
    /** How long the task is kept, in milliseconds from its creation. Default: the app's `limits.taskTtlMs`. */
    readonly ttlMs?: number | undefined;
}

/** The names of the members that a form cannot show. */
declare type BadField<T> = T extends object ? {
    [K in keyof T]-?: unknown extends T[K] ? never : IsField<T[K]> extends true ? never : K;
}[keyof T] : never;

/** Content blocks as they are produced. */
declare type BlockStream = ReadableStream<ContentBlock> | AsyncIterable<ContentBlock>;

/** What the body of a `ctx.stream` returns: content blocks with `blocks: true`, and otherwise text. */
declare type BodyOf<B extends boolean> = [B] extends [true] ? BlockStream : TextStream;

/** Who calls what. */
declare interface Caller {
    /** The name of the tool. */
    readonly tool: string;
    /** The user who is calling. Undefined without credentials. */
    readonly principal: string | undefined;
    /** The verified credentials of the caller. Undefined without authentication, and in a task. */
    readonly authInfo: AuthInfo | undefined;
}

/** An approval that is worded otherwise than the person saw it. Show it, and decide with this ticket. */
declare interface ChangedApproval {
    /** What is asked now. */
    readonly message: string;
    /** What is shown beside it now. */
    readonly about?: About | undefined;
    /** The ticket for this wording. */
    readonly ticket: string;
}

/** The options of `ctx.checkpoint`. */
declare interface CheckpointOptions {
    /** How long a round must have been running before a checkpoint ends it, in milliseconds. Default: 0. */
    readonly afterMs?: number | undefined;
}

/** One choice of `ctx.choose` with a title. */
declare interface Choice<V extends string = string> {
    /** What `ctx.choose` returns. */
    readonly value: V;
    /** What the person sees. */
    readonly title: string;
}

/** The options of `ctx.confirm`. */
declare interface ConfirmOptions extends TimeLimit {
    /**
     * If the client offers nothing better, the model may ask in the chat and pass the answer on. The model's word is then the
     * only proof, so this has no effect over HTTP for callers who are not verified. Default: false.
     */
    readonly relay?: boolean | undefined;
}

/** The options of `ctx.connect`. */
declare interface ConnectOptions {
    /** What the person is told. Default: a sentence with the provider's title. */
    readonly message?: string | undefined;
    /**
     * The key of the question. Default: the provider's name. Pass another one to ask again in the same call, for an account
     * that can no longer be used.
     */
    readonly key?: string | undefined;
    /** How long to wait for the person, in milliseconds. Default: without limit. */
    readonly timeoutMs?: number | undefined;
}

/**
 * What every handler gets as `ctx`: tools, prompts and resources. Write helper functions against this type.
 *
 * Each operation has a key, which must be unique within the call. A handler runs again from its beginning in each round, and
 * the key is how an operation finds its recorded outcome. Every member can be destructured.
 */
declare interface Context {
    /**
     * Asks the person with a form. Without a schema the form is one line of text, and the answer is a string. A schema of one
     * value (enum, number, string, list) gives that value; an object schema gives the object.
     *
     * Throws `UnansweredError` if the person declines or cancels, if the time limit passes, or if this client cannot
     * reach the person. An answer that does not fit the schema is asked for again.
     *
     * @example
     * ```ts
     * const name = await ctx.ask("name", "What is the new server called?");
     * const of = await ctx.ask("of", "Of which bug is it a duplicate?", z.int().positive());
     * ```
     */
    readonly ask: <const S extends Schema | FormJson | undefined = undefined>(key: string, message: string, schema?: S & Askable<S>, options?: QuestionOptions) => Question<S extends undefined ? string : AnswerOf<S>>;
    /**
     * Asks for a yes. True only if the person accepts; declining and cancelling are false.
     *
     * @example
     * ```ts
     * if (!(await ctx.confirm("sure", `Delete ${name} and its backups?`))) return "Nothing was deleted.";
     * ```
     */
    readonly confirm: (key: string, message: string, options?: ConfirmOptions) => Question<boolean>;
    /**
     * Goes on only if the caller agrees. A refusal throws `UnansweredError` with the reason "declined". In a tool with `task`,
     * a group can decide: see `by` in `GroupApproveOptions`.
     *
     * @example
     * ```ts
     * await ctx.approve("release", `Release ${version}?`, { about: { Commits: 12 } });
     * ```
     */
    readonly approve: (key: string, message: string, options?: ApproveOptions) => Question<Approval>;
    /**
     * Asks for one of several values. The list may be computed, and each value can have a title to show in its place. Throws
     * `UnansweredError` as `ask` does.
     *
     * @example
     * ```ts
     * const how = await ctx.choose("how", `How was #${id} resolved?`, ["Fixed", "Duplicate"]);
     * ```
     */
    readonly choose: <const V extends string>(key: string, message: string, choices: readonly (V | Choice<V>)[], options?: QuestionOptions) => Question<V>;
    /** Asks with a form, and returns the action with the content instead of throwing when the person declines or cancels. */
    readonly elicit: <const S extends Schema | FormJson>(key: string, params: ElicitParams<S & Askable<S>>, options?: QuestionOptions) => Question<ElicitOutcome<AnswerOf<S>>>;
    /**
     * Sends the person to a web page. Accepting only means "I will open it"; pass `until` to wait until the person is done there.
     * If the URL is a function, it gets a ticket to put into the address, such as OAuth's `state`. The page's route opens the
     * ticket with `app.readTicket`. With a `schema`, the question waits for the value that the page delivers.
     *
     * @example
     * ```ts
     * const { account } = await ctx.openUrl("bank", "Choose an account", (ticket) => `${site}/accounts?ticket=${ticket}`, {
     *   schema: z.object({ account: z.string() }), // app.deliver(ticket, { account }) in the page's route
     * });
     * ```
     */
    readonly openUrl: OpenUrl;
    /**
     * The caller's account at a provider of `parley({ connections })`. Asks only if there is no usable token: the person signs in
     * on a page. Connecting the same provider again in one call gives the same account.
     *
     * @example
     * ```ts
     * const account = await ctx.connect(github);
     * await ctx.step("star", async () => star(repository, await account.accessToken()));
     * ```
     */
    readonly connect: (provider: Provider, options?: ConnectOptions) => Question<Account>;
    /**
     * Asks the client's language model. A string is sent as one user message.
     *
     * The specification has deprecated sampling; clients support it until at least 2027-07-28.
     */
    readonly sample: (key: string, prompt: string | SampleParams, options?: TimeLimit) => Question<Sample>;
    /**
     * Asks the client for its root folders. The key defaults to "roots".
     *
     * The specification has deprecated roots; clients support them until at least 2027-07-28.
     */
    readonly roots: (key?: string, options?: TimeLimit) => Question<Root[]>;
    /**
     * Runs the body once in a call and records what it returned or threw. Later rounds get the recorded outcome and do not run
     * the body. The value passes through JSON, on the first run as well. A body that throws makes the step throw a `StepError`.
     *
     * If the process dies before the outcome is recorded, the body runs again under the same `idempotencyKey`. Pass that key to
     * services that accept one.
     *
     * @example
     * ```ts
     * const order = await ctx.step("order", ({ idempotencyKey, signal }) =>
     *   shop.order({ sku, idempotencyKey }, { signal }),
     * );
     * ```
     */
    readonly step: <T>(key: string, body: (step: StepInfo) => T | Promise<T>, options?: StepOptions) => Promise<Stored<T>>;
    /**
     * A step whose text reaches the client while the body produces it. The body returns text as it comes: it is an
     * `async function*`, or returns a model's stream or the body of a `fetch` response. The value is the joined text, which is
     * recorded when the body ends. With `blocks: true` the body yields content blocks, and the value is the list of them.
     *
     * A client that cannot show parts gets none, and everything else is the same. `ctx.can("stream")` says whether it
     * can. Return a result that is complete in itself, because the parts are only a preview of it. A failed attempt takes
     * its parts back. Without a store, a long text and a question after it can exceed `limits.tokenBytes`.
     *
     * @example
     * ```ts
     * const text = await ctx.stream("draft", ({ signal }) => model.write(`Notes on ${topic}`, { signal }));
     * ```
     */
    readonly stream: <const B extends boolean = false>(key: string, body: (step: StepInfo) => BodyOf<B> | Promise<BodyOf<B>>, options?: StreamOptions<B>) => Promise<B extends true ? ContentBlock[] : string>;
    /**
     * A stream of one piece: a text or a content block that reaches the client now. It is recorded, as every stream is.
     *
     * @example
     * ```ts
     * await ctx.emit("chart", { type: "image", data, mimeType: "image/png" });
     * ```
     */
    readonly emit: (key: string, piece: string | ContentBlock) => Promise<void>;
    /**
     * Ends this round if it has run a step, so that the recorded steps are safe with the client and any instance can continue.
     * Otherwise it does nothing.
     */
    readonly checkpoint: (options?: CheckpointOptions) => Promise<void>;
    /**
     * False in calls that had passed this place before the code asked; true in all others. Put a step behind it that you add
     * or remove while calls are under way: they keep their old path, and new calls take the new one. Its key has nothing to
     * do with the keys of steps and questions, and it may be asked repeatedly.
     *
     * @example
     * ```ts
     * if (await ctx.patched("vat")) await ctx.step("vat", () => tax.register(order));
     * await ctx.step("charge", ({ idempotencyKey }) => bank.charge(order, idempotencyKey));
     * ```
     */
    readonly patched: (key: string) => Promise<boolean>;
    /** Reports progress to the client. Does nothing while the run replays what has happened already. */
    readonly progress: (done: number, total?: number, message?: string) => void;
    /**
     * Sends a log message to the client. In a task it goes to the server's log instead, at the same level, and never to the
     * client. Does nothing while the run replays what has happened already.
     */
    readonly log: (level: LoggingLevel, data: unknown) => void;
    /**
     * Whether this client supports this. An extension is named by its id. "ask" says whether a question with
     * `relay: true` can reach the person. The result is the same in every round of a call.
     */
    readonly can: (what: RequiredAbility | ExtensionId) => boolean;
    /**
     * The protocol version of the first request. It stays the same in every round and in the task. A call that began under
     * version 0.1.0 of Parley says "2026-07-28". Clients of versions before 2025-11-25 count as those of 2025-11-25.
     */
    readonly era: Era;
    /** The user who is calling, or undefined without credentials. It is the same string in each round, and in the task. */
    readonly principal: string | undefined;
    /** The id of this call: 32 hexadecimal digits, the same in each round and in the task. */
    readonly callId: string;
    /** Aborts when the run is stopped from outside: the client cancels, or the server shuts down. It does not abort when the call waits for an answer. */
    readonly signal: AbortSignal;
    /** Registers a function that runs when this run ends, whether it returned, failed or waits for an answer. Release connections and locks there. */
    readonly onRunEnd: (release: () => void) => void;
    /** The request of this round. Undefined in a task, so read what the task needs from it before `background()`. */
    readonly request: RequestFacts | undefined;
    /** For handlers that return `inputRequired(…)`: all answers so far, in the form that the SDK's `acceptedContent` and `inputResponse` read. */
    readonly answers: InputResponses;
    /** For handlers that return `inputRequired(…)`: the state they returned last, checked with the schema. Undefined in the first round. */
    readonly state: <S extends Schema>(schema: S) => OutputOf<S> | undefined;
}

/** The `ctx` of a tool with this `task` and this `once` in its config. */
declare type ContextFor<T, O> = [T] extends [TaskMode] ? TaskContext : [O] extends [true] ? OnceContext : ToolContext;

/** One person's decision, for `app.decide`. */
declare interface DecideInput {
    /**
     * The person: the same text that `parley({ principal })` gives for their calls. It keeps people from deciding on their own
     * requests, or twice.
     */
    readonly who: string;
    /** The groups that the person belongs to now. */
    readonly groups: readonly string[];
    /** Whether the person agrees. */
    readonly approve: boolean;
    /** Why, for whoever reads it later. At most 2,000 characters. */
    readonly note?: string | undefined;
}

/** What became of a decision. */
declare interface DecideResult {
    /**
     * "counted": more people must agree. "approved" and "declined": this decision completed the outcome. "already_decided": this
     * person has decided before, or the outcome was complete. "not_allowed": the caller, or someone outside the group. "changed":
     * something else is asked now than when the ticket was made, because another version of the app runs; see `asked`. "gone":
     * the call has ended, or the time limit of the approval has passed.
     */
    readonly status: ("counted" | "approved" | "declined") | ("already_decided" | "not_allowed" | "changed" | "gone");
    /** What has been decided so far. It is empty for people who may not decide, and who come too late and have not decided. */
    readonly decisions: readonly Decision[];
    /** Only with the status "changed". */
    readonly asked?: ChangedApproval | undefined;
}

/** What one person decided about an approval. */
declare interface Decision {
    /** The person, as `pages.authorize` or `app.decide` names them. For an approval by the caller: the caller. */
    readonly who: string;
    /** Whether the person agreed. */
    readonly isApproved: boolean;
    /** When. */
    readonly at: Date;
    /** How the decision came. "link": on the page. "delivery": by `app.decide`. The others are the ways of a question. */
    readonly via: "form" | "url" | "app" | "relay" | "link" | "delivery" | "console";
    /** What the person wrote beside it. */
    readonly note?: string | undefined;
}

/** What became of a delivery. */
declare type DeliverResult = {
    /**
     * "delivered": this answer counts. "already_answered": another one came first. "gone": the call has ended, or the time
     * limit of the question has passed.
     */
    readonly status: "delivered" | "already_answered" | "gone";
} | {
    /** The value does not fit the schema of the question, which stays open. */
    readonly status: "invalid";
    /** What is wrong with the value. */
    readonly reason: string;
};

/**
 * Keeps tasks in Durable Objects of Cloudflare, which also run them: see `taskObject`.
 *
 * @param namespace - Returns the binding to the class that extends `taskObject(app)`. It is a function, because a binding
 *   cannot be used while the module loads.
 * @param options - Which object keeps what, if one is not enough.
 * @example
 * ```ts
 * import { env } from "cloudflare:workers";
 * import { parley } from "mcp-parley";
 * import { durableObjectStore } from "mcp-parley/durable-object";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: durableObjectStore(() => env.TASKS) });
 * ```
 */
export declare function durableObjectStore(namespace: () => Namespace, { objectFor }?: DurableObjectStoreOptions): Store;

/** The options of `durableObjectStore`. */
export declare interface DurableObjectStoreOptions {
    /**
     * The name of the object that keeps what belongs to this caller, such as one for each tenant. The principal is undefined for
     * callers without credentials. The same caller always has to get the same name. Ids of calls and tasks contain a digest of
     * it. Default: one object keeps everything.
     */
    readonly objectFor?: ((principal: string | undefined) => string) | undefined;
}

/** What `ctx.elicit` returns. */
declare type ElicitOutcome<T> = {
    /** The person answered. */
    readonly action: "accept";
    /** The answer, checked with the schema. */
    readonly content: T;
} | {
    /** The person declined, or closed the form. */
    readonly action: "decline" | "cancel";
};

/** What `ctx.elicit` asks. */
declare interface ElicitParams<S> {
    /** The question to show. */
    readonly message: string;
    /** The schema of the form. */
    readonly requestedSchema: S;
}

/** The protocol version that a call is made in. Written out, because this type is public and the constants are not. */
declare type Era = "2026-07-28" | "2026-06-XX" | "2025-11-25";

/** The id of an extension: a prefix and a name, such as "io.example/ext". */
declare type ExtensionId = `${string}/${string}`;

/** The value of one field. */
declare type FieldValue<F> = F extends Readonly<Record<"enum", readonly (infer E)[]>> ? E : F extends Readonly<Record<"oneOf", readonly Readonly<Record<"const", infer E>>[]>> ? E : F extends Readonly<Record<"items", infer I>> ? ItemValue<I>[] : F extends Readonly<Record<"type", "string">> ? string : F extends Readonly<Record<"type", "number" | "integer">> ? number : F extends Readonly<Record<"type", "boolean">> ? boolean : never;

/** The same type, shown by editors as one object. */
declare type Flat<T> = {
    [K in keyof T]: T[K];
};

/** A field of a form, as on the wire. Where a question takes a schema, you can also pass a literal of this type. */
declare type FormField = {
    /** The label of the field. */
    readonly title?: string | undefined;
    /** A hint for the person who fills it in. */
    readonly description?: string | undefined;
} & ({
    /** A line of text, or one choice of a list. */
    readonly type: "string";
    /** The choices, without titles. */
    readonly enum?: readonly string[] | undefined;
    /** The choices, with titles. */
    readonly oneOf?: readonly TitledChoice[] | undefined;
    /** The form that the text must have. */
    readonly format?: FormFormat | undefined;
    /** The shortest text allowed, in characters. */
    readonly minLength?: number | undefined;
    /** The longest text allowed, in characters. */
    readonly maxLength?: number | undefined;
    /** What the field contains at first. */
    readonly default?: string | undefined;
} | {
    /** A number, or a whole number. */
    readonly type: "number" | "integer";
    /** The smallest number allowed. */
    readonly minimum?: number | undefined;
    /** The largest number allowed. */
    readonly maximum?: number | undefined;
    /** What the field contains at first. */
    readonly default?: number | undefined;
} | {
    /** Yes or no. */
    readonly type: "boolean";
    /** What the field contains at first. */
    readonly default?: boolean | undefined;
} | {
    /** Several choices of a list. */
    readonly type: "array";
    /** The choices, with or without titles. */
    readonly items: {
        /** Always "string". */
        readonly type: "string";
        /** The choices, without titles. */
        readonly enum: readonly string[];
    } | {
        /** The choices, with titles. */
        readonly anyOf: readonly TitledChoice[];
    };
    /** The smallest number of choices. */
    readonly minItems?: number | undefined;
    /** The largest number of choices. */
    readonly maxItems?: number | undefined;
    /** What is chosen at first. */
    readonly default?: readonly string[] | undefined;
});

/** A form that a text field can require. Dates and times are written as in RFC 3339. */
declare type FormFormat = "email" | "uri" | "date" | "date-time";

/** A form that the client shows to its user. */
declare interface FormInputRequest {
    /** Always `"elicitation/create"`. */
    readonly method: "elicitation/create";
    /** What to show. */
    readonly params: {
        /** Tells a form from a page. */
        readonly mode: "form";
        /** The text above the form. */
        readonly message: string;
        /** The fields of the form. */
        readonly requestedSchema: FormJson;
    };
}

/** A form, as on the wire. Where a question takes a schema, you can also pass a literal of this type. */
declare interface FormJson {
    /** Always "object". */
    readonly type: "object";
    /** The fields by name, in the order that people see them. */
    readonly properties: {
        readonly [name: string]: FormField;
    };
    /** The names of the fields that must be filled in. Default: none. */
    readonly required?: readonly string[] | undefined;
}

/** The answer to a form that is written out as a literal. */
declare type FormValue<S extends FormJson> = Flat<{
    -readonly [K in keyof S["properties"] as K extends PresentFields<S> ? K : never]: FieldValue<S["properties"][K]>;
} & {
    -readonly [K in keyof S["properties"] as K extends PresentFields<S> ? never : K]?: FieldValue<S["properties"][K]>;
}>;

/** A full result of a tool: the SDK's `CallToolResult` without its index signature, which gives readable compiler errors. */
declare interface FullResult {
    /** What the model reads: text, images and other blocks. */
    content: ContentBlock[];
    /** The structured content, which the `outputSchema` checks. */
    structuredContent?: unknown;
    /** True if the call failed. Default: false. */
    isError?: boolean | undefined;
    /** Metadata that is sent with the result. */
    _meta?: Record<string, unknown> | undefined;
}

/** An operator's rule over many tools. */
declare type Gate = {
    /** The names of the tools. `*` stands for any text. */
    readonly tools: readonly string[];
} & ApprovalRule<[call: GatedCall], string>;

/** A call as a gate sees it. */
declare interface GatedCall extends Caller {
    /** The arguments, as the tool's schema returned them. */
    readonly args: Readonly<Record<string, unknown>>;
}

/** The options of `ctx.approve`, if a group approves. */
declare interface GroupApproveOptions extends Omit<ApproveOptions, "relay"> {
    /** The group whose members decide, as `pages.authorize` or `app.decide` names it. The caller never decides. */
    readonly by: string;
    /** How many of them must agree. One refusal ends it. Default: 1. */
    readonly of?: number | undefined;
    /**
     * Passes the address of the page, or the ticket, on to the group. It runs once, as a step does. If it throws, it is called
     * again, twice at most, with the same `idempotencyKey`. Default: nobody is told, and the console shows the approval.
     */
    readonly notify?: ((notice: Notice) => unknown) | undefined;
}

/** The parameters of a handler. As in the SDK, a handler without a schema gets `ctx` alone. */
declare type HandlerArgs<In, Ctx> = In extends Schema ? [args: OutputOf<In>, ctx: Ctx] : [ctx: Ctx];

/** The types that a handle carries for the test kit. */
declare interface HandleTypes<In, Out = unknown> {
    /** The type of the arguments. */
    readonly in: In;
    /** The type of the structured result. */
    readonly out: Out;
}

/** What `app.health()` reports. */
declare interface Health {
    /** Whether to send requests here: keys are configured, and the store, if there is one, works. */
    readonly ready: boolean;
    /** What is wrong, in sentences. Some problems, such as a missing worker, do not make the process unready. */
    readonly problems: readonly string[];
    /** The state of the tasks. Undefined without a store, or if it cannot be read. */
    readonly tasks: TaskHealth | undefined;
}

/**
 * What keeps an instance alive after its response: the `ctx` of Workers, the `context` of Netlify, `{ waitUntil }` on Vercel.
 *
 * @example
 * ```ts
 * import { waitUntil } from "@vercel/functions";
 *
 * export const POST = (request: Request) => app.fetch(request, { waitUntil });
 * ```
 */
declare interface HostContext {
    /** Keeps the instance alive until the promise settles. */
    waitUntil(promise: Promise<unknown>): unknown;
}

/** What a schema accepts. */
declare type InputOf<S> = S extends Schema ? StandardSchemaWithJSON.InferInput<S> : never;

/** Something that a server asks of the client. */
declare type InputRequest = FormInputRequest | UrlInputRequest | SamplingInputRequest | RootsInputRequest;

/** What a handler returns to be called again with answers. Make it with `inputRequired()`. */
declare interface InputRequiredResult {
    /** Tells it from a finished result, as on the wire. */
    readonly resultType: "input_required";
    /** What the client is asked, by key. */
    readonly inputRequests?: {
        readonly [key: string]: InputRequest;
    } | undefined;
    /** The handler's own state. Read it with `ctx.state(schema)`. */
    readonly "~state": unknown;
}

/** Whether one field of a form can hold this type. */
declare type IsField<T> = [T] extends [string | number | boolean | null | undefined] ? true : [T] extends [readonly string[] | null | undefined] ? true : false;

/** The value of one item of a list. */
declare type ItemValue<I> = I extends Readonly<Record<"enum", readonly (infer E)[]>> ? E : I extends Readonly<Record<"anyOf", readonly Readonly<Record<"const", infer E>>[]>> ? E : never;

/** A value that JSON can hold. */
declare type Json = string | number | boolean | null | readonly Json[] | {
    readonly [name: string]: Json | undefined;
};

/** One URI of a template, for the list of resources. */
declare interface ListedResource {
    /** The URI. */
    readonly uri: string;
    /** A name to show to people. */
    readonly name: string;
}

/** A server that `app.listen` has started. */
declare interface Listening {
    /** The full URL for clients, with the port and the path. */
    readonly url: string;
    /** Accepts no new requests, waits up to 10 seconds for those in flight, then closes. */
    readonly close: () => Promise<void>;
}

/** Options of `app.listen`. */
declare interface ListenOptions {
    /** The address to listen on. Default: the loopback address, `127.0.0.1`. */
    readonly host?: string | undefined;
    /** The path that MCP is served at. Default: `/mcp`. */
    readonly path?: string | undefined;
    /** Host names that clients may use, besides those of the loopback address. Default: none. */
    readonly allowedHosts?: readonly string[] | undefined;
    /** Host names of web pages that may call the server. Default: the loopback names and `allowedHosts`. */
    readonly allowedOrigins?: readonly string[] | undefined;
    /** Whether this process also runs tasks. With `false` it only serves requests. Default: `true`. */
    readonly worker?: boolean | undefined;
    /**
     * Routes of your own, by path. `"/files/*"` takes everything below. Host and Origin are checked as for MCP. Default: none.
     */
    readonly routes?: Routes | undefined;
    /** The console, which `operatorConsole` of `mcp-parley/console` makes. It is served at `/console/`. Default: none. */
    readonly console?: WebHandler | undefined;
    /** Whether to serve common requests without the official SDK. With `false` all go through it. Default: `true`. */
    readonly fast?: boolean | undefined;
}

/** Types that JSON cannot restore. */
declare type Lost = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | RegExp | Error | Promise<unknown> | ArrayBufferLike | ArrayBufferView | bigint | symbol | ((...args: never) => unknown);

/** The type of a member that this handler cannot use. It cannot be called, and the error names what to add. */
declare interface Missing<What extends string> {
    /** What to add. */
    readonly "~add": What;
}

/** The binding of a Worker to the objects of a class. */
export declare interface Namespace {
    /** The id of the object with this name. */
    idFromName(name: string): unknown;
    /** The object with this id. */
    get(id: never): unknown;
}

/** What a tool needs so that its steps can have an undo. */
declare type NeedsOnce = "once: true, or task: 'optional', in this tool's config";

/** What a tool needs for the members that only a task has. */
declare type NeedsTask = "task: 'optional' in this tool's config";

/** A request of Node's `http`, with what middleware may have added to it. */
declare type NodeRequest = IncomingMessage & {
    /** The verified caller, if middleware has verified it. */
    auth?: AuthInfo;
    /** The parsed body, if middleware has read it. */
    body?: unknown;
};

/** A type that no schema has. The compiler's message shows why a form cannot show the schema. */
declare interface NotAskable<Why extends string> {
    /** Why. */
    readonly "a form cannot show this schema": Why;
}

/** What `notify` passes on. */
declare interface Notice {
    /** The address of the page that asks. Throws `ParleyError` with the code "no_url" if the app has no public address. */
    readonly url: string;
    /** What `app.deliver` takes, for a page of your own. */
    readonly ticket: string;
    /** Identifies this notice. It stays the same when `notify` is called again. */
    readonly idempotencyKey: string;
    /** Aborts when the run ends. */
    readonly signal: AbortSignal;
}

/** The type of a step's value that JSON cannot restore. It fits nothing, so the compiler reports the mistake where the value is used. */
declare interface NotStored<Why extends string> {
    /** Why. */
    readonly "a step's result is kept as JSON": Why;
}

/** What a Durable Object is given when it is made. */
export declare interface ObjectState {
    /** Its storage. */
    readonly storage: ObjectStorage;
}

/** The storage of a Durable Object that is based on SQLite. */
export declare interface ObjectStorage {
    /** Its database. */
    readonly sql: {
        /** Runs SQL. */
        exec(sql: string, ...values: (string | number | null)[]): {
            /** The rows. */
            toArray(): Record<string, ArrayBuffer | string | number | null>[];
        };
    };
    /** Runs a callback in a transaction. */
    transactionSync<T>(operation: () => T): T;
    /** Sets the one alarm of the object. */
    setAlarm(at: number): Promise<void>;
    /** Removes the alarm. */
    deleteAlarm(): Promise<void>;
}

/** What the handler of a tool with `once: true` and without `task` in its config gets as `ctx`. */
declare interface OnceContext extends Context, WithoutTask {
    /** As in every `ctx`. For a group, `by`, add `task: "optional"` to the tool's config. */
    readonly approve: ApproveByCaller;
    /** As in every `ctx`, and with an `undo`. */
    readonly step: UndoableStep;
}

/** Types that are objects to TypeScript, but have no members that a form could show. */
declare type Opaque = readonly unknown[] | Date | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | ((...args: never) => unknown) | bigint | symbol;

/** The forms of `ctx.openUrl`. */
declare interface OpenUrl {
    <S extends Schema>(key: string, message: string, url: PageUrl, options: PageOptions & {
        /** The value that the page brings with `app.deliver(ticket, value)`. The question waits for it. */
        readonly schema: S;
        /** The value says that the person is done. */
        readonly until?: undefined;
    }): Question<OutputOf<S>>;
    (key: string, message: string, url: PageUrl, options?: PageOptions & {
        /** Says whether the person is done on the page. It is called for up to 20 seconds in a round; then the question is asked again. Default: accepting is enough. */
        readonly until?: (() => boolean | Promise<boolean>) | undefined;
        /** Without a schema, the page brings no value. */
        readonly schema?: undefined;
    }): Question<void>;
}

/** What a schema gives after it has parsed a value. */
declare type OutputOf<S> = S extends Schema ? StandardSchemaWithJSON.InferOutput<S> : never;

/** The options of `ctx.openUrl`. */
declare interface PageOptions {
    /** How long the question waits, in milliseconds. It then throws `UnansweredError` with the reason "timed_out". Default: no limit. */
    readonly timeoutMs?: number | undefined;
    /** Also accepts an answer that was sent before the question was asked. Default: false. */
    readonly unsolicited?: boolean | undefined;
}

/** The address of a page: an http or https URL, or a function that puts a ticket into one. */
declare type PageUrl = string | URL | ((ticket: string) => string | URL);

/** The names of the fields that an answer always has: those that are required or have a default. */
declare type PresentFields<S extends FormJson> = (S["required"] extends readonly (infer R)[] ? R : never) | {
    [K in keyof S["properties"]]: S["properties"][K] extends Readonly<Record<"default", unknown>> ? K : never;
}[keyof S["properties"]];

/** A registered prompt. Pass it to `play` of the test kit. */
declare interface Prompt<In = unknown> {
    /** Tells a prompt from a tool and a resource. */
    readonly kind: "prompt";
    /** The name it is registered under. */
    readonly name: string;
    /** For TypeScript only. It is never set. */
    readonly "~types"?: HandleTypes<In>;
}

/** The configuration of a prompt: that of the SDK's `registerPrompt`. */
declare interface PromptConfig<In> {
    /** A name to show to people. Default: the prompt's name. */
    readonly title?: string | undefined;
    /** What the prompt is for. */
    readonly description?: string | undefined;
    /** The schema of the arguments: an object of strings. Without it the handler gets `ctx` alone. */
    readonly argsSchema?: In | undefined;
    /** Icons to show to people. */
    readonly icons?: Icon[] | undefined;
    /** The scopes that a caller needs, as the SDK defines them. */
    readonly scopeChallenge?: ScopeChallengeHandler | undefined;
    /** Metadata that is sent with the prompt in the list. */
    readonly _meta?: Record<string, unknown> | undefined;
}

/** The handler of a prompt. */
declare type PromptHandler<In> = (...args: HandlerArgs<In, Context>) => PromptReturn | Promise<PromptReturn>;

/** What the handler of a prompt returns: text for one user message, or a whole result. */
declare type PromptReturn = string | GetPromptResult | InputRequiredResult;

/** A service at which callers can have an account. Made by `oauth()` of "mcp-parley/oauth". */
declare interface Provider {
    /** Tells a provider from other handles. */
    readonly kind: "provider";
    /** Its name in addresses, in the store and in messages. */
    readonly name: string;
}

/**
 * What `ctx.ask`, `ctx.confirm`, `ctx.choose` and the other questions return. Await it to get the answer. It rejects with
 * `UnansweredError` if there is no answer.
 */
declare interface Question<T> extends Promise<T> {
    /** The key that the question was asked under. */
    readonly key: string;
}

/** The options of every question that the client can show as a form. */
declare type QuestionOptions = TimeLimit & {
    /** Also accepts an answer that was sent before the question was asked. Off by default, because such an answer is not bound to the question. */
    readonly unsolicited?: boolean | undefined;
} & QuestionPrivacy;

/** Which ways to the person a question may take. */
declare type QuestionPrivacy = {
    /** The answer is a secret, such as a password. It goes through a page only, never through a client's form or a model. */
    readonly sensitive: true;
    /** A secret never goes through a model. */
    readonly relay?: false | undefined;
} | {
    /** The answer is a secret, such as a password. It goes through a page only. Default: false. */
    readonly sensitive?: false | undefined;
    /** If the client offers nothing better, the model may ask in the chat and pass the answer on. Default: false. */
    readonly relay?: boolean | undefined;
};

/** The request of one round. */
declare interface RequestFacts {
    /** The verified credentials of the caller. Undefined without authentication. */
    readonly authInfo?: AuthInfo | undefined;
    /** The client's name and version, if it sent them. */
    readonly clientInfo?: Implementation | undefined;
    /** The `_meta` of the request's parameters. Empty if there is none. */
    readonly meta: Readonly<Record<string, unknown>>;
    /** The HTTP headers. Undefined over stdio. */
    readonly headers?: Headers | undefined;
}

/** Something that a tool can require of its clients. The words are those of `ctx.can`. "stream": parts reach the client. */
declare type RequiredAbility = "form" | "url" | "sampling" | "roots" | "task" | "ask" | "stream";

/** A registered resource. Pass it to `play` of the test kit. */
declare interface Resource {
    /** Tells a resource from a tool and a prompt. */
    readonly kind: "resource";
    /** The name it is registered under. */
    readonly name: string;
}

/** The parameters of a resource's handler. Only a template has variables. */
declare type ResourceArgs<U extends string> = [TemplateNames<U>] extends [never] ? [uri: URL, ctx: Context] : [uri: URL, variables: {
    readonly [K in TemplateNames<U>]: string;
}, ctx: Context];

/** The configuration of a resource: the SDK's metadata, and more for templates. */
declare type ResourceConfig<U extends string> = ResourceMetadata & {
    /** For templates: lists the URIs that exist. Default: none are listed. */
    readonly list?: (() => readonly ListedResource[] | Promise<readonly ListedResource[]>) | undefined;
    /** For templates: completes a variable. Each function gets what is typed so far, and returns the values that begin with it. */
    readonly complete?: {
        readonly [K in TemplateNames<U>]?: ((value: string) => string[] | Promise<string[]>) | undefined;
    } | undefined;
    /** The scopes that a caller needs, as the SDK defines them. */
    readonly scopeChallenge?: ScopeChallengeHandler | undefined;
};

/** The handler of a resource. */
declare type ResourceHandler<U extends string> = (...args: ResourceArgs<U>) => ResourceReturn | Promise<ResourceReturn>;

/** What the handler of a resource returns: text, bytes, or a whole result. */
declare type ResourceReturn = string | Uint8Array | ReadResourceResult | InputRequiredResult;

/** A request for the client's roots. */
declare interface RootsInputRequest {
    /** Always `"roots/list"`. */
    readonly method: "roots/list";
    /** Optional, but there are clients that cannot read the request without it, so Parley sends an empty one. */
    readonly params?: object;
}

/** Routes of the author, by path. `"/files/*"` takes everything below. */
declare type Routes = {
    readonly [path: `/${string}`]: (request: Request) => Response | Promise<Response>;
};

/** The options of `app.runDue`. */
declare interface RunDueOptions {
    /** How long it may take, in milliseconds. The last 5 seconds are kept for running steps to end. */
    readonly budgetMs: number;
    /** How many tasks run at once. Default: 16. */
    readonly concurrency?: number | undefined;
}

/** What one run has done. */
declare interface RunDueResult {
    /** How many tasks it has worked on. A task that was due twice counts twice. */
    readonly ran: number;
    /** When something is due again. Undefined: nothing is due until something arrives. */
    readonly nextDueAt: Date | undefined;
}

/** What the client's model wrote. */
declare interface Sample {
    /** The text of the message, joined. */
    readonly text: string;
    /** The model's name, as the client reports it. */
    readonly model: string;
    /** Why the model stopped, as the client reports it. */
    readonly stopReason?: string | undefined;
    /** The whole result of `sampling/createMessage`, with tool calls if there are any. */
    readonly message: CreateMessageResult | CreateMessageResultWithTools;
}

/** What `ctx.sample` sends: the SDK's parameters of `sampling/createMessage`, or a prompt. */
declare interface SampleParams extends Omit<CreateMessageRequestParams, "messages" | "maxTokens"> {
    /** Text that is sent as the last user message. */
    readonly prompt?: string | undefined;
    /** The conversation so far. Default: none. */
    readonly messages?: CreateMessageRequestParams["messages"] | undefined;
    /** The most tokens the model may write. Default: 1024. */
    readonly maxTokens?: number | undefined;
}

/** A message for the client's model to write. */
declare interface SamplingInputRequest {
    /** Always `"sampling/createMessage"`. */
    readonly method: "sampling/createMessage";
    /** The prompt and its settings, as in the specification. */
    readonly params: CreateMessageRequestParams;
}

/**
 * A schema of any library that implements Standard Schema with JSON Schema. zod 4 and arktype need no wrapper; wrap
 * valibot with `toStandardJsonSchema()` and plain JSON Schema with the SDK's `fromJsonSchema()`.
 */
declare type Schema<In = unknown, Out = In> = StandardSchemaWithJSON<In, Out>;

/** What the body of a step is called with. */
declare interface StepInfo {
    /**
     * Identifies this step of this call. It stays the same when the step runs again, so pass it to services that accept an
     * idempotency key.
     */
    readonly idempotencyKey: string;
    /** Which attempt this is. The first is 1; `retries` allows further ones. */
    readonly attempt: number;
    /** Aborts when the run ends. From then on, the outcome of the body is not recorded. */
    readonly signal: AbortSignal;
}

/** How `ctx.step` handles a body that throws. */
declare interface StepOptions {
    /** How many more times to call the body if it throws. Default: 0. */
    readonly retries?: number | undefined;
    /** The pause before the first retry, in milliseconds. It doubles with each further one. Default: 0. */
    readonly backoffMs?: number | undefined;
}

/** A place to keep tasks, for `parley({ store })`. `sqliteStore`, `postgresStore` and `memoryStore` make one. */
export declare interface Store {
    /** The kind of store, such as "sqlite". Messages name it. */
    readonly "~store": string;
    /** Finishes what is under way and closes the store. */
    readonly close: () => Promise<void>;
}

/** What is left of `T` after JSON: the type of a step's value, in the first run as in each later one. */
declare type Stored<T> = [T] extends [Json | undefined | void] ? T : T extends string | number | boolean | null | undefined | void ? T : T extends Lost ? NotStored<"JSON cannot restore this; return plain data"> : T extends Record<"toJSON", (...args: never) => infer J> ? Stored<J> : T extends readonly unknown[] ? {
    [K in keyof T]: Stored<T[K]>;
} : T extends object ? {
    [K in keyof T as T[K] extends ((...args: never) => unknown) | symbol ? never : K]: Stored<T[K]>;
} : T;

/** The options of `ctx.stream`. */
declare interface StreamOptions<B extends boolean = boolean> extends StepOptions {
    /**
     * The body yields content blocks, and the value is the list of them. By default it yields text or UTF-8 bytes, and the
     * value is the joined text.
     */
    readonly blocks?: B | undefined;
}

/** What the handler of a tool with `task` in its config gets as `ctx`. */
declare interface TaskContext extends Context {
    /** As in every `ctx`, and with an `undo`. */
    readonly step: UndoableStep;
    /**
     * Goes on only if the caller agrees or, with `by`, if members of a group do. The task waits for them; they decide on a page
     * or through `app.decide`. A refusal throws `UnansweredError` with the reason "declined" and with the `decisions`.
     *
     * @example
     * ```ts
     * const { decisions } = await ctx.approve("pay", `Pay ${amount} to ${to}?`, {
     *   by: "managers",
     *   of: 2,
     *   notify: ({ url }) => mail.send("managers@example.com", `Please decide: ${url}`),
     * });
     * ```
     */
    readonly approve: (key: string, message: string, options?: ApproveOptions | GroupApproveOptions) => Question<Approval>;
    /**
     * Turns the call into a task, if the client can follow one. From here on a worker runs it, and the client may disconnect.
     * For other clients the call continues within its request, for at most `limits.inlineMs`.
     *
     * @example
     * ```ts
     * await ctx.background();
     * const vm = await ctx.step("create", ({ idempotencyKey }) => cloud.create(size, idempotencyKey));
     * ```
     */
    readonly background: (options?: BackgroundOptions) => Promise<void>;
    /**
     * Waits for a number of milliseconds, from 0 to ten years. A task keeps no process busy meanwhile, and the timer survives a
     * restart.
     *
     * @example
     * ```ts
     * await ctx.sleep("cool-down", 15 * 60_000);
     * ```
     */
    readonly sleep: (key: string, ms: number) => Promise<void>;
    /**
     * Waits for someone other than the caller. `notify` runs once, with the address of a page to pass on, and with a ticket for
     * a page of your own, which answers with `app.deliver(ticket, value)`. Throws `UnansweredError` if the time limit passes.
     *
     * @example
     * ```ts
     * const Decision = z.object({ isApproved: z.boolean(), by: z.string() });
     * const { isApproved, by } = await ctx.waitFor("approval", Decision, {
     *   about: { Service: "checkout", By: "ada" },
     *   notify: ({ url }) => mail.send("ops@example.com", `Please decide: ${url}`),
     *   timeoutMs: 24 * 3_600_000,
     * });
     * ```
     */
    readonly waitFor: <S extends Schema>(key: string, schema: S, options: WaitOptions) => Question<OutputOf<S>>;
    /** The task that this call has become. Undefined before that. */
    readonly task: TaskRef | undefined;
}

/** The state of all tasks in the store, and of the worker in this process. */
declare interface TaskHealth {
    /** Tasks that have not ended. */
    readonly live: number;
    /** Tasks that wait for an answer, a delivery or a timer. They use no process. */
    readonly parked: number;
    /** How many of the parked tasks wait for an answer from the client. */
    readonly inputRequired: number;
    /** Tasks that a worker holds, in this process or another. */
    readonly held: number;
    /** Tasks that are ready to run and that no worker has claimed yet. */
    readonly due: number;
    /** How long the oldest of the due tasks has been due, in milliseconds. It grows when there are too few workers. */
    readonly oldestDueMs: number;
    /** How long ago any worker was seen on this store, in milliseconds. Undefined if none ever was. */
    readonly workerSeenMsAgo: number | undefined;
    /** Tasks that this process is running. */
    readonly runningHere: number;
    /** How many leases this process has lost since it started. */
    readonly leaseLosses: number;
    /** How many times the store has failed since this process started. */
    readonly storeErrors: number;
}

/** Whether a tool may become a task. "optional": any client can call the tool. "required": only clients that can follow a task. */
declare type TaskMode = "optional" | "required";

/** A Durable Object that keeps tasks and runs them. */
export declare interface TaskObject {
    /** The mark of a Durable Object in the types of the platform. */
    readonly __DURABLE_OBJECT_BRAND: never;
    /** Runs what is due. The platform calls it. */
    alarm(): Promise<void>;
    /** What `durableObjectStore` calls. */
    parley(operation: string, args: readonly unknown[]): Promise<unknown>;
}

/**
 * Makes the class of a Durable Object that keeps the tasks of an app in its SQLite storage, and runs them. Export a class
 * that extends it, and name that class in `wrangler.jsonc`.
 *
 * @param app - The app, whose store is a `durableObjectStore`.
 * @example
 * ```ts
 * import { env } from "cloudflare:workers";
 * import { parley } from "mcp-parley";
 * import { durableObjectStore, taskObject } from "mcp-parley/durable-object";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: durableObjectStore(() => env.TASKS) });
 *
 * export class Tasks extends taskObject(app) {}
 * export default { fetch: app.fetch };
 * ```
 */
export declare function taskObject(app: App): new (state: ObjectState, env: unknown) => TaskObject;

/** Names a task. */
declare interface TaskRef {
    /** The task's id, as the client knows it. */
    readonly id: string;
}

/** The names of the variables in a URI template. `test://{id}/data{?page,size}` has "id", "page" and "size". */
declare type TemplateNames<U extends string> = U extends `${string}{${infer E}}${infer R}` ? VariableNames<E extends `${"+" | "#" | "." | "/" | ";" | "?" | "&"}${infer N}` ? N : E> | TemplateNames<R> : never;

/** Text as it is produced: an async generator, a model's stream, the body of a `fetch` response. Bytes are read as UTF-8. */
declare type TextStream = ReadableStream<string | Uint8Array> | ReadableStream<string> | ReadableStream<Uint8Array> | AsyncIterable<string | Uint8Array>;

/** What a ticket says. */
declare interface TicketFacts {
    /** "page": of a question to the caller. "wait": of a `ctx.waitFor`. "approval": of a `ctx.approve` by a group, or of a gate. */
    readonly kind: "page" | "wait" | "approval";
    /** The call that asked the question. */
    readonly callId: string;
    /** The question's key. */
    readonly key: string;
    /** The user who made the call. Undefined without credentials. */
    readonly principal: string | undefined;
    /** When the ticket expires. */
    readonly expiresAt: Date;
}

/** The time limit of a question. */
declare interface TimeLimit {
    /** How long the question waits, in milliseconds. It then throws `UnansweredError` with the reason "timed_out". Default: no limit. */
    readonly timeoutMs?: number | undefined;
}

/** A choice with a value for the program and a title for people. */
declare interface TitledChoice {
    /** The value of the field if this is chosen. */
    readonly const: string;
    /** What people see. */
    readonly title: string;
}

/** A registered tool. Pass it to `play` and `crashTest` of the test kit, which take the types of its arguments and result from it. */
declare interface Tool<In = unknown, Out = unknown> {
    /** Tells a tool from a prompt and a resource. */
    readonly kind: "tool";
    /** The name it is registered under. */
    readonly name: string;
    /** For TypeScript only. It is never set. */
    readonly "~types"?: HandleTypes<In, Out>;
}

/** `approve` in a tool's config. The short form is a function that returns the message, or undefined if this call needs no approval. */
declare type ToolApproval<In, T> = ((...args: HandlerArgs<In, Caller>) => string | undefined) | ApprovalRule<HandlerArgs<In, Caller>, [
T
] extends [string] ? string : Missing<"task: 'optional' in this tool's config">>;

/** The configuration of a tool: that of the SDK's `registerTool`, with `task` and `once`. */
declare interface ToolConfig<In, Out, T extends TaskMode | undefined = TaskMode | undefined, O extends boolean | undefined = boolean | undefined> {
    /** A name to show to people. Default: the tool's name. */
    readonly title?: string | undefined;
    /** What the tool does, for the model that calls it. */
    readonly description?: string | undefined;
    /** The schema of the arguments. It is applied in every round, so it must depend on the arguments alone. Without it the handler gets `ctx` alone. */
    readonly inputSchema?: In | undefined;
    /**
     * The schema of the structured result: any JSON value. With it the handler returns that value instead of text. Clients of
     * 2025-11-25, where only objects are allowed, get any other value as `{ result: value }`.
     */
    readonly outputSchema?: Out | undefined;
    /** Hints for clients, such as `readOnlyHint`. */
    readonly annotations?: ToolAnnotations | undefined;
    /** Icons to show to people. */
    readonly icons?: Icon[] | undefined;
    /** The scopes that a caller needs, as the SDK defines them. */
    readonly scopeChallenge?: ScopeChallengeHandler | undefined;
    /** Metadata that is sent with the tool in the list. */
    readonly _meta?: Record<string, unknown> | undefined;
    /**
     * Whether a call may become a task. The handler then has `ctx.background`, `ctx.sleep` and `ctx.waitFor`, and the app needs
     * a store. With "required", clients that cannot follow a task get error -32021. Default: calls never become tasks.
     */
    readonly task?: T | undefined;
    /**
     * Runs each round once, even if its request is sent twice: the second request waits for the first run and gets the same
     * response. So a run goes on if its client hangs up. Needs a store. Default: false.
     */
    readonly once?: O | undefined;
    /**
     * With "form", hosts that render MCP Apps show this tool's questions as a form inside the conversation. It is for hosts
     * that can show neither forms nor pages by themselves. Needs a store. Default: no App.
     *
     * @example
     * ```ts
     * app.tool("resolve_bug", { description: "Resolve a bug", ui: "form" }, async (ctx) => {
     *   const how = await ctx.choose("how", "How was it resolved?", ["Fixed", "Duplicate"]);
     *   return `Closed as ${how}`;
     * });
     * ```
     */
    readonly ui?: "form" | undefined;
    /**
     * Asked before the handler runs. A refusal ends the call. The short form is a function that returns the message, or undefined
     * if this call needs no approval: then the caller decides. With `by`, members of a group decide. Default: nothing is asked.
     *
     * @example
     * ```ts
     * app.tool("delete_repo", { inputSchema: Repo, approve: ({ name }) => `Delete ${name}?` }, ({ name }, ctx) =>
     *   ctx.step("delete", () => git.delete(name)),
     * );
     * ```
     */
    readonly approve?: ToolApproval<In, T> | undefined;
    /**
     * What the client must support. A call of any other client gets error -32021 before anything runs, with the capabilities to
     * declare. Default: nothing.
     */
    readonly requires?: readonly (RequiredAbility | ExtensionId)[] | undefined;
}

/** What the handler of a tool without `task` and `once` in its config gets as `ctx`. The members that need one of them are typed so that the compiler says what to add. */
declare interface ToolContext extends Context, WithoutTask {
    /** As in every `ctx`. For a group, `by`, add `task: "optional"` to the tool's config. */
    readonly approve: ApproveByCaller;
    /** As in every `ctx`. For an `undo`, add `once: true` or `task: "optional"` to the tool's config. */
    readonly step: <T>(key: string, body: (step: StepInfo) => T | Promise<T>, options?: StepOptions & {
        /** Needs `once: true` or `task: "optional"` in the tool's config. */
        readonly undo?: Missing<NeedsOnce> | undefined;
    }) => Promise<Stored<T>>;
}

/** The handler of a tool. It runs from its beginning in each round, so effects belong in `ctx.step`. */
declare type ToolHandler<In, Out, T, O> = (...args: HandlerArgs<In, ContextFor<T, O>>) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

/** What the handler of a tool returns: text or a full result. With an `outputSchema`, the structured content or a full result. */
declare type ToolReturn<Out> = FullResult | InputRequiredResult | (Out extends Schema ? InputOf<Out> : string);

/** A registered undo. Pass it to `ctx.step` as `undo`. `V` is what the step returns. */
declare interface Undo<in V = unknown> {
    /** Tells an undo from a tool. */
    readonly kind: "undo";
    /** The name it is registered under. Steps are recorded with it. */
    readonly name: string;
    /** Undoes a step. */
    readonly run: (undone: UndoInfo<V>) => unknown;
}

/** `ctx.step` where a step can have an undo. */
declare type UndoableStep = <T>(key: string, body: (step: StepInfo) => T | Promise<T>, options?: StepOptions & {
    /**
     * Undoes the step if the call does not end well: its handler throws, its client cancels it, or its time is up. Register
     * it with `app.undo`.
     */
    readonly undo?: NoInfer<UndoFor<T>> | undefined;
}) => Promise<Stored<T>>;

/**
 * The undos that fit a step whose body returns `T`. `T` comes from the body alone: while TypeScript has not looked at the body
 * yet, `T` is `unknown` and every undo passes.
 */
declare type UndoFor<T> = unknown extends T ? Undo<never> : Undo<Stored<T>>;

/** What an undo is called with. `V` is what the step returned. */
declare interface UndoInfo<V = unknown> {
    /** What the step returned. Undefined if the step threw, or if its outcome is unknown. */
    readonly value: V | undefined;
    /** The key that the step's body was given. */
    readonly idempotencyKey: string;
    /** The key of the undo itself. It stays the same in every attempt. */
    readonly undoKey: string;
    /** The key of the step. */
    readonly stepKey: string;
    /** The name of the tool. */
    readonly tool: string;
    /** The id of the call. */
    readonly callId: string;
    /** The user who made the call, or undefined without credentials. */
    readonly principal: string | undefined;
    /** Which attempt this is. The first is 1. */
    readonly attempt: number;
    /** Aborts when this process has to stop, or when another one has taken over. The undo is then tried again. */
    readonly signal: AbortSignal;
}

/** A page that the client lets its user open. */
declare interface UrlInputRequest {
    /** Always `"elicitation/create"`. */
    readonly method: "elicitation/create";
    /** What to show. */
    readonly params: {
        /** Tells a page from a form. */
        readonly mode: "url";
        /** The text that is shown with the link. */
        readonly message: string;
        /** The address of the page. */
        readonly url: string;
    };
}

/** The names in one expression of a URI template: `page,size` has "page" and "size". */
declare type VariableNames<E extends string> = E extends `${infer A},${infer B}` ? A | VariableNames<B> : E extends `${infer A}*` ? A : E;

/** What your host has already found out about a request. */
declare interface Verified {
    /** The verified caller, from your own check of its credentials. Default: anonymous. */
    readonly authInfo?: AuthInfo | undefined;
    /** The parsed JSON body, if your host has read it. Default: read from the request. */
    readonly parsedBody?: unknown;
    /** Keeps the instance alive after the response, for what `app.fetch(request, { waitUntil })` does. */
    readonly waitUntil?: ((promise: Promise<unknown>) => unknown) | undefined;
}

/** The options of `ctx.waitFor`. */
declare interface WaitOptions {
    /**
     * Passes the address of the page, or the ticket, on to the person or system that answers. It runs once, as a step does. If
     * it throws, it is called again, twice at most, with the same `idempotencyKey`.
     */
    readonly notify: (notice: Notice) => unknown;
    /** What the page shows beside the form, such as `{ Amount: "$500", By: "ada" }`. At most 4 KiB. Default: nothing. */
    readonly about?: About | undefined;
    /** How long to wait, in milliseconds. `waitFor` then throws `UnansweredError` with the reason "timed_out". Default: as long as the task lasts. */
    readonly timeoutMs?: number | undefined;
}

/** A web handler, and its form for `node:http`, which leaves what is not its own to `next`. */
declare interface WebHandler {
    /** Serves one web-standard request, as `app.fetch` does. Responds with 404 to an address that is not its own. */
    (request: Request, host: HostContext): Promise<Response>;
    (request: Request): Promise<Response>;
    /** Serves one request of Express or `node:http`. Calls `next`, if there is one, for an address that is not its own. */
    readonly node: (req: NodeRequest, res: ServerResponse, next?: (error?: unknown) => void) => Promise<void>;
}

/** The members of `ctx` that need `task` in a tool's config. */
declare interface WithoutTask {
    /** Needs `task: "optional"` in the tool's config. */
    readonly background: Missing<NeedsTask>;
    /** Needs `task: "optional"` in the tool's config. */
    readonly sleep: Missing<NeedsTask>;
    /** Needs `task: "optional"` in the tool's config. */
    readonly waitFor: Missing<NeedsTask>;
}

/** The options of `app.work`. */
declare interface WorkOptions {
    /** How many tasks run at once in this process. Default: 16. */
    readonly concurrency?: number | undefined;
}

export { }
