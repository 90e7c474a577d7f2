// From a target to a connection: a transport, the newest era both sides speak, and the calls over it.

import { Client } from "@modelcontextprotocol/client";
import type {
  GetPromptResult,
  Implementation,
  ReadResourceResult,
  StandardSchemaV1,
} from "@modelcontextprotocol/client";
import { dialectOf, howToPlugIn } from "../protocol/drafts.ts";
import type { DraftDialect, Drafts } from "../protocol/drafts.ts";
import { draftVersion } from "../protocol/versions.ts";
import { OngoingCall } from "./call.ts";
import type { Call, Host } from "./call.ts";
import { connectFailure } from "./connect-failure.ts";
import { badResponse, CallError } from "./errors.ts";
import { folderJournal } from "./journal.ts";
import type { ClientJournal } from "./journal.ts";
import type { Members } from "../util/objects.ts";
import { LegacySession } from "./legacy-session.ts";
import { TaskHints } from "./listen.ts";
import { taskFor } from "./legacy.ts";
import { limitsOf } from "./limits.ts";
import type { ClientLimits, Limits } from "./limits.ts";
import { ParamHeaders } from "./param-headers.ts";
import { People } from "./people.ts";
import type { Handlers } from "./people.ts";
import { stateOf } from "./reference.ts";
import type { CallState, Method } from "./reference.ts";
import type { CallResult } from "./result.ts";
import type { TaskWish } from "./run.ts";
import { placeOf } from "./target.ts";
import type { Access, Place, Target } from "./target.ts";
import { Wire } from "./wire.ts";

export type Era = "2026-07-28" | "2026-06-XX" | "2025-11-25";

export interface ConnectOptions extends Handlers, Access {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** The newest that both sides speak, unless it is said here. `connection.era` tells which it was. */
  readonly era?: Era | undefined;
  /** Also offers a draft to a server that has nothing newer: `drafts()` from `mcp-parley/drafts`. Default: none. */
  readonly drafts?: Drafts | undefined;
  /** A folder in which every unfinished call is kept. Holds arguments and sealed state: treat it as a secret. */
  readonly journal?: string | ClientJournal | undefined;
  readonly limits?: ClientLimits | undefined;
  /** Sent as `_meta` with every request of a call, beside the protocol's own. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface CallOptions<S = undefined> {
  readonly outputSchema?: S | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Server time only; people may take as long as they like. */
  readonly timeoutMs?: number | undefined;
  /** Before 2026-07-28: as a task, where the tool can be one, and for how long. Since then the server decides. */
  readonly task?: boolean | { readonly ttlMs: number } | undefined;
}

export interface Unfinished {
  readonly ref: string;
  /** The tool, the prompt or the URI. */
  readonly tool: string;
  readonly since: Date;
  /** "started": nothing is known but that it was sent, if at all; resuming sends it from its beginning. */
  readonly phase: "started" | "asked" | "task" | "done";
}

export interface Connection {
  readonly server: Implementation;
  readonly era: Era;
  readonly call: <S extends StandardSchemaV1 | undefined = undefined>(
    tool: string,
    args?: Record<string, unknown>,
    options?: CallOptions<S>,
  ) => Promise<CallResult<S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown>>;
  readonly prompt: (
    name: string,
    args?: Record<string, string>,
    options?: CallOptions,
  ) => Promise<GetPromptResult>;
  readonly read: (uri: string | URL, options?: CallOptions) => Promise<ReadResourceResult>;
  readonly start: (tool: string, args?: Record<string, unknown>, options?: CallOptions) => Call;
  /** Goes on with a call of another process, or of an earlier connection. */
  readonly resume: (ref: string, options?: CallOptions) => Call;
  /** What the journal holds from before a crash. */
  readonly unfinished: () => Promise<readonly Unfinished[]>;
  /** The official client underneath, for lists, completion and subscriptions. */
  readonly sdk: Client;
  readonly close: () => Promise<void>;
}

