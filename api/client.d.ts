import type { AuthProvider } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/client';
import type { ContentBlock } from '@modelcontextprotocol/client';
import type { CreateMessageRequestParams } from '@modelcontextprotocol/client';
import type { CreateMessageResult } from '@modelcontextprotocol/client';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { GetPromptResult } from '@modelcontextprotocol/client';
import type { Implementation } from '@modelcontextprotocol/client';
import type { InputResponse } from '@modelcontextprotocol/client';
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ReadResourceResult } from '@modelcontextprotocol/client';
import type { RequestId } from '@modelcontextprotocol/client';
import type { Root } from '@modelcontextprotocol/client';
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';

/**
 * A call that was started with `connection.start` or `connection.resume`. Iterate over it to read its events. It is
 * not a promise, so you can return it from an async function.
 */
export declare interface Call extends AsyncIterable<CallEvent> {
    /**
     * Answers a question. Resolves when the answer is in the journal. Rejects with `bad_answer` if the answer does not
     * fit, and the question stays open. In a 2025-11-25 session the answer is sent at once and not kept: if it is lost with
     * the connection, the task asks again.
     */
    readonly answer: (key: string, answer: InputResponse) => Promise<void>;
    /** Resolves to the result of the call, or rejects with a `CallError`. Works whether or not you read the events. */
    readonly result: () => Promise<CallResult>;
    /**
     * Cancels the call, and its task if it has become one. Resolves when the server has confirmed it. Rejects if the
     * server cannot be reached, in which case the journal keeps the call so that you can cancel it again.
     */
    readonly cancel: () => Promise<void>;
}

/**
 * The error that a call ends with when it has no result. It has a `ref` unless it proves that the call has ended on the
 * server; the journal keeps the call for as long. If the auth provider of the connection throws an error of its own, that
 * error gets a `ref` as well.
 *
 * @example
 * ```ts
 * try {
 *   await server.call("resolve_bug", { id: 4522 });
 * } catch (error) {
 *   if (!(error instanceof CallError) || error.ref === undefined) throw error;
 *   await server.resume(error.ref).result();
 * }
 * ```
 */
export declare class CallError extends Error {
    /** Says what happened. Codes are stable; messages are not. */
    readonly code: CallErrorCode;
    /** A reference to the call. Undefined if the call cannot be continued. */
    readonly ref: string | undefined;
    /** The question that caused the error, if one did. */
    readonly question: OpenQuestion | undefined;
    /** The id of the task, if the call became one. */
    readonly taskId: string | undefined;
    /** The JSON-RPC error that the server sent, if it sent one. */
    readonly rpc: RpcError | undefined;
    /** Applications rarely need this, except to throw the same errors in tests. */
    constructor(code: CallErrorCode, message: string, details?: CallErrorDetails);
}

/** Why a call ended without a result. */
export declare type CallErrorCode = 
/** The server cannot be reached, or the connection broke. */
"server_down"
/** Client and server have no protocol version in common. */
| "era_not_shared"
/** The server needs a capability, and `connect` has no handler for it. */
| "capability_missing"
/** The server asked a question that this client cannot answer. `question` holds it. */
| "unhandled_question"
/** A handler threw, or its answer does not fit the question. */
| "handler_failed"
/** The answer that was passed to `answer()` does not fit the question, or the question is not open. */
| "bad_answer"
/** The server asked more often than `limits` allows. */
| "too_many_rounds"
/** The task failed. `rpc` holds the server's error, if it gave one. */
| "task_failed"
/** The task was cancelled on the server. */
| "task_cancelled"
/** The task's time to live ended before the task did. */
| "task_expired"
/** The server does not know the task, has deleted it, or does not show it to this user. */
| "task_gone"
/** The server refused the state of the call, because it is too old, or because of the server's keys or your token. */
| "state_refused"
/** The string is not a reference to a call, or its call cannot be continued on this connection. */
| "bad_reference"
/** The server responded with a JSON-RPC error, which `rpc` holds, or with an HTTP error. */
| "refused"
/** The server's response violates the protocol. */
| "bad_response"
/** A response is larger than `limits.messageBytes`, or a request is too large for the server. */
| "too_large"
/** The server took longer than `timeoutMs`, or was silent for longer than `limits.silenceMs`. */
| "timed_out"
/** `cancel()` was called, the signal aborted, or the person refused to open a page that the call needs. */
| "cancelled"
/** The connection was closed while the call was running. */
| "closed";

