// The rounds of a call in a 2025-11-25 session. The client does not know rounds, so they take place here: the server
// asks the questions of a round with its own requests, and serves the next round with the answers. The SDK could do
// this as well, but it ends the call when a client answers a question with an error, and the handler does not learn
// about it.

import type { ServerContext } from "@modelcontextprotocol/server";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "../round/request.ts";
import { serveRound } from "../round/round.ts";
import { askClient } from "./legacy-ask.ts";

/** How long a person may take to answer. It is less than the life of a token, so that the call can go on afterwards. */
const answerMs = 600_000;
/** The pause before a round that brings nothing new. */
const pauseMs = 250;

/** Serves the rounds that follow `first`, until the call ends. Their number is limited as everywhere. */
export async function serveLegacyRounds(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  first: RoundResponse,
  ctx: ServerContext,
): Promise<RoundResponse> {
  let response = first;
  while (response.kind === "input_required") {
    const { inputRequests = {}, requestState } = response.result;
    const questions = Object.entries(inputRequests);
    const inputResponses = await answersTo(core, definition, response.call, questions, ctx);
    response = await serveRound(core, definition, { ...request, requestState, inputResponses });
  }
  return response;
}

async function answersTo(
  core: Core,
  { name: handler }: Definition,
  call: string | undefined,
  questions: readonly (readonly [string, unknown])[],
  ctx: ServerContext,
): Promise<object> {
  const { environment, limits } = core;
  const { signal } = ctx.mcpReq;
  if (questions.length === 0) {
    await new Promise<void>((resolve) => void environment.after(pauseMs, resolve));
    signal.throwIfAborted();
  }
  const timeoutMs = Math.min(answerMs, Math.ceil(limits.tokenTtlMs * 0.9));
  const answers = questions.map(async ([key, request]) => {
    const question = { handler, call, key, request, signal, timeoutMs, isRenewable: true };
    return [key, await askClient(core, ctx, question)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}
