// Reads what a server says about a task, and refuses what the protocol does not allow.

import { missingClientCapability } from "../protocol/error-codes.ts";
import type { RpcError } from "../protocol/rpc.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { badResponse, CallError, refusal, rpcErrorIn, withPlace } from "./errors.ts";

const statuses = ["working", "input_required", "completed", "failed", "cancelled"] as const;

/** Every request about a task carries its id in a header. */
const longestId = 1_000;

/** A server cannot make a client keep a call for longer than ten years. */
const longestTtlMs = 10 * 365 * 86_400_000;

/** What a server says when a call becomes a task. */
export interface CreatedTask {
  readonly taskId: string;
  readonly ttlMs?: number | undefined;
  readonly pollIntervalMs?: number | undefined;
  /** True if the first poll should not wait. */
  readonly isDue: boolean;
}

/** The state of a task at one point in time. */
export interface TaskSnapshot {
  readonly status: (typeof statuses)[number];
  readonly statusMessage: string | undefined;
  /** Undefined if the server sets no limit, or an invalid one. */
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
  /** The questions that are open now, by key. */
  readonly questions: ReadonlyMap<string, unknown>;
  /** The result of a completed task. It always has a `resultType`. */
  readonly result: Members | undefined;
  readonly error: RpcError | undefined;
}

/** Reads the result of a `tools/call` that became a task. */
export function createdTask(task: Members): CreatedTask {
  const { taskId, status, ttlMs, pollIntervalMs } = task;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > longestId) {
    throw badResponse("its task has no usable taskId");
  }
  return {
    taskId,
    ttlMs: duration(ttlMs),
    pollIntervalMs: duration(pollIntervalMs),
    isDue: status !== "working",
  };
}

/** When a task that the server has just created expires, in milliseconds since 1970. */
export const expiryOf = ({ ttlMs }: CreatedTask): number | undefined =>
  ttlMs === undefined ? undefined : Date.now() + Math.min(ttlMs, longestTtlMs);

/** Reads the response to `tasks/get` for this task. */
export function snapshotOf(task: Members, taskId: string): TaskSnapshot {
  const { statusMessage, ttlMs, pollIntervalMs, error } = task;
  if (task["taskId"] !== taskId) throw badResponse("it describes a different task");
  mustBeComplete("the task's resultType", task);
  const status = statuses.find((one) => one === task["status"]);
  if (status === undefined) throw badResponse("the task has an unknown status");
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
  // Unusual but harmless: either questions follow, or the status changes.
  if (inputRequests === undefined) return new Map();
  if (!isObject(inputRequests)) throw badResponse("its inputRequests is not an object");
  return new Map(Object.entries(inputRequests));
}

/** The result may lack a `resultType`, as in the specification's examples, but cannot have another one. */
function innerResult({ result }: Members): Members {
  if (!isObject(result)) throw badResponse("the task is completed but has no result");
  mustBeComplete("the resultType of the task's result", result);
  return { ...result, resultType: "complete" };
}

function mustBeComplete(what: string, { resultType }: Members): void {
  if (resultType === undefined || resultType === "complete") return;
  throw badResponse(`${what} is ${JSON.stringify(resultType).slice(0, 80)}`);
}

function duration(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}

/** Returns the result of a completed task, and undefined while the task continues. Throws for any other end. */
export function resultIn(snapshot: TaskSnapshot, taskId: string): Members | undefined {
  const { status, result, error } = snapshot;
  if (status === "failed") throw failed(error, taskId);
  if (status === "cancelled") throw taskCancelled(taskId);
  return result;
}

function failed(rpc: RpcError | undefined, taskId: string): CallError {
  if (rpc === undefined) {
    const message = "The task failed, and the server gave no reason.";
    return new CallError("task_failed", message, { taskId });
  }
  const details = { taskId, rpc };
  if (own(rpc.data, "reason") === "task_expired") {
    return new CallError("task_expired", "The task expired before it was done.", details);
  }
  if (rpc.code === missingClientCapability) return withPlace(refusal(rpc), { taskId });
  return taskFailed(rpc, taskId);
}

/** The error for a task that ended with a JSON-RPC error. */
export const taskFailed = (rpc: RpcError, taskId: string): CallError =>
  new CallError("task_failed", `The task failed: ${rpc.message} (${rpc.code})`, { taskId, rpc });

/** The error for a task that was cancelled on the server. */
export const taskCancelled = (taskId: string): CallError =>
  new CallError("task_cancelled", "The task was cancelled.", { taskId });

/** How long all questions of a task may be together, in MiB of text. */
const mostMebibytes = 16;

/** Remembers the questions of a task, because a task must not use a key for two different questions. */
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
      const message = `The task asked more than ${this.#most} questions.`;
      throw new CallError("too_many_rounds", message);
    }
    if (this.#length > mostMebibytes * 1_024 * 1_024) {
      const message = `The task's questions are longer than ${mostMebibytes} MiB together.`;
      throw new CallError("too_large", message);
    }
  }

  #seeOne(key: string, text: string): void {
    const before = this.#texts.get(key);
    if (before === text) return;
    if (before !== undefined) {
      throw badResponse(`the task uses the key "${key.slice(0, 80)}" for two different questions`);
    }
    this.#texts.set(key, text);
    this.#length += key.length + text.length;
  }
}
