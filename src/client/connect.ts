// `connect`: from a target to a connection that runs calls over the newest protocol version both sides speak.

import { Client } from "@modelcontextprotocol/client";
import type {
  GetPromptResult,
  Implementation,
  ReadResourceResult,
  StandardSchemaV1,
} from "@modelcontextprotocol/client";
import { dialectOf, howToPlugIn } from "../protocol/draft-plug-in.ts";
import type { DraftDialect } from "../protocol/draft-plug-in.ts";
import { goodIdempotencyKey, isIdempotencyKey } from "../protocol/idempotency-key.ts";
import { streamingExtension } from "../protocol/streaming.ts";
import { draftVersion, legacyVersion, modernVersion } from "../protocol/versions.ts";
import type { Era } from "../protocol/versions.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { CallServices } from "./active-call.ts";
import { Answerers } from "./answerers.ts";
import { OngoingCall } from "./call.ts";
import type { OngoingOptions } from "./call.ts";
import { connectFailure } from "./connect-failure.ts";
import type { CallOptions, Connection, ConnectOptions, UnfinishedCall } from "./connection.ts";
import { badResponse, CallError } from "./errors.ts";
import { folderJournal } from "./journal.ts";
import type { ClientJournal } from "./journal.ts";
import { LegacySession, taskFor } from "./legacy-session.ts";
import type { TaskParams } from "./legacy-session.ts";
import { limitsOf } from "./limits.ts";
import type { Limits } from "./limits.ts";
import { ParamHeaders } from "./param-headers.ts";
import { eraOf, stateOf } from "./reference.ts";
import type { CallState, Method } from "./reference.ts";
import { RequestChannel } from "./request-channel.ts";
import type { CallResult } from "./result.ts";
import { endpointOf } from "./target.ts";
import { sdkFailure } from "./transport-failure.ts";
import type { ConnectTarget, Endpoint } from "./target.ts";
import { TaskSubscriptions } from "./task-subscriptions.ts";

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
export async function connect(
  target: ConnectTarget,
  options: ConnectOptions = {},
): Promise<Connection> {
  const dialect = dialectFor(options);
  const answerers = new Answerers(options, options.streams);
  const limits = limitsOf(options.limits);
  const headers = new ParamHeaders();
  const channel = new RequestChannel(headers.learn);
  const endpoint = endpointOf(target, options, limits.messageBytes, channel);
  const { transport } = endpoint;
  const info = { name: options.name ?? "mcp-parley", version: options.version ?? "1.0.0" };
  const sdk = new Client(info, {
    capabilities: {
      ...answerers.capabilities,
      // 2025-11-25 has no extensions.
      ...(answerers.streams && { experimental: { [streamingExtension]: {} } }),
    },
    versionNegotiation: { mode: modeOf(options.era) },
  });
  // An error that matters reaches the application through the call that it affects.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no addEventListener
  sdk.onerror = () => {};
  const { journal, logLevel } = options;
  const parts = { sdk, channel, endpoint, answerers, limits, headers, journal, logLevel };
  const connection = new LiveConnection(parts);
  const offer = dialect?.offer(transport);
  try {
    await sdk.connect(transport);
    if (options.era === draftVersion && offer?.isTaken !== true) throw noDraft();
  } catch (error) {
    await transport.close().catch(() => {});
    throw connectFailure(error, options.era);
  }
  connection.attach(info, offer?.isTaken === true ? dialect : undefined, options.meta);
  return connection;
}

/** To the official client, the draft looks like a 2025-11-25 session. */
function modeOf(era: Era | undefined): "auto" | "legacy" | { pin: string } {
  if (era === undefined) return "auto";
  return era === modernVersion ? { pin: era } : "legacy";
}

/** The draft to offer, if any. With an `era`, nothing but that era is offered. */
function dialectFor({ era, drafts }: ConnectOptions): DraftDialect | undefined {
  const dialect = dialectOf(drafts);
  if (era === draftVersion && dialect === undefined) {
    throw new TypeError(`era: "${draftVersion}" is a draft and needs a plug-in: ${howToPlugIn}`);
  }
  return era === undefined || era === draftVersion ? dialect : undefined;
}

const noDraft = () =>
  new CallError(
    "era_not_shared",
    `The server does not speak the draft. Omit era: "${draftVersion}" to use a version that it speaks.`,
  );

