// The transport behind `withTasks`. The client sends `tools/call` and waits for a response. It would not understand the
// response "this is a task", so that response stops here, the task is followed, and its result becomes the response.
// Questions of the task reach the client as questions of the call (`input_required`): its own handlers answer them, it
// sends the call again with the answers, and those go to the task as `tasks/update`. Everything else passes through.

import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { partNotification, streamingExtension } from "../../protocol/streaming.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { isObject } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";
import { CallError } from "../errors.ts";
import { limitsOf } from "../limits.ts";
import type { TaskServices } from "../remote-task.ts";
import { RequestChannel } from "../request-channel.ts";
import { createdTask } from "../task-snapshot.ts";
import { TaskSubscriptions } from "../task-subscriptions.ts";
import { AskingTasks } from "./asking-tasks.ts";
import { FollowedTask } from "./followed-task.ts";
import type { TaskOutcome } from "./followed-task.ts";
import { declaring, errorOf, isId, isRequest, members, modernMeta } from "./messages.ts";
import { LegacyByDefault } from "./no-effect.ts";
import { TaskLeftError } from "./options.ts";
import type { WithTasksOptions } from "./options.ts";
import { StreamedRequest } from "./streamed-request.ts";
import { TransportTrace } from "./transport-trace.ts";
import type { TracedCall } from "./transport-trace.ts";

/** One `tools/call` request of the client that has no response yet. */
interface OpenCall {
  readonly id: RequestId;
  readonly tool: string;
  readonly meta: Members;
  readonly signal: AbortSignal | undefined;
  /** Aborts when the client gives up the request. */
  readonly stop: AbortController;
  /** The last progress that was reported under its token. */
  progress: number;
  task: FollowedTask | undefined;
  /** Undefined if there is no `onPart`. */
  streamed: StreamedRequest | undefined;
  /** Undefined if nothing is traced. */
  readonly trace: TracedCall | undefined;
}

/** How long a late response to a request that the client gave up is awaited, because it may be a task. */
const lateResponseMs = 60_000;