export async function connect(target: Target, options: ConnectOptions = {}): Promise<Connection> {
  const dialect = dialectFor(options);
  const people = new People(options);
  const limits = limitsOf(options.limits);
  const headers = new ParamHeaders();
  const wire = new Wire(headers.learn);
  const place = placeOf(target, options, limits.messageBytes, wire);
  const info = { name: options.name ?? "mcp-parley", version: options.version ?? "1.0.0" };
  const sdk = new Client(info, {
    capabilities: people.capabilities,
    versionNegotiation: { mode: modeOf(options.era) },
  });
  // Whatever goes wrong aside is told by the call that it goes wrong for.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other
  sdk.onerror = () => {};
  const connection = new Connected(sdk, wire, place, people, limits, headers, options.journal);
  const offer = dialect?.offer(place.transport);
  try {
    await sdk.connect(place.transport);
    if (options.era === draftVersion && offer?.isTaken !== true) throw noDraft();
  } catch (error) {
    await place.transport.close().catch(() => {});
    throw connectFailure(error, options.era);
  }
  connection.attach(info, offer?.isTaken === true ? dialect : undefined, options.meta);
  return connection;
}

/** To the official client the draft is a session like those of 2025-11-25. */
function modeOf(era: Era | undefined): "auto" | "legacy" | { pin: string } {
  if (era === undefined) return "auto";
  return era === "2026-07-28" ? { pin: era } : "legacy";
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
    `The server does not speak the draft. Leave out era: "${draftVersion}" to take what it speaks.`,
  );

class Connected implements Connection {
  readonly sdk: Client;
  readonly #wire: Wire;
  readonly #hints: TaskHints;
  readonly #place: Place;
  readonly #people: People;
  readonly #headers: ParamHeaders;
  readonly #limits: Limits;
  readonly #journal: ClientJournal | undefined;
  readonly #calls = new Set<OngoingCall>();
  #draft: DraftDialect | undefined;
  readonly #legacy: LegacySession;
  #isClosed = false;

  constructor(
    sdk: Client,
    wire: Wire,
    place: Place,
    people: People,
    limits: Limits,
    headers: ParamHeaders,
    journal: string | ClientJournal | undefined,
  ) {
    this.sdk = sdk;
    this.#wire = wire;
    this.#hints = new TaskHints(wire);
    this.#place = place;
    this.#people = people;
    this.#limits = limits;
    this.#headers = headers;
    this.#journal = typeof journal === "string" ? folderJournal(journal) : journal;
    this.#legacy = new LegacySession(sdk, people, this.#calls);
  }

