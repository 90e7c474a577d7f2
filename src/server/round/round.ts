// One round of a call: open the token, run the handler, seal what it has learned. Read this file first.
//
// Wire, token and engine meet here. A round does not depend on a transport: the official SDK, the HTTP server or a test
// passes the request in and sends the response.

import { invalidParams, missingClientCapability } from "../../protocol/error-codes.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { isAnswer } from "../../replay/journal.ts";
import type { Outcome } from "../../replay/outcome.ts";
import { runTo } from "../../replay/run.ts";
import type { Handler } from "../../replay/run.ts";
import { Stop } from "../../replay/stop.ts";
import { TokenError } from "../../token/errors.ts";
import { canFollowTasks, capabilitiesFor } from "../../protocol/capabilities.ts";
import { BadArguments, MalformedAnswers, openCall } from "./call.ts";
import type { Call } from "./call.ts";
import { expiredHint } from "./clock-skew.ts";
import { noRecording } from "./call-carrier.ts";
import type { Recording } from "./call-carrier.ts";
import { HandlerContext } from "../context/handler-context.ts";
import { invoke } from "../approvals/before-handler.ts";
import { answeredByHand } from "../audit/by-hand.ts";
import type { Core } from "../core.ts";
import type { Definition, WireResult } from "../define/definition.ts";
import type { TaskRuntime } from "../../tasks/runtime.ts";
import { checkKeys, failureResponse } from "./failure.ts";
import { Inline, tookTooLong } from "./inline.ts";
import { servesItself } from "./own-tools.ts";
import { hadPages, leavePages } from "./left-pages.ts";
import { isInputRequired } from "../context/low-level.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";
import { leftToOthers, mayLeave } from "./other-version.ts";
import { isHeld, promote, runtimeFor, waitsForOthers } from "./promote.ts";
import { unmetRequirement } from "./requirements.ts";
import type { WatchedRound } from "./round-watch.ts";
import { RoundCarrier } from "./round-carrier.ts";
import { shedResponse } from "./shedding.ts";
import { neededParts } from "../store-parts.ts";
import { fromStore, needsStore, noStore } from "../tasks/store-needed.ts";
import { suspend, suspendByHand } from "./suspend.ts";
import { wantsSteps, withSteps } from "../dev/steps-in-result.ts";

/** Serves one round. Never rejects: what goes wrong becomes an error response. */
export async function serveRound(
  core: Core,
  definition: Definition,
  request: RoundRequest,
): Promise<RoundResponse> {
  const own = servesItself(definition);
  let call: Call | undefined;
  try {
    if (own !== undefined) return await own(core, request);
    if (definition.task === "required" && !canFollowTasks(request.capabilities)) {
      return needsTasks(definition);
    }
    // The first request says what the client can do in the whole call (R13).
    if (definition.requires !== undefined && request.requestState === undefined) {
      const refused = unmetRequirement(core, definition, request);
      if (refused !== undefined) return refused;
    }
    // Awaited only if it is a promise: for a short call, one turn of the microtask queue is a measurable share of its cost.
    const parsing = definition.parse(request.target, request.arguments, request.url);
    const parsed = parsing instanceof Promise ? await parsing : parsing;
    if (!parsed.ok) return refuseArguments(definition, parsed.reason);
    if (needsStore(definition) && core.store === undefined) {
      throw noStore(`Tool "${definition.name}"`);
    }
    const opening = openCall(core, definition, request, parsed.input);
    call = opening instanceof Promise ? await opening : opening;
    const opened = call;
    const trace = core.telemetry.begin(definition, call, request.facts);
    call.firstSpan = trace.first;
    call.span = trace.own;
    const input = inputForHandler(parsed.input);
    const watcher = core.watching?.watcher;
    const beganAt = watcher === undefined ? 0 : core.environment.now();
    const response = await (trace.within === undefined
      ? runOrRepeat(core, definition, opened, request, input)
      : trace.within(() => runOrRepeat(core, definition, opened, request, input)));
    trace.end(response);
    watcher?.served(watched(core, definition, call, request, response, beganAt));
    return mustPause(request, response)
      ? await pause(core, definition, request, response)
      : response;
  } catch (error) {
    return refusal(core, definition, request, error, call);
  }
}

