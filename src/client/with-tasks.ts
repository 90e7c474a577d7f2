// A plain official client, over this, calls a tool that becomes a task as it calls any other.
//
// The client sends `tools/call` and waits for an answer. The answer "it is a task" is kept from it, which would not
// understand it; the task is followed here, and what becomes of it is the answer. What a task asks is shown to
// the client as questions of the call itself (`input_required`): its own handlers answer, it sends the call again
// with the answers, and that is turned into `tasks/update` here. Everything else passes through as it is.

import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { CallError } from "./errors.ts";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { limitsOf } from "./limits.ts";
import { TaskHints } from "./listen.ts";
import { longestMs } from "./pace.ts";
import { createdTask } from "./snapshot.ts";
import type { TaskMeans } from "./watched-task.ts";
import { Wire } from "./wire.ts";
import { FollowedTask } from "./with-tasks-follow.ts";
import type { Outcome } from "./with-tasks-follow.ts";
import { declaring, errorOf, isId, isRequest, members, modernMeta } from "./with-tasks-wire.ts";

export interface WithTasksOptions {
  /**
   * Who gives up a call that has become a task, cancels the task. Off by default, because a transport cannot tell
   * a client that was told to stop from one whose `timeout` is over: a task that takes longer than the client's
   * patience would be cancelled, too.
   */
  readonly cancelOnAbort?: boolean | undefined;
  /** Ask to be told of changes (`subscriptions/listen`) besides polling. On by default. */
  readonly listen?: boolean | undefined;
  /** For how long the server may be away while a task is followed. 60 s by default. */
  readonly outageMs?: number | undefined;
  /** How often a call with `onprogress` hears that its task is still followed. 5 s by default. */
  readonly progressMs?: number | undefined;
  /**
   * For how long the client may think about what a task asks. If it has not answered then, its handler has most likely
   * thrown, which nobody tells a transport: the task is cancelled. For ever by default, as people may take their time.
   */
  readonly answerMs?: number | undefined;
}

/**
 * Wraps any transport of the official SDK: a `Client` over it calls a tool that becomes a task with plain `callTool()`
 * and gets the final result. Its own elicitation, sampling and roots handlers answer what the task asks. What
 * comes back is used in the place of what was given, and has all its members.
 *
 * A client gives each request 60 s unless told otherwise, and to it the whole time a task works is one request.
 * (The time in which a person answers is none.) For tasks that take longer pass `callTool()` a longer `timeout`, or
 * `resetTimeoutOnProgress: true` together with an `onprogress`: while the task is followed there is progress, and
 * `maxTotalTimeout` says when it is enough. Else the call ends with the client's `Request timed out`, and `onerror`
 * is told that the task goes on without it (`TaskLeft`).
 *
 * Each time a task asks is a round to the client, which stops after ten: see `inputRequired.maxRounds`. If one of its
 * handlers throws, the call ends and a transport cannot know: the task waits for an answer until its time is over, or
 * `answerMs`. What nobody has answered when the connection is closed, `onerror` is told of (`TaskLeft`).
 *
 * What the server says of a task that failed is what the call ends with; everything else is a `ProtocolError` whose
 * `data.reason` is a `CallErrorCode`.
 */
export function withTasks<T extends Transport>(transport: T, options: WithTasksOptions = {}): T {
  const tasks = new TaskTransport(transport, options);
  // The SDK looks at more of a transport than its interface says, stdio's process for one; so all of it is there.
  return new Proxy(transport, {
    get: (inner, name) => {
      if (isOwn(name)) return tasks[name];
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === "function" && name !== "constructor" ? value.bind(inner) : value;
    },
    set: (inner, name, value) => {
      return isOwn(name) ? Reflect.set(tasks, name, value) : Reflect.set(inner, name, value, inner);
    },
  });
}

const ownNames = ["start", "send", "close", "onclose", "onerror", "onmessage"] as const;

const isOwn = (name: string | symbol): name is (typeof ownNames)[number] =>
  ownNames.some((own) => own === name);

/** What `onerror` is told when a call was given up whose task goes on. */
export class TaskLeft extends Error {
  /** With it the task can still be asked for, or cancelled. */
  readonly taskId: string;

  constructor(tool: string, taskId: string) {
    super(
      `The call of "${tool}" was given up, but the task it had become goes on. If that was the client's timeout ` +
        "(60 s unless told otherwise): give callTool() a longer `timeout`, or `resetTimeoutOnProgress: true` " +
        "together with `onprogress`. To have the task cancelled with the call: " +
        "withTasks(transport, { cancelOnAbort: true }).",
    );
    this.name = "TaskLeft";
    this.taskId = taskId;
  }
}

/** One request of the client's, `tools/call`, on its way. */
interface Leg {
  readonly id: RequestId;
  readonly tool: string;
  readonly meta: Members;
  readonly signal: AbortSignal | undefined;
  /** Aborted when the client gives it up. */
  readonly stop: AbortController;
  /** The last that was told under its token. */
  progress: number;
  task: FollowedTask | undefined;
}

