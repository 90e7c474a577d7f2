// Serves the rounds of a call in this process, each on its own instance of the app, with real tokens.

import { abilitiesOf } from "../protocol/capabilities.ts";
import { streamingExtension } from "../protocol/streaming.ts";
import type { PartContent } from "../protocol/streaming.ts";
import { Stop } from "../replay/stop.ts";
import { workerStore } from "../server/worker-store.ts";
import { MemoryStore } from "../tasks/stores/memory.ts";
import { anotherInstance } from "../server/define/handles.ts";
import type { StepObserver } from "../server/context/observed-body.ts";
import type { TokenSource } from "../server/accounts/account.ts";
import type { AuditRecord } from "../server/audit/audit-record.ts";
import type { Core } from "../server/core.ts";
import type { Definition } from "../server/define/definition.ts";
import { nodeEnvironment } from "../server/ops/environment.ts";
import type { Environment } from "../server/ops/environment.ts";
import { stderrLogger } from "../server/ops/logger.ts";
import type { Logger } from "../server/ops/logger.ts";
import { serveRound } from "../server/round/round.ts";
import { needsStore } from "../server/tasks/store-needed.ts";
import type { Notify, RoundRequest, RoundResponse } from "../server/round/request.ts";
import { serveContinuation } from "../server/pause/continue-call.ts";
import { decodeHead } from "../token/claims.ts";
import { read } from "../token/format.ts";
import { newKey, parseKeys } from "../token/keyring.ts";
import type { Keyring } from "../token/keyring.ts";
import { maxInflatedBytes, unpack } from "../token/payload.ts";
import { InProcessTasks } from "./in-process-tasks.ts";
import { capabilitiesOf } from "./played-client.ts";
import { isHandle, relayedBy, secretIn } from "./played-pause.ts";
import type { PlayClient, PlayClientName } from "./played-client.ts";
import { WatchedBodies } from "./watched-bodies.ts";
import type { BodyExecution, Crash } from "./watched-bodies.ts";

/** The part of a request that differs from one round of a call to the next. */
export interface RoundInput {
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, object>>;
}

/** An undo that ran to its end. */
export interface UndoExecution {
  readonly step: string;
  readonly undoKey: string;
}

/** The response to one round, and what the round did. */
export interface ServedRound {
  readonly response: RoundResponse;
  readonly executions: readonly BodyExecution[];
  /** The keys of the steps whose outcome came from the journal. */
  readonly replayed: readonly string[];
  /** What the bodies returned, by the keys of their steps. */
  readonly outcomes: ReadonlyMap<string, unknown>;
  /** What was streamed to the client of the round. A task is read instead. */
  readonly parts: readonly PartContent[];
}

/** Who makes the call in `play` and `crashTest`, and how it is served. */
export interface PlayOptions {
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

/** One server for one call. */
export class InProcessServer {
  readonly #core: Core;
  readonly #definition: Definition;
  readonly #args: unknown;
  readonly #options: PlayOptions;
  readonly #keyring: Keyring;
  readonly #clock = new SkippingClock();
  /** The tasks that calls have become. */
  readonly tasks: InProcessTasks;
  readonly #store = workerStore(new MemoryStore({ now: () => this.#clock.environment.now() }));
  #instance: Core | undefined;
  /** What the App has been told with the last pause. */
  #secret: string | undefined;
  /** What was recorded for the audit. The sink of the app gets nothing of it. */
  readonly audit: AuditRecord[] = [];
  /** The undos that ran to their end. */
  readonly undone: UndoExecution[] = [];
  /** Which undo kills its process, counted from 1. */
  crashInUndo: Crash | undefined;
  #undos = 0;

  constructor(core: Core, definition: Definition, args: unknown, options: PlayOptions) {
    this.#core = core;
    this.#definition = definition;
    this.#args = args;
    this.#options = options;
    this.#keyring = parseKeys(newKey("test"));
    this.tasks = new InProcessTasks(
      this.#store,
      definition,
      () => this.#serving(),
      (ms) => this.#clock.skip(ms),
    );
  }

