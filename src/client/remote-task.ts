// A task on a server: polls it at its own pace, answers it, cancels it, and survives outages of the server.

import { invalidParams } from "../protocol/error-codes.ts";
import type { RpcError } from "../protocol/rpc.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { backOff } from "../util/timers.ts";
import { CallError, refusal } from "./errors.ts";
import type { Limits } from "./limits.ts";
import { pause } from "./pause.ts";
import type { RequestSender } from "./request-channel.ts";
import { SeenQuestions, snapshotOf } from "./task-snapshot.ts";
import type { CreatedTask, TaskSnapshot } from "./task-snapshot.ts";
import type { TaskSubscriptions } from "./task-subscriptions.ts";
import { isPassing } from "./verdict.ts";

/** What a task needs to reach its server. */
export interface TaskServices {
  readonly channel: RequestSender;
  /** Without subscriptions, the task is only polled. */
  readonly subscriptions: TaskSubscriptions | undefined;
  readonly limits: Pick<Limits, "silenceMs" | "outageMs" | "taskQuestions">;
  /** The `_meta` of its requests, if the channel does not add one. */
  readonly meta?: Members | undefined;
}

const shortestPollMs = 100;
/** The longest interval that a server can ask for. */
const longestPollMs = 300_000;
/** From this poll interval on, a subscription reports changes sooner than polling does. */
const worthSubscribingMs = 500;
/** Allows for a server whose clock started earlier and whose clean-up runs late. */
const expiryGraceMs = 30_000;
/** The poll interval if the server does not name one. */
const pollDelay = { firstMs: 1_000, mostMs: 10_000 };
const retryDelay = { firstMs: 250, mostMs: 10_000 };

export class RemoteTask {
  readonly taskId: string;
  readonly #services: TaskServices;
  readonly #seen: SeenQuestions;
  readonly #since = performance.now();
  #ttlMs: number | undefined;
  #pollIntervalMs: number | undefined;
  #polls = 0;
  /** Replaces the poll interval for the next wait. */
  #soonMs: number | undefined;
  #wake = new AbortController();
  #unsubscribe: (() => void) | undefined;

  constructor(created: CreatedTask, services: TaskServices) {
    this.taskId = created.taskId;
    this.#ttlMs = created.ttlMs;
    this.#pollIntervalMs = created.pollIntervalMs;
    this.#soonMs = created.isDue ? 0 : undefined;
    this.#services = services;
    this.#seen = new SeenQuestions(services.limits.taskQuestions);
  }

  /** Waits until it is time to poll. A hint shortens the wait, but never below the shortest interval. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#soonMs ?? this.#intervalMs();
    this.#soonMs = undefined;
    if (ms >= worthSubscribingMs) this.#subscribe();
    await pause(Math.min(ms, shortestPollMs), signal);
    if (ms > shortestPollMs) await pause(ms - shortestPollMs, signal, this.#wake.signal);
    this.#wake = new AbortController();
  }

  /** Ends the current or the next wait early. */
  readonly hurry = (): void => this.#wake.abort();

  /** Ends the subscription. The next wait opens it again. */
  rest(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #subscribe(): void {
    const { subscriptions, meta } = this.#services;
    this.#unsubscribe ??= subscriptions?.subscribe(this.taskId, this.hurry, meta);
  }

  #intervalMs(): number {
    const asked = this.#pollIntervalMs;
    if (asked === undefined) return backOff(this.#polls + 1, pollDelay);
    return Math.min(Math.max(asked, shortestPollMs), longestPollMs);
  }

  /** Reads the task, and tries again while the server is unreachable. */
  poll(signal: AbortSignal): Promise<TaskSnapshot> {
    return this.#insist(() => this.#get(signal), signal);
  }

  /** Sends the answers, again if they may have been lost, but never to a question that is no longer open. */
  async answer(answers: ReadonlyMap<string, unknown>, signal: AbortSignal): Promise<void> {
    let open = answers;
    const send = async (tries: number) => {
      // Every other try polls first. If each did, round-robin could send every answer to the same one of two
      // replicas, which may be the dead one.
      if (tries % 2 === 1) {
        const { questions } = await this.#get(signal);
        open = new Map([...open].filter(([key]) => questions.has(key)));
      }
      if (open.size === 0) return;
      await this.#request("tasks/update", { inputResponses: Object.fromEntries(open) }, signal);
    };
    this.#soonMs = shortestPollMs;
    try {
      await this.#insist(send, signal);
    } catch (error) {
      // Some servers refuse an answer to a task that has ended. Then only the end of the task matters.
      if (!(error instanceof CallError) || error.rpc === undefined) throw error;
      // The server knows the task, so what it refused is the answer.
      if (isLive(await this.poll(signal))) throw refusal(error.rpc, error.cause);
    }
  }

  /** Resolves when the server has confirmed that it will cancel the task. */
  async cancel(): Promise<void> {
    await this.#request("tasks/cancel", {}, new AbortController().signal);
  }

  async #get(signal: AbortSignal): Promise<TaskSnapshot> {
    const snapshot = snapshotOf(await this.#request("tasks/get", {}, signal), this.taskId);
    this.#polls += 1;
    this.#ttlMs = snapshot.ttlMs;
    this.#pollIntervalMs = snapshot.pollIntervalMs;
    this.#seen.see(snapshot.questions);
    if (isLive(snapshot)) this.#checkExpiry();
    return snapshot;
  }

  /** Stops waiting for a server that never ends a task whose time is over. */
  #checkExpiry(): void {
    const ttlMs = this.#ttlMs;
    if (ttlMs === undefined || performance.now() - this.#since < ttlMs + expiryGraceMs) return;
    const message = `The task's time to live (${Math.round(ttlMs / 1_000)} s) is over, but the server has not ended the task.`;
    throw new CallError("task_expired", message, { taskId: this.taskId });
  }

  async #request(method: string, params: Members, signal: AbortSignal): Promise<Members> {
    const { channel, limits, meta } = this.#services;
    const options = { signal, timeoutMs: limits.silenceMs, meta };
    const response = await channel.request(method, { taskId: this.taskId, ...params }, options);
    if (response.kind === "result") return response.result;
    throw taskRefusal(response.error, this.taskId, response.cause);
  }

  /** Tries again through an outage. Reading or answering a task twice does no harm. */
  async #insist<T>(send: (tries: number) => Promise<T>, signal: AbortSignal): Promise<T> {
    const since = performance.now();
    for (let tries = 0; ; tries += 1) {
      try {
        return await send(tries);
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = backOff(tries + 1, retryDelay);
        const isTooLong = performance.now() - since + waitMs > this.#services.limits.outageMs;
        if (isTooLong || !isPassing(error)) throw error;
        await pause(waitMs, signal);
      }
    }
  }
}

/** The error for a request about a task that the server refused. */
export function taskRefusal(rpc: RpcError, taskId: string, cause?: unknown): CallError {
  if (rpc.code !== invalidParams) return refusal(rpc, cause);
  const details = { taskId, rpc, cause };
  if (own(rpc.data, "reason") === "task_expired") {
    const message = "The task has expired, and its result is gone.";
    return new CallError("task_expired", message, details);
  }
  const message =
    "The server does not know the task. It may have expired or been deleted, or it belongs to another user: " +
    rpc.message.slice(0, 500);
  return new CallError("task_gone", message, details);
}

const isLive = ({ status }: TaskSnapshot) => status === "working" || status === "input_required";
