// Rounds as a carrier: what the engine and the handler get from the request that is being served.

import { AsyncResource } from "node:async_hooks";
import type { InputResponses } from "@modelcontextprotocol/server";
import { ParleyError } from "../errors.ts";
import type { Hooks } from "../replay/hooks.ts";
import type { Json } from "../replay/json.ts";
import { sealTicket } from "../token/ticket.ts";
import type { Ability } from "./ability.ts";
import type { Call } from "./call.ts";
import type { CallFacts } from "./context.ts";
import type { Core } from "./core.ts";
import type { Definition } from "./definition.ts";
import { bodyNesting, callerPlace, isNestingFree } from "./development.ts";
import { textOf } from "./failure.ts";
import { hintAtIdling } from "./hints.ts";
import { accumulated } from "./low-level.ts";
import { runtimeFor } from "./promote.ts";
import type { RoundRequest } from "./round.ts";

/** What the engine gets of every carrier: the process, and whom to tell of mistakes. */
export function handlerHooks(
  core: Core,
  definition: Definition,
): Pick<
  Hooks,
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
export type RecordHooks = Pick<Hooks, "append" | "cut" | "mayStart">;

/**
 * For the engine. Rounds keep no log of their own: the token does.
 *
 * A class, for its getter: where an object's literal has one, V8 gives every such object a shape of its own, which
 * keeps the whole request until the next full collection.
 */
export class RoundHooks implements Hooks {
  readonly name: string;
  readonly turns: Hooks["turns"];
  readonly after: Hooks["after"];
  readonly stallMs: number;
  readonly place: Hooks["place"];
  readonly nesting: Hooks["nesting"];
  readonly onIdle: Hooks["onIdle"];
  readonly canDetach: boolean;
  readonly canYield: boolean;
  readonly stop: Hooks["stop"];
  readonly append: Hooks["append"];
  readonly cut: Hooks["cut"];
  readonly mayStart: Hooks["mayStart"];
  readonly #core: Core;
  readonly #call: Call;
  readonly #startedAt: number;

  constructor(
    core: Core,
    call: Call,
    definition: Definition,
    request: RoundRequest,
    record: RecordHooks,
  ) {
    const { isDevelopment, turns, after, stallMs, now } = core.environment;
    this.#core = core;
    this.#call = call;
    this.#startedAt = now();
    this.name = definition.name;
    this.turns = turns;
    this.after = after;
    this.stallMs = stallMs;
    this.place = isDevelopment ? callerPlace : undefined;
    this.nesting = isDevelopment || isNestingFree ? bodyNesting() : undefined;
    this.onIdle = isDevelopment ? () => hintAtIdling(core, definition) : undefined;
    this.canDetach = runtimeFor(core, definition, request) !== undefined;
    // In the last round there is no later one to hand the work to.
    this.canYield = call.roundsLeft > 0;
    this.stop = request.stop;
    this.append = record.append;
    this.cut = record.cut;
    this.mayStart = record.mayStart;
  }

  get callId(): string {
    return this.#call.id();
  }

  capture(): ReturnType<typeof captureContext> {
    return captureContext();
  }

  elapsedMs(): number {
    return this.#core.environment.now() - this.#startedAt;
  }

  report(mistake: unknown): void {
    reportTo(this.#core, this.name, mistake);
  }
}

/** For `ctx`. */
export class RoundFacts implements CallFacts {
  readonly #core: Core;
  readonly #call: Call;
  readonly #request: RoundRequest;
  readonly mayBecomeTask: boolean;
  readonly onBackground: CallFacts["onBackground"];

  constructor(
    core: Core,
    call: Call,
    definition: Definition,
    request: RoundRequest,
    onBackground: CallFacts["onBackground"],
  ) {
    this.#core = core;
    this.#call = call;
    this.#request = request;
    this.mayBecomeTask = definition.task !== undefined;
    this.onBackground = onBackground;
  }

  get callId(): string {
    return this.#call.id();
  }

  get principal(): string | undefined {
    return this.#request.principal;
  }

  get request(): CallFacts["request"] {
    return this.#request.facts;
  }

  get watch(): CallFacts["watch"] {
    return this.#request.watch;
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
