// One task, and how it is asked for: at its pace, through outages, until it is over. Polling is the truth; what is
// pushed only says that it is time to look.

import { invalidParams } from "../protocol/error-codes.ts";
import { CallError } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { TaskHints } from "./listen.ts";
import { backOff, pause } from "./pace.ts";
import { refusal } from "./run.ts";
import { isPassing, SeenQuestions, snapshotOf } from "./snapshot.ts";
import type { CreatedTask, Snapshot } from "./snapshot.ts";
import type { Requests } from "./wire.ts";

export interface TaskMeans {
  readonly wire: Requests;
  /** None: it is only polled. */
  readonly hints: TaskHints | undefined;
  readonly limits: {
    readonly silenceMs: number;
    readonly outageMs: number;
    readonly taskQuestions: number;
  };
  /** What its requests say of their client, where the wire does not know. */
  readonly meta?: Members | undefined;
}

const shortestPollMs = 100;
/** Longer is beyond anybody's patience. */
const longestPollMs = 300_000;
/** Where polls are closer, a subscription is no quicker. */
const worthListeningMs = 500;
/** The server's clock started earlier than ours, and its sweeping may be late. */
const expiryGraceMs = 30_000;

export class WatchedTask {
  readonly taskId: string;
  readonly #means: TaskMeans;
  readonly #seen: SeenQuestions;
  readonly #since = performance.now();
  #ttlMs: number | undefined;
  #pollIntervalMs: number | undefined;
  #looks = 0;
  /** The next wait, where it is shorter than the task's pace. */
  #soonMs: number | undefined;
  #wake = new AbortController();
  #hangUp: (() => void) | undefined;

  constructor(created: CreatedTask, means: TaskMeans) {
    this.taskId = created.taskId;
    this.#ttlMs = created.ttlMs;
    this.#pollIntervalMs = created.pollIntervalMs;
    this.#soonMs = created.isDue ? 0 : undefined;
    this.#means = means;
    this.#seen = new SeenQuestions(means.limits.taskQuestions);
  }

  /** Until it is time to look: by its interval or because of a hint, but not so often that hints become a load. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#soonMs ?? this.#paceMs();
    this.#soonMs = undefined;
    if (ms >= worthListeningMs) this.#listen();
    await pause(Math.min(ms, shortestPollMs), signal);
    if (ms > shortestPollMs) await pause(ms - shortestPollMs, signal, this.#wake.signal);
    this.#wake = new AbortController();
  }

  readonly hurry = (): void => this.#wake.abort();

  /** Hints are not needed until the next wait. */
  rest(): void {
    this.#hangUp?.();
    this.#hangUp = undefined;
  }

  #listen(): void {
    const { hints, meta } = this.#means;
    this.#hangUp ??= hints?.listen(this.taskId, this.hurry, meta);
  }

  #paceMs(): number {
    const said = this.#pollIntervalMs;
    if (said === undefined) return backOff(1_000, 10_000, this.#looks);
    return Math.min(Math.max(said, shortestPollMs), longestPollMs);
  }

  look(signal: AbortSignal): Promise<Snapshot> {
    return this.#insist(() => this.#get(signal), signal);
  }

  /** Only while they are asked for: what gets lost is sent again, what has arrived is not. */
  async answer(answers: ReadonlyMap<string, unknown>, signal: AbortSignal): Promise<void> {
    let open = answers;
    const send = async (tries: number) => {
      // Not before each: the answer would always go to the same of two replicas, and that may be the dead one.
      if (tries % 2 === 1) {
        const { questions } = await this.#get(signal);
        open = new Map([...open].filter(([key]) => questions.has(key)));
      }
      if (open.size === 0) return;
      await this.#ask("tasks/update", { inputResponses: Object.fromEntries(open) }, signal);
    };
    this.#soonMs = shortestPollMs;
    try {
      await this.#insist(send, signal);
    } catch (error) {
      // Some servers refuse an answer to a task that is over; then its end is what counts.
      const isRefused = error instanceof CallError && error.rpc !== undefined;
      if (!isRefused || isLive(await this.look(signal))) throw error;
    }
  }

  /** Resolves when the server has said that it will see to it. */
  async cancel(): Promise<void> {
    await this.#ask("tasks/cancel", {}, new AbortController().signal);
  }

  async #get(signal: AbortSignal): Promise<Snapshot> {
    const snapshot = snapshotOf(await this.#ask("tasks/get", {}, signal), this.taskId);
    this.#looks += 1;
    this.#ttlMs = snapshot.ttlMs;
    this.#pollIntervalMs = snapshot.pollIntervalMs;
    this.#seen.see(snapshot.questions);
    if (isLive(snapshot)) this.#mindExpiry();
    return snapshot;
  }

  /** A server that never ends a task, though its time is over, does not keep us. */
  #mindExpiry(): void {
    const ttlMs = this.#ttlMs;
    if (ttlMs === undefined || performance.now() - this.#since < ttlMs + expiryGraceMs) return;
    const message = `The task's time (${Math.round(ttlMs / 1_000)} s) is over, and the server has not ended it.`;
    throw new CallError("task_expired", message, { taskId: this.taskId });
  }

  async #ask(method: string, params: Members, signal: AbortSignal): Promise<Members> {
    const { wire, limits, meta } = this.#means;
    const options = { signal, timeoutMs: limits.silenceMs, meta };
    const reply = await wire.request(method, { taskId: this.taskId, ...params }, options);
    if (reply.kind === "result") return reply.result;
    throw this.#refusal(reply.error);
  }

  /** Reading a task, and answering it, does no harm twice: so an outage is sat out. */
  async #insist<T>(ask: (tries: number) => Promise<T>, signal: AbortSignal): Promise<T> {
    const since = performance.now();
    for (let tries = 0; ; tries += 1) {
      try {
        return await ask(tries);
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = backOff(250, 10_000, tries);
        const isOut = performance.now() - since + waitMs > this.#means.limits.outageMs;
        if (isOut || !isPassing(error)) throw error;
        await pause(waitMs, signal);
      }
    }
  }

  #refusal(error: RpcError): CallError {
    if (error.code !== invalidParams) return refusal(error);
    const details = { taskId: this.taskId, rpc: error };
    if (own(error.data, "reason") === "task_expired") {
      const message = "The task's time is over, and its result with it.";
      return new CallError("task_expired", message, details);
    }
    const message = `The server does not know the task, or no longer: ${error.message.slice(0, 500)}`;
    return new CallError("task_gone", message, details);
  }
}

const isLive = ({ status }: Snapshot) => status === "working" || status === "input_required";