/** A round as its watcher sees it. */
const watched = (
  { environment }: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  response: RoundResponse,
  beganAt: number,
): WatchedRound => ({
  callId: call.id(),
  round: call.round,
  definition,
  request,
  response,
  replayed: call.journal.entries.length,
  entries: call.ended,
  lines: call.lines,
  beganAt,
  endedAt: environment.now(),
});

/** Whether the client cannot be sent this response. A call that is continued is paused again by what continues it. */
function mustPause(request: RoundRequest, response: RoundResponse): boolean {
  if (response.kind === "complete" || request.isContinued === true) return false;
  if (response.kind === "input_required") return response.pausing !== undefined;
  return response.kind === "task" && isHeld(request, response.ways ?? "");
}

function pause(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  response: RoundResponse,
): Promise<RoundResponse> | RoundResponse {
  const { pauseRound, pauseTask } = neededParts();
  if (response.kind === "input_required") return pauseRound(core, definition, request, response);
  if (response.kind !== "task") return response;
  return pauseTask(core, definition, request, response.task, response.ways ?? "");
}

/**
 * A handler may write to its arguments, and a call is identified by their original value. So flat arguments are copied, and
 * nested ones are digested before the handler runs (call.ts).
 */
function inputForHandler(input: unknown): unknown {
  return isPlainObject(input) ? { ...input } : input;
}

