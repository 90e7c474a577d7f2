// The public types of `connect`: its options, and the connection that it returns.

import type {
  Client,
  GetPromptResult,
  Implementation,
  LoggingLevel,
  ReadResourceResult,
  StandardSchemaV1,
} from "@modelcontextprotocol/client";
import type { Drafts } from "../protocol/draft-plug-in.ts";
import type { Era } from "../protocol/versions.ts";
import type { QuestionHandlers } from "./answerers.ts";
import type { Call } from "./call.ts";
import type { ClientJournal } from "./journal.ts";
import type { ClientLimits } from "./limits.ts";
import type { CallResult } from "./result.ts";
import type { HttpAccess } from "./target.ts";

/** Options of `connect`: how to reach the server, what answers its questions, and how calls are kept. */
export interface ConnectOptions extends QuestionHandlers, HttpAccess {
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

/** Options of one call. */
export interface CallOptions<S = undefined> {
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
  readonly task?:
    | boolean
    | {
        /** How long the server should keep the task, in milliseconds. With `true`, the server decides. */
        readonly ttlMs: number;
      }
    | undefined;
}

/** A call in the journal that an earlier process, or an earlier connection, did not finish. */
export interface UnfinishedCall {
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

/** A connection to one server. */
export interface Connection {
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
  readonly call: <S extends StandardSchemaV1 | undefined = undefined>(
    tool: string,
    args?: Record<string, unknown>,
    options?: CallOptions<S>,
  ) => Promise<CallResult<S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown>>;
  /** Gets a prompt. Its questions are answered as in `call`. */
  readonly prompt: (
    name: string,
    args?: Record<string, string>,
    options?: CallOptions,
  ) => Promise<GetPromptResult>;
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
