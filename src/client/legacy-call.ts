// A call in a 2025-11-25 session. The server asks with requests of its own, which legacy-session.ts answers meanwhile.
// A long call is a task if the client asks for one, and `tasks/result` fetches its result.

import { urlElicitationRequired } from "../protocol/error-codes.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { backOff } from "../util/timers.ts";
import type { ActiveCall } from "./active-call.ts";
import { badResponse, CallError, refusal } from "./errors.ts";
import { taskFor } from "./legacy-session.ts";
import type { LegacyTool } from "./legacy-session.ts";
import type { RequestOptions } from "./open-request.ts";
import { pause } from "./pause.ts";
import { nameOf } from "./question-names.ts";
import { readQuestion } from "./read-question.ts";
import { taskRefusal } from "./remote-task.ts";
import { paramsOf } from "./rounds.ts";
import { createdTask, expiryOf, taskCancelled, taskFailed } from "./task-snapshot.ts";
import { isPassing } from "./verdict.ts";

const retryDelay = { firstMs: 250, mostMs: 10_000 };

/** How many pages a server may want opened at once. */
const mostPages = 1_000;

export async function runLegacyCall(
  call: ActiveCall,
  toolOf: () => Promise<LegacyTool>,
): Promise<Members> {
  const { method, taskId } = call.state();
  if (taskId !== undefined) return fetchResult(call, taskId);
  const task = method === "tools/call" ? taskFor(await toolOf(), call.taskParams) : undefined;
  if (task === undefined) return request(call, paramsOf(call));
  const created = await request(call, { ...paramsOf(call), task });
  // A server may still respond with a result at once.
  if (!isObject(created["task"])) return created;
  const { ttl } = created["task"];
  const read = createdTask({ ...created["task"], ttlMs: ttl });
  const { taskId: id } = read;
  await call.move({ taskId: id, expiresAt: expiryOf(read) });
  call.emit({ type: "task", taskId: id, ref: call.ref() });
  return fetchResult(call, id);
}

async function request(call: ActiveCall, params: Members): Promise<Members> {
  for (;;) {
    const { silenceMs } = call.services.limits;
    const response = await send(call, call.state().method, params, silenceMs);
    if (response.kind === "result") return response.result;
    const { error, cause } = response;
    if (error.code !== urlElicitationRequired) throw refusal(error, cause);
    await visitPages(call, error.data);
  }
}

function send(
  call: ActiveCall,
  method: string,
  params: Members,
  timeoutMs?: number,
): Promise<RpcResponse> {
  const { channel } = call.services;
  const options: RequestOptions = {
    signal: call.signal,
    timeoutMs,
    isPaused: call.isPaused,
    onProgress: (progress) => call.emit({ type: "progress", ...progress }),
  };
  const { stream } = call;
  if (stream === undefined || method === "tasks/get") {
    return channel.request(method, params, options);
  }
  return stream.request((onPart) => channel.request(method, params, { ...options, onPart }));
}

/** Asks the person to open the pages that the server needs before it accepts the call. */
async function visitPages(call: ActiveCall, data: unknown): Promise<void> {
  const pages = own(data, "elicitations");
  if (!Array.isArray(pages) || pages.length === 0) {
    throw badResponse("it asks for a page to be opened but does not name one");
  }
  const { rounds } = call.state();
  if (rounds >= call.services.limits.rounds) {
    const message =
      `The server asked ${rounds} times for pages to be opened and still does not accept the call. ` +
      "If you expect that, raise limits.rounds in connect().";
    throw new CallError("too_many_rounds", message);
  }
  if (pages.length > mostPages) throw badResponse(`it asks for ${pages.length} pages to be opened`);
  const questions = pages.map((page) => {
    const params = isObject(page) ? { ...page, mode: "url" } : page;
    const asked = { method: "elicitation/create", params };
    return readQuestion(call.names.unique(nameOf(asked)), asked);
  });
  call.questions.check(questions);
  await call.move({ rounds: rounds + 1, answers: new Map() });
  call.questions.ask(questions);
  call.emit({ type: "asked", questions, ref: call.ref() });
  while (call.questions.isOpen) await call.questions.changed(call.signal);
  call.signal.throwIfAborted();
  const refused = [...call.state().answers].find(
    ([, answer]) => own(answer, "action") !== "accept",
  );
  if (refused !== undefined) {
    const message = "The call was cancelled, because the person did not open a page that it needs.";
    throw new CallError("cancelled", message);
  }
}

/** `tasks/result` responds when the task ends. Its stream also brings the questions of the task. */
async function fetchResult(call: ActiveCall, taskId: string): Promise<Members> {
  const { outageMs } = call.services.limits;
  let awaySince: number | undefined;
  for (let tries = 1; ; tries += 1) {
    const sentAt = performance.now();
    try {
      return await fetchOnce(call, taskId);
    } catch (error) {
      const now = performance.now();
      // A request that was open for that long is not part of an outage.
      if (now - sentAt > outageMs) awaySince = undefined;
      awaySince ??= now;
      if (now - awaySince > outageMs || !isPassing(error)) throw error;
      await pause(backOff(tries, retryDelay), call.signal);
    }
  }
}

async function fetchOnce(call: ActiveCall, taskId: string): Promise<Members> {
  const response = await send(call, "tasks/result", { taskId });
  if (response.kind === "result") return response.result;
  const { error, cause } = response;
  // This can be the error of the task itself, or mean that it has no result. Its status tells which.
  const task = await send(call, "tasks/get", { taskId }, call.services.limits.silenceMs);
  if (task.kind === "error") throw taskRefusal(task.error, taskId, task.cause);
  const { status } = task.result;
  if (status === "cancelled") throw taskCancelled(taskId);
  if (status === "working" || status === "input_required") throw refusal(error, cause);
  throw taskFailed(error, taskId);
}