/** What a connection is made of. */
interface ConnectionParts {
  readonly sdk: Client;
  readonly channel: RequestChannel;
  readonly endpoint: Endpoint;
  readonly answerers: Answerers;
  readonly limits: Limits;
  readonly headers: ParamHeaders;
  readonly journal: string | ClientJournal | undefined;
  readonly logLevel: ConnectOptions["logLevel"];
}

/** What differs between `call`, `start` and `resume`. */
type StartOptions = CallOptions<unknown> &
  Pick<OngoingOptions, "isCalled"> &
  Partial<Pick<OngoingOptions, "isResumed">>;

class LiveConnection implements Connection {
  readonly sdk: Client;
  readonly #parts: ConnectionParts;
  readonly #subscriptions: TaskSubscriptions;
  readonly #journal: ClientJournal | undefined;
  readonly #calls = new Set<OngoingCall>();
  #draft: DraftDialect | undefined;
  readonly #legacy: LegacySession;
  #isClosed = false;

  constructor(parts: ConnectionParts) {
    const { sdk, channel, answerers, journal } = parts;
    this.sdk = sdk;
    this.#parts = parts;
    this.#subscriptions = new TaskSubscriptions(channel);
    this.#journal = typeof journal === "string" ? folderJournal(journal) : journal;
    this.#legacy = new LegacySession(sdk, answerers, this.#calls);
  }

  get era(): Era {
    if (this.#draft !== undefined) return draftVersion;
    return this.sdk.getProtocolEra() === "modern" ? modernVersion : legacyVersion;
  }

  get server(): Implementation {
    return this.sdk.getServerVersion() ?? { name: "unknown", version: "unknown" };
  }

  attach(
    clientInfo: Implementation,
    draft: DraftDialect | undefined,
    meta?: ConnectOptions["meta"],
  ): void {
    this.#draft = draft;
    const { answerers, channel, endpoint } = this.#parts;
    const { capabilities } = answerers;
    const protocolVersion = this.sdk.getNegotiatedProtocolVersion() ?? modernVersion;
    const isModern = this.era === modernVersion;
    const envelope = isModern ? { protocolVersion, capabilities, clientInfo } : undefined;
    channel.attach(endpoint.transport, envelope, meta);
  }

  // ---------------------------------------------------------------- calls

  readonly call: Connection["call"] = async (tool, args, options) => {
    const call = this.#start("tools/call", tool, args, { ...options, isCalled: true });
    const result = await call.result();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has checked its type, if there is one
    return (await withSchema(result, options?.outputSchema)) as never;
  };

  readonly prompt: Connection["prompt"] = async (name, args, options) => {
    const call = this.#start("prompts/get", name, args, { ...options, isCalled: true });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- finalResult has checked its outline
    return (await call.raw()) as unknown as GetPromptResult;
  };

  readonly read: Connection["read"] = async (uri, options) => {
    const call = this.#start("resources/read", String(uri), undefined, {
      ...options,
      isCalled: true,
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- finalResult has checked its outline
    return (await call.raw()) as unknown as ReadResourceResult;
  };

  readonly start: Connection["start"] = (tool, args, options) =>
    this.#start("tools/call", tool, args, { ...options, isCalled: false });

  readonly forget: Connection["forget"] = async (ref) => {
    const { id } = stateOf(ref);
    if (this.#isRunning(id)) {
      const message = "That call is running on this connection. Cancel it instead.";
      throw new CallError("bad_reference", message);
    }
    await this.#journal?.delete(id);
  };

  #isRunning(id: string): boolean {
    return [...this.#calls].some((call) => call.id === id);
  }

  readonly resume: Connection["resume"] = (ref, options) => {
    const state = stateOf(ref);
    if (state.target !== this.#target) {
      const message = `That call belongs to ${state.target}, but this connection is to ${this.#target}. Resume it on a connection to its own server.`;
      throw new CallError("bad_reference", message);
    }
    if (this.#isRunning(state.id)) {
      throw new CallError("bad_reference", "That call is already running on this connection.");
    }
    return this.#run(state, { ...options, isCalled: false, isResumed: true });
  };

  readonly unfinished: Connection["unfinished"] = async () => {
    const running = new Set([...this.#calls].map(({ id }) => id));
    const found: UnfinishedCall[] = [];
    for (const ref of (await this.#journal?.list()) ?? []) {
      const state = readable(ref);
      if (state === undefined || state.target !== this.#target || running.has(state.id)) continue;
      found.push({
        ref,
        tool: state.name,
        since: new Date(state.since),
        phase: phaseOf(state),
        era: eraOf(state),
      });
    }
    return found;
  };

  readonly close = async (): Promise<void> => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const closed = new CallError(
      "closed",
      "The connection was closed while the call was running. If error.ref is set, connect again and continue with resume(error.ref).",
    );
    for (const call of this.#calls) call.fail(closed);
    const { transport } = this.#parts.endpoint;
    if ("terminateSession" in transport && typeof transport.terminateSession === "function") {
      // 2025-11-25: lets the server end the session. The server may be gone, which is fine.
      await Promise.resolve(transport.terminateSession()).catch(() => {});
    }
    await this.sdk.close();
  };

  get #serverStreams(): boolean {
    const { extensions, experimental } = this.sdk.getServerCapabilities() ?? {};
    return (
      own(this.era === modernVersion ? extensions : experimental, streamingExtension) !== undefined
    );
  }

  get #target(): string {
    return this.#parts.endpoint.name ?? this.server.name;
  }

  #start(
    method: Method,
    name: string,
    args: Members | undefined,
    options: StartOptions,
  ): OngoingCall {
    const state: CallState = {
      id: crypto.randomUUID(),
      target: this.#target,
      since: Date.now(),
      method,
      name,
      args: args === undefined ? undefined : plain(args),
      idempotencyKey: keyOf(options),
      rounds: 0,
      stateRounds: 0,
      questions: new Map(),
      answers: new Map(),
      isLegacy: this.era === legacyVersion,
      era: this.era,
    };
    return this.#run(state, options);
  }

  #run(state: CallState, options: StartOptions): OngoingCall {
    if (this.#isClosed) {
      throw new CallError("closed", "This connection is closed. Call connect() again.");
    }
    const { isCalled, isResumed = false, timeoutMs, signal, task } = options;
    const taskParams = taskParamsOf(task);
    const call = new OngoingCall(this.#services(state, taskParams), state, {
      isCalled,
      isResumed,
      timeoutMs,
      signal,
      taskParams,
      onEnd: () => void this.#calls.delete(call),
    });
    this.#calls.add(call);
    return call;
  }

