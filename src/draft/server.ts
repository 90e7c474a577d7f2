// The server's half: it serves a request of the draft by sending requests of 2026-07-28 to the server behind it.

import type { DraftTasks } from "../protocol/draft-plug-in.ts";
import {
  internalError,
  invalidParams,
  methodNotFound,
  missingClientCapability,
} from "../protocol/error-codes.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { readStreamsMethod, streamingExtension } from "../protocol/streaming.ts";
import { tasksExtension } from "../protocol/task.ts";
import { draftVersion, modernVersion } from "../protocol/versions.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { menuOf } from "./peer.ts";
import type { Peer } from "./peer.ts";
import { draftTask, isOver } from "./task.ts";
import { aboutTask, failure, relatedTaskKey, result } from "./wire.ts";

/** Serves a 2026-07-28 request. Its params include the envelope in `_meta`. */
export type Serve = (method: string, params: Members) => Promise<RpcResponse>;

/** The tools whose handler decides when a requested task is created. */
export type Deferred = ReadonlySet<string>;

/** A request of the draft and the client that sent it. */
export interface DraftRequest {
  readonly method: string;
  readonly params: Members;
  readonly peer: Peer;
  /** The token under which the client wants parts of the result. Undefined if it wants none. */
  readonly stream?: string | undefined;
  /** Aborts when the client disconnects or cancels the request. */
  readonly signal: AbortSignal;
}

const meta = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  client: "io.modelcontextprotocol/clientInfo",
  server: "io.modelcontextprotocol/serverInfo",
} as const;

/** Methods of 2026-07-28 that have another name in the draft, or none. */
const notInTheDraft = new Set(["server/discover", "subscriptions/listen", "tasks/update"]);

/** Serves one request of the draft. */
export async function serveDraft(
  request: DraftRequest,
  serve: Serve,
  tasks: DraftTasks,
  deferred: Deferred,
): Promise<RpcResponse> {
  const { method, params } = request;
  const exchange: Exchange = {
    ...request,
    serve: (final, members, isTask) =>
      serve(final, { ...members, _meta: envelope(request, isTask) }),
  };
  switch (method) {
    case "initialize":
      return initialized(exchange);
    case "ping":
      return result({});
    case "tools/call":
      return called(exchange, deferred);
    case "tools/list":
      return mapped(await exchange.serve(method, params), (list) => withSupport(list, tasks));
    case "tasks/get":
      return mapped(await exchange.serve(method, params, true), draftTask);
    case "tasks/result":
      return taskResult(exchange, tasks);
    case "tasks/input_response":
      return taskAnswered(exchange);
    case "tasks/cancel":
      return taskCancelled(exchange);
    default:
      if (notInTheDraft.has(method)) return failure(methodNotFound, "Method not found");
      return mapped(await exchange.serve(method, params), draftResult);
  }
}

interface Exchange extends DraftRequest {
  /** `isTask`: the client can follow a task. In the draft a client shows it by what it sends. */
  readonly serve: (method: string, params: Members, isTask?: boolean) => Promise<RpcResponse>;
}

function envelope({ params, peer, stream }: DraftRequest, isTask = false): Members {
  const sent = own(params, "_meta");
  const capabilities = { ...peer.capabilities, ...menuOf(own(sent, meta.capabilities)) };
  return {
    ...(isObject(sent) ? sent : {}),
    [meta.version]: modernVersion,
    [meta.capabilities]:
      isTask || stream !== undefined
        ? { ...capabilities, extensions: extensions(isTask, stream) }
        : capabilities,
    ...(stream === undefined ? {} : { [streamingExtension]: { token: stream } }),
    ...(peer.clientInfo && { [meta.client]: peer.clientInfo }),
  };
}

const extensions = (isTask: boolean, stream: string | undefined): Members => ({
  ...(isTask && { [tasksExtension]: {} }),
  ...(stream !== undefined && { [streamingExtension]: {} }),
});

function mapped(response: RpcResponse, toDraft: (found: Members) => Members): RpcResponse {
  return response.kind === "error" ? response : result(toDraft(response.result));
}

/** A result without what only 2026-07-28 has: its kind, and the name of the server in `_meta`. */
function draftResult(final: Members): Members {
  const { resultType: _, _meta, ...rest } = final;
  const { [meta.server]: _server, ...more } = isObject(_meta) ? _meta : {};
  return Object.keys(more).length === 0 ? rest : { ...rest, _meta: more };
}

// ---------------------------------------------------------------- a session

async function initialized({ serve }: Exchange): Promise<RpcResponse> {
  return mapped(await serve("server/discover", {}), ({ capabilities, instructions, _meta }) => ({
    protocolVersion: draftVersion,
    capabilities: offered(capabilities),
    serverInfo: own(_meta, meta.server),
    ...(instructions === undefined ? {} : { instructions }),
  }));
}

/** The capabilities that are served here. The draft pushes nothing, so there are no logs and no change notifications. */
function offered(capabilities: unknown): Members {
  const hasTasks = own(own(capabilities, "extensions"), tasksExtension) !== undefined;
  const lists = ["tools", "prompts", "resources", "completions"].filter(
    (name) => own(capabilities, name) !== undefined,
  );
  return {
    ...Object.fromEntries(lists.map((name) => [name, {}])),
    ...(hasTasks && { tasks: { cancel: {}, requests: { tools: { call: {} } } } }),
  };
}

function withSupport(list: Members, { support }: DraftTasks): Members {
  const { tools, ...rest } = draftResult(list);
  if (!Array.isArray(tools)) return { ...rest, tools };
  return { ...rest, tools: tools.map((tool: unknown) => executed(tool, support)) };
}