  get era(): Era {
    if (this.#draft !== undefined) return draftVersion;
    return this.sdk.getProtocolEra() === "modern" ? "2026-07-28" : "2025-11-25";
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
    const { capabilities } = this.#people;
    const protocolVersion = this.sdk.getNegotiatedProtocolVersion() ?? "2026-07-28";
    const isModern = this.era === "2026-07-28";
    const envelope = isModern ? { protocolVersion, capabilities, clientInfo } : undefined;
    this.#wire.attach(this.#place.transport, envelope, meta);
  }

  // ---------------------------------------------------------------- calls

  readonly call: Connection["call"] = async (tool, args, options) => {
    const call = this.#start("tools/call", tool, args, { ...options, isCalled: true });
    const result = await call.result();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as its schema says, where it has one
    return (await withSchema(result, options?.outputSchema)) as never;
  };

  readonly prompt: Connection["prompt"] = async (name, args, options) => {
    const call = this.#start("prompts/get", name, args, { ...options, isCalled: true });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as far as it was looked at
    return (await call.raw()) as unknown as GetPromptResult;
  };

  readonly read: Connection["read"] = async (uri, options) => {
    const call = this.#start("resources/read", String(uri), undefined, {
      ...options,
      isCalled: true,
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
    return (await call.raw()) as unknown as ReadResourceResult;
  };

  readonly start: Connection["start"] = (tool, args, options) =>
    this.#start("tools/call", tool, args, { ...options, isCalled: false });

  readonly resume: Connection["resume"] = (ref, options) => {
    const state = stateOf(ref);
    if (state.target !== this.#target) {
      const message = `That call is one of ${state.target}, and this is ${this.#target}.`;
      throw new CallError("bad_reference", message);
    }
    if ([...this.#calls].some(({ id }) => id === state.id)) {
      throw new CallError("bad_reference", "That call is under way here already.");
    }
    return this.#go(state, { ...options, isCalled: false, isResumed: true });
  };

  readonly unfinished: Connection["unfinished"] = async () => {
    const here = new Set([...this.#calls].map(({ id }) => id));
    const found: Unfinished[] = [];
    for (const ref of (await this.#journal?.list()) ?? []) {
      const state = readable(ref);
      if (state === undefined || state.target !== this.#target || here.has(state.id)) continue;
      found.push({ ref, tool: state.name, since: new Date(state.since), phase: phaseOf(state) });
    }
    return found;
  };

  readonly close = async (): Promise<void> => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const closed = new CallError(
      "closed",
      "The connection was closed while the call was under way.",
    );
    for (const call of this.#calls) call.fail(closed);
    const { transport } = this.#place;
    if ("terminateSession" in transport && typeof transport.terminateSession === "function") {
      // 2025-11-25: the server may forget the session now. It may also be gone itself.
      await Promise.resolve(transport.terminateSession()).catch(() => {});
    }
    await this.sdk.close();
  };

  get #target(): string {
    return this.#place.name ?? this.server.name;
  }

  #start(
    method: Method,
    name: string,
    args: Members | undefined,
    options: CallOptions<unknown> & { readonly isCalled: boolean },
  ): OngoingCall {
    const state: CallState = {
      id: crypto.randomUUID(),
      target: this.#target,
      since: Date.now(),
      method,
      name,
      args: args === undefined ? undefined : plain(args),
      rounds: 0,
      stateRounds: 0,
      questions: new Map(),
      answers: new Map(),
      isLegacy: this.era === "2025-11-25",
    };
    return this.#go(state, options);
  }

  #go(
    state: CallState,
    options: CallOptions<unknown> & { readonly isCalled: boolean; readonly isResumed?: boolean },
  ): OngoingCall {
    if (this.#isClosed) throw new CallError("closed", "This connection is closed.");
    const { isCalled, isResumed = false, timeoutMs, signal, task } = options;
    const wantsTask = wishOf(task);
    const call = new OngoingCall(this.#host(state, wantsTask), state, {
      isCalled,
      isResumed,
      timeoutMs,
      signal,
      wantsTask,
    });
    this.#calls.add(call);
    return call;
  }

  #host(state: CallState, wantsTask: TaskWish | undefined): Host {
    const draft = this.#draft?.requests(this.#wire, async () =>
      taskFor(await this.#legacy.toolOf(state.name), wantsTask),
    );
    return {
      wire: draft ?? this.#wire,
      hints: draft === undefined ? this.#hints : new TaskHints(draft),
      limits: this.#limits,
      headers: this.#headers,
      listTools: async () => {
        await this.sdk.listTools(undefined, { cacheMode: "refresh" });
      },
      people: this.#people,
      journal: this.#journal,
      legacy: this.era === "2025-11-25" ? this.#legacy : undefined,
      ended: (call) => void this.#calls.delete(call),
    };
  }
}

/** As it will be on the wire, also where it is kept and sent again: what is changed later is not. */
const plain = (args: Members): Members => JSON.parse(JSON.stringify(args));

function wishOf(task: CallOptions["task"]): TaskWish | undefined {
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

function phaseOf({ result, taskId, rounds, stateRounds }: CallState): Unfinished["phase"] {
  if (result !== undefined) return "done";
  if (taskId !== undefined) return "task";
  return rounds + stateRounds > 0 ? "asked" : "started";
}

async function withSchema(
  result: CallResult,
  schema: StandardSchemaV1 | undefined,
): Promise<CallResult> {
  // A tool that says that it could not has nothing to check.
  if (schema === undefined || result.isError === true) return result;
  const read = await schema["~standard"].validate(result.data);
  if (read.issues === undefined) return { ...result, data: read.value };
  const [issue] = read.issues;
  throw badResponse(`its structured content does not fit outputSchema: ${issue?.message ?? ""}`);
}
