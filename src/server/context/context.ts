// `ctx` as authors see it: the types of everything a handler can do.

import type {
  AuthInfo,
  ContentBlock,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  Implementation,
  InputResponses,
  LoggingLevel,
  Root,
} from "@modelcontextprotocol/server";
import type { ExtensionId } from "../../protocol/capabilities.ts";
import type { Era } from "../../protocol/versions.ts";
import type { RequiredAbility } from "../define/abilities.ts";
import type {
  Approval,
  ApproveOptions,
  GroupApproveOptions,
} from "../approvals/approval-options.ts";
import type { UndoFor } from "../define/undo.ts";
import type { FormJson } from "../../protocol/form.ts";
import type { Account, ConnectOptions, Provider } from "../accounts/account.ts";
import type { OpenUrl, WaitOptions } from "./wait-options.ts";
import type { BackgroundOptions, StepInfo, StepOptions } from "../../replay/operations.ts";
import type { Question } from "../../replay/promises.ts";
import type { AnswerOf, Askable, OutputOf, Schema, Stored } from "../forms/schema.ts";
import type {
  CheckpointOptions,
  Choice,
  ConfirmOptions,
  ElicitOutcome,
  ElicitParams,
  QuestionOptions,
  TimeLimit,
} from "./question-options.ts";
import type { BodyOf, StreamOptions } from "./stream-types.ts";

/**
 * What every handler gets as `ctx`: tools, prompts and resources. Write helper functions against this type.
 *
 * Each operation has a key, which must be unique within the call. A handler runs again from its beginning in each round, and
 * the key is how an operation finds its recorded outcome. Every member can be destructured.
 */
export interface Context {
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
  readonly ask: <const S extends Schema | FormJson | undefined = undefined>(
    key: string,
    message: string,
    schema?: S & Askable<S>,
    options?: QuestionOptions,
  ) => Question<S extends undefined ? string : AnswerOf<S>>;
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
  readonly choose: <const V extends string>(
    key: string,
    message: string,
    choices: readonly (V | Choice<V>)[],
    options?: QuestionOptions,
  ) => Question<V>;
  /** Asks with a form, and returns the action with the content instead of throwing when the person declines or cancels. */
  readonly elicit: <const S extends Schema | FormJson>(
    key: string,
    params: ElicitParams<S & Askable<S>>,
    options?: QuestionOptions,
  ) => Question<ElicitOutcome<AnswerOf<S>>>;
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
  readonly sample: (
    key: string,
    prompt: string | SampleParams,
    options?: TimeLimit,
  ) => Question<Sample>;
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
  readonly step: <T>(
    key: string,
    body: (step: StepInfo) => T | Promise<T>,
    options?: StepOptions,
  ) => Promise<Stored<T>>;
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
  readonly stream: <const B extends boolean = false>(
    key: string,
    body: (step: StepInfo) => BodyOf<B> | Promise<BodyOf<B>>,
    options?: StreamOptions<B>,
  ) => Promise<B extends true ? ContentBlock[] : string>;
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

/** `ctx.step` where a step can have an undo. */
export type UndoableStep = <T>(
  key: string,
  body: (step: StepInfo) => T | Promise<T>,
  options?: StepOptions & {
    /**
     * Undoes the step if the call does not end well: its handler throws, its client cancels it, or its time is up. Register
     * it with `app.undo`.
     */
    readonly undo?: NoInfer<UndoFor<T>> | undefined;
  },
) => Promise<Stored<T>>;

/** What the handler of a tool with `task` in its config gets as `ctx`. */
export interface TaskContext extends Context {
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
  readonly approve: (
    key: string,
    message: string,
    options?: ApproveOptions | GroupApproveOptions,
  ) => Question<Approval>;
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
  readonly waitFor: <S extends Schema>(
    key: string,
    schema: S,
    options: WaitOptions,
  ) => Question<OutputOf<S>>;
  /** The task that this call has become. Undefined before that. */
  readonly task: TaskRef | undefined;
}

/** Names a task. */
export interface TaskRef {
  /** The task's id, as the client knows it. */
  readonly id: string;
}

/** What `ctx.sample` sends: the SDK's parameters of `sampling/createMessage`, or a prompt. */
export interface SampleParams extends Omit<CreateMessageRequestParams, "messages" | "maxTokens"> {
  /** Text that is sent as the last user message. */
  readonly prompt?: string | undefined;
  /** The conversation so far. Default: none. */
  readonly messages?: CreateMessageRequestParams["messages"] | undefined;
  /** The most tokens the model may write. Default: 1024. */
  readonly maxTokens?: number | undefined;
}

/** What the client's model wrote. */
export interface Sample {
  /** The text of the message, joined. */
  readonly text: string;
  /** The model's name, as the client reports it. */
  readonly model: string;
  /** Why the model stopped, as the client reports it. */
  readonly stopReason?: string | undefined;
  /** The whole result of `sampling/createMessage`, with tool calls if there are any. */
  readonly message: CreateMessageResult | CreateMessageResultWithTools;
}

/** The request of one round. */
export interface RequestFacts {
  /** The verified credentials of the caller. Undefined without authentication. */
  readonly authInfo?: AuthInfo | undefined;
  /** The client's name and version, if it sent them. */
  readonly clientInfo?: Implementation | undefined;
  /** The `_meta` of the request's parameters. Empty if there is none. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The HTTP headers. Undefined over stdio. */
  readonly headers?: Headers | undefined;
}