function executed(tool: unknown, supportOf: DraftTasks["support"]): unknown {
  const name = own(tool, "name");
  const support = typeof name === "string" ? supportOf(name) : undefined;
  return support === undefined || !isObject(tool)
    ? tool
    : { ...tool, execution: { taskSupport: support } };
}

// ---------------------------------------------------------------- a call

/**
 * A call that was sent with `task` is a task from the start (seeds 000, 001 and 003). If the author has named its tool in
 * `deferTasks`, it becomes one when its handler says so (seed 004). Without `task` it never does.
 */
async function called({ params, serve }: Exchange, deferred: Deferred): Promise<RpcResponse> {
  const wish = own(params, "task");
  if (wish !== undefined && !isObject(wish)) return failure(invalidParams, "task is not an object");
  const isDeferred = wish !== undefined && deferred.has(String(own(params, "name")));
  const { stream: _, ...rest } = params;
  const sent = isDeferred ? { ...rest, task: { ...wish, deferred: true } } : rest;
  const response = await serve("tools/call", sent, wish !== undefined);
  if (response.kind === "error") return wantsTask(response) ? needsTask : response;
  const { resultType, _meta, ...task } = response.result;
  if (resultType === "task") return result({ task: draftTask(task) });
  return result(
    resultType === "input_required" ? draftResult(response.result) : toolResult(response.result),
  );
}

/** In the documents of the draft, every result of a tool has `isError`. */
const toolResult = (final: Members): Members => ({ isError: false, ...draftResult(final) });

function wantsTask({ error }: Extract<RpcResponse, { kind: "error" }>): boolean {
  const needed = own(own(error.data, "requiredCapabilities"), "extensions");
  return error.code === missingClientCapability && own(needed, tasksExtension) !== undefined;
}

const needsTask = failure(
  methodNotFound,
  "This tool runs only as a task, and this client did not ask for one. Nothing has run. Use a client that supports tasks.",
);

// ---------------------------------------------------------------- tasks

type Found = { readonly task: Members } | { readonly refusal: RpcResponse };

async function find({ serve }: Exchange, taskId: unknown): Promise<Found> {
  const response = await serve("tasks/get", { taskId }, true);
  return response.kind === "error" ? { refusal: response } : { task: response.result };
}

/** Waits until the task asks something, which gives its questions, or is over, which gives its result or error. */
async function taskResult(exchange: Exchange, tasks: DraftTasks): Promise<RpcResponse> {
  const taskId = own(exchange.params, "taskId");
  const first = await find(exchange, taskId);
  if ("refusal" in first) return first.refusal;
  // It sends what the task streams, and ends when the task asks something or is over. If it is refused, nothing streams.
  if (exchange.stream !== undefined) await exchange.serve(readStreamsMethod, { taskId }, true);
  for await (const _ of tasks.changes(String(taskId), exchange.signal)) {
    const found = await find(exchange, taskId);
    if ("refusal" in found) return found.refusal;
    const { task } = found;
    if (task["status"] === "input_required") {
      return result({ inputRequests: task["inputRequests"], _meta: aboutTask(taskId) });
    }
    if (isOver(task)) return ended(task, taskId);
  }
  return failure(
    internalError,
    "The server is shutting down, and the task goes on: request its result again",
  );
}

function ended({ status, error, result: final }: Members, taskId: unknown): RpcResponse {
  if (status === "cancelled") return failure(invalidParams, "The task was cancelled");
  if (isObject(error)) {
    const { code, message, data } = error;
    return {
      kind: "error",
      error: {
        code: Number(code),
        message: String(message),
        ...(data === undefined ? {} : { data }),
      },
    };
  }
  const { _meta, ...rest } = toolResult(isObject(final) ? final : {});
  return result({ ...rest, _meta: { ...(isObject(_meta) && _meta), ...aboutTask(taskId) } });
}

/** Acknowledges answers even if none of them fits. The task then keeps asking. */
async function taskAnswered(exchange: Exchange): Promise<RpcResponse> {
  const { params, serve } = exchange;
  const taskId = own(own(own(params, "_meta"), relatedTaskKey), "taskId");
  const found = await find(exchange, taskId);
  if ("refusal" in found) return found.refusal;
  const sent = own(params, "inputResponses");
  const questions = found.task["inputRequests"];
  const inputResponses = isObject(sent)
    ? Object.fromEntries(
        Object.entries(sent).filter(([key, answer]) => !isUnfilled(own(questions, key), answer)),
      )
    : sent;
  const response = await serve("tasks/update", { taskId, inputResponses }, true);
  return mapped(response, () => ({ _meta: aboutTask(taskId) }));
}

/** A form that was accepted without a required field. If it were passed on, the question would get another key. */
function isUnfilled(question: unknown, answer: unknown): boolean {
  if (own(question, "method") !== "elicitation/create" || own(answer, "action") !== "accept") {
    return false;
  }
  const content = own(answer, "content") ?? {};
  const required = own(own(own(question, "params"), "requestedSchema"), "required");
  if (!Array.isArray(required) || !isObject(content)) return false;
  return required.some((name: unknown) => !Object.hasOwn(content, String(name)));
}

/** As in 2025-11-25: the response is the task after the cancellation, and a task that is over is refused. */
async function taskCancelled(exchange: Exchange): Promise<RpcResponse> {
  const taskId = own(exchange.params, "taskId");
  const found = await find(exchange, taskId);
  if ("refusal" in found) return found.refusal;
  if (isOver(found.task)) {
    const { status } = draftTask(found.task);
    return failure(invalidParams, `Cannot cancel a task that is ${String(status)}`);
  }
  const response = await exchange.serve("tasks/cancel", { taskId }, true);
  if (response.kind === "error") return response;
  return mapped(await exchange.serve("tasks/get", { taskId }, true), draftTask);
}