/** What a `CallError` carries besides its code and message. */
export declare interface CallErrorDetails {
    /** A reference to the call, if it can be continued: `connection.resume(ref)`. */
    readonly ref?: string | undefined;
    /** The question that caused the error. */
    readonly question?: OpenQuestion | undefined;
    /** The id of the task that the call became. */
    readonly taskId?: string | undefined;
    /** The JSON-RPC error that the server sent. */
    readonly rpc?: RpcError | undefined;
    /** The error that caused this one. */
    readonly cause?: unknown;
}

/** Something that happened in a call. Events come in order, and `type` tells them apart. */
export declare type CallEvent = {
    /** The server asked one or more questions. Answer each with `call.answer`, unless a handler does. */
    readonly type: "asked";
    /** The questions that are new with this event. */
    readonly questions: readonly OpenQuestion[];
    /** A reference to the call at this point. Save it before you wait for a person. */
    readonly ref: string;
} | {
    /** A question was answered, and the answer is stored. */
    readonly type: "answered";
    /** The question that was answered. */
    readonly key: string;
} | {
    /** The server no longer needs the answer to a question. Close its dialog. */
    readonly type: "withdrawn";
    /** The question that was withdrawn. */
    readonly key: string;
} | {
    /** The call became a task, which continues on the server even if this process ends. */
    readonly type: "task";
    /** The id of the task on the server. */
    readonly taskId: string;
    /** A reference to the call at this point. */
    readonly ref: string;
} | {
    /** The server reported progress. If events wait to be read, only the newest progress of a series is kept. */
    readonly type: "progress";
    /** How much is done, in a unit of the server's choice. */
    readonly done?: number | undefined;
    /** How much there is to do, in the same unit. */
    readonly total?: number | undefined;
    /** What the server is doing, in words. */
    readonly message?: string | undefined;
} | {
    /**
     * The server logged something, and `connect` asked for it with `logLevel`. At most 1000 wait to be read; after
     * that, the oldest is dropped.
     */
    readonly type: "log";
    /** How severe it is. */
    readonly level: LoggingLevel;
    /** What was logged: any JSON value, often a text. */
    readonly data: unknown;
    /** The part of the server that logged it. */
    readonly logger?: string | undefined;
} | ({
    /**
     * The server sent a part of what the call streams. You need not read parts: those of one block that wait are joined
     * into one event. With "reset" the server takes back what it sent of the block.
     */
    readonly type: "part";
} & Part) | {
    /** The call has a result. This is the last event. */
    readonly type: "done";
    /** The result, the same as `call.result()` resolves to. */
    readonly result: CallResult;
};

/** Options of one call. */
export declare interface CallOptions<S = undefined> {
    /** Checks the structured content of the result and gives `result.data` its type. Only `call` uses it. */
    readonly outputSchema?: S | undefined;
    /** Cancels the call, and its task if it has become one. Default: none. */
    readonly signal?: AbortSignal | undefined;
    /**
     * How long the server may work, in milliseconds. The time that people take to answer does not count. Default: no
     * limit.
     */
    readonly timeoutMs?: number | undefined;
    /**
     * Names the first request of the call. A server that looks for this key, such as a tool of mcp-parley with `once:
     * true`, runs the request once, however often it arrives. Pass at least 22 characters that cannot be guessed, and a
     * new key for each call. `resume` ignores it, because the journal has it. Default: a new key.
     */
    readonly idempotencyKey?: string | undefined;
    /**
     * Before 2026-07-28, runs the call as a task if the tool supports it. Since 2026-07-28 the server decides, and this
     * has no effect. Default: false.
     */
    readonly task?: boolean | {
        /** How long the server should keep the task, in milliseconds. With `true`, the server decides. */
        readonly ttlMs: number;
    } | undefined;
}

