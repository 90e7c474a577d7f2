import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ContentBlock } from '@modelcontextprotocol/server';
import type { CreateMessageResult } from '@modelcontextprotocol/server';
import type { GetPromptResult } from '@modelcontextprotocol/server';
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { Root } from '@modelcontextprotocol/server';

/** What the page and the console show beside the question. At most 4 KiB. */
export declare type About = Readonly<Record<string, string | number | boolean>>;

/**
 * In a script: these people approve, one after the other.
 *
 * @example
 * ```ts
 * const { result } = await play(pay, { amount: 500 }, { pay: approvedBy("bo", "cy") }, { principal: "ada" });
 * ```
 */
export declare const approvedBy: (...who: readonly string[]) => Decided;

/** A question that was asked during a played call. */
export declare interface AskedQuestion {
    /** The key that the handler gave it. */
    readonly key: string;
    /**
     * "form" for `ask`, `choose`, `confirm` and `elicit`, "url" for `openUrl`, "connect" for `connect`, "sampling" for `sample`,
     * "roots" for `roots`, "external" for `waitFor` and "approval" for a group's `approve`, which the client is not asked.
     */
    readonly kind: "form" | "url" | "connect" | "sampling" | "roots" | "external" | "approval";
    /** What the person or the model is shown. */
    readonly message: string;
    /** The form, if the question has one. */
    readonly schema?: FormJson;
    /** What is shown beside an approval by a group. */
    readonly about?: About;
    /** The address of the page, for `openUrl`. */
    readonly url?: string;
    /** How it reaches the person, or "delivery" for `waitFor`. Undefined for `sample` and `roots`, which no person answers. */
    readonly via?: Via;
    /** The round that asked it, counted from 1. In the background, the run of the task. */
    readonly round: number;
}

/** What an audit record says has happened. */
export declare type AuditAction = ("asked" | "answered" | "declined" | "cancelled" | "timed_out") | ("approved" | "rejected" | "too_late") | ("call_cancelled" | "rerun" | "undone" | "undo_failed") | ("connected" | "disconnected" | "token_refused");

/** One thing that happened. It is flat, because a sink writes rows. */
export declare interface AuditRecord {
    /** The same if the record is written again, for example after a crash. */
    readonly id: string;
    /** When it happened. */
    readonly at: Date;
    /** What happened. */
    readonly action: AuditAction;
    /** The tool, prompt or resource that was called. */
    readonly tool?: string | undefined;
    /** The call. Undefined if it is not known, such as that of a refused token. */
    readonly callId?: string | undefined;
    /** The task that the call has become. */
    readonly taskId?: string | undefined;
    /** Whose call it is. */
    readonly principal?: string | undefined;
    /** Who did this, if it is known and not the caller. */
    readonly who?: string | undefined;
    /** The key of the question, or of the step that was undone. */
    readonly key?: string | undefined;
    /** The digest of the question. It is the same for a question and its answers. */
    readonly digest?: string | undefined;
    /** The text of the question. */
    readonly message?: string | undefined;
    /** What was shown beside the question. */
    readonly about?: About | undefined;
    /** Of an approval that is asked for: the group whose members decide. Undefined if the caller decides. */
    readonly group?: string | undefined;
    /** How many members of the group must agree. */
    readonly needed?: number | undefined;
    /** How the question went to the person, or how the answer came. */
    readonly via?: Via | undefined;
    /** The name of the undo or the provider, the note of a decision (and what it was, if it came too late), the task that a rerun made, or why a token was refused. */
    readonly note?: string | undefined;
    /** The answer. Only with `audit: { values: true }`, and never that of a sensitive question. */
    readonly value?: Json | undefined;
}

/** In a script: the person cancels the question without an answer. */
export declare const cancelled: unique symbol;