export class TaskTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #services: TaskServices;
  readonly #cancelOnAbort: boolean;
  readonly #progressMs: number;
  readonly #onPart: WithTasksOptions["onPart"];
  readonly #calls = new Map<RequestId, OpenCall>();
  readonly #asking: AskingTasks;
  readonly #legacy = new LegacyByDefault();
  readonly #traces = new TransportTrace();

  constructor(inner: Transport, options: WithTasksOptions) {
    this.#inner = inner;
    const { cancelOnAbort = false, listen = true, outageMs = 60_000, progressMs = 5_000 } = options;
    this.#cancelOnAbort = cancelOnAbort;
    this.#progressMs = progressMs;
    this.#onPart = options.onPart;
    this.#asking = new AskingTasks(options.answerMs, (task) => this.#cancel(task));
    /* oxlint-disable unicorn/prefer-add-event-listener -- a transport has no addEventListener */
    this.onclose = inner.onclose;
    this.onerror = inner.onerror;
    this.onmessage = inner.onmessage;
    inner.onclose = () => this.#closed();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => this.#received(message, extra);
    /* oxlint-enable unicorn/prefer-add-event-listener */
    const channel = new RequestChannel();
    channel.attach(inner, undefined);
    const subscriptions = listen ? new TaskSubscriptions(channel) : undefined;
    const limits = limitsOf({ outageMs, silenceMs: 30_000 });
    this.#services = { channel, subscriptions, limits };
  }

  // These are properties, because the SDK replaces them and restores them later.
  start = (): Promise<void> => this.#inner.start();

  close = (): Promise<void> => {
    this.#stopAll();
    return this.#inner.close();
  };

  send = (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    if (this.#isGivenUp(message)) return Promise.resolve();
    this.#legacy.sent(message);
    const meta = isRequest(message) ? modernMeta(message) : undefined;
    if (!isRequest(message) || meta === undefined) return this.#inner.send(message, options);
    const declared = declaring(message, meta, this.#onPart && [tasksExtension, streamingExtension]);
    if (message.method !== "tools/call") return this.#inner.send(declared, options);
    return this.#call(declared, options);
  };

  // ---------------------------------------------------------------- from the client

  async #call(request: JSONRPCRequest, options: TransportSendOptions | undefined): Promise<void> {
    const { name, requestState, inputResponses } = members(request.params);
    const call: OpenCall = {
      id: request.id,
      tool: String(name),
      meta: modernMeta(request) ?? {},
      signal: options?.requestSignal,
      stop: new AbortController(),
      progress: 0,
      task: undefined,
      streamed: undefined,
      trace: this.#traces.callOf(request),
    };
    call.signal?.addEventListener("abort", () => this.#giveUp(call), { once: true });
    this.#calls.set(call.id, call);
    if (this.#asking.isState(requestState)) {
      void this.#answered(call, requestState, members(inputResponses));
      return;
    }
    const asking = this.#streamed(call)?.asking(request) ?? request;
    const send = (sent: JSONRPCRequest) => this.#inner.send(sent, options);
    try {
      await (call.trace === undefined ? send(asking) : call.trace.send(asking, send));
    } catch (error) {
      call.trace?.giveUp(error);
      this.#calls.delete(call.id);
      call.streamed?.stream.end();
      throw error;
    }
  }

  #streamed(call: OpenCall): StreamedRequest | undefined {
    if (this.#onPart === undefined) return undefined;
    const { streamBytes } = limitsOf();
    const onError = (cause: unknown) => this.onerror?.(new Error("onPart threw", { cause }));
    call.streamed = new StreamedRequest(call.id, streamBytes, this.#onPart, onError);
    return call.streamed;
  }

  /** Without a stream to close, the client gives up with a message. True if the server need not see that message. */
  #isGivenUp(message: JSONRPCMessage): boolean {
    if (!("method" in message) || message.method !== "notifications/cancelled") return false;
    const { requestId } = members(message.params);
    const call = isId(requestId) ? this.#calls.get(requestId) : undefined;
    if (call === undefined) return false;
    const isFollowed = call.task !== undefined;
    this.#giveUp(call);
    // The server has responded to this request already, with the task.
    return isFollowed;
  }

  #giveUp(call: OpenCall): void {
    if (call.stop.signal.aborted || this.#calls.get(call.id) !== call) return;
    call.stop.abort();
    call.trace?.giveUp();
    call.streamed?.stream.end();
    const forget = () => this.#calls.delete(call.id);
    if (call.task === undefined) {
      // Most servers will not respond any more, but a response on its way may say that the call is a task.
      setTimeout(forget, lateResponseMs).unref();
      return;
    }
    forget();
    this.#leave(call.task);
  }

  #leave(task: FollowedTask): void {
    if (this.#cancelOnAbort) this.#cancel(task);
    else this.onerror?.(new TaskLeftError(task.tool, task.taskId));
  }

  #cancel(task: FollowedTask): void {
    task.cancel().catch((cause: unknown) => {
      this.onerror?.(
        new Error("The call was given up, but its task could not be cancelled", { cause }),
      );
    });
  }

  // ---------------------------------------------------------------- from the server

  #received(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if ("method" in message) {
      if (message.method === "notifications/progress") this.#noteProgress(message.params);
      if (message.method === partNotification && this.#tookPart(members(message.params))) return;
      return this.onmessage?.(message, extra);
    }
    const call = message.id === undefined ? undefined : this.#calls.get(message.id);
    if (call?.task !== undefined) {
      this.onerror?.(
        new Error("The server responded a second time to a call that has become a task"),
      );
      return;
    }
    if (call !== undefined) this.#calls.delete(call.id);
    const result = "result" in message ? message.result : undefined;
    const trace = call?.stop.signal.aborted === true ? undefined : call?.trace;
    trace?.responded(message);
    if ("error" in message) call?.streamed?.stream.end();
    else call?.streamed?.stream.finished(undefined);
    if (call === undefined || !isObject(result) || result["resultType"] !== "task") {
      if ("error" in message) trace?.failed(message.error);
      else trace?.answered(members(result));
      return this.onmessage?.(this.#legacy.received(message), extra);
    }
    this.#becameTask(call, result);
  }

  /** True if a call of the client has asked for it. */
  #tookPart(params: Members): boolean {
    for (const { streamed, stop, task } of this.#calls.values()) {
      if (streamed === undefined || params["token"] !== streamed.token) continue;
      // The parts of a task come under the token of its reading. The request that it began with has its response.
      if (!stop.signal.aborted && task === undefined) streamed.take(params);
      return true;
    }
    return false;
  }

  #becameTask(call: OpenCall, result: Members): void {
    try {
      const meta = { ...call.meta, ...call.trace?.meta };
      call.task = new FollowedTask(
        createdTask(result),
        call.tool,
        meta,
        this.#services,
        call.streamed,
      );
      call.trace?.becameTask(call.task.taskId);
    } catch (fault) {
      return this.#failed(call, fault);
    }
    // The client gave up while the response was on its way.
    if (call.stop.signal.aborted || call.signal?.aborted === true) return this.#leave(call.task);
    this.#calls.set(call.id, call);
    void this.#follow(call, call.task);
  }

  // ---------------------------------------------------------------- in between

  async #answered(call: OpenCall, requestState: string, answers: Members): Promise<void> {
    const asking = this.#asking.take(requestState);
    if (asking === undefined) {
      const message = "The task's questions are already answered, or no longer known.";
      return this.#failed(call, new CallError("bad_answer", message));
    }
    const { task, questions } = asking;
    call.task = task;
    call.streamed = task.streamed;
    if (task.streamed !== undefined) task.streamed.id = call.id;
    await this.#follow(call, task, () => task.answer(questions, answers, call.stop.signal));
  }

  async #follow(call: OpenCall, task: FollowedTask, first?: () => Promise<void>): Promise<void> {
    let status = "Waiting for the task to finish";
    const report = () => this.#progress(call, status);
    const pulse = setInterval(report, this.#progressMs);
    const { signal } = call.stop;
    try {
      await first?.();
      const outcome = await task.next(signal, ({ statusMessage }) => {
        if (statusMessage === undefined || statusMessage === status) return;
        status = statusMessage;
        report();
      });
      this.#respond(call, task, outcome);
    } catch (fault) {
      this.#failed(call, fault);
    } finally {
      clearInterval(pulse);
    }
  }

  #respond(call: OpenCall, task: FollowedTask, outcome: TaskOutcome): void {
    if (this.#calls.get(call.id) !== call) return;
    this.#calls.delete(call.id);
    const { id } = call;
    if ("result" in outcome) {
      call.trace?.answered(outcome.result);
      this.onmessage?.({ jsonrpc: "2.0", id, result: outcome.result });
    } else {
      const requestState = this.#asking.keep(task, outcome.questions);
      const inputRequests = Object.fromEntries(outcome.questions);
      const result = { resultType: "input_required", inputRequests, requestState };
      call.trace?.answered(result);
      this.onmessage?.({ jsonrpc: "2.0", id, result });
    }
  }

  #failed(call: OpenCall, fault: unknown): void {
    if (call.stop.signal.aborted) return;
    this.#calls.delete(call.id);
    const error = errorOf(fault, call.task?.taskId);
    call.trace?.failed(error);
    this.onmessage?.({ jsonrpc: "2.0", id: call.id, error });
  }

  // ---------------------------------------------------------------- progress

  /** Remembers the server's own progress from before the task, because progress must increase. */
  #noteProgress(params: unknown): void {
    const { progressToken, progress } = members(params);
    if (typeof progress !== "number" || progressToken === undefined) return;
    for (const call of this.#calls.values()) {
      if (call.meta["progressToken"] === progressToken) call.progress = progress;
    }
  }

  #progress(call: OpenCall, message: string): void {
    const { progressToken } = call.meta;
    if (!isId(progressToken) || this.#calls.get(call.id) !== call) return;
    call.progress += 1;
    const params = { progressToken, progress: call.progress, message };
    this.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress", params });
  }

  // ---------------------------------------------------------------- the end

  #stopAll(): void {
    for (const call of this.#calls.values()) {
      if (!call.stop.signal.aborted) call.trace?.giveUp();
      call.stop.abort();
      call.streamed?.stream.end();
    }
    this.#calls.clear();
    this.#traces.close();
    for (const task of this.#asking.takeAll()) {
      this.onerror?.(new TaskLeftError(task.tool, task.taskId));
    }
  }

  #closed(): void {
    this.#stopAll();
    this.onclose?.();
  }
}
