// The end of a request whose call waits for something that no `requestState` can bring. The call is kept in the store, and
// the model is told what is missing.

import type { OpenWays } from "../round/ways.ts";
import { pausesFor, wayOf } from "../round/ways.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import { isLive } from "../../tasks/task.ts";
import type { Json } from "../../util/json.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "../round/request.ts";
import { keepPause, newHandle } from "./kept-pause.ts";
import type { Continuation, Pause, PausedQuestion, PausedQuestions } from "./kept-pause.ts";
import { pauseResult } from "./pause-result.ts";
import type { PauseNotes } from "./pause-result.ts";

/** A call that has been paused before. */
export interface PausedCall {
  readonly handle: string;
  readonly pause: Pause;
  /** What this request has brought. Undefined if it has only asked. */
  readonly by?: Continuation | undefined;
  readonly notes?: PauseNotes | undefined;
}

/** Pauses a call that waits for answers. */
export async function pauseRound(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  { result, pausing, call: callId = "" }: Extract<RoundResponse, { kind: "input_required" }>,
  earlier?: PausedCall,
): Promise<RoundResponse> {
  const { inputRequests = {}, requestState } = result;
  const questions = Object.fromEntries(
    Object.entries(inputRequests).map(([key, asked]): [string, PausedQuestion] => {
      return [key, { way: pausing?.ways[key] ?? "relay", request: asked }];
    }),
  );
  return kept(core, definition, request, earlier, {
    questions,
    requestState,
    dueAt: pausing?.dueAt,
    mail: pausing?.mail?.map((one) => ({ callId, ...one })),
    expiresAt: core.environment.now() + core.limits.pauseMs,
  });
}

async function kept(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  earlier: PausedCall | undefined,
  own: Pick<Pause, "questions" | "requestState" | "expiresAt"> & Partial<Pause>,
): Promise<RoundResponse> {
  const handle = earlier?.handle ?? newHandle(core);
  const pause: Pause = {
    number: (earlier?.pause.number ?? 0) + 1,
    tool: definition.name,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments came from a request's JSON
    arguments: (earlier?.pause.arguments ?? request.arguments ?? {}) as Json,
    principal: request.principal ?? null,
    before: earlier?.by,
    // From the first pause on, because a task writes no other, and its App asks how it stands.
    ...(definition.ui === "form" ? { secret: earlier?.pause.secret ?? newHandle(core) } : {}),
    ...own,
  };
  await keepPause(core, handle, pause);
  return paused(definition, handle, pause, earlier?.notes);
}

/** The response that shows a pause. */
export const paused = (
  { hasOutput }: Definition,
  handle: string,
  pause: Pause,
  notes?: PauseNotes,
): RoundResponse => ({
  kind: "complete",
  result: pauseResult(handle, pause, hasOutput === true, notes),
});

/** Notes that a call has ended, so that it no longer counts as paused and its last response can be sent again. */
export async function endPause(core: Core, { handle, pause, by }: PausedCall): Promise<void> {
  const { dueAt: _dueAt, ...rest } = pause;
  await keepPause(core, handle, {
    ...rest,
    number: pause.number + 1,
    questions: {},
    requestState: "",
    before: by,
    isOver: true,
  });
}

// ---------------------------------------------------------------- tasks

/** Waits for the task of a client that cannot follow one. What is not over by then is a pause. */
export async function pauseTask(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  task: TaskSnapshot,
  ways: OpenWays,
  earlier?: PausedCall,
): Promise<RoundResponse> {
  const latest = await moved(core, request, task);
  if (!isLive(latest)) {
    if (earlier !== undefined && earlier.pause.isOver !== true) await endPause(core, earlier);
    return endOf(definition, latest);
  }
  const asked = askedBy(latest, ways);
  const notes = { ...earlier?.notes, status: latest.statusMessage };
  const { environment, limits } = core;
  const own = {
    questions: asked.paused,
    requestState: "",
    task: latest.id,
    ways,
    // A task may take days, and its handle is the only way to it.
    expiresAt: Math.max(environment.now() + limits.pauseMs, latest.expiresAt),
  };
  const response =
    earlier?.pause.task === latest.id
      ? paused(definition, earlier.handle, { ...earlier.pause, ...own }, notes)
      : await kept(core, definition, request, earlier && { ...earlier, notes }, own);
  if (earlier === undefined || asked.travelling.length === 0) return response;
  // The client can be asked this itself, in the response to `continue_call`.
  const result = {
    resultType: "input_required",
    inputRequests: Object.fromEntries(asked.travelling),
    requestState: earlier.handle,
  } as const;
  return { kind: "input_required", result, call: latest.callId };
}

/** The task when it has ended or asks something, or as it is when the time is up. */
async function moved(
  { tasks, limits, environment }: Core,
  { stop, patienceMs = limits.inlineMs }: RoundRequest,
  task: TaskSnapshot,
): Promise<TaskSnapshot> {
  let latest = task;
  if (tasks === undefined || patienceMs === 0) return latest;
  const over = new AbortController();
  const callOff = environment.eventually(patienceMs, () => over.abort());
  const listener = { stop: () => over.abort() };
  stop?.add(listener);
  if (stop?.reason !== undefined) over.abort();
  try {
    for await (const next of tasks.watch(task.id, 0, over.signal)) {
      latest = next;
      if (!isLive(next) || next.questions.size > 0) break;
    }
  } finally {
    callOff();
    stop?.remove(listener);
  }
  return latest;
}

function endOf(definition: Definition, task: TaskSnapshot): RoundResponse {
  const { status, result, error } = task;
  if (error !== undefined) return { kind: "error", ...error };
  if (status !== "cancelled") {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tool's result, which the task has kept
    return { kind: "complete", result: (result ?? {}) as Record<string, unknown> };
  }
  return { kind: "complete", result: definition.toFailure("The call was cancelled.") ?? {} };
}

/** The questions of a task: those that the client can be asked itself, by wire key, and those that pause, by the handler's key. */
export function askedBy(
  { questions, questionKeys }: TaskSnapshot,
  ways: OpenWays,
): {
  readonly travelling: readonly (readonly [string, InputRequest])[];
  readonly paused: PausedQuestions;
} {
  const travelling: [string, InputRequest][] = [];
  const open: [string, PausedQuestion][] = [];
  for (const [wire, json] of questions) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an input request, which the engine has sealed
    const request = json as unknown as InputRequest;
    const isForm = request.method === "elicitation/create" && request.params.mode === "form";
    // A question that is open has a way, so this is the one.
    const way = isForm ? wayOf(ways, { relay: true }) : pageWay(request, ways);
    if (way === undefined || !pausesFor(way)) travelling.push([wire, request]);
    else open.push([questionKeys.get(wire)?.key ?? wire, { way, request }]);
  }
  return { travelling, paused: Object.fromEntries(open) };
}

/** A page of the author's own is opened by the client, and so is ours if it can. */
function pageWay(request: InputRequest, ways: OpenWays): ReturnType<typeof wayOf> {
  return request.method === "elicitation/create" ? wayOf(ways, { sensitive: true }) : undefined;
}