/** One outcome of a call: its result, its failure, a part of what it streams, or questions that it needs answers to. */
export declare type CallOutcome = {
    /** "promise" once the call has become a task, "answer" before. */
    readonly response: "answer" | "promise";
} & ({
    /** The tool succeeded. This is the last outcome. */
    readonly kind: "complete";
    /** What the tool returned. */
    readonly result: CallResult;
} | {
    /** The tool reported an error in its result. This is the last outcome. */
    readonly kind: "failure";
    /** What the tool returned, with `isError: true`. */
    readonly result: CallResult;
} | {
    /** The call ended without a result. This is the last outcome. */
    readonly kind: "failure";
    /** Why there is no result. */
    readonly error: CallError;
} | {
    /** The server asked questions. Answer them with `call.answer`, unless a handler does. More outcomes follow. */
    readonly kind: "asks";
    /** The questions that are new. */
    readonly questions: readonly OpenQuestion[];
    /** A reference to the call at this point. Save it before you wait for a person. */
    readonly ref: string;
} | ({
    /** The server sent a part of what the call streams. More outcomes follow. */
    readonly kind: "partial";
} & Part));

/** The result of a tool: what the protocol defines, and two shortcuts. */
export declare type CallResult<D = unknown> = CallToolResult & {
    /** The text of all text blocks, joined by line breaks. Empty if there are none. */
    readonly text: string;
    /** The structured content, as `outputSchema` read it if one was passed. */
    readonly data: D;
};

/**
 * Where unfinished calls are kept. Pass your own to `connect({ journal })` to keep them in a database. A reference
 * contains arguments, answers and sealed state, so store it as a secret.
 */
export declare interface ClientJournal {
    /** Stores the reference of a call, in place of its previous one. Resolve when it is durable. */
    readonly put: (id: string, ref: string) => Promise<void>;
    /** Removes a call. It is not an error if the journal does not have it. */
    readonly delete: (id: string) => Promise<void>;
    /** Returns the references of all calls in the journal. */
    readonly list: () => Promise<readonly string[]>;
}

/** Protects a client from a server that never finishes, sends too much, or goes silent. */
export declare interface ClientLimits {
    /** How many rounds of one call may ask questions. Default: 10. */
    readonly rounds?: number | undefined;
    /** How many rounds of one call may return state without asking anything. Default: 50. */
    readonly stateRounds?: number | undefined;
    /** How many questions one task, or one call in a 2025-11-25 session, may ask. Default: 1000. */
    readonly taskQuestions?: number | undefined;
    /** The size of one response, or of one event of a stream, in bytes. Default: 16 MiB. */
    readonly messageBytes?: number | undefined;
    /**
     * How much a call may stream, in bytes of all its blocks together. Beyond that, every block is reset and no more parts are
     * reported. The result is not affected. Default: 16 MiB.
     */
    readonly streamBytes?: number | undefined;
    /** How long a server may send nothing while a request is open, in milliseconds. Default: 60 000 (one minute). */
    readonly silenceMs?: number | undefined;
    /** How long the server of a task may be unreachable, in milliseconds. Default: 120 000 (two minutes). */
    readonly outageMs?: number | undefined;
    /**
     * How long the journal keeps a call that the server refuses to continue, in milliseconds after the last thing that
     * happened in it. A task is kept at least as long as the server keeps it. Default: 604 800 000 (seven days).
     */
    readonly refusedMs?: number | undefined;
}

/**
 * Connects to an MCP server. Calls over the connection run to their result, through questions, tasks, outages of the
 * server and, with a journal, crashes of this process.
 *
 * @example
 * ```ts
 * const server = await connect("http://127.0.0.1:3000/mcp", {
 *   elicit: ({ message }) => {
 *     console.log(message);
 *     return { action: "accept", content: { how: "Fixed" } };
 *   },
 *   journal: ".calls",
 * });
 * const { text } = await server.call("resolve_bug", { id: 4522 });
 * ```
 */
export declare function connect(target: ConnectTarget, options?: ConnectOptions): Promise<Connection>;