  get clock(): SkippingClock {
    return this.#clock;
  }

  get limits(): Core["limits"] {
    return this.#core.limits;
  }

  /** Whether the client takes streams. */
  get hasStreams(): boolean {
    return abilitiesOf(this.#capabilities).includes(streamingExtension);
  }

  get #capabilities() {
    return capabilitiesOf(this.#options.client ?? this.#options.as, this.#definition);
  }

  /** Serves one round, which may be cut off by a crash. */
  async send(input: RoundInput, crash?: Crash): Promise<ServedRound> {
    const watched = new WatchedBodies();
    const parts: PartContent[] = [];
    const stop = new Stop();
    let kill: (() => void) | undefined;
    // A killed process never responds. Its round waits for its body, which never ends, until its lease is over.
    const killed = new Promise<RoundResponse>((resolve) => {
      kill = () => {
        stop.stop("Draining");
        resolve({ kind: "none" });
      };
    });
    const request = {
      ...targetOf(this.#definition, this.#args),
      requestState: input.requestState,
      inputResponses: input.inputResponses,
      capabilities: this.#capabilities,
      era: typeof this.#options.client === "object" ? this.#options.client.era : undefined,
      principal: this.#options.principal,
      facts: { meta: {} },
      // Nothing runs tasks meanwhile.
      patienceMs: 0,
      stop,
      ...(this.hasStreams && { notify: hearing(parts) }),
      stepObserver: watched.observer(crash, () => kill?.()),
    };
    const response = await Promise.race([this.#serve(request), killed]);
    // What comes later comes too late.
    return { response, ...watched.summary(), parts: [...parts] };
  }

  /** A handle in place of a token continues a paused call, as a model does, or the App. */
  async #serve(request: RoundRequest): Promise<RoundResponse> {
    const response = await this.#served(request);
    this.#secret = secretIn(response);
    return response;
  }

  #served(request: RoundRequest): Promise<RoundResponse> {
    const { requestState, inputResponses } = request;
    if (typeof requestState !== "string" || !isHandle(requestState)) {
      return serveRound(this.#serving(), this.#definition, request);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script's answers
    const responses = inputResponses as Readonly<Record<string, object>> | undefined;
    const secret = this.#secret;
    const sent = {
      ...request,
      arguments: { ...relayedBy(requestState, responses), secret },
      requestState: undefined,
      inputResponses: undefined,
    };
    const way = secret === undefined ? "relay" : "app";
    return serveContinuation(this.#serving(), () => this.#definition, sent, way);
  }

  /**
   * Leaves the questions unanswered: moves the clock until every time limit in this token has passed but the token is
   * still valid.
   */
  letTimePass(requestState: string): void {
    // A paused call outlives the time limits of most questions.
    if (isHandle(requestState)) this.#clock.skip(Math.max(0, this.limits.pauseMs - 60_000));
    const reading = read("v1", requestState, this.#keyring);
    if (reading.kind === "refused") return;
    const text = unpack(reading.payload, maxInflatedBytes(this.limits.tokenBytes));
    const head = text === undefined ? undefined : decodeHead(text);
    if (head === undefined) return;
    // A token outlives the longest time limit by a minute.
    const until = head.expiresAt - 30_000;
    this.#clock.skip(Math.max(0, until - this.#clock.environment.now()));
  }

  /** Runs a task once. If its process is killed, the lease has to run out before the next run. */
  async runTask(id: string, crash?: Crash): Promise<Omit<ServedRound, "response">> {
    const watched = new WatchedBodies();
    let stop: (() => void) | undefined;
    const kill = () => stop?.();
    const watch = watched.observer(crash, kill);
    await this.tasks.run(id, { ...watch, runUndo: this.#undoObserver(kill) }, (end) => {
      stop = end;
    });
    return { ...watched.summary(), parts: [] };
  }

  /** Undoes the steps of a call that has ended, claim by claim, until nothing is left. */
  async undoAll(): Promise<void> {
    for (let claims = 0; claims < mostUndoClaims; claims += 1) {
      let stop: (() => void) | undefined;
      const runUndo = this.#undoObserver(() => stop?.());
      const observer: StepObserver = { ...unwatched, runUndo };
      const wasLeft = await this.tasks.undo(observer, (end) => {
        stop = end;
      });
      if (!wasLeft) return;
    }
    throw new Error(`The undos have not ended after ${mostUndoClaims} claims.`);
  }

  /** Notes which undos run to their end, and kills the process at one of them. */
  #undoObserver(kill: () => void): NonNullable<StepObserver["runUndo"]> {
    const die = (): Promise<never> => {
      kill();
      return new Promise(() => {});
    };
    return async (info, undo) => {
      this.#undos += 1;
      const crash = this.crashInUndo?.body === this.#undos ? this.crashInUndo : undefined;
      if (crash?.when === "before") return die();
      await undo(info);
      this.undone.push({ step: info.stepKey, undoKey: info.undoKey });
      return crash === undefined ? undefined : die();
    };
  }

  #serving(): Core {
    const hasStore =
      this.#core.store !== undefined || this.#core.reach.relay || needsStore(this.#definition);
    if (this.#options.fresh !== false || this.#instance === undefined) {
      const made = anotherInstance(this.#core, {
        environment: this.#clock.environment,
        keyring: this.#keyring,
        logger,
        auditing: { ...this.#core.auditing, sink: (record) => this.audit.push(record) },
        // With a store, a state may be too large for its token. So the server has a store only if the app has one or
        // needs one.
        store: hasStore ? this.#store : undefined,
      });
      // Nobody opens the links of a played call, so an app needs no address of its own for them.
      const instance: Core = { ...made, publicUrl: () => this.#core.publicUrl() ?? playedUrl };
      const accounts = this.#core.accounts()?.withTokens(playedTokens(this.#options.accounts));
      this.#instance = {
        ...instance,
        accounts: () => accounts,
        tasks: hasStore ? this.tasks.runtime(instance) : undefined,
      };
    }
    return this.#instance;
  }
}

const playedUrl = new URL("https://play.example");

const playedTokens = (accounts: Readonly<Record<string, string>> = {}): TokenSource => ({
  isConnected: async (_principal, { name }) => Object.hasOwn(accounts, name),
  accessToken: async (_principal, { name }) => accounts[name] ?? `token of ${name}`,
  isPlayed: true,
});

/** Collects what is streamed. */
const hearing = (parts: PartContent[]): Notify => ({
  progress: () => {},
  log: () => {},
  parts: {
    send: (part) => {
      parts.push(part);
      return undefined;
    },
  },
});

const unwatched: StepObserver = { onStep: () => {}, runBody: (_step, info, body) => body(info) };

/** More than a failing undo needs until its time is up. */
const mostUndoClaims = 10_000;

/** The target and arguments as a request has them. They are copied, so that no object of the test reaches the handler. */
function targetOf(
  { method, name }: Definition,
  args: unknown,
): { target: string; arguments: unknown } {
  if (method === "resources/read") return { target: String(args), arguments: {} };
  return { target: name, arguments: JSON.parse(JSON.stringify(args ?? {})) };
}

/** Mostly silent, because a crash test provokes refused tokens, and `play` rejects with the mistakes of a handler. */
const logger: Logger = {
  ...stderrLogger,
  warn: () => {},
  error: (message, fields) => {
    if (fields?.["code"] === "ctx_after_return") stderrLogger.error(message, fields);
  },
};

/** A clock that jumps ahead when something waits for a timer, and when a test says so. */
export class SkippingClock {
  #skippedMs = 0;

  readonly environment: Environment = {
    ...nodeEnvironment,
    now: () => Date.now() + this.#skippedMs,
    after: (ms, callback) => {
      let isOff = false;
      // The engine's own turns work even if a test has replaced the timers with fake ones.
      nodeEnvironment.turns.full(() => {
        if (isOff) return;
        this.skip(ms);
        callback();
      });
      return () => {
        isOff = true;
      };
    },
    isDevelopment: true,
    stallMs: 0,
  };

  /** Moves the clock ahead. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }
}
