// From rounds to a task: the call's journal becomes the task's log, in the transaction that creates the task.
// round.ts decides when; the conditions are here.

import type { BackgroundOptions } from "../../replay/operations.ts";
import type { Outcome } from "../../replay/outcome.ts";
import type { Json } from "../../util/json.ts";
import type { TaskRuntime } from "../../tasks/runtime.ts";
import { canFollowTasks } from "../../protocol/capabilities.ts";
import { spanIn, traceparentOf } from "../../protocol/trace-context.ts";
import { modernVersion } from "../../protocol/versions.ts";
import type { Call } from "./call.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { isExternal } from "../context/questions.ts";
import { isKnown } from "./first-request.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";
import { fromStore } from "../tasks/store-needed.ts";
import type { TaskInput } from "../tasks/task-carrier.ts";
import { formsOnly, needsModel, relaysTasks, withoutModel } from "./ways.ts";
import type { OpenWays } from "./ways.ts";

/** A call that asks for a task at once has no round. */
type PromotedCall = Pick<
  Call,
  "id" | "tokenExpiresAt" | "abilities" | "ways" | "era" | "inputDigest"
> &
  Partial<Pick<Call, "firstSpan" | "span">>;

type SuspendedOutcome = Extract<Outcome<unknown>, { kind: "waiting" | "detached" }>;

/**
 * The task runtime, if this call may become a task: its tool has `task`, this server has a store, and this request declares the
 * extension. Otherwise the model can ask how the task stands, if the call may be relayed.
 */
export function runtimeFor(
  core: Core,
  definition: Definition,
  { capabilities }: RoundRequest,
  call: Pick<Call, "ways">,
): TaskRuntime | undefined {
  const { task } = definition;
  if (task === undefined) return undefined;
  return canFollowTasks(capabilities) || relaysTasks(task, call.ways) ? core.tasks : undefined;
}

/** Whether the run waits only for timers and other people. The client could only send the request again. */
export function waitsForOthers({ open }: SuspendedOutcome): boolean {
  return open.length > 0 && open.every(({ kind, shown }) => kind === "timer" || isExternal(shown));
}

/**
 * Whether the task is kept behind a handle, and its client gets a pause: the client cannot follow a task, or it could not be
 * asked anything that the task asks.
 */
export function isHeld(
  { capabilities, isContinued, isTaskWanted }: RoundRequest,
  ways: OpenWays,
): boolean {
  if (isTaskWanted === true) return false;
  return isContinued === true || !canFollowTasks(capabilities) || needsModel(ways);
}

/** Creates the task. */
export async function promote(
  runtime: TaskRuntime,
  definition: Definition,
  call: PromotedCall,
  request: RoundRequest,
  { entries, unused }: SuspendedOutcome,
  { ttlMs }: BackgroundOptions,
): Promise<RoundResponse> {
  const ways = isHeld(request, call.ways) ? call.ways : withoutModel(call.ways);
  const input: TaskInput = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments came from a request's JSON
    arguments: (request.arguments ?? {}) as Json,
    abilities: call.abilities,
    ...(ways === formsOnly(call.abilities) ? {} : { ways }),
    ...(call.era === modernVersion ? {} : { era: call.era }),
    inputDigest: call.inputDigest(),
    ...traceOf(call, request),
  };
  const task = await fromStore(
    runtime.create({
      callId: call.id(),
      tool: definition.name,
      principal: request.principal,
      input: { ...input },
      entries,
      unused,
      ttlMs: ttlMs ?? request.taskTtlMs,
    }),
  );
  // The client has gone and does not know the task's id. A round with a token can be sent again and gets the same task, and so
  // can a first request with a key. Any other first request cannot, so its task is cancelled.
  const isRepeatable = call.tokenExpiresAt !== undefined || isKnown(definition, request);
  if (request.stop?.reason !== undefined && !isRepeatable) {
    await runtime.cancel(task.id);
    return { kind: "none" };
  }
  return { kind: "task", task, ways };
}

/** Without a span of its own, a task continues the sender's trace. */
function traceOf(
  { firstSpan, span }: PromotedCall,
  { facts }: RoundRequest,
): Pick<TaskInput, "trace"> {
  const created = span ?? spanIn(facts.meta["traceparent"]);
  if (created === undefined) return {};
  return { trace: [traceparentOf(firstSpan ?? created), traceparentOf(created)] };
}
