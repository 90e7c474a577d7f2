// A seam in the SDK: `subscriptions/listen` with `taskIds`, which the SDK does not know.
//
// The SDK serves the subscription like any other, with all its checks, for the kinds that it knows. Its messages pass
// through here on their way out: the tasks that will be followed are added to the acknowledgement,
// `notifications/tasks` is sent as well, and the end is held back until these tasks are over.

import {
  CLIENT_CAPABILITIES_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import type { ClientCapabilities, RequestId } from "@modelcontextprotocol/server";
import { canFollowTasks } from "../../../protocol/capabilities.ts";
import { errorText } from "../../../util/error-text.ts";
import type { Members } from "../../../util/objects.ts";
import type { Core } from "../../core.ts";
import { isTaskId, unopened } from "../../tasks/requests.ts";
import { detailedTask } from "../../tasks/wire.ts";
import type { TransportMessage } from "../response-overrides.ts";

/** A request to subscribe. */
export interface Listen {
  readonly id: RequestId;
  /** Undefined if the request does not concern tasks. */
  readonly taskIds: readonly string[] | undefined;
}

/** A request to follow tasks. */
export interface TaskListen extends Listen {
  readonly taskIds: readonly string[];
  /** Whether the request declares the tasks extension. */
  readonly isDeclared: boolean;
}

/** Changes within this time share a notification. The last change is never held back. */
const gapMs = 200;

/** Reads a request to subscribe. Undefined for any other request, and for one that the SDK will refuse. */
export function listenOf(message: unknown): Listen | TaskListen | undefined {
  const { method, id, params } = members(message);
  if (method !== "subscriptions/listen" || !isId(id)) return undefined;
  const { notifications, _meta } = members(params);
  const { taskIds } = members(notifications);
  if (taskIds === undefined) return { id, taskIds };
  // What cannot be an id is left out, like the id of a task that does not exist.
  const sent: unknown[] = Array.isArray(taskIds) ? taskIds : [];
  const ids = sent.filter((one): one is string => typeof one === "string");
  return { id, taskIds: [...new Set(ids)], isDeclared: declares(members(_meta)) };
}

/** Whether a request to subscribe concerns tasks. */
export const isTaskListen = (listen: Listen | undefined): listen is TaskListen =>
  listen?.taskIds !== undefined;

function declares(meta: Members): boolean {
  const capabilities: ClientCapabilities = members(meta[CLIENT_CAPABILITIES_META_KEY]);
  return canFollowTasks(capabilities);
}

/** Follows the tasks of one subscription. */
export class TaskSubscription {
  readonly #core: Core;
  readonly #listen: TaskListen;
  readonly #accepted: readonly string[];
  readonly #principal: string | undefined;
  readonly #outlet: Outlet;
  readonly #over = new AbortController();
  #isAcknowledged = false;
  /** Whether the SDK serves nothing else in this subscription. */
  #isAlone = false;
  /** The SDK's last message, held back until the tasks are over. */
  #last: TransportMessage | undefined;

  private constructor(
    core: Core,
    listen: TaskListen,
    principal: string | undefined,
    accepted: readonly string[],
    outlet: Outlet,
  ) {
    this.#core = core;
    this.#listen = listen;
    this.#principal = principal;
    this.#accepted = accepted;
    this.#outlet = outlet;
  }

  /** Leaves out tasks that are not the caller's, as if they did not exist. */
  static async open(
    core: Core,
    listen: TaskListen,
    principal: string | undefined,
    outlet: Outlet,
  ): Promise<TaskSubscription> {
    const wanted = listen.taskIds.filter(isTaskId).slice(0, core.limits.subscriptionTasks);
    const own = wanted.length === 0 ? undefined : core.tasks?.own(wanted, principal);
    const accepted = await own?.catch((error: unknown) => {
      // No task is followed, and the acknowledgement says so. The client can still poll.
      core.logger.error(`A subscription could not be opened: ${errorText(error)}`);
      return [];
    });
    return new TaskSubscription(core, listen, principal, accepted ?? [], outlet);
  }

  /** What to send in place of a message of the SDK. Undefined to hold it back. */
  outgoing(message: TransportMessage): TransportMessage | undefined {
    if (this.#isAcknowledgement(message)) {
      this.#isAcknowledged = true;
      this.#isAlone = Object.keys(filterIn(message)).length === 0;
      queueMicrotask(() => this.#follow());
      return this.#accepted.length === 0 ? message : withTasks(message, this.#accepted);
    }
    // A response before the acknowledgement is the SDK's refusal, which must not wait.
    const isEnd = "id" in message && message.id === this.#listen.id && !("method" in message);
    if (!isEnd || !this.#isAcknowledged || this.#isIdle) return message;
    this.#last = message;
    return undefined;
  }

  /** Whether the SDK's last message is held back. */
  get isHolding(): boolean {
    return this.#last !== undefined;
  }

  /** Stops following. Returns the SDK's last message, if it was held back. */
  close(): TransportMessage | undefined {
    this.#over.abort();
    const last = this.#last;
    this.#last = undefined;
    return last;
  }

  get #isIdle(): boolean {
    return this.#accepted.length === 0 || this.#over.signal.aborted;
  }

  #isAcknowledgement(message: TransportMessage): boolean {
    return (
      "method" in message &&
      message.method === "notifications/subscriptions/acknowledged" &&
      members(members(message.params)["_meta"])[SUBSCRIPTION_ID_META_KEY] === this.#listen.id
    );
  }

  #follow(): void {
    this.#sendStates()
      .catch((error: unknown) =>
        this.#core.logger.warn(`A subscription stopped following tasks: ${errorText(error)}`),
      )
      .finally(() => {
        if (!this.#over.signal.aborted) this.#outlet.end(this.close(), this.#isAlone);
      });
  }

  /** One task after the other, each when the outlet has room for it. */
  async #sendStates(): Promise<void> {
    const { tasks } = this.#core;
    if (tasks === undefined || this.#accepted.length === 0) return;
    const { signal } = this.#over;
    const _meta = { [SUBSCRIPTION_ID_META_KEY]: this.#listen.id };
    const failed = (error: unknown) => unopened(this.#core, error);
    for await (const task of tasks.watchAll(
      this.#accepted,
      this.#principal,
      gapMs,
      signal,
      failed,
    )) {
      const params = { ...detailedTask(task), _meta };
      await this.#outlet.send({ jsonrpc: "2.0", method: "notifications/tasks", params });
    }
  }
}

interface Outlet {
  /** Resolves when there is room for the next message. */
  readonly send: (message: TransportMessage) => Promise<void>;
  /**
   * Called when all tasks are over. `last` is the SDK's last message, if it was held back. `isAlone` says that the
   * subscription serves nothing but tasks.
   */
  readonly end: (last: TransportMessage | undefined, isAlone: boolean) => void;
}

function filterIn(message: TransportMessage): object {
  return "method" in message ? members(members(message.params)["notifications"]) : {};
}

function withTasks(message: TransportMessage, taskIds: readonly string[]): TransportMessage {
  if (!("method" in message)) return message;
  const params = members(message.params);
  const notifications = { ...filterIn(message), taskIds };
  return { ...message, params: { ...params, notifications } };
}

/** The members of a value, or none if it is not an object. An array counts as an object here. */
export function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

const isId = (value: unknown): value is RequestId =>
  typeof value === "string" || typeof value === "number";