function isPlainObject(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Never rejects, because the trace of the round records how it ended. */
function runOrRepeat(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  input: unknown,
): Promise<RoundResponse> {
  const { store } = core;
  const isRecorded = definition.once === true || request.isContinued === true;
  if (!isRecorded || store === undefined) {
    return runCall(core, definition, call, request, input);
  }
  return fromStore(core.tasks?.ready() ?? Promise.resolve())
    .then(() =>
      neededParts().runOnce(core, store, call, request, (resumed, stoppable, recording) =>
        runCall(core, definition, resumed, stoppable, input, recording),
      ),
    )
    .catch((error: unknown) => refusal(core, definition, request, error, call));
}

/** No async function: for a short call, its frame is a measurable share of the cost. */
function runCall(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  parsed: unknown,
  recording: Recording = noRecording,
): Promise<RoundResponse> {
  if (call.objection !== undefined) return failed(core, definition, call, call.objection);
  // Looked up once for the whole round, because an app that closes while the handler runs no longer has a task runtime.
  const runtime = runtimeFor(core, definition, request, call);
  if (request.isTaskWanted === true && runtime !== undefined && call.round === 1) {
    return promote(runtime, definition, call, request, untouched, {}).catch((error: unknown) =>
      failureResponse(core, definition, error, call),
    );
  }
  // For a tool that may go to the background and a client that cannot follow tasks.
  const inline =
    definition.task === undefined || runtime !== undefined
      ? undefined
      : new Inline(core, request.stop ?? new Stop());
  const stoppable = inline === undefined ? request : { ...request, stop: inline.stop };
  const canDetach = runtime !== undefined;
  const kept = call.version === core.version ? recording : afterOthers(core, call, recording);
  const carrier = new RoundCarrier(core, definition, call, stoppable, kept, canDetach, inline);
  const handler: Handler<unknown, unknown> = (input, operations) => {
    const ctx = new HandlerContext(operations, carrier);
    const answered = call.round === 1 ? undefined : answeredByHand(call, carrier.audit);
    return answered === undefined
      ? invoke(core, definition, input, ctx, operations)
      : answered.then(() => invoke(core, definition, input, ctx, operations));
  };
  const finish = (outcome: Outcome<unknown>): RoundResponse | Promise<RoundResponse> => {
    if (outcome.kind === "failed" && !isInputRequired(outcome.error)) recording.onThrow?.();
    if (core.watching?.watcher !== undefined && "entries" in outcome) call.ended = outcome.entries;
    const response = afterRun(core, definition, call, request, runtime, outcome, carrier);
    return hadPages(call) ? leavePages(core, call, response) : response;
  };
  if (inline === undefined) return runTo(handler, parsed, call, carrier, finish);
  return inline
    .run(handler, parsed, call, carrier)
    .finally(() => inline.end())
    .then(finish);
}

/** The recording of a round that goes on from what another version of the app did. */
function afterOthers(core: Core, call: Call, recording: Recording): Recording {
  const mayForget = !mayLeave(core, call);
  return { ...recording, mayForget, mayAskAgain: () => mayForget };
}

async function failed(
  core: Core,
  definition: Definition,
  call: Call,
  error: unknown,
): Promise<RoundResponse> {
  const left = leftToOthers(core, definition, call, { error });
  return left ?? failureResponse(core, definition, error, call);
}

/** What the run comes to. A promise only if something has to be waited for, and never one that rejects. */
function afterRun(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  runtime: TaskRuntime | undefined,
  outcome: Outcome<unknown>,
  carrier: RoundCarrier,
): RoundResponse | Promise<RoundResponse> {
  try {
    const response =
      outcome.kind === "yielded" && carrier.hasShed
        ? shedResponse(core, definition, call, outcome)
        : responseTo(core, definition, call, request, runtime, outcome, carrier);
    const ended =
      response instanceof Promise
        ? response.then((made) => endAudit(core, call, carrier, made))
        : endAudit(core, call, carrier, response);
    return ended instanceof Promise
      ? ended.catch((error: unknown) => failureResponse(core, definition, error, call))
      : ended;
  } catch (error) {
    return failureResponse(core, definition, error, call);
  }
}

/** The state of a call that has not run yet. */
const untouched = { kind: "waiting", entries: [], open: [], unused: [] } as const;

function responseTo(
  core: Core,
  definition: Definition,
  call: Call,
  request: RoundRequest,
  runtime: TaskRuntime | undefined,
  outcome: Outcome<unknown>,
  { audit }: RoundCarrier,
): RoundResponse | Promise<RoundResponse> {
  switch (outcome.kind) {
    case "done":
      return isInputRequired(outcome.value)
        ? suspendByHand(core, definition, call, outcome.value, outcome.entries, audit)
        : completed(core, definition, call, request, outcome);
    case "failed":
      // A helper deep inside a handler throws `inputRequired(…)`, because it cannot return for the handler.
      if (isInputRequired(outcome.error)) {
        return suspendByHand(core, definition, call, outcome.error, outcome.entries, audit);
      }
      return (
        leftToOthers(core, definition, call, outcome) ??
        failureResponse(core, definition, outcome.error, call)
      );
    case "waiting":
      if (runtime === undefined || !waitsForOthers(outcome)) {
        return suspend(core, definition, call, outcome, audit);
      }
      return promote(runtime, definition, call, request, outcome, {});
    case "yielded":
      return suspend(core, definition, call, outcome, audit);
    case "detached":
      if (runtime === undefined) throw new Error("only a call that can become a task is detached");
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

/** Notes that the record of a call is whole, if the call has asked something and has ended. */
function endAudit(
  core: Core,
  call: Call,
  carrier: RoundCarrier,
  response: RoundResponse,
): RoundResponse | Promise<RoundResponse> {
  const { entries, out } = call.journal;
  const hasAsked =
    carrier.hasAudited || entries.some(isAnswer) || out.some(({ digest }) => digest !== undefined);
  const hasEnded = response.kind === "complete" || response.kind === "error";
  return hasAsked && hasEnded && core.trail.isOn
    ? core.trail.end(call.id()).then(() => response)
    : response;
}

const complete = (result: WireResult): RoundResponse => ({ kind: "complete", result });

// ---------------------------------------------------------------- refusals

function needsTasks(definition: Definition): RoundResponse {
  return {
    kind: "error",
    code: missingClientCapability,
    message: `"${definition.name}" runs only as a task. Call it with a client that declares the tasks extension (${tasksExtension}).`,
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

function refusalHint(reason: TokenError["reason"]): string {
  if (reason === "unknown_key") return ` ${checkKeys}`;
  return reason === "expired" ? ` ${expiredHint}` : "";
}

/** The client gets the same error for every refused token. The log has the reason. */
function refusal(
  core: Core,
  definition: Definition,
  { principal }: RoundRequest,
  error: unknown,
  call: Call | undefined,
): RoundResponse {
  if (error instanceof TokenError) {
    const { reason } = error;
    core.logger.warn(`A requestState was refused.${refusalHint(reason)}`, {
      handler: definition.name,
      reason,
    });
    core.telemetry.refused(definition, reason);
    core.watching?.watcher?.refused(reason);
    void core.audit({
      action: "token_refused",
      tool: definition.name,
      principal,
      note: reason,
    });
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
  return failureResponse(core, definition, error, call);
}