/**
 * Plays a call once for every mishap that can happen to it: a response is lost, a process is killed before or after a step, a
 * request is sent twice or again later, an answer comes after the token expired. Rejects with a list of what went wrong: a
 * different result, an error, a step that ran again under a new idempotency key, or one that ran again and did not use
 * its key.
 *
 * @example
 * ```ts
 * const { repeats } = await crashTest(deploy, { service: "web" }, { confirm: true }, { reset: () => cluster.clear() });
 * expect(repeats.map(({ step }) => step)).toContain("deploy");
 * ```
 *
 * @param handler What `app.tool`, `app.prompt` or `app.resource` returned.
 * @param args The arguments, or the URI of a resource.
 * @param script The answers, by key or as a function. Not needed if the handler asks nothing.
 * @param options Who makes the call, and how to restore what it changes.
 */
export declare function crashTest<H extends Playable>(handler: H, args: PlayArguments<H>, script?: Script, options?: CrashTestOptions): Promise<CrashTestReport>;

/** How `crashTest` plays a call. */
export declare interface CrashTestOptions extends PlayOptions {
    /** Called before each play. Use it to restore everything that the handler changes. */
    readonly reset?: (() => void | Promise<void>) | undefined;
    /**
     * The keys of steps that may run again, because they only read: under a new idempotency key, or without using their key.
     * Default: none.
     */
    readonly mayRepeat?: readonly string[] | undefined;
    /** The call is meant to end with an error. Default: only if steps are undone. */
    readonly endsInError?: boolean | undefined;
}

/** What `crashTest` found in a handler that survives everything. */
export declare interface CrashTestReport {
    /** How many times the call was played. */
    readonly plays: number;
    /** The bodies that ran more than once under the same idempotency key, one entry for each mishap. */
    readonly repeats: readonly Repeat[];
}

/** In a script: what members of a group decide about an approval. Made by `approvedBy` and `rejectedBy`. */
export declare class Decided {
    /** The people, in the order in which they decide. The last one may refuse. */
    readonly who: readonly string[];
    /** Whether all of them agree. */
    readonly isApproved: boolean;
    /** What the last one writes beside it. */
    readonly note: string | undefined;
    constructor(who: readonly string[], isApproved: boolean, note: string | undefined);
}

/** In a script: the person declines the question. */
export declare const declined: unique symbol;

/** The protocol version that a call is made in. Written out, because this type is public and the constants are not. */
export declare type Era = "2026-07-28" | "2026-06-XX" | "2025-11-25";

/** The id of an extension: a prefix and a name, such as "io.example/ext". */
export declare type ExtensionId = `${string}/${string}`;

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

/** The types that a handle carries for the test kit. */
export declare interface HandleTypes<In, Out = unknown> {
    /** The type of the arguments. */
    readonly in: In;
    /** The type of the structured result. */
    readonly out: Out;
}

/** What a client holds of one stream. */
export declare interface HeldStream {
    /** Its text, joined. */
    readonly text: string;
    /** Its content blocks. Text that follows text is one block. */
    readonly content: readonly ContentBlock[];
}

/** A value that JSON can hold. */
export declare type Json = string | number | boolean | null | readonly Json[] | {
    readonly [name: string]: Json | undefined;
};

/**
 * Plays a call from its first request to its result. Every round is served by a new instance of the app through a real
 * token, sleeps take no time, and the script answers the questions. Rejects with the `ParleyError` if the handler has a
 * mistake.
 *
 * @example
 * ```ts
 * const call = await play(deploy, { service: "web" }, { confirm: true });
 * expect(call.text).toBe("web is deployed.");
 * expect(call.asked.map(({ message }) => message)).toEqual(["Deploy web?"]);
 * expect(call.ran("deploy")).toBe(1);
 * ```
 *
 * @param handler What `app.tool`, `app.prompt` or `app.resource` returned.
 * @param args The arguments, or the URI of a resource.
 * @param script The answers, by key or as a function. Not needed if the handler asks nothing.
 * @param options Who makes the call.
 */
export declare function play<H extends Playable>(handler: H, args: PlayArguments<H>, script?: Script, options?: PlayOptions): Promise<PlayedCall<H>>;

/** What can be played: a tool, a prompt or a resource, as `app.tool` and its siblings return it. */
export declare type Playable = Tool<any, any> | Prompt<any> | Resource;

/** What to call a handler with: the arguments of a tool or prompt, the URI of a resource. */
export declare type PlayArguments<H> = H extends Tool<infer In, infer _Out> ? In : H extends Prompt<infer In> ? In : string;

