// Rounds as a carrier: what the engine and the handler get from the request that is being served.

import { AsyncResource } from "node:async_hooks";
import type { InputResponses } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { Carrier } from "../../replay/carrier.ts";
import type { Json } from "../../util/json.ts";
import { sealTicket } from "../../token/ticket.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import type { Call } from "./call.ts";
import type { CallFacts } from "../context/context.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { bodyNesting, callerPlace, isNestingFree } from "../dev/development.ts";
import { textOf } from "./failure.ts";
import { hintAtIdling } from "../dev/warnings.ts";
import { accumulated } from "../context/low-level.ts";
import type { Inline } from "./inline.ts";
import { runtimeFor } from "./promote.ts";
import type { RoundRequest } from "./request.ts";

/** What the engine gets of every carrier: the process, and whom to tell of mistakes. */
export function handlerHooks(
  core: Core,
  definition: Definition,
): Pick<
  Carrier,
  "name" | "turns" | "after" | "stallMs" | "place" | "capture" | "nesting" | "onIdle" | "report"
> {
  const { isDevelopment, turns, after, stallMs } = core.environment;
  return {
    name: definition.name,
    turns,
    after,
    stallMs,
    place: isDevelopment ? callerPlace : undefined,
    capture: captureContext,
    nesting: isDevelopment || isNestingFree ? bodyNesting() : undefined,
    onIdle: isDevelopment ? () => hintAtIdling(core, definition) : undefined,
    report: (mistake) => reportTo(core, definition.name, mistake),
  };
}

/** As `AsyncLocalStorage.snapshot()`, which in Node 20 makes an accessor for every one. */
function captureContext(): <T>(call: () => T) => T {
  const context = new AsyncResource("parley.step", { requireManualDestroy: true });
  return (call) => context.runInAsyncScope(call);
}

function reportTo({ logger }: Core, handler: string, mistake: unknown): void {
  const code = mistake instanceof ParleyError ? { code: mistake.code } : {};
  logger.error(textOf(mistake), { handler, ...code });
}

/** Of a round that is recorded while it runs (once.ts). */
export type RecordHooks = Pick<Carrier, "append" | "cut" | "mayStart">;

/**
 * For the engine and for `ctx`. Rounds keep no log of their own: the token does.
 *
 * Nearly all of it is looked up when somebody asks: a handler that asks nothing needs none of it (R15). On a class, since
 * V8 gives every object whose literal has a getter a shape of its own, which keeps the whole request until the next
 * full collection.
 */
export class RoundCarrier implements Carrier, CallFacts {
  readonly #core: Core;
  readonly #call: Call;
  readonly #definition: Definition;
  readonly #request: RoundRequest;
  readonly #record: RecordHooks;
  readonly #inline: Inline | undefined;
  readonly #startedAt: number;
  #nesting: Carrier["nesting"];
  #canDetach: boolean | undefined;

  constructor(
    core: Core,
    call: Call,
    definition: Definition,
    request: RoundRequest,
    record: RecordHooks,
    /** Where it would go to the background, and the client could not follow. */
    inline: Inline | undefined,
  ) {
    this.#core = core;
    this.#call = call;
    this.#definition = definition;
    this.#request = request;
    this.#record = record;
    this.#inline = inline;
    this.#startedAt = core.environment.now();
  }

  get callId(): string {
    return this.#call.id();
  }

  // ---------------------------------------------------------------- for the engine

  get name(): string {
    return this.#definition.name;
  }

  get turns(): Carrier["turns"] {
    return this.#core.environment.turns;
  }

  get after(): Carrier["after"] {
    return this.#core.environment.after;
  }

  get stallMs(): number {
    return this.#core.environment.stallMs;
  }

  get stop(): Carrier["stop"] {
    return this.#request.stop;
  }

  /** As at the first look: an app that is closed has no tasks any more. */
  get canDetach(): boolean {
    return (this.#canDetach ??=
      runtimeFor(this.#core, this.#definition, this.#request) !== undefined);
  }

  /** In the last round there is no later one to hand the work to. */
  get canYield(): boolean {
    return this.#call.roundsLeft > 0;
  }

  get append(): Carrier["append"] {
    return this.#record.append;
  }

  get cut(): Carrier["cut"] {
    return this.#record.cut;
  }

  get mayStart(): Carrier["mayStart"] {
    return this.#record.mayStart;
  }

  get place(): Carrier["place"] {
    return this.#core.environment.isDevelopment ? callerPlace : undefined;
  }

  get nesting(): Carrier["nesting"] {
    if (this.#core.environment.isDevelopment || isNestingFree) this.#nesting ??= bodyNesting();
    return this.#nesting;
  }

  get onIdle(): Carrier["onIdle"] {
    if (!this.#core.environment.isDevelopment) return undefined;
    return () => hintAtIdling(this.#core, this.#definition);
  }

  capture(): ReturnType<typeof captureContext> {
    return captureContext();
  }

  elapsedMs(): number {
    return this.now() - this.#startedAt;
  }

  report(mistake: unknown): void {
    reportTo(this.#core, this.name, mistake);
  }

  // ---------------------------------------------------------------- for `ctx`

  get principal(): string | undefined {
    return this.#request.principal;
  }

  get request(): CallFacts["request"] {
    return this.#request.facts;
  }

  get watch(): CallFacts["watch"] {
    return this.#request.watch;
  }

  get mayBecomeTask(): boolean {
    return this.#definition.task !== undefined;
  }

  onBackground(): void {
    this.#inline?.begin();
  }

  can(ability: Ability): boolean {
    return this.#call.abilities.includes(ability);
  }

  ticket(...[kind, key, timeoutMs = 0]: Parameters<CallFacts["ticket"]>): string {
    const { environment, limits, name, keyring } = this.#core;
    return sealTicket(
      {
        kind,
        callId: this.callId,
        key,
        principal: this.principal,
        audience: name,
        // As long as the question itself, and at least as long as a token.
        expiresAt:
          environment.now() +
          Math.max(limits.tokenTtlMs, Number.isFinite(timeoutMs) ? timeoutMs : 0),
      },
      keyring(),
    );
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#core.environment.after(ms, resolve));
  }

  now(): number {
    return this.#core.environment.now();
  }

  progress(...update: Parameters<CallFacts["progress"]>): void {
    this.#request.notify?.progress(...update);
  }

  log(...line: Parameters<CallFacts["log"]>): void {
    this.#request.notify?.log(...line);
  }

  onSchemaError(key: string, error: unknown): void {
    this.#core.logger.error(`The schema of question "${key}" threw: ${textOf(error)}`, {
      handler: this.#request.target,
    });
  }

  answers(): InputResponses {
    return accumulated(this.#call.lowLevel, this.#call.answers);
  }

  state(): Json | undefined {
    return this.#call.lowLevel.state;
  }
}
