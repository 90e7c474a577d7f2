// Staying with a task until it is over. Polling is the truth; what is pushed only says that it is time to look.

import { badResponse, CallError } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import { isObject, own } from "./json.ts";
import type { Members } from "./json.ts";
import { listenTo } from "./listen.ts";
import { backOff, pause } from "./pace.ts";
import { pendingOf } from "./pending.ts";
import { refusal, resultOf } from "./run.ts";
import type { Run } from "./run.ts";

const leastMs = 100;
const statuses = ["working", "input_required", "completed", "failed", "cancelled"] as const;
type Status = (typeof statuses)[number];

interface Snapshot {
  readonly status: Status;
  readonly statusMessage: string | undefined;
  readonly pollIntervalMs: number | undefined;
  readonly requests: ReadonlyMap<string, unknown>;
  readonly raw: Members;
}

/** The id of the task that a call has become. */
export function taskIdOf(task: Members): string {
  const { taskId } = task;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > 1_000) {
    throw badResponse("its task has no id");
  }
  return taskId;
}

export async function followTask(run: Run, taskId: string, firstMs: number): Promise<Members> {
  const follower = new Follower(run, taskId);
  try {
    return await follower.follow(firstMs);
  } catch (error) {
    // Nobody here can ever answer it, so it would wait for its time to be over.
    if (error instanceof CallError && error.code === "unhandled_question") {
      await cancelTask(run, taskId).catch(() => {});
    }
    throw error;
  } finally {
    follower.end();
  }
}

/** Resolves when the server has said that it will see to it. Needs no call that is still alive. */
export async function cancelTask(run: Run, taskId: string): Promise<void> {
  const { signal } = new AbortController();
  const timeoutMs = run.limits.silenceMs;
  resultOf(await run.wire.request("tasks/cancel", { taskId }, { signal, timeoutMs }));
}

class Follower {
  readonly #run: Run;
  readonly #taskId: string;
  /** As they were put first. A key is never used for another question. */
  readonly #seen = new Map<string, string>();
  readonly #sent = new Set<string>();
  readonly #over = new AbortController();
  #wake = new AbortController();
  #statusMessage: string | undefined;
  #stopListening: (() => void) | undefined;

  constructor(run: Run, taskId: string) {
    this.#run = run;
    this.#taskId = taskId;
  }

  end(): void {
    this.#over.abort();
    this.#stopListening?.();
  }