/** A client that can do only what it lists. */
export declare interface PlayClient {
    /** What the client can be asked, "task" if it can follow tasks, and the ids of its extensions, in the words of `ctx.can`. */
    readonly can: readonly (RequiredAbility | ExtensionId)[];
    /** The protocol version that `ctx.era` shows. Default: "2026-07-28". */
    readonly era?: Era | undefined;
}

/** The clients that have a name. */
export declare type PlayClientName = "modern" | "task" | "chat" | "app";

/** How a played call went. */
export declare interface Played<R, D> {
    /** The result, as the client gets it. */
    readonly result: R;
    /** All text of the result: of a tool's content, a prompt's messages or a resource's contents, joined by line breaks. */
    readonly text: string;
    /** The structured content of the result. Undefined if the tool has no `outputSchema`. */
    readonly data: D;
    /** Whether the result reports an error, such as a handler that threw. */
    readonly isError: boolean;
    /** How many requests the client sent for this call. */
    readonly rounds: number;
    /** Every question of the call, in the order they were asked. A question that was asked again is in the list twice. */
    readonly asked: readonly AskedQuestion[];
    /** How many times the body of this step was executed. Retries of one execution do not count. */
    readonly ran: (step: string) => number;
    /** How often the undo of this step ran to its end. */
    readonly undid: (step: string) => number;
    /**
     * What the client holds of this stream at the end, after resets and replacements. Empty if nothing was streamed under this
     * key, or if the client does not take streams.
     *
     * @example
     * ```ts
     * const call = await play(report, { topic: "Q2" });
     * expect(call.streamed("draft").text).toBe("Revenue grew.");
     * ```
     */
    readonly streamed: (key: string) => HeldStream;
    /** What the model was told each time the call paused. Empty for a client that can be asked itself. */
    readonly pauses: readonly string[];
    /**
     * What the audit says about the call, in the order it happened. It has the answers only with `audit: { values: true }`.
     *
     * @example
     * ```ts
     * const call = await play(deploy, { service: "web" }, { confirm: true });
     * expect(call.audit.map(({ action }) => action)).toEqual(["asked", "answered"]);
     * ```
     */
    readonly audit: readonly AuditRecord[];
    /** The size of the token after each round that ended with a question, in bytes. */
    readonly tokenBytes: readonly number[];
    /** The task that the call became. Undefined if it stayed in the foreground. */
    readonly task: PlayedTask | undefined;
    /** The whole call as text, for a snapshot. */
    readonly transcript: string;
}

/** How the call of a handler went, typed after its kind and its `outputSchema`. */
export declare type PlayedCall<H> = H extends Tool<infer _In, infer Out> ? Played<CallToolResult, Out> : H extends Prompt ? Played<GetPromptResult, undefined> : Played<ReadResourceResult, undefined>;

/** The task that a played call became. */
export declare interface PlayedTask {
    /** Its id, as the client sees it. */
    readonly id: string;
    /** The statuses that the task went through, such as `["working", "input_required", "working", "completed"]`. */
    readonly statuses: readonly string[];
}

/** Who makes the call in `play` and `crashTest`, and how it is served. */
export declare interface PlayOptions {
    /**
     * The client that makes the call. "modern" can be asked everything but cannot follow tasks; "task" can follow them as
     * well; "chat" can do nothing; "app" renders MCP Apps and can do nothing else. `{ can: ["form"] }` is a client that can do what it lists. Default: "task" for a tool with
     * `task` in its config, otherwise "modern".
     */
    readonly client?: PlayClientName | PlayClient | undefined;
    /** The former name of `client`. @deprecated Use `client`. For "no-sampling", list what the client can do. */
    readonly as?: "modern" | "task" | "no-elicitation" | "no-sampling" | undefined;
    /** Who is calling, as `ctx.principal` shows it. Default: undefined, as on a server without authorization. */
    readonly principal?: string | undefined;
    /**
     * Access tokens by the names of their providers: the caller has these accounts. For a provider that is missing here, the
     * script is asked under its name, and a script that says true gives an account with a made-up token. Default: none.
     *
     * @example
     * ```ts
     * const call = await play(star, { repository: "parley" }, {}, { accounts: { github: "gho_123" } });
     * ```
     */
    readonly accounts?: Readonly<Record<string, string>> | undefined;
    /** Whether each round runs on a new instance of the app that shares only the keys and the store. Default: true. */
    readonly fresh?: boolean | undefined;
}

