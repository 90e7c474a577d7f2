// The server's half: a request of the draft, answered through requests of 2026-07-28.

import {
  internalError,
  invalidParams,
  methodNotFound,
  missingClientCapability,
} from "../protocol/error-codes.ts";
import { tasksExtension } from "../protocol/task.ts";
import { menuOf } from "./peer.ts";
import type { Peer } from "./peer.ts";
import { draftTask, isOver } from "./task.ts";
import { isObject, own } from "../util/objects.ts";
import { aboutTask, draftVersion, failure, relatedTaskKey, result } from "./wire.ts";
import type { Members } from "../util/objects.ts";
import type { Reply } from "./wire.ts";

/** Answers a request of 2026-07-28, whose envelope is in its params. */
export type Serve = (method: string, params: Members) => Promise<Reply>;

export interface DraftRequest {
  readonly method: string;
  readonly params: Members;
  readonly peer: Peer;
  /** Whoever asked has gone, or has called it off. */
  readonly signal: AbortSignal;
}

/** What the draft has to know of tasks, and 2026-07-28 does not say in an answer. */
export interface Tasks {
  /** Whether a tool can be one. */
  readonly support: (tool: string) => string | undefined;
  /** At once, then whenever it has changed, until it is over, the signal aborts or the server ends. */
  readonly changes: (
    taskId: string,
    signal: AbortSignal,
  ) => AsyncIterable<unknown> | Iterable<unknown>;
}

const finalVersion = "2026-07-28";
const meta = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  client: "io.modelcontextprotocol/clientInfo",
  server: "io.modelcontextprotocol/serverInfo",
} as const;

/** What 2026-07-28 has in its place has another name, or none, in the draft. */
const notInTheDraft = new Set(["server/discover", "subscriptions/listen", "tasks/update"]);

export async function answerDraft(
  request: DraftRequest,
  serve: Serve,
  tasks: Tasks,
): Promise<Reply> {
  const { method, params } = request;
  const asked: Asked = {
    ...request,
    serve: (final, members, isTask) =>
      serve(final, { ...members, _meta: envelope(request, isTask) }),
  };
  switch (method) {
    case "initialize":
      return initialized(asked);
    case "ping":
      return result({});
    case "tools/call":
      return called(asked);
    case "tools/list":
      return mapped(await asked.serve(method, params), (list) => withSupport(list, tasks));
    case "tasks/get":
      return mapped(await asked.serve(method, params, true), draftTask);
    case "tasks/result":
      return taskResult(asked, tasks);
    case "tasks/input_response":
      return taskAnswered(asked);
    case "tasks/cancel":
      return taskCancelled(asked);
    default:
      if (notInTheDraft.has(method)) return failure(methodNotFound, "Method not found");
      return mapped(await asked.serve(method, params), draftResult);
  }
}

interface Asked extends DraftRequest {
  /** `isTask`: the client can follow one; it says so in the draft by what it sends. */
  readonly serve: (method: string, params: Members, isTask?: boolean) => Promise<Reply>;
}

function envelope({ params, peer }: DraftRequest, isTask = false): Members {
  const sent = own(params, "_meta");
  const capabilities = { ...peer.capabilities, ...menuOf(own(sent, meta.capabilities)) };
  return {
    ...(isObject(sent) ? sent : {}),
    [meta.version]: finalVersion,
    [meta.capabilities]: isTask
      ? { ...capabilities, extensions: { [tasksExtension]: {} } }
      : capabilities,
    ...(peer.clientInfo && { [meta.client]: peer.clientInfo }),
  };
}

function mapped(reply: Reply, toDraft: (found: Members) => Members): Reply {
  return reply.kind === "error" ? reply : result(toDraft(reply.result));
}

/** Without what only 2026-07-28 says: which kind it is, and in every result who the server is. */
function draftResult(final: Members): Members {
  const { resultType: _, _meta, ...rest } = final;
  const { [meta.server]: _server, ...more } = isObject(_meta) ? _meta : {};
  return Object.keys(more).length === 0 ? rest : { ...rest, _meta: more };
}

// ---------------------------------------------------------------- a session

async function initialized({ serve }: Asked): Promise<Reply> {
  return mapped(await serve("server/discover", {}), ({ capabilities, instructions, _meta }) => ({
    protocolVersion: draftVersion,
    capabilities: offered(capabilities),
    serverInfo: own(_meta, meta.server),
    ...(instructions === undefined ? {} : { instructions }),
  }));
}

/** No more than is served here: nothing is pushed, so there are neither logs nor notices of change. */
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

function withSupport(list: Members, { support }: Tasks): Members {
  const { tools, ...rest } = draftResult(list);
  if (!Array.isArray(tools)) return { ...rest, tools };
  return { ...rest, tools: tools.map((tool: unknown) => executed(tool, support)) };
}

