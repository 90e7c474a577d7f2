// 2025-11-25 tasks: a second projection of the same records, for legacy sessions alone. The client asks for a task
// (`params.task`), polls with `tasks/get`, fetches with `tasks/result`, on whose stream it is asked what the handler
// asks; there is a list, and a notification when the status changes.

import { setMaxListeners } from "node:events";
import { ProtocolError, RELATED_TASK_META_KEY } from "@modelcontextprotocol/server";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { answerMap } from "../../protocol/answers.ts";
import {
  internalError,
  invalidParams,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import type { Json } from "../../util/json.ts";
import type { TaskRuntime } from "../../tasks/runtime.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import { isLive } from "../../tasks/task.ts";
import { openCall } from "../round/call.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { textOf } from "../round/failure.ts";
import { promote } from "../round/promote.ts";
import type { RoundRequest } from "../round/request.ts";
import { applyAnswers, ownTask } from "../tasks/requests.ts";
import { detailedTask } from "../tasks/wire.ts";
import type { TaskWish } from "./responses.ts";
import { members } from "./task-subscriptions/subscriptions.ts";

interface LegacyTask {
  readonly taskId: string;
  readonly status: TaskSnapshot["status"];
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttl: number;
  readonly pollInterval: number;
}

interface Asked {
  readonly coming: number;
  readonly stop: AbortController;
}

const pageSize = 50;

export class LegacyTasks {
  readonly #server: McpServer;
  readonly #core: Core;
  /** Ends with the session. */
  readonly #closed = new AbortController();
  /** Put on one stream of one session: by task and wire key. */
  readonly #asking = new Map<string, Asked>();
  /** How often a result was come for: who came last is asked. */
  #comings = 0;
  /** In this session, oldest first. */
  readonly #made = new Set<string>();

  constructor(server: McpServer, core: Core) {
    this.#server = server;
    this.#core = core;
    // Each task of the session listens to it.
    setMaxListeners(0, this.#closed.signal);
    const { server: protocol } = server;
    const { onclose } = protocol;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has no other
    protocol.onclose = () => {
      onclose?.();
      this.#closed.abort();
    };
  }

  /** The whole call as a task, from its first line on: here the client says so, not the handler. */
  async create(definition: Definition, request: RoundRequest, wish: TaskWish): Promise<object> {
    const parsed = await definition.parse(request.target, request.arguments);
    if (!parsed.ok) throw new ProtocolError(invalidParams, parsed.reason);
    const runtime = this.#tasks();
    const call = await openCall(this.#core, definition, request, parsed.input);
    // It can follow a task: it has asked for one.
    const able = {
      id: () => call.id(),
      tokenExpiresAt: call.tokenExpiresAt,
      inputDigest: () => call.inputDigest(),
      abilities: [...call.abilities, "task" as const],
    };
    const nothing = { kind: "waiting", entries: [], open: [], unused: [] } as const;
    const ttlMs = ttlOf(wish, this.#core.limits.taskTtlMs);
    const answer = await promote(runtime, definition, able, request, nothing, { ttlMs });
    if (answer.kind !== "task") throw new ProtocolError(internalError, "The task was not made");
    this.#made.add(answer.task.id);
    this.#follow(answer.task);
    return { task: { ...legacyTask(answer.task), status: "working" } };
  }

  /** Tells the session of every change, until the task or the session is over. */
  #follow({ id, revision }: TaskSnapshot): void {
    void this.#tell(id, revision).catch((error: unknown) =>
      this.#core.logger.debug(`A legacy task is no longer followed: ${textOf(error)}`),
    );
  }

  async #tell(id: string, since: number): Promise<void> {
    for await (const task of this.#tasks().watch(id, since, this.#closed.signal)) {
      await this.#server.server.notification({
        method: "notifications/tasks/status",
        params: { ...legacyTask(task) },
      });
    }
  }

  async get(id: unknown, principal: string | undefined): Promise<{ [member: string]: unknown }> {
    return { ...legacyTask(await this.#own(id, principal)) };
  }

  async cancel(id: unknown, principal: string | undefined): Promise<{ [member: string]: unknown }> {
    const task = await this.#own(id, principal);
    if (!isLive(task)) {
      throw new ProtocolError(invalidParams, `Cannot cancel a task that is ${legacyStatus(task)}`);
    }
    const cancelled = await this.#tasks().cancel(task.id);
    return { ...legacyTask(cancelled ?? task) };
  }

  /**
   * `isShared`: without credentials, where others call, too. Everybody is the same nobody then, and to list the tasks
   * of all would give each to any; so a session sees those it has made.
   */
  async list(
    cursor: unknown,
    principal: string | undefined,
    isShared: boolean,
  ): Promise<{ [member: string]: unknown }> {
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const tasks = isShared
      ? await this.#madeHere(after?.id)
      : await this.#tasks().list(principal, after, pageSize + 1);
    const page = tasks.slice(0, pageSize);
    const last = tasks.length > pageSize ? page.at(-1) : undefined;
    return {
      tasks: page.map(legacyTask),
      ...(last === undefined ? {} : { nextCursor: `${last.createdAt}.${last.id}` }),
    };
  }

  /** Newest first, from the one after this. */
  async #madeHere(after: string | undefined): Promise<readonly TaskSnapshot[]> {
    const ids = [...this.#made].toReversed();
    if (after !== undefined && !ids.includes(after)) throw badCursor();
    const later = after === undefined ? ids : ids.slice(ids.indexOf(after) + 1);
    const tasks = await Promise.all(later.map((id) => ownTask(this.#core, id, undefined)));
    return tasks.flatMap((task) => (task === undefined || task.isRemoved ? [] : [task]));
  }

  /** Waits until the task is over, and asks meanwhile what it asks. */
  async result(
    id: unknown,
    principal: string | undefined,
    ctx: ServerContext,
  ): Promise<{ [member: string]: unknown }> {
    const { id: taskId } = await this.#own(id, principal);
    const { signal } = ctx.mcpReq;
    const coming = ++this.#comings;
    for await (const task of this.#tasks().watch(
      taskId,
      0,
      AbortSignal.any([signal, this.#closed.signal]),
    )) {
      for (const [wire, request] of task.questions)
        void this.#ask(taskId, wire, request, ctx, coming);
      if (!isLive(task)) return this.#final(task);
    }
    throw new ProtocolError(invalidParams, "No such task");
  }

  #final(task: TaskSnapshot): { [member: string]: unknown } {
    const { id, status, error } = task;
    if (status === "cancelled") throw new ProtocolError(invalidParams, "The task was cancelled");
    // 2025-11-25 has no code for a missing capability; a tool says it in its result.
    const isUnable = error?.code === missingClientCapability;
    if (error !== undefined && !isUnable) {
      throw new ProtocolError(error.code, error.message, error.data);
    }
    const { _meta, ...rest } = members(isUnable ? failureOf(error.message) : task.result);
    return { ...rest, _meta: { ...members(_meta), [RELATED_TASK_META_KEY]: { taskId: id } } };
  }

  /** On the stream of `tasks/result`; the answer goes where `tasks/update` would put it. */
  async #ask(
    taskId: string,
    wire: string,
    request: Json,
    ctx: ServerContext,
    coming: number,
  ): Promise<void> {
    const name = `${taskId} ${wire}`;
    const before = this.#asking.get(name);
    if (before !== undefined && before.coming >= coming) return;
    // Who came before may be gone without a word: a stream that breaks cancels nothing in this era.
    before?.stop.abort();
    const asked: Asked = { coming, stop: new AbortController() };
    this.#asking.set(name, asked);
    try {
      const { method, params } = requestOf(request, this.#core.environment.newId);
      const related = { [RELATED_TASK_META_KEY]: { taskId } };
      const answer: unknown = await ctx.mcpReq.send(
        { method, params: { ...params, _meta: related } },
        {
          signal: AbortSignal.any([ctx.mcpReq.signal, this.#closed.signal, asked.stop.signal]),
          // People take as long as they like; the task has a time of its own.
          timeout: longestMs,
        },
      );
      const answers = answerMap({ [wire]: answer });
      if (answers !== undefined) await applyAnswers(this.#core, taskId, answers);
    } catch (error) {
      // The client cannot, or has gone: the question stays open for the next who comes for the result.
      this.#core.logger.debug(`A question of a legacy task was not answered: ${textOf(error)}`);
    } finally {
      if (this.#asking.get(name) === asked) this.#asking.delete(name);
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

// Timers take no more than 31 bits.
const longestMs = 2 ** 31 - 1;

/** A wish: what is longer than allowed is cut, what is no time at all is ignored. */
export function ttlOf({ ttl }: TaskWish, most: number): number | undefined {
  if (typeof ttl !== "number" || !(ttl >= 1)) return undefined;
  return Math.min(Math.floor(ttl), most);
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

/** There a tool that says that it could not do it has failed. */
function legacyStatus({ status, result }: TaskSnapshot): TaskSnapshot["status"] {
  return status === "completed" && isErrorResult(result) ? "failed" : status;
}

const isErrorResult = (result: unknown) =>
  typeof result === "object" && result !== null && "isError" in result && result.isError === true;

const failureOf = (text: string) => ({ content: [{ type: "text", text }], isError: true });

function placeOf(cursor: unknown): { createdAt: number; id: string } {
  const [, createdAt, id] = /^(\d{1,16})\.([\w-]+)$/.exec(String(cursor)) ?? [];
  if (createdAt === undefined || id === undefined) throw badCursor();
  return { createdAt: Number(createdAt), id };
}

const badCursor = () => new ProtocolError(invalidParams, "Invalid cursor");

/** As 2025-11-25 has it: there a page has an id. */
function requestOf(
  request: Json,
  newId: () => string,
): { readonly method: Asking; readonly params: object } {
  const { method, params } = members(request);
  if (!isAsking(method)) throw new TypeError("a question is one of three requests");
  const isPage = members(params)["mode"] === "url";
  return { method, params: { ...members(params), ...(isPage ? { elicitationId: newId() } : {}) } };
}

const askings = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;
type Asking = (typeof askings)[number];
const isAsking = (method: unknown): method is Asking => askings.some((one) => one === method);
