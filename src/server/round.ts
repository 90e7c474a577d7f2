// One round of a call: open the token, run the handler, seal what it was told. READ THIS FIRST.
//
// This is where wire, token and engine meet. It knows no transport: whoever received the request, the
// official SDK, an HTTP server or a test, brings it here and takes the answer away.

import type { ClientCapabilities, LoggingLevel } from "@modelcontextprotocol/server";
import { invalidParams } from "../protocol/error-codes.ts";
import type { InputRequired } from "../protocol/input-required.ts";
import type { Outcome } from "../replay/hooks.ts";
import { run } from "../replay/run.ts";
import type { Stop } from "../replay/stop.ts";
import { TokenError } from "../token/errors.ts";
import { BadArguments, MalformedAnswers, openCall } from "./call.ts";
import type { Call } from "./call.ts";
import { factsOf, hooksFor } from "./carrier.ts";
import { HandlerContext } from "./context.ts";
import type { RequestFacts, Watch } from "./context.ts";
import type { Core } from "./core.ts";
import type { Definition, WireResult } from "./definition.ts";
import { answerToFailure } from "./failure.ts";
import { isInputRequired } from "./low-level.ts";
import { suspend, suspendByHand } from "./suspend.ts";

export interface RoundRequest {
  /** A tool's or prompt's name, or a resource's URI. */
  readonly target: string;
  readonly arguments: unknown;
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
  /** As this very request declares them. */
  readonly capabilities: ClientCapabilities;
  /** Who is calling, from verified credentials. */
  readonly principal: string | undefined;
  readonly facts: RequestFacts;
  readonly stop?: Stop | undefined;
  readonly notify?: Notify | undefined;
  readonly watch?: Watch | undefined;
}

interface Notify {
  readonly progress: (done: number, total?: number, message?: string) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
}

export type RoundAnswer =
  | { readonly kind: "complete"; readonly result: WireResult }
  | { readonly kind: "input_required"; readonly result: InputRequired }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      readonly data?: Readonly<Record<string, unknown>>;
      /** What was thrown, for whoever runs in the same process. Never sent. */
      readonly cause?: unknown;
    }
  /** Nobody waits for an answer any more. */
  | { readonly kind: "none" };

export async function serveRound(
  core: Core,
  definition: Definition,
  request: RoundRequest,
): Promise<RoundAnswer> {
  try {
    const parsed = await definition.parse(request.target, request.arguments);
    if (!parsed.ok) return refuseArguments(definition, parsed.reason);
    const [input, kept] = handedOver(parsed.input);
    const opened = openCall(core, definition, request, kept);
    const trace = core.telemetry.begin(definition, opened.round, opened.firstSpan);
    const call = { ...opened, firstSpan: trace.first };
    const answer = await trace.within(() => runCall(core, definition, call, request, input));
    trace.answered(answer);
    return answer;
  } catch (error) {
    return refusal(core, definition, error);
  }
}

/**
 * What the handler gets, and what the call is known by: a handler may write to its arguments. Flat ones are
 * copied; others are digested before it runs (call.ts).
 */
function handedOver(input: unknown): readonly [handed: unknown, kept: unknown] {
  return isPlainObject(input) ? [{ ...input }, input] : [input, input];
}

function isPlainObject(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

async function runCall(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  parsed: unknown,
): Promise<RoundAnswer> {
  const facts = factsOf(core, call, request);
  const outcome = await run(
    (input, operations) => definition.invoke(input, new HandlerContext(operations, facts)),
    parsed,
    call.state,
    call.inbox,
    hooksFor(core, call, definition, request),
  );
  try {
    return await answerTo(core, definition, call, request, outcome);
  } catch (error) {
    return answerToFailure(core, definition, error);
  }
}

function answerTo(
  core: Core,
  definition: Definition,
  call: Call,
  { target }: RoundRequest,
  outcome: Outcome<unknown>,
): RoundAnswer | Promise<RoundAnswer> {
  switch (outcome.kind) {
    case "done":
      return isInputRequired(outcome.value)
        ? suspendByHand(core, definition, call, outcome.value, outcome.entries)
        : completed(definition, outcome.value, target);
    case "failed":
      return answerToFailure(core, definition, outcome.error);
    case "waiting":
    case "yielded":
    case "detached":
      return suspend(core, definition, call, outcome);
    case "stopped":
      return { kind: "none" };
  }
}

async function completed(
  definition: Definition,
  returned: unknown,
  target: string,
): Promise<RoundAnswer> {
  return { kind: "complete", result: await definition.toResult(returned, target) };
}

// ---------------------------------------------------------------- refusals

function badParams(message: string): RoundAnswer {
  return { kind: "error", code: invalidParams, message };
}

function refuseArguments(definition: Definition, reason: string): RoundAnswer {
  const result = definition.toFailure(reason);
  return result === undefined ? badParams(reason) : { kind: "complete", result };
}

/** Outwards every refused token looks the same; the log knows why. */
function refusal(core: Core, definition: Definition, error: unknown): RoundAnswer {
  if (error instanceof TokenError) {
    const { reason } = error;
    const hint = reason === "unknown_key" ? ": is PARLEY_KEYS the same on every instance?" : "";
    core.logger.warn(`requestState refused${hint}`, { handler: definition.name, reason });
    core.telemetry.refused(definition, reason);
    return {
      kind: "error",
      code: invalidParams,
      message: error.message,
      data: { reason: "invalid_request_state" },
    };
  }
  if (error instanceof MalformedAnswers || error instanceof BadArguments) {
    return badParams(error.message);
  }
  return answerToFailure(core, definition, error);
}
