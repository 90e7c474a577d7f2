// A seam in the SDK: `subscriptions/listen` with `taskIds`, which its entries do not know.
//
// The SDK serves the subscription as it serves any other, with all its checks, for the kinds it knows. Its messages
// pass through here on their way out: the acknowledgement gets the tasks that will be followed, `notifications/tasks`
// goes out beside it, and the end waits until these tasks are over.

import { setMaxListeners } from "node:events";
import {
  CLIENT_CAPABILITIES_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import type { ClientCapabilities, RequestId, Transport } from "@modelcontextprotocol/server";
import type { TaskSnapshot } from "../../../tasks/snapshot.ts";
import { isLive } from "../../../tasks/task.ts";
import { canFollowTasks } from "../../../protocol/capabilities.ts";
import type { Core } from "../../core.ts";
import { textOf } from "../../round/failure.ts";
import { ownTask } from "../../tasks/requests.ts";
import { detailedTask } from "../../tasks/wire.ts";

export type Message = Parameters<Transport["send"]>[0];

export interface TaskListen {
  readonly id: RequestId;
  readonly taskIds: readonly string[];
  /** The request declares the tasks extension. */
  readonly isDeclared: boolean;
}

const mostTasks = 1_000;
/** Changes that follow one another closely share a notification; the last is never held back. */
const gapMs = 200;

/** Undefined for any other request, and for one that the SDK will refuse. */
export function taskListenOf(message: unknown): TaskListen | undefined {
  const { method, id, params } = members(message);
  if (method !== "subscriptions/listen" || !isId(id)) return undefined;
  const { notifications, _meta } = members(params);
  const { taskIds } = members(notifications);
  if (taskIds === undefined) return undefined;
  // What cannot be an id is nobody's, and left out as such.
  const sent: unknown[] = Array.isArray(taskIds) ? taskIds : [];
  const ids = sent.filter((one): one is string => typeof one === "string");
  return {
    id,
    taskIds: [...new Set(ids)].slice(0, mostTasks),
    isDeclared: declares(members(_meta)),
  };
}

function declares(meta: { readonly [name: string]: unknown }): boolean {
  const capabilities: ClientCapabilities = members(meta[CLIENT_CAPABILITIES_META_KEY]);
  return canFollowTasks(capabilities);
}

export class TaskSubscription {
  readonly #core: Core;
  readonly #listen: TaskListen;
  readonly #accepted: readonly string[];
  readonly #ways: Ways;
  readonly #over = new AbortController();
  #following = 0;
  #isAcknowledged = false;
  /** The SDK serves nothing else of it. */
  #isAlone = false;
  /** The SDK's last word, held until the tasks are over. */
  #last: Message | undefined;

  private constructor(core: Core, listen: TaskListen, accepted: readonly string[], ways: Ways) {
    this.#core = core;
    this.#listen = listen;
    this.#accepted = accepted;
    this.#ways = ways;
    // Each task that is followed listens to it.
    setMaxListeners(0, this.#over.signal);
  }

  /** Those that are not the caller's are left out, as if they had never been. */
  static async open(
    core: Core,
    listen: TaskListen,
    principal: string | undefined,
    ways: Ways,
  ): Promise<TaskSubscription> {
    const own = async (id: string): Promise<string[]> => {
      const task = await ownTask(core, id, principal);
      return task === undefined || task.isRemoved ? [] : [id];
    };
    const accepted = await Promise.all(listen.taskIds.map(own)).catch((error: unknown) => {
      // None is followed then, and the acknowledgement says so: a client can still poll.
      core.logger.error(`A subscription could not be opened: ${textOf(error)}`);
      return [];
    });
    return new TaskSubscription(core, listen, accepted.flat(), ways);
  }

  /** What goes out in place of this message of the SDK's; undefined: nothing yet. */
  outgoing(message: Message): Message | undefined {
    if (this.#isAcknowledgement(message)) {
      this.#isAcknowledged = true;
      this.#isAlone = Object.keys(filterIn(message)).length === 0;
      queueMicrotask(() => this.#follow());
      return this.#accepted.length === 0 ? message : withTasks(message, this.#accepted);
    }
    // Before the acknowledgement it is the SDK's refusal, and there is nothing to wait for.
    const isEnd = "id" in message && message.id === this.#listen.id && !("method" in message);
    if (!isEnd || !this.#isAcknowledged || this.#isIdle) return message;
    this.#last = message;
    return undefined;
  }

  /** The SDK has said its last word, and it is held. */
  get isHolding(): boolean {
    return this.#last !== undefined;
  }

  /** Nobody listens any more, or the server ends: the SDK's last word, if it was held. */
  close(): Message | undefined {
    this.#over.abort();
    const last = this.#last;
    this.#last = undefined;
    return last;
  }

  get #isIdle(): boolean {
    return this.#accepted.length === 0 || this.#over.signal.aborted;
  }

  #isAcknowledgement(message: Message): boolean {
    return (
      "method" in message &&
      message.method === "notifications/subscriptions/acknowledged" &&
      members(members(message.params)["_meta"])[SUBSCRIPTION_ID_META_KEY] === this.#listen.id
    );
  }

  #follow(): void {
    this.#following = this.#accepted.length;
    if (this.#following === 0) this.#end();
    for (const id of this.#accepted) {
      this.#tell(id)
        .catch((error: unknown) =>
          this.#core.logger.warn(`A task is no longer followed: ${textOf(error)}`),
        )
        .finally(() => {
          this.#following -= 1;
          if (this.#following === 0) this.#end();
        });
    }
  }

  #end(): void {
    if (!this.#over.signal.aborted) this.#ways.end(this.close(), this.#isAlone);
  }

  async #tell(id: string): Promise<void> {
    const { tasks, environment } = this.#core;
    if (tasks === undefined) return;
    let latest: TaskSnapshot | undefined;
    let callOff: (() => void) | undefined;
    const send = () => {
      callOff = undefined;
      if (latest === undefined) return;
      const _meta = { [SUBSCRIPTION_ID_META_KEY]: this.#listen.id };
      const params = { ...detailedTask(latest), _meta };
      this.#ways.send({ jsonrpc: "2.0", method: "notifications/tasks", params });
      latest = undefined;
      callOff = environment.eventually(gapMs, send);
    };
    try {
      // From the beginning: the first one says how it stands, so that nothing is missed between poll and push.
      for await (const task of tasks.watch(id, 0, this.#over.signal)) {
        latest = task;
        if (callOff !== undefined && isLive(task)) continue;
        callOff?.();
        send();
      }
    } finally {
      callOff?.();
    }
  }
}

interface Ways {
  readonly send: (message: Message) => void;
  /**
   * All tasks are over. `last` is the SDK's last word, where it came before; alone: nothing else was asked for
   * that is served.
   */
  readonly end: (last: Message | undefined, isAlone: boolean) => void;
}

function filterIn(message: Message): object {
  return "method" in message ? members(members(message.params)["notifications"]) : {};
}

function withTasks(message: Message, taskIds: readonly string[]): Message {
  if (!("method" in message)) return message;
  const params = members(message.params);
  const notifications = { ...filterIn(message), taskIds };
  return { ...message, params: { ...params, notifications } };
}

export function members(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

const isId = (value: unknown): value is RequestId =>
  typeof value === "string" || typeof value === "number";