/** A connection to one server. */
export declare interface Connection {
    /** The name and version of the server. */
    readonly server: Implementation;
    /** The protocol version that this connection speaks. */
    readonly era: Era;
    /**
     * Calls a tool and resolves to its result. The handlers of `connect` answer its questions, and if it becomes a task,
     * the task is followed to its end. Rejects with a `CallError` if there is no result.
     *
     * @example
     * ```ts
     * const { text } = await server.call("resolve_bug", { id: 4522 }, { timeoutMs: 30_000 });
     * ```
     */
    readonly call: <S extends StandardSchemaV1 | undefined = undefined>(tool: string, args?: Record<string, unknown>, options?: CallOptions<S>) => Promise<CallResult<S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown>>;
    /** Gets a prompt. Its questions are answered as in `call`. */
    readonly prompt: (name: string, args?: Record<string, string>, options?: CallOptions) => Promise<GetPromptResult>;
    /** Reads a resource. Its questions are answered as in `call`. */
    readonly read: (uri: string | URL, options?: CallOptions) => Promise<ReadResourceResult>;
    /**
     * Starts a call of a tool and returns at once. Iterate over the call to read its events, and answer its questions
     * with `call.answer`.
     *
     * @example
     * ```ts
     * const call = server.start("resolve_bug", { id: 4522 });
     * for await (const event of call) {
     *   if (event.type !== "asked") continue;
     *   for (const { key } of event.questions) {
     *     await call.answer(key, { action: "accept", content: { [key]: "Fixed" } });
     *   }
     * }
     * const { text } = await call.result();
     * ```
     */
    readonly start: (tool: string, args?: Record<string, unknown>, options?: CallOptions) => Call;
    /**
     * Continues a call of another process or of an earlier connection. `ref` comes from an event, an error or
     * `unfinished()`. Throws `bad_reference` if the call belongs to another server.
     *
     * @example
     * ```ts
     * for (const { ref } of await server.unfinished()) await server.resume(ref).result();
     * ```
     */
    readonly resume: (ref: string, options?: CallOptions) => Call;
    /** Lists the calls of this server that the journal holds and that are not running on this connection. */
    readonly unfinished: () => Promise<readonly UnfinishedCall[]>;
    /**
     * Removes a call from the journal, for example one that its server refuses to continue. The server is not informed: to
     * end a call that may be running, resume and cancel it.
     */
    readonly forget: (ref: string) => Promise<void>;
    /** The official client underneath, for lists, completion and subscriptions. */
    readonly sdk: Client;
    /** Closes the connection. Running calls end with a `CallError` of code "closed", and can be resumed later. */
    readonly close: () => Promise<void>;
}

