// How a paused call goes on: a model or the App brings the user's answers, or asks for the status of the call.

import { answerMap } from "../../protocol/answers.ts";
import { digest, shortDigest } from "../../token/canonical.ts";
import { own } from "../../util/objects.ts";
import type { Core } from "../core.ts";
import type { Definition, WireResult } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "../round/request.ts";
import { serveRound } from "../round/round.ts";
import { mailIn } from "../pages/mailbox.ts";
import { applyAnswers, ownTask } from "../tasks/requests.ts";
import { findPause } from "./kept-pause.ts";
import type { Continuation, Pause } from "./kept-pause.ts";
import { askedBy, endPause, paused, pauseRound, pauseTask } from "./pause.ts";
import type { PausedCall } from "./pause.ts";
import { readRelayed, takeAnswers } from "./relayed-answers.ts";
import type { Relayed } from "./relayed-answers.ts";

/** Finds the tool that was called. */
export type FindTool = (name: string) => Definition | undefined;

/** The result that says why a call does not go on. */
export const failureOf = (text: string): WireResult => ({
  content: [{ type: "text", text }],
  isError: true,
});
const failure = (text: string): RoundResponse => ({ kind: "complete", result: failureOf(text) });

/** The same text for unknown handles, expired handles and those of other callers, so that it reveals nothing about them. */
const gone = failure(
  "There is no such call. It may have ended or expired. Call the tool again if the user still wants it.",
);
const movedOn = failure(
  "This call has moved on. Call continue_call with the same call and without answers to see how it stands.",
);
const malformed = failure(
  'Pass the call from the result, and the answers by key: {"call":"…","answers":{"key":"value"}}.',
);

/** Serves a request for `continue_call`, or for `answer_call` if the answers come the way "app". */
export async function serveContinuation(
  core: Core,
  find: FindTool,
  request: RoundRequest,
  way: "relay" | "app" = "relay",
): Promise<RoundResponse> {
  const sent = readRelayed(request.arguments);
  if (sent === undefined) return malformed;
  const pause = await findPause(core, sent.call, request.principal);
  const definition = pause && find(pause.tool);
  if (pause === undefined || definition === undefined) return gone;
  if (way === "app" && !isProof(sent, pause)) return gone;
  const relayed = { ...sent, way };
  const call: PausedCall = { handle: relayed.call, pause };
  return pause.task === undefined
    ? continueRound(core, definition, request, call, relayed)
    : continueTask(core, definition, request, call, relayed);
}

/** Digests are compared, so that the time it takes says nothing about the secret. */
const isProof = ({ secret }: Relayed, pause: Pause): boolean =>
  secret !== undefined && pause.secret !== undefined && digest(secret) === digest(pause.secret);

type Came = Relayed & { readonly way: "relay" | "app" };

async function continueRound(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  call: PausedCall,
  relayed: Came,
): Promise<RoundResponse> {
  const { pause } = call;
  const { before, questions, requestState, dueAt } = pause;
  const { requestState: sent, inputResponses } = request;
  // The client has answered what it can be asked itself. The state is sealed for the tool, its arguments and the caller.
  if (typeof sent === "string") {
    return play(core, definition, request, call, { requestState: sent, inputResponses });
  }
  if (before !== undefined && isRepeated(before, relayed)) {
    return play(core, definition, request, { ...call, by: before }, repeated(before));
  }
  const { responses, ignored } = takeAnswers(questions, relayed, relayed.way);
  const isPoll = Object.keys(responses).length === 0;
  if (isPoll && pause.isOver === true) {
    if (ignored.length > 0 || before === undefined) return movedOn;
    return play(core, definition, request, { ...call, by: before }, repeated(before));
  }
  if (
    isPoll &&
    ignored.some((key) => before !== undefined && Object.hasOwn(before.questions, key))
  ) {
    return movedOn;
  }
  const notes = { ignored };
  const isDue = dueAt !== undefined && dueAt <= core.environment.now();
  if (isPoll && !isDue && !(await hasMail(core, pause)))
    return paused(definition, call.handle, pause, notes);
  const by: Continuation = { requestState, questions, responses };
  return play(core, definition, request, { ...call, by, notes }, repeated(by));
}

/** Whether a page has brought an answer since the call paused. */
async function hasMail(core: Core, { mail = [] }: Pause): Promise<boolean> {
  for (const question of mail) if ((await mailIn(core, question)) !== undefined) return true;
  return false;
}

const repeated = ({ requestState, responses }: Continuation) => ({
  requestState,
  inputResponses: responses,
});

/** Whether these are the answers that led to where the call is now. */
function isRepeated({ questions, responses }: Continuation, relayed: Came): boolean {
  const taken = takeAnswers(questions, relayed, relayed.way).responses;
  return Object.keys(taken).length > 0 && shortDigest(taken) === shortDigest(responses);
}

/** Serves rounds of the tool until the client or the model has to be asked, or the call ends. */
async function play(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  call: PausedCall,
  first: Pick<RoundRequest, "requestState" | "inputResponses">,
): Promise<RoundResponse> {
  const { pause } = call;
  const base = { ...request, target: pause.tool, arguments: pause.arguments, isContinued: true };
  let response: RoundResponse = await serveRound(core, definition, { ...base, ...first });
  // A round that ends without a question is continued at once, as its client would.
  while (response.kind === "input_required" && response.result.inputRequests === undefined) {
    const { requestState } = response.result;
    response = await serveRound(core, definition, { ...base, requestState, inputResponses: {} });
  }
  // What was sent again has been noted already.
  const isNews = call.by !== pause.before;
  switch (response.kind) {
    case "input_required":
      if (response.pausing === undefined) return response;
      return isNews
        ? pauseRound(core, definition, base, response, call)
        : paused(definition, call.handle, pause, call.notes);
    case "task":
      return pauseTask(core, definition, base, response.task, response.ways ?? "", call);
    case "error":
      if (own(response.data, "reason") === "superseded_round") return movedOn;
      if (own(response.data, "reason") === "invalid_request_state") return gone;
      break;
    case "complete":
    case "none":
  }
  if (response.kind !== "none" && isNews) await endPause(core, call);
  return response;
}

async function continueTask(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  call: PausedCall,
  relayed: Came,
): Promise<RoundResponse> {
  const { pause, handle } = call;
  const task = await ownTask(core, pause.task, request.principal);
  if (task === undefined || task.isRemoved) return gone;
  const ways = pause.ways ?? "";
  if (relayed.cancel) {
    await core.tasks?.cancel(task.id);
    const cancelled = (await ownTask(core, task.id, request.principal)) ?? task;
    return pauseTask(core, definition, request, cancelled, ways, call);
  }
  if (request.requestState === handle) {
    const answers = answerMap(request.inputResponses ?? {});
    if (answers !== undefined) await applyAnswers(core, task.id, answers);
    return pauseTask(core, definition, request, task, ways, call);
  }
  const { responses, ignored } = takeAnswers(askedBy(task, ways).paused, relayed, relayed.way);
  const wires = new Map(Array.from(task.questionKeys, ([wire, { key }]) => [key, wire]));
  const answers = new Map(
    Object.entries(responses).map(([key, response]) => [wires.get(key) ?? key, response]),
  );
  if (answers.size > 0) await applyAnswers(core, task.id, answers);
  return pauseTask(core, definition, request, task, ways, { ...call, notes: { ignored } });
}