function executed(tool: unknown, supportOf: Tasks["support"]): unknown {
  const name = own(tool, "name");
  const support = typeof name === "string" ? supportOf(name) : undefined;
  return support === undefined || !isObject(tool)
    ? tool
    : { ...tool, execution: { taskSupport: support } };
}

// ---------------------------------------------------------------- a call

/** With `task` it may become one, when its handler says so; without, never (seed 004). */
async function called({ params, serve }: Asked): Promise<Reply> {
  const wish = own(params, "task");
  if (wish !== undefined && !isObject(wish)) return failure(invalidParams, "task is no object");
  const reply = await serve("tools/call", params, wish !== undefined);
  if (reply.kind === "error") return wantsTask(reply) ? needsTask : reply;
  const { resultType, _meta, ...task } = reply.result;
  if (resultType === "task") return result({ task: draftTask(task) });
  return result(
    resultType === "input_required" ? draftResult(reply.result) : toolResult(reply.result),
  );
}

/** The documents have `isError` in every result of a tool. */
const toolResult = (final: Members): Members => ({ isError: false, ...draftResult(final) });

function wantsTask({ error }: Extract<Reply, { kind: "error" }>): boolean {
  const needed = own(own(error.data, "requiredCapabilities"), "extensions");
  return error.code === missingClientCapability && own(needed, tasksExtension) !== undefined;
}

const needsTask = failure(methodNotFound, "This tool runs as a task only: send params.task");

// ---------------------------------------------------------------- tasks

type Found = { readonly task: Members } | { readonly refusal: Reply };

async function find({ serve }: Asked, taskId: unknown): Promise<Found> {
  const reply = await serve("tasks/get", { taskId }, true);
  return reply.kind === "error" ? { refusal: reply } : { task: reply.result };
}

/** What it asks while it asks, its result when it is over; while it works, whoever asks waits for either. */
async function taskResult(asked: Asked, tasks: Tasks): Promise<Reply> {
  const taskId = own(asked.params, "taskId");
  const first = await find(asked, taskId);
  if ("refusal" in first) return first.refusal;
  for await (const _ of tasks.changes(String(taskId), asked.signal)) {
    const found = await find(asked, taskId);
    if ("refusal" in found) return found.refusal;
    const { task } = found;
    if (task["status"] === "input_required") {
      return result({ inputRequests: task["inputRequests"], _meta: aboutTask(taskId) });
    }
    if (isOver(task)) return ended(task, taskId);
  }
  return failure(internalError, "The server ends, and the task goes on: ask for its result again");
}

function ended({ status, error, result: final }: Members, taskId: unknown): Reply {
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

/** Acknowledged also where it brings nothing: then the task goes on asking. */
async function taskAnswered(asked: Asked): Promise<Reply> {
  const { params, serve } = asked;
  const taskId = own(own(own(params, "_meta"), relatedTaskKey), "taskId");
  const found = await find(asked, taskId);
  if ("refusal" in found) return found.refusal;
  const sent = own(params, "inputResponses");
  const questions = found.task["inputRequests"];
  const inputResponses = isObject(sent)
    ? Object.fromEntries(
        Object.entries(sent).filter(([key, answer]) => !isUnfilled(own(questions, key), answer)),
      )
    : sent;
  const reply = await serve("tasks/update", { taskId, inputResponses }, true);
  return mapped(reply, () => ({ _meta: aboutTask(taskId) }));
}

/** A form that was accepted without a field that it needs. Handed on, it would be asked under another key. */
function isUnfilled(question: unknown, answer: unknown): boolean {
  if (own(question, "method") !== "elicitation/create" || own(answer, "action") !== "accept") {
    return false;
  }
  const content = own(answer, "content") ?? {};
  const required = own(own(own(question, "params"), "requestedSchema"), "required");
  if (!Array.isArray(required) || !isObject(content)) return false;
  return required.some((name: unknown) => !Object.hasOwn(content, String(name)));
}

/** As in 2025-11-25: with the task as it is then, and not at all where it is over. */
async function taskCancelled(asked: Asked): Promise<Reply> {
  const taskId = own(asked.params, "taskId");
  const found = await find(asked, taskId);
  if ("refusal" in found) return found.refusal;
  if (isOver(found.task)) {
    const { status } = draftTask(found.task);
    return failure(invalidParams, `Cannot cancel a task that is ${String(status)}`);
  }
  const reply = await asked.serve("tasks/cancel", { taskId }, true);
  if (reply.kind === "error") return reply;
  return mapped(await asked.serve("tasks/get", { taskId }, true), draftTask);
}
