// What a server says of a task, read with care: it may be anything.

import { tasksExtension } from "../protocol/task.ts";
import { internalError } from "../protocol/error-codes.ts";
import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/client";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/client";
import { isObject } from "./json.ts";
import type { Members } from "./json.ts";

/** The one revision that has these tasks. */
const revision = "2026-07-28";
/** It goes into a header with every request. */
const longestId = 2_000;

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface Snapshot {
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly statusMessage: string | undefined;
  /** Undefined: the server sets no limit, or none that makes sense. */
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
  readonly questions: ReadonlyMap<string, Members>;
  readonly result: Members | undefined;
  readonly error: WireError | undefined;
}

/** Why a call whose task cannot be followed ends. */
export type TaskTrouble =
  | "task_cancelled"
  | "task_expired"
  | "task_failed"
  | "task_invalid"
  | "task_unreachable"
  | "question_unhandled"
  | "question_over";

/** Ends the call. It reaches the caller as a `ProtocolError` with `data.reason`. */
export class TaskFault extends Error {
  readonly reason: TaskTrouble;
  readonly data: Members;

  constructor(reason: TaskTrouble, message: string, data: Members = {}) {
    super(message);
    this.name = "TaskFault";
    this.reason = reason;
    this.data = data;
  }

  toWire(taskId: string | undefined): WireError {
    const data = { reason: this.reason, ...(taskId === undefined ? {} : { taskId }), ...this.data };
    return { code: internalError, message: this.message, data };
  }
}

// ---------------------------------------------------------------- messages

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

/** Its envelope, where it is a request of the revision that has tasks. */
export function modernMeta({ params }: JSONRPCRequest): Members | undefined {
  const meta: unknown = params?._meta;
  return isObject(meta) && meta[PROTOCOL_VERSION_META_KEY] === revision ? meta : undefined;
}

export function capabilitiesIn(meta: Members): Members {
  return members(meta[CLIENT_CAPABILITIES_META_KEY]);
}

/** The same request, from a client that follows tasks. There are servers that take nothing but exactly `{}`. */
export function declaring(request: JSONRPCRequest, meta: Members): JSONRPCRequest {
  const capabilities = capabilitiesIn(meta);
  const extensions = members(capabilities["extensions"]);
  const declared = extensions[tasksExtension];
  if (isObject(declared) && Object.keys(declared).length === 0) return request;
  const extended = { ...capabilities, extensions: { ...extensions, [tasksExtension]: {} } };
  const _meta = { ...meta, [CLIENT_CAPABILITIES_META_KEY]: extended };
  return { ...request, params: { ...request.params, _meta } };
}

export function subscriptionIn(params: unknown): unknown {
  return members(members(params)["_meta"])[SUBSCRIPTION_ID_META_KEY];
}

export function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

// ---------------------------------------------------------------- tasks

export interface Created {
  readonly taskId: string;
  readonly status: unknown;
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
}

/** Of a result that says it is a task. */
export function createdTask(result: Members): Created {
  const { taskId, status, ttlMs, pollIntervalMs } = result;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > longestId) {
    throw new TaskFault(
      "task_invalid",
      "The server answered with a task, but without an id to follow.",
    );
  }
  return { taskId, status, ttlMs: duration(ttlMs), pollIntervalMs: duration(pollIntervalMs) };
}

/** Of an answer to `tasks/get`. */
export function snapshotOf(result: unknown, asked: string): Snapshot {
  if (!isObject(result)) throw invalid("it is no object");
  const { resultType = "complete", taskId, status, statusMessage } = result;
  // Two of the specification's own examples say "task" here; its text says "complete".
  if (resultType !== "complete") throw invalid(`its resultType is ${shown(resultType)}`);
  if (taskId !== asked) throw invalid("it is about another task than the one asked for");
  if (!isStatus(status)) throw invalid(`${shown(status)} is no status of a task`);
  return {
    status,
    statusMessage: typeof statusMessage === "string" ? statusMessage : undefined,
    ttlMs: duration(result["ttlMs"]),
    pollIntervalMs: duration(result["pollIntervalMs"]),
    questions: status === "input_required" ? questionsIn(result) : new Map(),
    result: status === "completed" ? resultIn(result) : undefined,
    error: errorIn(result["error"]),
  };
}

function invalid(what: string): TaskFault {
  return new TaskFault("task_invalid", `The server's answer about the task is invalid: ${what}.`);
}

function questionsIn({ inputRequests }: Members): Map<string, Members> {
  // None at all is odd, but no harm: there will be some, or the status changes.
  if (inputRequests === undefined) return new Map();
  if (!isObject(inputRequests)) throw invalid("its inputRequests are no object");
  return new Map(
    Object.entries(inputRequests).map(([key, question]) => {
      if (!isObject(question)) throw invalid(`what it asks under ${shown(key)} is no request`);
      return [key, question];
    }),
  );
}

/** The result inside may leave out its type, as the specification's examples do; another type it cannot have. */
function resultIn({ result }: Members): Members {
  if (!isObject(result)) throw invalid("it is completed, and there is no result");
  const { resultType = "complete" } = result;
  if (resultType !== "complete")
    throw invalid(`the resultType of its result is ${shown(resultType)}`);
  return { ...result, resultType };
}

export function errorIn(error: unknown): WireError | undefined {
  if (!isObject(error)) return undefined;
  const { code, message, data } = error;
  if (!Number.isInteger(code) || typeof message !== "string") return undefined;
  return { code: Number(code), message, ...(data === undefined ? {} : { data }) };
}

/** For what this question asks, a client with these capabilities has somebody to answer. */
export function canBeAsked(question: Members, capabilities: Members): boolean {
  const { method, params } = question;
  if (method === "sampling/createMessage") return isObject(capabilities["sampling"]);
  if (method === "roots/list") return isObject(capabilities["roots"]);
  if (method !== "elicitation/create") return false;
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return false;
  const { mode = "form" } = members(params);
  // `elicitation: {}` is a client that knows forms only.
  if (mode === "form") return elicitation["form"] !== undefined || elicitation["url"] === undefined;
  return mode === "url" && elicitation["url"] !== undefined;
}

// ---------------------------------------------------------------- values

const statuses = new Set<unknown>([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
]);

const isStatus = (value: unknown): value is Snapshot["status"] => statuses.has(value);

function duration(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60) ?? "undefined";

export function members(value: unknown): Members {
  return isObject(value) ? value : {};
}
