// A tool as the task engine runs it: the same handler with the same `ctx` as in a round, on another carrier.

import { ParleyError } from "../../errors.ts";
import { internalError } from "../../protocol/error-codes.ts";
import { isAnswer } from "../../replay/journal.ts";
import type { Ended, Ending, Prepared, Program, TaskFacts } from "../../tasks/program.ts";
import type { Json } from "../../util/json.ts";
import type { CallAudit } from "../audit/call-audit.ts";
import { HandlerContext } from "../context/handler-context.ts";
import type { StepObserver } from "../context/observed-body.ts";
import { isInputRequired } from "../context/low-level.ts";
import { isExternal, isShown } from "../context/questions.ts";
import { invoke } from "../approvals/before-handler.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { digestOfInput } from "../round/call.ts";
import { failureResponse } from "../round/failure.ts";
import type { FailedCall } from "../round/failure.ts";
import { shortId } from "../../util/short-id.ts";
import { pageTicket } from "../pages/page-address.ts";
import { TaskCarrier } from "./task-carrier.ts";
import type { TaskInput } from "./task-carrier.ts";
import type { RunTrace, TaskOrigin } from "../ops/telemetry-spans.ts";
import { spanIn } from "../../protocol/trace-context.ts";

/** The program of a tool that may become a task. The test kit passes an observer. */
export function programOf(
  core: Core,
  definition: Definition,
  stepObserver?: StepObserver,
): Program {
  /** The traces of the runs that are under way. */
  const traces = new WeakMap<TaskFacts, RunTrace>();
  const audits = new WeakMap<TaskFacts, CallAudit>();
  return {
    prepare: async (task) => {
      const { audit, ...prepared } = await prepare(core, definition, task, stepObserver);
      if (audit !== undefined) audits.set(task, audit);
      const { id, callId } = task;
      const trace = core.telemetry.run(definition, { id, callId, origin: originOf(task) });
      if (trace === undefined) return prepared;
      traces.set(task, trace);
      return { ...prepared, around: trace.around };
    },
    ending: async (outcome, task) => {
      await endAudit(core, outcome, task, audits.get(task));
      const call = { id: () => task.callId, task: shortId(task.id) };
      const ending = await endingOf(core, definition, outcome, call);
      traces.get(task)?.ends(ending);
      return ending;
    },
    undo: (undo) => {
      const run = core.undos.get(undo);
      const watch = stepObserver?.runUndo;
      return run === undefined || watch === undefined ? run : (undone) => watch(undone, run);
    },
  };
}

/** Notes that the record of a call is whole, before its end is written, so that the note cannot be missing after it. */
async function endAudit(
  core: Core,
  { entries }: Ended,
  { callId }: TaskFacts,
  audit: CallAudit | undefined,
): Promise<void> {
  await audit?.settled();
  const hasAsked = audit?.hasRecorded === true || entries.some(isAnswer);
  if (core.trail.isOn && hasAsked) await core.trail.end(callId);
}

async function prepare(
  core: Core,
  definition: Definition,
  task: TaskFacts,
  stepObserver: StepObserver | undefined,
): Promise<Prepared & { readonly audit: CallAudit | undefined }> {
  const input = inputOf(task);
  const parsed = await definition.parse(definition.name, input.arguments);
  if (!parsed.ok || digestOfInput(parsed.input) !== input.inputDigest) {
    throw inputChanged(definition.name);
  }
  const carrier = new TaskCarrier(core, definition, task, input, stepObserver);
  return {
    handler: (given, operations) =>
      invoke(core, definition, given, new HandlerContext(operations, carrier), operations),
    input: parsed.input,
    audit: carrier.audit,
    asked: (open) => carrier.audit?.asked(open),
    carrier: (recording) => carrier.recordingTo(recording),
    mayPutOff: core.trail.isOnce,
    shown: ({ key, digest = "", shown, reason }) => {
      if (isExternal(shown)) {
        const page = shown.page();
        const group = page?.approval?.by;
        return { kind: "external", page: asJson(page), needs: shown.needs, group };
      }
      if (!isShown(shown)) throw new TypeError(`Question "${key}" has nothing to show.`);
      if (shown.page === undefined)
        return { kind: "question", request: asJson(shown.request(reason)) };
      // A task answers a question under a key that is used once, so it does not matter how often it was asked.
      const of = { callId: task.callId, key, digest, asked: 1 };
      const expiresAt = core.environment.now() + core.limits.taskTtlMs;
      const ticket = pageTicket(core, of, carrier.principal, expiresAt);
      const request = asJson(shown.request(reason, ticket));
      return { kind: "question", request, page: asJson(shown.page()) };
    },
  };
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- requests and pages are made of JSON
const asJson = (value: object): Json => value as unknown as Json;

function inputOf({ input }: TaskFacts): TaskInput {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was sealed by us, so it is what `promote` wrote
  return input as unknown as TaskInput;
}

/** Undefined if the call was not traced, or if an older version created the task. */
function originOf(task: TaskFacts): TaskOrigin | undefined {
  const [first, created] = inputOf(task).trace?.map(spanIn) ?? [];
  return first && created && { first, created };
}

function inputChanged(name: string): ParleyError {
  return new ParleyError(
    "history_changed",
    `The inputSchema of "${name}" gives a different result for this task's arguments than it did when the call began. Nothing was run again.\n` +
      "The schema must depend on the arguments alone. While tasks are unfinished, it must accept what it accepted before.",
  );
}

async function endingOf(
  core: Core,
  definition: Definition,
  outcome: Ended,
  call: FailedCall,
): Promise<Ending> {
  const response =
    outcome.kind === "failed" && !isInputRequired(outcome.error)
      ? failureResponse(core, definition, outcome.error, call)
      : await resultOf(core, definition, valueOf(outcome), call);
  if (response.kind === "complete") {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
    return { status: "completed", result: response.result as unknown as Json };
  }
  const { code, message, data } =
    response.kind === "error"
      ? response
      : { code: internalError, message: "No result", data: undefined };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
  const json = data as Json | undefined;
  return {
    status: "failed",
    error: { code, message, ...(data === undefined ? {} : { data: json }) },
  };
}

/** A thrown `inputRequired(…)` counts as a returned one. */
const valueOf = (outcome: Ended): unknown =>
  outcome.kind === "failed" ? outcome.error : outcome.value;

async function resultOf(
  core: Core,
  definition: Definition,
  returned: unknown,
  call: FailedCall,
): Promise<ReturnType<typeof failureResponse>> {
  try {
    if (isInputRequired(returned)) {
      throw new ParleyError(
        "mixed_styles",
        `"${definition.name}" returned inputRequired(…) in a task. In the background, ask with ctx.ask and its siblings.`,
      );
    }
    return { kind: "complete", result: await definition.toResult(returned, definition.name) };
  } catch (error) {
    return failureResponse(core, definition, error, call);
  }
}
