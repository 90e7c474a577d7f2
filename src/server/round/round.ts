// One round of a call: open the token, run the handler, seal what it was told. READ THIS FIRST.
//
// This is where wire, token and engine meet. It knows no transport: whoever received the request, the
// official SDK, an HTTP server or a test, brings it here and takes the answer away.

import { invalidParams, missingClientCapability } from "../../protocol/error-codes.ts";
import type { Outcome } from "../../replay/outcome.ts";
import { run } from "../../replay/run.ts";
import type { Handler } from "../../replay/run.ts";
import { Stop } from "../../replay/stop.ts";
import { TokenError } from "../../token/errors.ts";
import { canFollowTasks, capabilitiesFor } from "../../protocol/capabilities.ts";
import { BadArguments, MalformedAnswers, openCall } from "./call.ts";
import type { Call } from "./call.ts";
import { RoundCarrier } from "./carrier.ts";
import type { RecordHooks } from "./carrier.ts";
import { HandlerContext } from "../context/context.ts";
import type { Core } from "../core.ts";
import type { Definition, WireResult } from "../define/definition.ts";
import { failureResponse } from "./failure.ts";
import { Inline, tookTooLong } from "./inline.ts";
import { isInputRequired } from "../context/low-level.ts";
import { runOnce } from "./once.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";
import { promote, runtimeFor, waitsForOthers } from "./promote.ts";
import { fromStore, needsStore, noStore } from "../tasks/store-needed.ts";
import { suspend, suspendByHand } from "./suspend.ts";
import { wantsSteps, withSteps } from "../dev/step-trace.ts";

export async function serveRound(
  core: Core,
  definition: Definition,
  request: RoundRequest,
): Promise<RoundResponse> {
  try {
    if (definition.task === "required" && !canFollowTasks(request.capabilities)) {
      return needsTasks(definition);
    }
    // Awaited only where there is something to wait for: here a turn of the queue is a share of the whole.
    const parsing = definition.parse(request.target, request.arguments);
    const parsed = parsing instanceof Promise ? await parsing : parsing;
    if (!parsed.ok) return refuseArguments(definition, parsed.reason);
    if (needsStore(definition) && core.store === undefined) {
      throw noStore(`Tool "${definition.name}"`);
    }
    const opening = openCall(core, definition, request, parsed.input);
    const call = opening instanceof Promise ? await opening : opening;
    const trace = core.telemetry.begin(definition, call.round, call.firstSpan, request.facts);
    call.firstSpan = trace.first;
    const input = handedOver(parsed.input);
    const answer = await trace.within(() => runOrRepeat(core, definition, call, request, input));
    trace.answered(answer);
    return answer;
  } catch (error) {
    return refusal(core, definition, error);
  }
}

/**
 * What the handler gets: it may write to it, and the call is known by what it was. Flat arguments are copied; others are
 * digested before it runs (call.ts).
 */
function handedOver(input: unknown): unknown {
  return isPlainObject(input) ? { ...input } : input;
}

function isPlainObject(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Never rejects: whoever traces the round wants to hear how it ended. */
function runOrRepeat(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  input: unknown,
): Promise<RoundResponse> {
  const { store } = core;
  if (definition.once !== true || store === undefined) {
    return runCall(core, definition, call, request, input);
  }
  return fromStore(core.tasks?.ready() ?? Promise.resolve())
    .then(() =>
      runOnce(core, store, call, request, (resumed, stoppable, record) =>
        runCall(core, definition, resumed, stoppable, input, record),
      ),
    )
    .catch((error: unknown) => refusal(core, definition, error));
}

function runCall(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  parsed: unknown,
  record: RecordHooks = recordsNothing,
): Promise<RoundResponse> {
  const inline = inlineFor(core, definition, request);
  const stoppable = inline === undefined ? request : { ...request, stop: inline.stop };
  const carrier = new RoundCarrier(core, call, definition, stoppable, record, inline);
  const handler: Handler<unknown, unknown> = (input, operations) =>
    definition.invoke(input, new HandlerContext(operations, carrier));
  const running =
    inline === undefined
      ? run(handler, parsed, call, carrier)
      : inline.run(handler, parsed, call, carrier).finally(() => inline.end());
  return running
    .then((outcome) => answerTo(core, definition, call, request, outcome))
    .catch((error: unknown) => failureResponse(core, definition, error));
}

const recordsNothing: RecordHooks = {};

/** For a tool that may go to the background and a client that cannot follow it there. */
function inlineFor(core: Core, definition: Definition, request: RoundRequest): Inline | undefined {
  if (definition.task === undefined || runtimeFor(core, definition, request)) return undefined;
  return new Inline(core, request.stop ?? new Stop());
}

function answerTo(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  outcome: Outcome<unknown>,
): RoundResponse | Promise<RoundResponse> {
  const runtime = runtimeFor(core, definition, request);
  switch (outcome.kind) {
    case "done":
      return isInputRequired(outcome.value)
        ? suspendByHand(core, definition, call, outcome.value, outcome.entries)
        : completed(core, definition, call, request, outcome);
    case "failed":
      return failureResponse(core, definition, outcome.error);
    case "waiting":
      if (runtime === undefined || !waitsForOthers(outcome)) {
        return suspend(core, definition, call, outcome);
      }
      return promote(runtime, definition, call, request, outcome, {});
    case "yielded":
      return suspend(core, definition, call, outcome);
    case "detached":
      if (runtime === undefined) throw new Error("only what can become a task is detached");
      return promote(runtime, definition, call, request, outcome, outcome.options);
    case "stopped":
      return outcome.reason === "Deadline" ? tookTooLong(core, definition) : { kind: "none" };
  }
}

function completed(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  { value, entries }: Extract<Outcome<unknown>, { kind: "done" }>,
): RoundResponse | Promise<RoundResponse> {
  const result = definition.toResult(value, request.target);
  if (wantsSteps(core, request)) {
    return Promise.resolve(result).then((made) =>
      complete(withSteps(made, call.journal.entries, entries)),
    );
  }
  return result instanceof Promise ? result.then(complete) : complete(result);
}

const complete = (result: WireResult): RoundResponse => ({ kind: "complete", result });

// ---------------------------------------------------------------- refusals

function needsTasks(definition: Definition): RoundResponse {
  return {
    kind: "error",
    code: missingClientCapability,
    message: `"${definition.name}" runs as a task, and needs a client that declares the tasks extension`,
    data: { requiredCapabilities: capabilitiesFor("task") },
  };
}

function badParams(message: string): RoundResponse {
  return { kind: "error", code: invalidParams, message };
}

function refuseArguments(definition: Definition, reason: string): RoundResponse {
  const result = definition.toFailure(reason);
  return result === undefined ? badParams(reason) : { kind: "complete", result };
}

/** Outwards every refused token looks the same; the log knows why. */
function refusal(core: Core, definition: Definition, error: unknown): RoundResponse {
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
  return failureResponse(core, definition, error);
}