  #services(state: CallState, taskParams: TaskParams | undefined): CallServices {
    const { channel, limits, headers, answerers, logLevel } = this.#parts;
    const draft = this.#draft?.requests(channel, async () =>
      taskFor(await this.#legacy.toolOf(state.name), taskParams),
    );
    return {
      channel: draft ?? channel,
      subscriptions: draft === undefined ? this.#subscriptions : new TaskSubscriptions(draft),
      limits,
      headers,
      listTools: async () => {
        await this.sdk.listTools(undefined, { cacheMode: "refresh" }).catch((error: unknown) => {
          throw sdkFailure(error, "tools/list");
        });
      },
      answerers,
      journal: this.#journal,
      era: this.era,
      logLevel,
      streams: answerers.streams && draft === undefined && this.#serverStreams,
      legacy: this.era === legacyVersion ? this.#legacy : undefined,
    };
  }
}

/** A copy as JSON sends it, so that later changes to the arguments do not reach the journal or a repeated request. */
const plain = (args: Members): Members => JSON.parse(JSON.stringify(args));

function keyOf({ idempotencyKey }: CallOptions<unknown>): string {
  if (idempotencyKey === undefined) return crypto.randomUUID();
  if (isIdempotencyKey(idempotencyKey)) return idempotencyKey;
  throw new TypeError(`idempotencyKey must be ${goodIdempotencyKey}, such as crypto.randomUUID().`);
}

function taskParamsOf(task: CallOptions["task"]): TaskParams | undefined {
  if (task === undefined || task === false) return undefined;
  return task === true ? {} : { ttl: task.ttlMs };
}

function readable(ref: string): CallState | undefined {
  try {
    return stateOf(ref);
  } catch {
    return undefined;
  }
}

function phaseOf({ result, taskId, rounds, stateRounds }: CallState): UnfinishedCall["phase"] {
  if (result !== undefined) return "done";
  if (taskId !== undefined) return "task";
  return rounds + stateRounds > 0 ? "asked" : "started";
}

async function withSchema(
  result: CallResult,
  schema: StandardSchemaV1 | undefined,
): Promise<CallResult> {
  // The result of a failed tool has no structured content to check.
  if (schema === undefined || result.isError === true) return result;
  const read = await schema["~standard"].validate(result.data);
  if (read.issues === undefined) return { ...result, data: read.value };
  const [issue] = read.issues;
  throw badResponse(`its structured content does not match outputSchema: ${issue?.message ?? ""}`);
}