/** Options of `connect`: how to reach the server, what answers its questions, and how calls are kept. */
export declare interface ConnectOptions extends QuestionHandlers, HttpAccess {
    /** The name of this client, as the server sees it. Default: "mcp-parley". */
    readonly name?: string | undefined;
    /** The version of this client, as the server sees it. Default: "1.0.0". */
    readonly version?: string | undefined;
    /**
     * The protocol version to speak. Connecting fails if the server does not speak it. Default: the newest version that
     * both sides speak, which `connection.era` names.
     */
    readonly era?: Era | undefined;
    /** Also offers a draft to a server that has nothing newer: `drafts()` from `mcp-parley/drafts`. Default: none. */
    readonly drafts?: Drafts | undefined;
    /**
     * Where unfinished calls are kept, so that they survive a crash: the path of a folder, or a journal of your own. It
     * contains arguments and sealed state, so treat it as a secret. Default: they are not kept.
     */
    readonly journal?: string | ClientJournal | undefined;
    /** Protects this client from a server that never finishes or sends too much. Default: see each limit. */
    readonly limits?: ClientLimits | undefined;
    /**
     * Asks for the log messages of this level and above. `start` and `resume` deliver them as events of the type "log".
     * Over stdio, a message does not say which call it belongs to, so every call that waits for a response gets it. In
     * 2025-11-25 and in tasks, the server sends none. Default: none.
     */
    readonly logLevel?: LoggingLevel | undefined;
    /**
     * Asks the server for what its tools stream. `start` and `resume` deliver it as events of the type "part"; `call` does not
     * ask for it. Default: true.
     */
    readonly streams?: boolean | undefined;
    /** Sent as `_meta` with every request of a call, beside the protocol's own members. Default: none. */
    readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What `connect` can reach: a URL, a command to start, a transport of the official SDK, or an app in this process. */
export declare type ConnectTarget = string | URL | ServerCommand | Transport | ServedApp;

/** The drafts of the protocol to speak besides its releases. Made by `drafts()` from `mcp-parley/drafts`. */
export declare interface Drafts {
    /** The protocol version of the draft, such as `"2026-06-XX"`. */
    readonly "~drafts": string;
}

/** The protocol version that a call is made in. Written out, because this type is public and the constants are not. */
export declare type Era = "2026-07-28" | "2026-06-XX" | "2025-11-25";

/** The answer to a form or to a page. */
export declare type FormAnswer = {
    /** The person filled in the form, or agreed to open the page. */
    readonly action: "accept";
    /** The values of the form's fields, by name. Fields with a default may be left out. Pages have no content. */
    readonly content?: Record<string, string | number | boolean | string[]> | undefined;
} | {
    /** The person said no ("decline"), or closed the question without deciding ("cancel"). */
    readonly action: "decline" | "cancel";
};

/** A field of a form, as on the wire. Where a question takes a schema, you can also pass a literal of this type. */
export declare type FormField = {
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
export declare type FormFormat = "email" | "uri" | "date" | "date-time";

/** A form, as on the wire. Where a question takes a schema, you can also pass a literal of this type. */
export declare interface FormJson {
    /** Always "object". */
    readonly type: "object";
    /** The fields by name, in the order that people see them. */
    readonly properties: {
        readonly [name: string]: FormField;
    };
    /** The names of the fields that must be filled in. Default: none. */
    readonly required?: readonly string[] | undefined;
}

/** A question that asks the person to fill in a form. */
export declare interface FormQuestion {
    /** Tells the kinds of question apart. */
    readonly kind: "form";
    /** Names the question within its call. Pass it to `call.answer`. */
    readonly key: string;
    /** What the server asks, in words for the person. */
    readonly message: string;
    /** The fields of the form, as JSON Schema. */
    readonly schema: FormJson;
}

/** How a server is reached over HTTP. */
export declare interface HttpAccess {
    /** Headers to send with every request, for example `Authorization`. Default: none. */
    readonly headers?: ConstructorParameters<typeof Headers>[0];
    /** Signs in to the server, as in the official SDK. Default: no sign-in. */
    readonly authProvider?: AuthProvider | OAuthClientProvider | undefined;
    /** Replaces the global `fetch`, for example to add a proxy. An app in this process does not use it. */
    readonly fetch?: FetchLike | undefined;
}

/** A question that the server has asked and that has no answer yet. */
export declare type OpenQuestion = FormQuestion | UrlQuestion | SamplingQuestion | RootsQuestion;

/**
 * Iterates over the outcomes of a call. The last one is "complete" or "failure". A `CallError` is not thrown but
 * becomes an outcome.
 *
 * @example
 * ```ts
 * const call = server.start("resolve_bug", { id: 4522 });
 * for await (const outcome of outcomes(call)) {
 *   if (outcome.kind === "complete") console.log(outcome.result.text);
 *   if (outcome.kind !== "asks") continue;
 *   for (const { key } of outcome.questions) {
 *     await call.answer(key, { action: "accept", content: { [key]: "Fixed" } });
 *   }
 * }
 * ```
 */
export declare function outcomes(call: Call): AsyncGenerator<CallOutcome, void>;

/**
 * What one part did to one block, and the block after it.
 *
 * @example
 * ```ts
 * for await (const event of server.start("report", { topic: "Q2" })) {
 *   if (event.type === "part") process.stdout.write(event.text);
 * }
 * ```
 */
export declare interface Part {
    /** The key of the `ctx.stream` or `ctx.emit`. */
    readonly block: string;
    /**
     * "append": add the content to what you have of this block. "replace": the content is the whole block. "reset": discard
     * what you have of this block, because the server begins it again or the connection broke.
     */
    readonly op: "append" | "replace" | "reset";
    /** The text of `content`, joined. Empty if it has none. */
    readonly text: string;
    /** What is new or, after "replace", the whole block. */
    readonly content: readonly ContentBlock[];
    /** The whole block after this part. It is computed when you read it. */
    readonly soFar: {
        /** The text of the block, joined. */
        readonly text: string;
        /** The content of the block. Text that follows text is one content block. */
        readonly content: readonly ContentBlock[];
    };
}

/** What a handler receives besides the question. */
export declare interface QuestionContext {
    /** Aborts when the answer is no longer needed. Close the dialog then. */
    readonly signal: AbortSignal;
}

/** What answers the questions of a server. Each handler declares a capability to the server, which then may ask. */
export declare interface QuestionHandlers {
    /**
     * Shows a form or a page to a person. With "events", questions become events of `start()`, and `call.answer`
     * answers them. Default: the server cannot ask for forms or pages.
     */
    readonly elicit?: ((question: FormQuestion | UrlQuestion, context: QuestionContext) => FormAnswer | Promise<FormAnswer>) | "events" | undefined;
    /**
     * Runs a language model for the server. With "events", questions become events of `start()`. Default: the server
     * cannot use a model.
     */
    readonly sample?: ((params: CreateMessageRequestParams, context: QuestionContext) => CreateMessageResult | Promise<CreateMessageResult>) | "events" | undefined;
    /** The folders that the server may work in, or a function that returns them. Default: the server cannot ask. */
    readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
    /** Whether the server may turn a call into a task. Default: true. */
    readonly tasks?: boolean | undefined;
}

/** A question for the folders that the server may work in. The `roots` option of `connect` answers it. */
export declare interface RootsQuestion {
    /** Tells the kinds of question apart. */
    readonly kind: "roots";
    /** Names the question within its call. */
    readonly key: string;
}

/** The `error` member of a JSON-RPC response. */
export declare interface RpcError {
    /** The number that says what went wrong, for example -32602. */
    readonly code: number;
    /** What went wrong, in the words of the server. */
    readonly message: string;
    /** Whatever else the server sent with the error. */
    readonly data?: unknown;
}

/** A question for a language model. */
export declare interface SamplingQuestion {
    /** Tells the kinds of question apart. */
    readonly kind: "sampling";
    /** Names the question within its call. Pass it to `call.answer`. */
    readonly key: string;
    /** The messages for the model and the server's preferences, as the protocol defines them. */
    readonly params: CreateMessageRequestParams;
}

/** An app in this process, such as `parley()` returns. It is reached without a network. */
export declare interface ServedApp {
    /** Serves one HTTP request. */
    readonly fetch: (request: Request) => Promise<Response>;
}

/** A server that is started as a process and reached over its standard input and output. */
export declare interface ServerCommand {
    /** The program to run, for example "node". */
    readonly command: string;
    /** The arguments of the program. Default: none. */
    readonly args?: readonly string[] | undefined;
    /** The environment of the program. Default: a few safe variables of this process, such as PATH and HOME. */
    readonly env?: Readonly<Record<string, string>> | undefined;
    /** The working directory of the program. Default: that of this process. */
    readonly cwd?: string | undefined;
}

/** Reported to the transport's `onerror` when a call ends but its task continues on the server. */
export declare class TaskLeftError extends Error {
    /** The id of the task. You can still read or cancel the task with it. */
    readonly taskId: string;
    /** `tool` is the tool that was called. */
    constructor(tool: string, taskId: string);
}

/** A choice with a value for the program and a title for people. */
export declare interface TitledChoice {
    /** The value of the field if this is chosen. */
    readonly const: string;
    /** What people see. */
    readonly title: string;
}

/** A call in the journal that an earlier process, or an earlier connection, did not finish. */
export declare interface UnfinishedCall {
    /** The reference to pass to `connection.resume`. */
    readonly ref: string;
    /** The name of the tool or prompt, or the URI of the resource. */
    readonly tool: string;
    /** When the call started. */
    readonly since: Date;
    /**
     * How far the call got. "started": it may have been sent, and resuming sends it again from its beginning. "asked": the
     * server has asked something. "task": it has become a task. "done": its result was not taken yet.
     */
    readonly phase: "started" | "asked" | "task" | "done";
    /** The protocol version that the call began in. Pass it to `connect` to resume a call of a 2025-11-25 session. */
    readonly era: Era;
}

/** A question that asks the person to open a page, for example to sign in or to pay. */
export declare interface UrlQuestion {
    /** Tells the kinds of question apart. */
    readonly kind: "url";
    /** Names the question within its call. Pass it to `call.answer`. */
    readonly key: string;
    /** Why the server wants the person to open the page. */
    readonly message: string;
    /**
     * The address of the page, always http or https. The client never opens or fetches it. Show the person all of it, and
     * open it only after they agree.
     */
    readonly url: string;
    /** The host of `url`, with its port if it has one. */
    readonly host: string;
    /** True if the host name contains characters that can be mistaken for others. Warn the person. */
    readonly isPunycode: boolean;
}

/**
 * Wraps a transport of the official SDK. A `Client` that uses it calls a tool that becomes a task with plain
 * `callTool()`, and gets the final result. The client's own elicitation, sampling and roots handlers answer the
 * questions of the task. The returned transport has all members of the one you pass.
 *
 * **Version.** The official client speaks 2025-11-25 unless you pass `versionNegotiation`, and then there are no such
 * tasks: a warning says so. With a server that speaks nothing newer, everything passes through unchanged.
 *
 * **Time limits.** A client gives each request 60 s by default. The time that a task works counts as one request; the
 * time that a person takes to answer does not count. For longer tasks, pass `callTool()` a longer `timeout`, or
 * `resetTimeoutOnProgress: true` together with `onprogress`: there is progress as long as the task is followed, and
 * `maxTotalTimeout` sets the limit. Without either, the call ends with `Request timed out`, and `onerror` receives a
 * `TaskLeftError`, because the task continues.
 *
 * **Questions.** Each time the task asks is one round for the client, which stops after ten rounds. Raise
 * `inputRequired.maxRounds` for more. If a handler throws, the call ends, but a transport does not learn about it: the
 * task waits until it expires or until `answerMs` is over. When the connection closes, `onerror` receives a
 * `TaskLeftError` for each task that still waits for an answer.
 *
 * **Errors.** If the task failed, the call ends with the server's own error. Any other failure is a `ProtocolError`
 * whose `data.reason` is a `CallErrorCode`.
 *
 * @example
 * ```ts
 * const client = new Client(info, {
 *   capabilities: { elicitation: {} },
 *   versionNegotiation: { mode: "auto" },
 * });
 * await client.connect(withTasks(new StreamableHTTPClientTransport(url)));
 * const result = await client.callTool({ name: "resolve_bug", arguments: { id: 4522 } });
 * ```
 */
export declare function withTasks<T extends Transport>(transport: T, options?: WithTasksOptions): T;

/** Options of `withTasks`. */
export declare interface WithTasksOptions {
    /**
     * Cancels the task when the client gives up the call. A transport cannot tell why a client gives up, so a task that
     * takes longer than the client's `timeout` is cancelled as well. Default: false.
     */
    readonly cancelOnAbort?: boolean | undefined;
    /** Subscribes to changes of the task (`subscriptions/listen`) besides polling it. Default: true. */
    readonly listen?: boolean | undefined;
    /** How long the server may be unreachable while a task is followed, in milliseconds. Default: 60 000 (one minute). */
    readonly outageMs?: number | undefined;
    /** How often a call with `onprogress` hears that its task still runs, in milliseconds. Default: 5000. */
    readonly progressMs?: number | undefined;
    /**
     * How long the client may take to answer a question of a task, in milliseconds. After that the task is cancelled. Set
     * it if a handler of yours can throw, because a transport does not learn about that. Default: no limit.
     */
    readonly answerMs?: number | undefined;
    /**
     * Asks for what tools stream, and receives each part, with the id of the request that it belongs to. Each round of a call is
     * a request of its own, and so is each time that its task has asked something. Default: no parts are asked for.
     *
     * @example
     * ```ts
     * withTasks(transport, { onPart: ({ text }) => process.stdout.write(text) });
     * ```
     */
    readonly onPart?: ((part: Part, request: RequestId) => void) | undefined;
}

export { }
