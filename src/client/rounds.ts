// The rounds of a call: call, answer, call again, until there is a result or a task.

import { headerMismatch } from "../protocol/error-codes.ts";
import { idempotencyKeyMeta } from "../protocol/idempotency-key.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import type { Members } from "../util/objects.ts";
import { backOff } from "../util/timers.ts";
import type { ActiveCall } from "./active-call.ts";
import { CallError, refusal } from "./errors.ts";
import type { LogMessage } from "./log-messages.ts";
import type { RequestOptions } from "./open-request.ts";
import { pause } from "./pause.ts";
import { readQuestion } from "./read-question.ts";
import type { CallState } from "./reference.ts";
import { roundOutcome } from "./result.ts";
import type { RoundOutcome } from "./result.ts";

const stateRoundDelay = { firstMs: 250, mostMs: 5_000 };

type InputRequired = Extract<RoundOutcome, { kind: "input_required" }>;

export async function runRounds(call: ActiveCall): Promise<Exclude<RoundOutcome, InputRequired>> {
  for (;;) {
    await askOpenQuestions(call);
    const { method } = call.state();
    const outcome = roundOutcome(method, await runRound(call));
    if (outcome.kind !== "input_required") return outcome;
    await prepareNextRound(call, outcome);
  }
}

async function prepareNextRound(call: ActiveCall, outcome: InputRequired): Promise<void> {
  const { requests, requestState } = outcome;
  const { rounds, stateRounds } = call.state();
  const { limits } = call.services;
  const isAsking = requests.size > 0;
  if (isAsking && rounds >= limits.rounds) throw tooManyRounds(rounds, "of questions", "rounds");
  if (!isAsking && stateRounds >= limits.stateRounds) {
    throw tooManyRounds(stateRounds, "without questions", "stateRounds");
  }
  // Checks all questions before the person sees the first one.
  call.questions.check([...requests].map(([key, request]) => readQuestion(key, request)));
  await call.move({
    rounds: rounds + (isAsking ? 1 : 0),
    stateRounds: stateRounds + (isAsking ? 0 : 1),
    requestState,
    questions: requests,
    answers: new Map(),
  });
  if (!isAsking) await pause(backOff(stateRounds + 1, stateRoundDelay), call.signal);
}

const tooManyRounds = (rounds: number, what: string, limit: string) =>
  new CallError(
    "too_many_rounds",
    `The call is not done after ${rounds} rounds ${what}. If you expect that many, raise limits.${limit} in connect().`,
  );

/** Asks the questions of this round that have no answer. After a crash, some or all of them may have one. */
async function askOpenQuestions(call: ActiveCall): Promise<void> {
  const { questions, answers } = call.state();
  const open = [...questions]
    .filter(([key]) => !answers.has(key))
    .map(([key, request]) => readQuestion(key, request));
  if (open.length === 0) return;
  call.questions.check(open);
  call.questions.ask(open);
  call.emit({ type: "asked", questions: open, ref: call.ref() });
  while (call.questions.isOpen) await call.questions.changed(call.signal);
  call.signal.throwIfAborted();
}

async function runRound(call: ActiveCall): Promise<Members> {
  const response = await send(call);
  if (response.kind === "result") return response.result;
  if (response.error.code !== headerMismatch || call.state().method !== "tools/call") {
    throw refusal(response.error, response.cause);
  }
  // The server wants some arguments in headers. Its list of tools says which.
  await call.services.listTools();
  const again = await send(call);
  if (again.kind === "error") throw refusal(again.error, again.cause);
  return again.result;
}

function send(call: ActiveCall): Promise<RpcResponse> {
  const { method, name, args, requestState, questions, answers } = call.state();
  const { channel, headers, limits } = call.services;
  const params = {
    ...paramsOf(call),
    ...(requestState !== undefined && { requestState }),
    ...(questions.size > 0 && { inputResponses: Object.fromEntries(answers) }),
  };
  const options: RequestOptions = {
    signal: call.signal,
    timeoutMs: limits.silenceMs,
    isPaused: call.isPaused,
    ...(method === "tools/call" && { headers: headers.of(name, args) }),
    first: firstRequestMeta(call.state()),
    onProgress: (progress) => call.emit({ type: "progress", ...progress }),
    ...(call.logLevel !== undefined && {
      logLevel: call.logLevel,
      onLog: (message: LogMessage) => call.emit({ type: "log", ...message }),
    }),
  };
  const { stream } = call;
  if (stream === undefined) return channel.request(method, params, options);
  return stream.request((onPart) => channel.request(method, params, { ...options, onPart }));
}

/**
 * What the first request of a call says in `_meta`, so that the server recognises it. Later requests have a
 * `requestState`.
 */
function firstRequestMeta({ idempotencyKey, rounds, stateRounds }: CallState): Members | undefined {
  const isFirst = rounds + stateRounds === 0;
  return isFirst && idempotencyKey !== undefined
    ? { [idempotencyKeyMeta]: idempotencyKey }
    : undefined;
}

/** The params that name the tool, prompt or resource, and its arguments. */
export function paramsOf(call: ActiveCall): Members {
  const { method, name, args } = call.state();
  if (method === "resources/read") return { uri: name };
  return args === undefined ? { name } : { name, arguments: args };
}
