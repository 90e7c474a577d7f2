// A session of 2025-11-25: the server puts its questions as requests of its own, which the SDK's client hands to us
// meanwhile; a long call is a task that the client asks for, and fetches with `tasks/result`.

import { badResponse, CallError } from "./errors.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { backOff, pause } from "./pace.ts";
import { pendingOf } from "./pending.ts";
import { paramsOf } from "./rounds.ts";
import { refusal } from "./run.ts";
import type { Run, TaskWish } from "./run.ts";
import { cancelled, createdTask } from "./snapshot.ts";
import type { Reply } from "./wire.ts";

/** What the server said of itself and of the tool. */
export interface LegacyTool {
  readonly serverHasTasks: boolean;
  readonly taskSupport: unknown;
}

export async function goLegacy(run: Run, toolOf: () => Promise<LegacyTool>): Promise<Members> {
  const { method, taskId } = run.state();
  if (taskId !== undefined) return fetchTask(run, taskId);
  const wish = method === "tools/call" ? taskFor(await toolOf(), run.wantsTask) : undefined;
  if (wish !== undefined) {
    const created = await call(run, { ...paramsOf(run), task: wish });
    const task = own(created, "task");
    // A server may well answer at once.
    if (!isObject(task)) return created;
    const { taskId: id } = createdTask(task);
    await run.move({ taskId: id });
    run.tell({ type: "task", taskId: id, ref: run.ref() });
    return fetchTask(run, id);
  }
  return call(run, paramsOf(run));
}

/** What is sent with a call of this tool that should be a task. */
export function taskFor(
  { serverHasTasks, taskSupport }: LegacyTool,
  wish: TaskWish | undefined,
): TaskWish | undefined {
  if (!serverHasTasks) return undefined;
  if (taskSupport === "required") return wish ?? {};
  return taskSupport === "optional" ? wish : undefined;
}

async function call(run: Run, params: Members): Promise<Members> {
  for (;;) {
    const reply = await send(run, run.state().method, params, run.limits.silenceMs);
    if (reply.kind === "result") return reply.result;
    if (reply.error.code !== urlNeeded) throw refusal(reply.error);
    await visit(run, reply.error.data);
  }
}

function send(run: Run, method: string, params: Members, timeoutMs?: number): Promise<Reply> {
  return run.wire.request(method, params, {
    signal: run.signal,
    timeoutMs,
    isPaused: run.isPaused,
    onProgress: (progress) => run.tell({ type: "progress", ...progress }),
  });
}

/** Before it can do what was asked, the person has to go to these pages; then the call is made again. */
const urlNeeded = -32_042;

async function visit(run: Run, data: unknown): Promise<void> {
  const pages = own(data, "elicitations");
  if (!Array.isArray(pages) || pages.length === 0) throw badResponse("it names no page to go to");
  const { rounds } = run.state();
  if (rounds >= run.limits.rounds) {
    throw new CallError("too_many_rounds", `The server has asked for pages ${rounds} times.`);
  }
  const asked = pages.map((page, index) =>
    pendingOf(`page-${rounds + 1}-${index + 1}`, {
      method: "elicitation/create",
      params: isObject(page) ? { ...page, mode: "url" } : page,
    }),
  );
  run.questions.check(asked);
  await run.move({ rounds: rounds + 1, answers: new Map() });
  run.questions.put(asked);
  run.tell({ type: "asked", questions: asked, ref: run.ref() });
  while (run.questions.isOpen) await run.questions.changed(run.signal);
  run.signal.throwIfAborted();
  const refused = [...run.state().answers].find(([, answer]) => own(answer, "action") !== "accept");
  if (refused !== undefined) {
    throw new CallError("cancelled", "The page that the server asked for was not gone to.");
  }
}

/** `tasks/result` waits for the end, and its stream is where the task's questions come. */
async function fetchTask(run: Run, taskId: string): Promise<Members> {
  const since = performance.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await fetchOnce(run, taskId);
    } catch (error) {
      const isAway = error instanceof CallError && error.code === "server_down";
      if (!isAway || performance.now() - since > run.limits.outageMs) throw error;
      await pause(backOff(250, 10_000, tries), run.signal);
    }
  }
}

async function fetchOnce(run: Run, taskId: string): Promise<Members> {
  const reply = await send(run, "tasks/result", { taskId });
  if (reply.kind === "result") return reply.result;
  // It may be the task's own error, or say that there is no result: that it was cancelled, the task knows.
  const task = await send(run, "tasks/get", { taskId }, run.limits.silenceMs);
  if (task.kind === "error") {
    const message = `The server does not know the task, or no longer: ${task.error.message}`;
    throw new CallError("task_gone", message, { taskId, rpc: task.error });
  }
  if (task.result["status"] === "cancelled") throw cancelled(taskId);
  const { code, message } = reply.error;
  throw new CallError("task_failed", `The task has failed: ${message} (${code})`, {
    taskId,
    rpc: reply.error,
  });
}
