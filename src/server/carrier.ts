// Rounds as a carrier: what the engine and the handler get from the request that is being served.

import { AsyncLocalStorage } from "node:async_hooks";
import { ParleyError } from "../errors.ts";
import type { Hooks } from "../replay/hooks.ts";
import { sealTicket } from "../token/ticket.ts";
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
  const { environment, logger } = core;
  const { isDevelopment, turns, after, stallMs } = environment;
  return {
    name: definition.name,
    turns,
    after,
    stallMs,
    place: isDevelopment ? callerPlace : undefined,
    capture: () => AsyncLocalStorage.snapshot(),
    nesting: isDevelopment || isNestingFree ? bodyNesting() : undefined,
    onIdle: isDevelopment ? () => hintAtIdling(core, definition) : undefined,
    report: (mistake) =>
      logger.error(textOf(mistake), {
        handler: definition.name,
        ...(mistake instanceof ParleyError ? { code: mistake.code } : {}),
      }),
  };
}

/** For the engine. Rounds keep no log of their own: the token does. */
export function hooksFor(
  core: Core,
  call: Call,
  definition: Definition,
  request: RoundRequest,
): Hooks {
  const { now } = core.environment;
  const startedAt = now();
  return {
    ...handlerHooks(core, definition),
    get callId() {
      return call.id();
    },
    canDetach: runtimeFor(core, definition, request) !== undefined,
    // In the last round there is no later one to hand the work to.
    canYield: call.roundsLeft > 0,
    elapsedMs: () => now() - startedAt,
    stop: request.stop,
  };
}

/** For `ctx`. */
export function factsOf(
  core: Core,
  call: Call,
  request: RoundRequest,
  onBackground: () => void,
): CallFacts {
  const { environment, limits, name } = core;
  return {
    get callId() {
      return call.id();
    },
    principal: request.principal,
    request: request.facts,
    can: (ability) => call.abilities.includes(ability),
    ticket: (kind, key, timeoutMs = 0) =>
      sealTicket(
        {
          kind,
          callId: call.id(),
          key,
          principal: request.principal,
          audience: name,
          // As long as the question itself, and at least as long as a token.
          expiresAt:
            environment.now() +
            Math.max(limits.tokenTtlMs, Number.isFinite(timeoutMs) ? timeoutMs : 0),
        },
        core.keyring(),
      ),
    wait: (ms) => new Promise((resolve) => environment.after(ms, resolve)),
    now: environment.now,
    progress: (...update) => request.notify?.progress(...update),
    log: (level, data) => request.notify?.log(level, data),
    onSchemaError: (key, error) =>
      core.logger.error(`The schema of question "${key}" threw: ${textOf(error)}`, {
        handler: request.target,
      }),
    answers: () => accumulated(call.lowLevel, call.answers),
    state: () => call.lowLevel.state,
    onBackground,
    watch: request.watch,
  };
}
