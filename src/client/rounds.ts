// Call, answer, call again: until there is a result or a task.

import { CallError } from "./errors.ts";
import type { Members } from "../util/objects.ts";
import { backOff, pause } from "./pace.ts";
import { pendingOf } from "./pending.ts";
import { outcomeOf } from "./result.ts";
import type { Outcome } from "./result.ts";
import { refusal } from "./run.ts";
import type { Run } from "./run.ts";
import type { Reply } from "./wire.ts";

export async function goRounds(run: Run): Promise<Exclude<Outcome, { kind: "input_required" }>> {
  for (;;) {
    await askAll(run);
    const { method } = run.state();
    const outcome = outcomeOf(method, await leg(run));
    if (outcome.kind !== "input_required") return outcome;
    await onwards(run, outcome);
  }
}

async function onwards(
  run: Run,
  { requests, requestState }: Extract<Outcome, { kind: "input_required" }>,
): Promise<void> {
  const { rounds, stateRounds } = run.state();
  const { limits } = run;
  const isAsking = requests.size > 0;
  if (isAsking ? rounds >= limits.rounds : stateRounds >= limits.stateRounds) {
    throw tooMany(isAsking ? `${rounds} rounds of questions` : `${stateRounds} rounds without any`);
  }
  // What is not understood is not asked: before the first of them is put.
  run.questions.check([...requests].map(([key, request]) => pendingOf(key, request)));
  await run.move({
    rounds: rounds + (isAsking ? 1 : 0),
    stateRounds: stateRounds + (isAsking ? 0 : 1),
    requestState,
    questions: requests,
    answers: new Map(),
  });
  if (!isAsking) await pause(backOff(250, 5_000, stateRounds), run.signal);
}

const tooMany = (what: string) =>
  new CallError(
    "too_many_rounds",
    `The server has not come to an end after ${what}. Raise connect()'s limits if that is how it should be.`,
  );

/** Those of this round that have no answer yet; after a crash that may be some of them, or none. */
async function askAll(run: Run): Promise<void> {
  const { questions, answers } = run.state();
  const open = [...questions]
    .filter(([key]) => !answers.has(key))
    .map(([key, request]) => pendingOf(key, request));
  if (open.length === 0) return;
  run.questions.check(open);
  run.questions.put(open);
  run.tell({ type: "asked", questions: open, ref: run.ref() });
  while (run.questions.isOpen) await run.questions.changed(run.signal);
  run.signal.throwIfAborted();
}

const headerMismatch = -32_020;

async function leg(run: Run): Promise<Members> {
  const reply = await send(run);
  if (reply.kind === "result") return reply.result;
  if (reply.error.code !== headerMismatch || run.state().method !== "tools/call") {
    throw refusal(reply.error);
  }
  // It wants arguments in headers, and its list of tools says which.
  await run.listTools();
  const again = await send(run);
  if (again.kind === "error") throw refusal(again.error);
  return again.result;
}

function send(run: Run): Promise<Reply> {
  const { method, name, args, requestState, questions, answers } = run.state();
  const params = {
    ...paramsOf(run),
    ...(requestState !== undefined && { requestState }),
    ...(questions.size > 0 && { inputResponses: Object.fromEntries(answers) }),
  };
  return run.wire.request(method, params, {
    signal: run.signal,
    timeoutMs: run.limits.silenceMs,
    isPaused: run.isPaused,
    ...(method === "tools/call" && { headers: run.headers.of(name, args) }),
    onProgress: (progress) => run.tell({ type: "progress", ...progress }),
  });
}

export function paramsOf(run: Run): Members {
  const { method, name, args } = run.state();
  if (method === "resources/read") return { uri: name };
  return args === undefined ? { name } : { name, arguments: args };
}