  async follow(firstMs: number): Promise<Members> {
    const run = this.#run;
    this.#stopListening = run.questions.listen(this.#hurry);
    void listenTo(run.wire, this.#taskId, this.#hurry, this.#over.signal);
    let waitMs = firstMs;
    for (let polls = 0; ; polls += 1) {
      await pause(waitMs, run.signal, this.#wake.signal);
      this.#wake = new AbortController();
      const task = await this.#get();
      this.#tellStatus(task);
      if (task.status === "completed") return innerResult(task);
      if (task.status === "failed") throw failed(task.raw, this.#taskId);
      if (task.status === "cancelled") throw cancelled(this.#taskId);
      await this.#ask(task);
      if (await this.#sendAnswers(task)) waitMs = leastMs;
      else waitMs = Math.max(leastMs, task.pollIntervalMs ?? backOff(1_000, 10_000, polls));
      // Not sooner, whatever is pushed.
      await pause(leastMs, run.signal);
    }
  }

  readonly #hurry = (): void => this.#wake.abort();

  #tellStatus({ statusMessage }: Snapshot): void {
    if (statusMessage === undefined || statusMessage === this.#statusMessage) return;
    this.#statusMessage = statusMessage;
    this.#run.tell({ type: "progress", message: statusMessage });
  }

  /** What was not asked before; what is no longer asked is withdrawn. */
  async #ask({ requests }: Snapshot): Promise<void> {
    const run = this.#run;
    const { questions, state } = run;
    for (const key of questions.keys) if (!requests.has(key)) questions.withdraw(key);
    const fresh = [...requests].filter(([key, request]) => this.#isFresh(key, request));
    const open = fresh.map(([key, request]) => pendingOf(key, request));
    if (this.#seen.size > run.limits.taskQuestions) {
      throw new CallError(
        "too_many_rounds",
        `The task has asked more than ${run.limits.taskQuestions} questions.`,
      );
    }
    questions.check(open);
    // An answer that has arrived need not be kept.
    const answers = [...state().answers].filter(([key]) => requests.has(key) || questions.get(key));
    if (open.length > 0 || answers.length < state().answers.size) {
      await run.move({ questions: requests, answers: new Map(answers) });
    }
    if (open.length === 0) return;
    questions.put(open);
    run.tell({ type: "asked", questions: open, ref: run.ref() });
  }

  #isFresh(key: string, request: unknown): boolean {
    const text = JSON.stringify(request);
    const before = this.#seen.get(key);
    if (before !== undefined && before !== text) {
      throw badResponse(`the task uses the key "${key}" for another question`);
    }
    this.#seen.set(key, text);
    // Given before a crash: it only has to be sent.
    return before === undefined && !this.#run.state().answers.has(key);
  }

  /** Only to what is asked now, and each once. True: there were any. */
  async #sendAnswers({ requests }: Snapshot): Promise<boolean> {
    const { answers } = this.#run.state();
    const unsent = [...answers].filter(([key]) => requests.has(key) && !this.#sent.has(key));
    if (unsent.length === 0) return false;
    const inputResponses = Object.fromEntries(unsent);
    await this.#insist("tasks/update", { taskId: this.#taskId, inputResponses });
    for (const [key] of unsent) this.#sent.add(key);
    return true;
  }

  async #get(): Promise<Snapshot> {
    const raw = await this.#insist("tasks/get", { taskId: this.#taskId });
    return snapshotOf(raw, this.#taskId);
  }

  /** Reading a task, and answering it, does no harm twice: what gets lost is sent again. */
  async #insist(method: string, params: Members): Promise<Members> {
    const { wire, signal, limits } = this.#run;
    const since = performance.now();
    for (let tries = 0; ; tries += 1) {
      const reply = await wire
        .request(method, params, { signal, timeoutMs: limits.silenceMs })
        .catch((error: unknown) => transient(error));
      if (!(reply instanceof CallError) && reply.kind === "result") return reply.result;
      const error = reply instanceof CallError ? reply : this.#refusal(reply.error);
      if (!isTransient(error) || performance.now() - since > limits.outageMs) throw error;
      await pause(backOff(250, 10_000, tries), signal);
    }
  }

  #refusal(error: RpcError): CallError {
    if (error.code !== -32_602) return refusal(error);
    const taskId = this.#taskId;
    const reason = own(error.data, "reason");
    const details = { taskId, rpc: error };
    if (reason === "task_expired") {
      return new CallError(
        "task_expired",
        "The task's time is over, and its result with it.",
        details,
      );
    }
    const message = `The server does not know the task, or no longer: ${error.message.slice(0, 500)}`;
    return new CallError("task_gone", message, details);
  }
}

/** Throws what is not worth another try. */
function transient(error: unknown): CallError {
  if (error instanceof CallError) return error;
  throw error;
}

const internalError = -32_603;

function isTransient({ code, rpc }: CallError): boolean {
  return code === "server_down" || code === "timed_out" || rpc?.code === internalError;
}

function snapshotOf(raw: Members, taskId: string): Snapshot {
  if (raw["taskId"] !== taskId) throw badResponse("it is of another task than the one asked for");
  const { resultType, statusMessage, pollIntervalMs, inputRequests } = raw;
  if (resultType !== undefined && resultType !== "complete") {
    throw badResponse(`a task's resultType is ${JSON.stringify(resultType).slice(0, 80)}`);
  }
  const status = statuses.find((one) => one === raw["status"]);
  if (status === undefined) throw badResponse("the task has no status that is known");
  const isAsking = status === "input_required";
  return {
    status,
    statusMessage: typeof statusMessage === "string" ? statusMessage.slice(0, 2_000) : undefined,
    pollIntervalMs: isInterval(pollIntervalMs) ? Math.min(pollIntervalMs, 60_000) : undefined,
    requests: new Map(isAsking && isObject(inputRequests) ? Object.entries(inputRequests) : []),
    raw,
  };
}

const isInterval = (value: unknown): value is number => typeof value === "number" && value > 0;

function innerResult({ raw }: Snapshot): Members {
  const { result } = raw;
  if (!isObject(result)) throw badResponse("the task is completed, and has no result");
  return result;
}

function failed(task: Members, taskId: string): CallError {
  const error = own(task, "error");
  const code = own(error, "code");
  const message = own(error, "message");
  const rpc: RpcError = {
    code: typeof code === "number" ? code : internalError,
    message: typeof message === "string" ? message.slice(0, 2_000) : "no reason was given",
    data: own(error, "data"),
  };
  const details = { taskId, rpc };
  if (own(rpc.data, "reason") === "task_expired") {
    return new CallError("task_expired", "The task was not done in its time.", details);
  }
  if (rpc.code === -32_021) return refusal(rpc).at({ taskId });
  return new CallError("task_failed", `The task has failed: ${rpc.message} (${rpc.code})`, details);
}

export const cancelled = (taskId: string): CallError =>
  new CallError("task_cancelled", "The task was cancelled.", { taskId });
