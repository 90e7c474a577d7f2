// What a server says of a task, read with care: it may be anything.

import { internalError, missingClientCapability } from "../protocol/error-codes.ts";
import { badResponse, CallError, rpcErrorIn } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { refusal } from "./run.ts";

const statuses = ["working", "input_required", "completed", "failed", "cancelled"] as const;

/** It goes into a header with every request. */
const longestId = 1_000;

/** What the answer that a call has become a task says of it. */
export interface CreatedTask {
  readonly taskId: string;
  readonly ttlMs?: number | undefined;
  readonly pollIntervalMs?: number | undefined;
  /** There may be something to see at once. */
  readonly isDue: boolean;
}

/** One look at a task. */
export interface Snapshot {
  readonly status: (typeof statuses)[number];
  readonly statusMessage: string | undefined;
  /** Undefined: the server sets no limit, or none that makes sense. */
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
  /** What is asked now, by key. */
  readonly questions: ReadonlyMap<string, unknown>;
  /** Of a task that is completed, and always with its type. */
  readonly result: Members | undefined;
  readonly error: RpcError | undefined;
}

export function createdTask(task: Members): CreatedTask {
  const { taskId, status, ttlMs, pollIntervalMs } = task;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > longestId) {
    throw badResponse("its task has no id");
  }
  return {
    taskId,
    ttlMs: duration(ttlMs),
    pollIntervalMs: duration(pollIntervalMs),
    isDue: status !== "working",
  };
}

/** Of an answer to `tasks/get` for this task. */
export function snapshotOf(task: Members, taskId: string): Snapshot {
  const { statusMessage, ttlMs, pollIntervalMs, error } = task;
  if (task["taskId"] !== taskId) throw badResponse("it is of another task than the one asked for");
  mustBeComplete("a task's resultType", task);
  const status = statuses.find((one) => one === task["status"]);
  if (status === undefined) throw badResponse("the task has no status that is known");
  return {
    status,
    statusMessage: typeof statusMessage === "string" ? statusMessage.slice(0, 2_000) : undefined,
    ttlMs: duration(ttlMs),
    pollIntervalMs: duration(pollIntervalMs),
    questions: status === "input_required" ? questionsIn(task) : new Map(),
    result: status === "completed" ? innerResult(task) : undefined,
    error: rpcErrorIn(error),
  };
}

function questionsIn({ inputRequests }: Members): ReadonlyMap<string, unknown> {
  // None at all is odd, but no harm: there will be some, or the status changes.
  if (inputRequests === undefined) return new Map();
  if (!isObject(inputRequests)) throw badResponse("its inputRequests are no object");
  return new Map(Object.entries(inputRequests));
}

/** It may leave out its type, as the specification's examples do; another type it cannot have. */
function innerResult({ result }: Members): Members {
  if (!isObject(result)) throw badResponse("the task is completed, and has no result");
  mustBeComplete("the resultType of a task's result", result);
  return { ...result, resultType: "complete" };
}

function mustBeComplete(what: string, { resultType }: Members): void {
  if (resultType === undefined || resultType === "complete") return;
  throw badResponse(`${what} is ${JSON.stringify(resultType).slice(0, 80)}`);
}

function duration(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}

/** The result of a task that is completed, undefined of one that goes on; any other end is an error. */
export function resultIn(snapshot: Snapshot, taskId: string): Members | undefined {
  const { status, result, error } = snapshot;
  if (status === "failed") throw failed(error, taskId);
  if (status === "cancelled") throw cancelled(taskId);
  return result;
}

function failed(rpc: RpcError | undefined, taskId: string): CallError {
  if (rpc === undefined) {
    const message = "The task has failed, and the server does not say why.";
    return new CallError("task_failed", message, { taskId });
  }
  const details = { taskId, rpc };
  if (own(rpc.data, "reason") === "task_expired") {
    return new CallError("task_expired", "The task was not done in its time.", details);
  }
  if (rpc.code === missingClientCapability) return refusal(rpc).at({ taskId });
  return new CallError("task_failed", `The task has failed: ${rpc.message} (${rpc.code})`, details);
}

export const cancelled = (taskId: string): CallError =>
  new CallError("task_cancelled", "The task was cancelled.", { taskId });

/** Of an error that the server had no part in, but for being unable to answer just now. */
export const isPassing = (error: unknown): boolean =>
  error instanceof CallError &&
  (error.code === "server_down" || error.code === "timed_out" || error.rpc?.code === internalError);

/** Of all questions of a task together: more than people read, and no more than one answer may have. */
const mostText = 16 * 1_024 * 1_024;

/** A task's questions by key, as they were put first: a key is never used for another. */
export class SeenQuestions {
  readonly #texts = new Map<string, string>();
  readonly #most: number;
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  see(questions: ReadonlyMap<string, unknown>): void {
    for (const [key, question] of questions) this.#seeOne(key, JSON.stringify(question));
    if (this.#texts.size > this.#most) {
      const message = `The task has asked more than ${this.#most} questions.`;
      throw new CallError("too_many_rounds", message);
    }
    if (this.#length > mostText) {
      throw new CallError("too_large", "The task's questions are too long.");
    }
  }

  #seeOne(key: string, text: string): void {
    const before = this.#texts.get(key);
    if (before === text) return;
    if (before !== undefined) {
      throw badResponse(`the task uses the key "${key.slice(0, 80)}" for another question`);
    }
    this.#texts.set(key, text);
    this.#length += key.length + text.length;
  }
}