/** A task that has asked, and whose client is busy answering. */
interface Asked {
  readonly task: FollowedTask;
  readonly questions: ReadonlyMap<string, unknown>;
  /** When it is enough. */
  readonly timer: NodeJS.Timeout | undefined;
}

const lateAnswerMs = 60_000;
/** Answers that never come leave something behind: as much as this. */
const mostAsked = 10_000;

class TaskTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #means: TaskMeans;
  readonly #cancelOnAbort: boolean;
  readonly #progressMs: number;
  readonly #answerMs: number | undefined;
  /** Of the states that are ours, and not the server's. */
  readonly #mark = `parley-${crypto.randomUUID()}`;
  readonly #legs = new Map<RequestId, Leg>();
  /** By the `requestState` the client was given. */
  readonly #asked = new Map<string, Asked>();
  #count = 0;

  constructor(inner: Transport, options: WithTasksOptions) {
    this.#inner = inner;
    const { cancelOnAbort = false, listen = true, outageMs = 60_000, progressMs = 5_000 } = options;
    this.#cancelOnAbort = cancelOnAbort;
    this.#progressMs = progressMs;
    this.#answerMs = options.answerMs;
    /* oxlint-disable unicorn/prefer-add-event-listener -- a transport has no other */
    this.onclose = inner.onclose;
    this.onerror = inner.onerror;
    this.onmessage = inner.onmessage;
    inner.onclose = () => this.#closed();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => this.#received(message, extra);
    /* oxlint-enable unicorn/prefer-add-event-listener */
    const wire = new Wire();
    wire.attach(inner, undefined);
    const hints = listen ? new TaskHints(wire) : undefined;
    this.#means = { wire, hints, limits: limitsOf({ outageMs, silenceMs: 30_000 }) };
  }

  // Properties, because the SDK takes them off and puts them back.
  start = (): Promise<void> => this.#inner.start();

  close = (): Promise<void> => {
    this.#stopAll();
    return this.#inner.close();
  };

  send = (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    if (this.#isGivenUp(message)) return Promise.resolve();
    const meta = isRequest(message) ? modernMeta(message) : undefined;
    if (!isRequest(message) || meta === undefined) return this.#inner.send(message, options);
    const declared = declaring(message, meta);
    if (message.method !== "tools/call") return this.#inner.send(declared, options);
    return this.#call(declared, options);
  };

  // ---------------------------------------------------------------- from the client

  async #call(request: JSONRPCRequest, options: TransportSendOptions | undefined): Promise<void> {
    const { name, requestState, inputResponses } = members(request.params);
    const leg: Leg = {
      id: request.id,
      tool: String(name),
      meta: modernMeta(request) ?? {},
      signal: options?.requestSignal,
      stop: new AbortController(),
      progress: 0,
      task: undefined,
    };
    leg.signal?.addEventListener("abort", () => this.#giveUp(leg), { once: true });
    this.#legs.set(leg.id, leg);
    if (typeof requestState === "string" && requestState.startsWith(`${this.#mark}/`)) {
      void this.#answered(leg, requestState, members(inputResponses));
      return;
    }
    try {
      await this.#inner.send(request, options);
    } catch (error) {
      this.#legs.delete(leg.id);
      throw error;
    }
  }

  /** The client's word for it where there is no stream to close. True: the server need not hear of it. */
  #isGivenUp(message: JSONRPCMessage): boolean {
    if (!("method" in message) || message.method !== "notifications/cancelled") return false;
    const { requestId } = members(message.params);
    const leg = isId(requestId) ? this.#legs.get(requestId) : undefined;
    if (leg === undefined) return false;
    const isFollowed = leg.task !== undefined;
    this.#giveUp(leg);
    // The server has answered this request long ago.
    return isFollowed;
  }

  #giveUp(leg: Leg): void {
    if (leg.stop.signal.aborted || this.#legs.get(leg.id) !== leg) return;
    leg.stop.abort();
    const forget = () => this.#legs.delete(leg.id);
    if (leg.task === undefined) {
      // Its answer may be on its way, and say that it is a task now; most servers will not answer at all.
      setTimeout(forget, lateAnswerMs).unref();
      return;
    }
    forget();
    this.#leave(leg.task);
  }

  #leave(task: FollowedTask): void {
    if (this.#cancelOnAbort) this.#cancel(task);
    else this.onerror?.(new TaskLeft(task.tool, task.taskId));
  }

  #cancel(task: FollowedTask): void {
    task.cancel().catch((cause: unknown) => {
      this.onerror?.(
        new Error("The task of a call that was given up could not be cancelled", { cause }),
      );
    });
  }

  // ---------------------------------------------------------------- from the server

  #received(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if ("method" in message) {
      if (message.method === "notifications/progress") this.#noteProgress(message.params);
      return this.onmessage?.(message, extra);
    }
    const leg = message.id === undefined ? undefined : this.#legs.get(message.id);
    if (leg?.task !== undefined) {
      this.onerror?.(new Error("The server has answered a call again that it has made a task of"));
      return;
    }
    if (leg !== undefined) this.#legs.delete(leg.id);
    const result = "result" in message ? message.result : undefined;
    if (leg === undefined || !isObject(result) || result["resultType"] !== "task") {
      return this.onmessage?.(message, extra);
    }
    this.#becameTask(leg, result);
  }

  #becameTask(leg: Leg, result: Members): void {
    try {
      leg.task = new FollowedTask(createdTask(result), leg.tool, leg.meta, this.#means);
    } catch (fault) {
      return this.#failed(leg, fault);
    }
    // Given up while the answer was on its way.
    if (leg.stop.signal.aborted || leg.signal?.aborted === true) return this.#leave(leg.task);
    this.#legs.set(leg.id, leg);
    void this.#follow(leg, leg.task);
  }

  // ---------------------------------------------------------------- in between

  async #answered(leg: Leg, requestState: string, answers: Members): Promise<void> {
    const asked = this.#asked.get(requestState);
    this.#forget(requestState);
    if (asked === undefined) {
      const over = "These questions of a task are answered already, or no longer known.";
      return this.#failed(leg, new CallError("bad_answer", over));
    }
    const { task, questions } = asked;
    leg.task = task;
    await this.#follow(leg, task, () => task.answer(questions, answers, leg.stop.signal));
  }

  async #follow(leg: Leg, task: FollowedTask, first?: () => Promise<void>): Promise<void> {
    let said = "The task is being followed";
    const tell = () => this.#progress(leg, said);
    const pulse = setInterval(tell, this.#progressMs);
    const { signal } = leg.stop;
    try {
      await first?.();
      const outcome = await task.next(signal, ({ statusMessage }) => {
        if (statusMessage === undefined || statusMessage === said) return;
        said = statusMessage;
        tell();
      });
      this.#answer(leg, task, outcome);
    } catch (fault) {
      this.#failed(leg, fault);
    } finally {
      clearInterval(pulse);
    }
  }

  #answer(leg: Leg, task: FollowedTask, outcome: Outcome): void {
    if (this.#legs.get(leg.id) !== leg) return;
    this.#legs.delete(leg.id);
    const { id } = leg;
    if ("result" in outcome) {
      this.onmessage?.({ jsonrpc: "2.0", id, result: outcome.result });
    } else {
      const requestState = this.#keep(task, outcome.questions);
      const inputRequests = Object.fromEntries(outcome.questions);
      const result = { resultType: "input_required", inputRequests, requestState };
      this.onmessage?.({ jsonrpc: "2.0", id, result });
    }
  }

  #failed(leg: Leg, fault: unknown): void {
    if (leg.stop.signal.aborted) return;
    this.#legs.delete(leg.id);
    const error = errorOf(fault, leg.task?.taskId);
    this.onmessage?.({ jsonrpc: "2.0", id: leg.id, error });
  }

  #keep(task: FollowedTask, questions: ReadonlyMap<string, unknown>): string {
    this.#count += 1;
    const requestState = `${this.#mark}/${this.#count}`;
    const giveUp = () => {
      this.#forget(requestState);
      this.#cancel(task);
    };
    const timer =
      this.#answerMs === undefined
        ? undefined
        : setTimeout(giveUp, Math.min(this.#answerMs, longestMs));
    this.#asked.set(requestState, { task, questions, timer });
    if (this.#asked.size > mostAsked) {
      const [oldest = ""] = this.#asked.keys();
      this.#forget(oldest);
    }
    return requestState;
  }

  #forget(requestState: string): void {
    clearTimeout(this.#asked.get(requestState)?.timer);
    this.#asked.delete(requestState);
  }

  // ---------------------------------------------------------------- progress

  /** Of the server's own, before it was a task: what we tell after it must be more. */
  #noteProgress(params: unknown): void {
    const { progressToken, progress } = members(params);
    if (typeof progress !== "number" || progressToken === undefined) return;
    for (const leg of this.#legs.values()) {
      if (leg.meta["progressToken"] === progressToken) leg.progress = progress;
    }
  }

  #progress(leg: Leg, message: string): void {
    const { progressToken } = leg.meta;
    if (!isId(progressToken) || this.#legs.get(leg.id) !== leg) return;
    leg.progress += 1;
    const params = { progressToken, progress: leg.progress, message };
    this.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress", params });
  }

  // ---------------------------------------------------------------- the end

  #stopAll(): void {
    for (const leg of this.#legs.values()) leg.stop.abort();
    this.#legs.clear();
    for (const [requestState, { task }] of this.#asked) {
      this.#forget(requestState);
      this.onerror?.(new TaskLeft(task.tool, task.taskId));
    }
  }

  #closed(): void {
    this.#stopAll();
    this.onclose?.();
  }
}
