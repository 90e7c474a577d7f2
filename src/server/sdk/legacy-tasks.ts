// A seam in the SDK: tasks for 2025-11-25 sessions, which the SDK no longer serves. They are a second view of the
// records that the tasks extension shows. The client requests a task with `params.task`, polls it with `tasks/get` and
// fetches the result with `tasks/result`. The server asks the handler's questions on the stream of that request. There
// is also a list, and a notification when the status changes.

import { setMaxListeners } from "node:events";
import { ProtocolError, RELATED_TASK_META_KEY } from "@modelcontextprotocol/server";
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { answerMap } from "../../protocol/answers.ts";
import {
  internalError,
  invalidParams,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import { errorText } from "../../util/error-text.ts";
import { own } from "../../util/objects.ts";
import { longestTimerMs } from "../../util/timers.ts";
import type { TaskRuntime } from "../../tasks/runtime.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import { isLive } from "../../tasks/task.ts";
import { openCall } from "../round/call.ts";
import type { PartContent } from "../../protocol/streaming.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { promote } from "../round/promote.ts";
import { ClientParts, wantedStream } from "../round/client-parts.ts";
import type { RoundRequest } from "../round/request.ts";
import { applyAnswers, ownTask } from "../tasks/requests.ts";
import { shortId } from "../../util/short-id.ts";
import { detailedTask } from "../tasks/wire.ts";
import { askClient } from "./legacy-ask.ts";
import { ttlOf } from "./response-overrides.ts";
import type { TaskWish } from "./response-overrides.ts";
import { members } from "./task-subscriptions/subscriptions.ts";
import { partsOver } from "./round-request.ts";

interface LegacyTask {
  readonly taskId: string;
  readonly status: TaskSnapshot["status"];
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttl: number;
  readonly pollInterval: number;
}

/** A question that was sent to the client. */
interface SentQuestion {
  /** Which `tasks/result` request it was sent for. */
  readonly fetch: number;
  readonly stop: AbortController;
}

const pageSize = 50;

/** The tasks of one 2025-11-25 session. */
export class LegacyTasks {
  readonly #server: McpServer;
  readonly #core: Core;
  /** Aborts when the session ends. */
  readonly #closed = new AbortController();
  /** The questions that wait for an answer, by task and wire key. */
  readonly #sent = new Map<string, SentQuestion>();
  /** How many times a result was requested. The latest request is the one that is asked. */
  #fetches = 0;
  /** The ids of the tasks of this session, oldest first. */
  readonly #created = new Set<string>();
  /** The output schemas that the SDK lists, by tool. */
  readonly #listed = new Map<string, Record<string, unknown>>();

  constructor(server: McpServer, core: Core) {
    this.#server = server;
    this.#core = core;
    // Every task of the session adds a listener.
    setMaxListeners(0, this.#closed.signal);
    const { server: protocol } = server;
    const { onclose } = protocol;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has no addEventListener
    protocol.onclose = () => {
      onclose?.();
      this.#closed.abort();
    };
  }

  /** Notes the output schema that the SDK lists for a tool. */
  noteOutput(tool: string, schema: Record<string, unknown> | undefined): void {
    if (schema !== undefined) this.#listed.set(tool, schema);
  }

  /** Runs the whole call as a task, because here the client decides that, not the handler. */
  async create(definition: Definition, request: RoundRequest, wish: TaskWish): Promise<object> {
    const parsed = await definition.parse(request.target, request.arguments);
    if (!parsed.ok) throw new ProtocolError(invalidParams, parsed.reason);
    const runtime = this.#tasks();
    const call = await openCall(this.#core, definition, request, parsed.input);
    // The client can follow a task, because it has requested one.
    const able = {
      id: () => call.id(),
      tokenExpiresAt: call.tokenExpiresAt,
      inputDigest: () => call.inputDigest(),
      abilities: [...call.abilities, "task" as const],
      ways: call.ways,
      era: call.era,
    };
    const nothing = { kind: "waiting", entries: [], open: [], unused: [] } as const;
    const ttlMs = ttlOf(wish, this.#core.limits.taskTtlMs);
    const wanted = { ...request, isTaskWanted: true };
    const response = await promote(runtime, definition, able, wanted, nothing, { ttlMs });
    if (response.kind !== "task")
      throw new ProtocolError(internalError, "The task could not be created");
    this.#created.add(response.task.id);
    this.#follow(response.task);
    return { task: { ...legacyTask(response.task), status: "working" } };
  }

  /** Notifies the client of every change, until the task or the session is over. */
  #follow({ id, callId, revision }: TaskSnapshot): void {
    void this.#notifyChanges(id, revision).catch((error: unknown) =>
      this.#core.logger.debug(
        `Status notifications for a 2025-11-25 task stopped: ${errorText(error)}`,
        { call: callId, task: shortId(id) },
      ),
    );
  }

  async #notifyChanges(id: string, since: number): Promise<void> {
    for await (const task of this.#tasks().watch(id, since, this.#closed.signal)) {
      await this.#server.server.notification({
        method: "notifications/tasks/status",
        params: { ...legacyTask(task) },
      });
    }
  }

  /** Serves `tasks/get`. */
  async get(id: unknown, principal: string | undefined): Promise<{ [member: string]: unknown }> {
    return { ...legacyTask(await this.#own(id, principal)) };
  }

  /** Serves `tasks/cancel`. */
  async cancel(id: unknown, principal: string | undefined): Promise<{ [member: string]: unknown }> {
    const task = await this.#own(id, principal);
    if (!isLive(task)) {
      throw new ProtocolError(invalidParams, `Cannot cancel a task that is ${legacyStatus(task)}`);
    }
    const cancelled = await this.#tasks().cancel(task.id);
    return { ...legacyTask(cancelled ?? task) };
  }

  /**
   * Serves `tasks/list`. `isShared` says that callers are anonymous on a server that others can reach. All of them are
   * then the same caller, and a full list would show everyone's tasks to anyone. So a session sees only its own.
   */
  async list(
    cursor: unknown,
    principal: string | undefined,
    isShared: boolean,
  ): Promise<{ [member: string]: unknown }> {
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const tasks = isShared
      ? await this.#createdHere(after?.id)
      : await this.#tasks().list(principal, after, pageSize + 1);
    const page = tasks.slice(0, pageSize);
    const last = tasks.length > pageSize ? page.at(-1) : undefined;
    return {
      tasks: page.map(legacyTask),
      ...(last === undefined ? {} : { nextCursor: `${last.createdAt}.${last.id}` }),
    };
  }

  /** The tasks of this session, newest first, beginning after this id: a page, and one more. */
  async #createdHere(after: string | undefined): Promise<readonly TaskSnapshot[]> {
    const ids = [...this.#created].toReversed();
    if (after !== undefined && !ids.includes(after)) throw badCursor();
    const later = after === undefined ? ids : ids.slice(ids.indexOf(after) + 1);
    const tasks: TaskSnapshot[] = [];
    for (const id of later) {
      const task = await ownTask(this.#core, id, undefined);
      if (task !== undefined && !task.isRemoved) tasks.push(task);
      if (tasks.length > pageSize) break;
    }
    return tasks;
  }

  /** Serves `tasks/result`: waits until the task is over, and asks its questions meanwhile. */
  async result(
    id: unknown,
    principal: string | undefined,
    ctx: ServerContext,
  ): Promise<{ [member: string]: unknown }> {
    const owned = await this.#own(id, principal);
    const fetch = ++this.#fetches;
    const signal = AbortSignal.any([ctx.mcpReq.signal, this.#closed.signal]);
    // A client that loses parts gets the whole with the result.
    const streamed = this.#stream(owned, ctx, signal).catch(() => {});
    for await (const task of this.#tasks().watch(owned.id, 0, signal)) {
      for (const wire of task.questions.keys()) void this.#ask(task, wire, ctx, fetch);
      if (isLive(task)) continue;
      await streamed;
      return this.#final(task);
    }
    throw new ProtocolError(invalidParams, "No such task");
  }

  /** Sends what the task streams before its result, if the client wants that. */
  async #stream(task: TaskSnapshot, ctx: ServerContext, signal: AbortSignal): Promise<void> {
    const declared = this.#server.server.getClientCapabilities() ?? {};
    const token = wantedStream(ctx.mcpReq._meta, declared);
    if (token === undefined) return;
    const parts = new ClientParts(token, partsOver(this.#core, ctx, false), this.#core);
    let cursor: string | undefined;
    while (!signal.aborted) {
      const reading = this.#tasks().readStreams(task, cursor, signal);
      let next = await reading.next();
      for (; next.done !== true; next = await reading.next()) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its content was made of content blocks
        await parts.send(next.value as PartContent);
      }
      if (next.value === undefined || !isLive(next.value.task)) return;
      ({ cursor } = next.value);
      // It has asked something. The streams go on when that is answered.
      for await (const { status } of this.#tasks().watch(task.id, 0, signal)) {
        if (status !== "input_required") break;
      }
    }
  }

  #final(task: TaskSnapshot): { [member: string]: unknown } {
    const { id, status, error } = task;
    if (status === "cancelled") throw new ProtocolError(invalidParams, "The task was cancelled");
    // 2025-11-25 has no error code for a missing capability, so the result of the tool says it.
    const isUnable = error?.code === missingClientCapability;
    if (error !== undefined && !isUnable) {
      throw new ProtocolError(error.code, error.message, error.data);
    }
    const { _meta, ...rest } = members(isUnable ? failureOf(error.message) : this.#projected(task));
    return { ...rest, _meta: { ...members(_meta), [RELATED_TASK_META_KEY]: { taskId: id } } };
  }

  /** The result as the SDK sends that of a call: in 2025-11-25, structured content that is not an object is wrapped in one. */
  #projected({ tool, result }: TaskSnapshot): object {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tool's result, which the task has kept
    const kept = members(result) as unknown as CallToolResult;
    return this.#server.server.projectCallToolResult(kept, this.#listed.get(tool));
  }

  /** Asks on the stream of `tasks/result`. The answer goes where `tasks/update` would put it. */
  async #ask(
    { id: taskId, callId, tool, questions, questionKeys }: TaskSnapshot,
    wire: string,
    ctx: ServerContext,
    fetch: number,
  ): Promise<void> {
    const name = `${taskId} ${wire}`;
    const before = this.#sent.get(name);
    if (before !== undefined && before.fetch >= fetch) return;
    // The earlier request may have lost its stream unnoticed: in 2025-11-25 a broken stream cancels nothing.
    before?.stop.abort();
    const question: SentQuestion = { fetch, stop: new AbortController() };
    this.#sent.set(name, question);
    try {
      const answer = await askClient(this.#core, ctx, {
        handler: tool,
        call: callId,
        task: taskId,
        key: questionKeys.get(wire)?.key ?? wire,
        request: questions.get(wire),
        meta: { [RELATED_TASK_META_KEY]: { taskId } },
        signal: AbortSignal.any([ctx.mcpReq.signal, this.#closed.signal, question.stop.signal]),
        // People may take as long as they like. The task has its own time limit.
        timeoutMs: longestTimerMs,
      });
      const answers = answerMap({ [wire]: answer });
      if (answers !== undefined) await applyAnswers(this.#core, taskId, answers);
    } catch (error) {
      // The client has disconnected. The question stays open for the next `tasks/result`.
      this.#core.logger.debug(
        `A question of a 2025-11-25 task was not answered: ${errorText(error)}`,
        { handler: tool, call: callId, task: shortId(taskId) },
      );
    } finally {
      if (this.#sent.get(name) === question) this.#sent.delete(name);
    }
  }

  async #own(id: unknown, principal: string | undefined): Promise<TaskSnapshot> {
    const task = await ownTask(this.#core, id, principal);
    if (task === undefined || task.isRemoved)
      throw new ProtocolError(invalidParams, "No such task");
    return task;
  }

  #tasks(): TaskRuntime {
    const { tasks } = this.#core;
    if (tasks === undefined) throw new ProtocolError(invalidParams, "No such task");
    return tasks;
  }
}

function legacyTask(task: TaskSnapshot): LegacyTask {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } =
    detailedTask(task);
  return {
    taskId,
    status: legacyStatus(task),
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs,
    pollInterval: pollIntervalMs,
  };
}

/** In 2025-11-25 a tool whose result has `isError` has failed. */
function legacyStatus({ status, result }: TaskSnapshot): TaskSnapshot["status"] {
  return status === "completed" && isErrorResult(result) ? "failed" : status;
}

const isErrorResult = (result: unknown) => own(result, "isError") === true;

const failureOf = (text: string) => ({ content: [{ type: "text", text }], isError: true });

function placeOf(cursor: unknown): { createdAt: number; id: string } {
  const [, createdAt, id] = /^(\d{1,16})\.([\w-]+)$/.exec(String(cursor)) ?? [];
  if (createdAt === undefined || id === undefined) throw badCursor();
  return { createdAt: Number(createdAt), id };
}

const badCursor = () => new ProtocolError(invalidParams, "Invalid cursor");
