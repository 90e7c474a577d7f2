// From a target to a connection: a transport, the newest era both sides speak, and the calls over it.

import { Client, RELATED_TASK_META_KEY } from "@modelcontextprotocol/client";
import type {
  GetPromptResult,
  Implementation,
  InputResponse,
  ReadResourceResult,
  StandardSchemaV1,
} from "@modelcontextprotocol/client";
import { OngoingCall } from "./call.ts";
import type { Call, Host } from "./call.ts";
import { connectFailure } from "./connect-failure.ts";
import { badResponse, CallError } from "./errors.ts";
import { folderJournal } from "./journal.ts";
import type { ClientJournal } from "./journal.ts";
import { own } from "./json.ts";
import type { Members } from "./json.ts";
import { limitsOf } from "./limits.ts";
import type { ClientLimits, Limits } from "./limits.ts";
import { ParamHeaders } from "./param-headers.ts";
import { pendingOf } from "./pending.ts";
import { People } from "./people.ts";
import type { Handlers } from "./people.ts";
import { stateOf } from "./reference.ts";
import type { CallState, Method } from "./reference.ts";
import type { CallResult } from "./result.ts";
import { placeOf } from "./target.ts";
import type { Access, Place, Target } from "./target.ts";
import { Wire } from "./wire.ts";

export type Era = "2026-07-28" | "2025-11-25";

export interface ConnectOptions extends Handlers, Access {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** The newest that both sides speak, unless it is said here. `connection.era` tells which it was. */
  readonly era?: Era | undefined;
  /** A folder in which every unfinished call is kept. Holds arguments and sealed state: treat it as a secret. */
  readonly journal?: string | ClientJournal | undefined;
  readonly limits?: ClientLimits | undefined;
}

export interface CallOptions<S = undefined> {
  readonly outputSchema?: S | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Server time only; people may take as long as they like. */
  readonly timeoutMs?: number | undefined;
  /** 2025-11-25: as a task, where the tool can be one. On 2026-07-28 the server decides. */
  readonly task?: boolean | undefined;
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
  connection.answerPushed();
  try {
    await sdk.connect(place.transport);
  } catch (error) {
    await place.transport.close().catch(() => {});
    throw connectFailure(error, options.era);
  }
  connection.attach(info);
  return connection;
}

function modeOf(era: Era | undefined): "auto" | "legacy" | { pin: string } {
  if (era === undefined) return "auto";
  return era === "2025-11-25" ? "legacy" : { pin: era };
}

class Connected implements Connection {
  readonly sdk: Client;
  readonly #wire: Wire;
  readonly #place: Place;
  readonly #people: People;
  readonly #headers: ParamHeaders;
  readonly #limits: Limits;
  readonly #journal: ClientJournal | undefined;
  readonly #calls = new Set<OngoingCall>();
  #thinking = 0;
  #pushed = 0;
  #turns: Promise<unknown> = Promise.resolve();
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
    this.#place = place;
    this.#people = people;
    this.#limits = limits;
    this.#headers = headers;
    this.#journal = typeof journal === "string" ? folderJournal(journal) : journal;
  }

  get era(): Era {
    return this.sdk.getProtocolEra() === "modern" ? "2026-07-28" : "2025-11-25";
  }

  get server(): Implementation {
    return this.sdk.getServerVersion() ?? { name: "unknown", version: "unknown" };
  }

  attach(clientInfo: Implementation): void {
    const { capabilities } = this.#people;
    const protocolVersion = this.sdk.getNegotiatedProtocolVersion() ?? "2026-07-28";
    const isModern = this.era === "2026-07-28";
    const envelope = isModern ? { protocolVersion, capabilities, clientInfo } : undefined;
    this.#wire.attach(this.#place.transport, envelope);
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
    const call = new OngoingCall(this.#host(), state, {
      isCalled,
      isResumed,
      timeoutMs,
      signal,
      wantsTask: task,
    });
    this.#calls.add(call);
    return call;
  }

  #host(): Host {
    const isLegacy = this.era === "2025-11-25";
    return {
      wire: this.#wire,
      limits: this.#limits,
      headers: this.#headers,
      listTools: async () => {
        await this.sdk.listTools(undefined, { cacheMode: "refresh" });
      },
      people: this.#people,
      journal: this.#journal,
      legacy: isLegacy ? { toolOf: this.#toolOf, turn: this.#turn } : undefined,
      isThinking: () => this.#thinking > 0,
      ended: (call) => void this.#calls.delete(call),
    };
  }

  // ---------------------------------------------------------------- 2025-11-25

  /** The same handlers, for a server that puts its questions as requests of its own. */
  answerPushed(): void {
    const { elicitation, sampling, roots } = this.#people.capabilities;
    // oxlint-disable typescript/no-unsafe-type-assertion -- the kind of the answer is that of the question
    if (elicitation !== undefined) {
      this.sdk.setRequestHandler("elicitation/create", (request) => this.#answer(request) as never);
    }
    if (sampling !== undefined) {
      this.sdk.setRequestHandler(
        "sampling/createMessage",
        (request) => this.#answer(request) as never,
      );
    }
    if (roots !== undefined) {
      this.sdk.setRequestHandler("roots/list", (request) => this.#answer(request) as never);
    }
    // oxlint-enable typescript/no-unsafe-type-assertion
  }

  async #answer(request: {
    readonly method: string;
    readonly params?: unknown;
  }): Promise<InputResponse> {
    this.#pushed += 1;
    const question = pendingOf(`pushed-${this.#pushed}`, request);
    const call = this.#callOf(request.params);
    // Nobody's clock runs while people think: which call it is for is not said.
    const goOn = [...this.#calls].map(({ hold }) => hold());
    this.#thinking += 1;
    try {
      if (call !== undefined) return await call.push(question);
      return await this.#people.answer(question, new AbortController().signal);
    } finally {
      this.#thinking -= 1;
      for (const each of goOn) each();
    }
  }

  #callOf(params: unknown): OngoingCall | undefined {
    const taskId = own(own(own(params, "_meta"), RELATED_TASK_META_KEY), "taskId");
    const calls = [...this.#calls];
    if (taskId !== undefined) return calls.find((call) => call.taskId === taskId);
    return calls.length === 1 || this.#people.useEvents ? calls[0] : undefined;
  }

  readonly #turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (!this.#people.useEvents) return work();
    const turn = this.#turns.then(work);
    this.#turns = turn.catch(() => {});
    return turn;
  };

  readonly #toolOf = async (name: string) => {
    const tasks = own(this.sdk.getServerCapabilities(), "tasks");
    const serverHasTasks = own(own(own(tasks, "requests"), "tools"), "call") !== undefined;
    if (!serverHasTasks) return { serverHasTasks, taskSupport: undefined };
    const { tools } = await this.sdk.listTools();
    const taskSupport = own(
      own(
        tools.find((tool) => tool.name === name),
        "execution",
      ),
      "taskSupport",
    );
    return {
      serverHasTasks,
      taskSupport: typeof taskSupport === "string" ? taskSupport : undefined,
    };
  };
}

/** As it will be on the wire, also where it is kept and sent again: what is changed later is not. */
const plain = (args: Members): Members => JSON.parse(JSON.stringify(args));

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