/** A registered prompt. Pass it to `play` of the test kit. */
export declare interface Prompt<In = unknown> {
    /** Tells a prompt from a tool and a resource. */
    readonly kind: "prompt";
    /** The name it is registered under. */
    readonly name: string;
    /** For TypeScript only. It is never set. */
    readonly "~types"?: HandleTypes<In>;
}

/**
 * In a script: this person refuses.
 *
 * @example
 * ```ts
 * await play(pay, { amount: 500 }, { pay: rejectedBy("bo", "too expensive") }, { principal: "ada" });
 * ```
 */
export declare const rejectedBy: (who: string, note?: string) => Decided;

/** A step whose body ran more than once in one call. */
export declare interface Repeat {
    /** The key of the step. */
    readonly step: string;
    /** The mishap after which it ran again, such as "response 2 lost". */
    readonly when: string;
    /** How many times it ran. */
    readonly times: number;
    /** "same" if the idempotency key was the same each time, so that a service can detect the repetition. */
    readonly key: "same" | "new";
    /**
     * Whether the body read its idempotency key each time. If not, no service can detect the repetition, so only steps in
     * `mayRepeat` are reported with false.
     */
    readonly usesKey: boolean;
}

/** Something that a tool can require of its clients. The words are those of `ctx.can`. "stream": parts reach the client. */
export declare type RequiredAbility = "form" | "url" | "sampling" | "roots" | "task" | "ask" | "stream";

/** A registered resource. Pass it to `play` of the test kit. */
export declare interface Resource {
    /** Tells a resource from a tool and a prompt. */
    readonly kind: "resource";
    /** The name it is registered under. */
    readonly name: string;
}

/** The answers of a test: by the key of the question, or a function that answers each question. */
export declare type Script = {
    readonly [key: string]: ScriptedAnswer;
} | ((question: AskedQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>);

/**
 * The answer to one question in a script. Write the value that the handler gets: true or false for `confirm`, `openUrl` and
 * `connect`, a text or a whole result for `sample`, a list of roots for `roots`, the delivered value for `waitFor`,
 * `approvedBy(…)` or `rejectedBy(…)` for an approval by a group, and true or false for one by the caller. Write `declined` or
 * `cancelled` for a person who refuses, `timedOut` for one who does not answer in time, or a function that returns one of
 * these.
 */
export declare type ScriptedAnswer = Json | CreateMessageResult | readonly Root[] | typeof declined | typeof cancelled | typeof timedOut | Decided | ((question: AskedQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** In a script: no answer comes until the time limit of the question (`timeoutMs`) is over. */
export declare const timedOut: unique symbol;

/** A choice with a value for the program and a title for people. */
export declare interface TitledChoice {
    /** The value of the field if this is chosen. */
    readonly const: string;
    /** What people see. */
    readonly title: string;
}

/** A registered tool. Pass it to `play` and `crashTest` of the test kit, which take the types of its arguments and result from it. */
export declare interface Tool<In = unknown, Out = unknown> {
    /** Tells a tool from a prompt and a resource. */
    readonly kind: "tool";
    /** The name it is registered under. */
    readonly name: string;
    /** For TypeScript only. It is never set. */
    readonly "~types"?: HandleTypes<In, Out>;
}

/** How an answer came. "delivery": through `app.deliver` or `app.decide`. "console": an operator gave it. */
export declare type Via = Way | "delivery" | "console";

/**
 * How a question reaches the person. "form": the client shows a form. "url": the client offers our page. "app": our form
 * inside the conversation. "relay": the model asks in the chat. "link": the model passes on the address of our page.
 */
export declare type Way = "form" | "url" | "app" | "relay" | "link";

export { }
