// One task, from a call's point of view: until it is over, or asks.

import { TaskFault, canBeAsked, capabilitiesIn, snapshotOf } from "./with-tasks-wire.ts";
import type { Members } from "./json.ts";
import type { Created, Snapshot, WireError } from "./with-tasks-wire.ts";
import type { OwnRequests, Reply } from "./with-tasks-requests.ts";
import type { TaskHints } from "./with-tasks-listen.ts";
import { internalError } from "../protocol/error-codes.ts";

export interface FollowOptions {
  /** For how long it may be impossible to ask for the task. */
  readonly outageMs: number;
  /** Subscribe to it as well, where the server offers that. */
  readonly listen: boolean;
}

/** What a leg of the call is answered with. */
export type Outcome =
  | { readonly result: Members }
  | { readonly error: WireError }
  | { readonly questions: ReadonlyMap<string, Members> };

const shortestPollMs = 100;
/** Longer is beyond anybody's patience, and soon beyond what a timer can hold. */
const longestPollMs = 300_000;
/** Where the server does not say: slower and slower. */
const firstPollMs = 1_000;
const slowestPollMs = 10_000;
/** Where polls are closer, a subscription is no quicker. */
const worthListeningMs = 500;
/** The server's clock started earlier than ours, and its sweeping may be late. */
const expiryGraceMs = 30_000;

export class FollowedTask {
  readonly taskId: string;
  readonly tool: string;
  readonly #requests: OwnRequests;
  readonly #hints: TaskHints;
  readonly #options: FollowOptions;
  readonly #meta: Members;
  readonly #since = performance.now();
  /** By key, the question as it was answered: a key is answered once. */
  readonly #answered = new Map<string, string>();
  #ttlMs: number | undefined;
  #pollIntervalMs: number | undefined;
  /** It cannot be `working`: there is something to see. */
  #isDue: boolean;

  /** `meta` is the envelope of the call. What it says of this client holds for its task. */
  constructor(
    created: Created,
    tool: string,
    meta: Members,
    means: { readonly requests: OwnRequests; readonly hints: TaskHints },
    options: FollowOptions,
  ) {
    const { progressToken: _, ...own } = meta;
    this.#meta = own;
    this.taskId = created.taskId;
    this.tool = tool;
    this.#ttlMs = created.ttlMs;
    this.#pollIntervalMs = created.pollIntervalMs;
    this.#isDue = created.status !== "working";
    this.#requests = means.requests;
    this.#hints = means.hints;
    this.#options = options;
  }

  /** Rejects with a `TaskFault`, or because `signal` has aborted. */
  async next(signal: AbortSignal, onSnapshot: (snapshot: Snapshot) => void): Promise<Outcome> {
    const bell = new Bell();
    const interval = this.#pollIntervalMs ?? firstPollMs;
    const hangUp =
      this.#options.listen && interval >= worthListeningMs
        ? this.#hints.listen(this.taskId, this.#meta, () => bell.ring())
        : () => {};
    try {
      for (let polls = 0; ; polls += 1) {
        if (!this.#isDue) await bell.wait(this.#pauseMs(polls), signal);
        this.#isDue = false;
        const snapshot = await this.#look(signal);
        if ("code" in snapshot) return { error: snapshot };
        onSnapshot(snapshot);
        const outcome = this.#outcomeOf(snapshot);
        if (outcome !== undefined) return outcome;
      }
    } finally {
      hangUp();
    }
  }

  /** Only to what is asked, and to each once. */
  async answer(
    asked: ReadonlyMap<string, Members>,
    answers: Members,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const given = Object.entries(answers).filter(([key]) => asked.has(key));
    for (const [key] of given) this.#answered.set(key, JSON.stringify(asked.get(key)));
    if (given.length === 0) return undefined;
    const inputResponses = Object.fromEntries(given);
    const update = () => this.#ask("tasks/update", { inputResponses }, signal);
    const sent = await this.#withPatience(update, signal, async () => {
      // It may have arrived: then it is not sent again.
      const seen = await this.#look(signal);
      return !("code" in seen) && given.every(([key]) => !seen.questions.has(key));
    });
    if (sent?.error === undefined) return undefined;
    // Some servers refuse an answer to a task that is over; then its end is what counts.
    const seen = await this.#look(signal);
    const isOver = !("code" in seen) && !isLive(seen);
    return isOver ? this.#outcomeOf(seen) : { error: harmless(sent.error) };
  }

  /** As far as it can: who cancels does not wait. */
  async cancel(): Promise<void> {
    await this.#ask("tasks/cancel", {}, new AbortController().signal);
  }

  #outcomeOf(snapshot: Snapshot): Outcome | undefined {
    const { status, result, error } = snapshot;
    switch (status) {
      case "completed":
        return result === undefined ? undefined : { result };
      case "failed":
        if (error !== undefined) return { error: harmless(error) };
        throw new TaskFault("task_failed", "The task failed, and the server does not say why.");
      case "cancelled":
        throw new TaskFault("task_cancelled", "The task was cancelled.");
      case "input_required":
        return this.#questionsIn(snapshot);
      case "working":
        return undefined;
    }
  }

  #questionsIn({ questions }: Snapshot): Outcome | undefined {
    const capabilities = capabilitiesIn(this.#meta);
    const open = [...questions].filter(([key, question]) => !this.#isAnswered(key, question));
    const askable = open.filter(([, question]) => canBeAsked(question, capabilities));
    if (askable.length > 0) return { questions: new Map(askable) };
    const [first] = open;
    // What is answered may only be on its way; with that, the task may well go on.
    if (first === undefined || open.length < questions.size) return undefined;
    void this.cancel().catch(() => {});
    const [key, question] = first;
    const what = typeof question["method"] === "string" ? question["method"] : "something unknown";
    throw new TaskFault(
      "question_unhandled",
      `The task asks under "${key}" for what this client has declared no capability for (${what}), so nobody can answer. ` +
        "The task is being cancelled. Declare the capability and set a request handler for it.",
      { key, question },
    );
  }

  #isAnswered(key: string, question: Members): boolean {
    const answered = this.#answered.get(key);
    if (answered === undefined) return false;
    if (answered === JSON.stringify(question)) return true;
    throw new TaskFault(
      "task_invalid",
      `The server asks something else under "${key}", which is answered already. A key is used once.`,
    );
  }

  async #look(signal: AbortSignal): Promise<Snapshot | WireError> {
    const get = () => this.#ask("tasks/get", {}, signal);
    const reply = await this.#withPatience(get, signal);
    if (reply?.error !== undefined) return harmless(reply.error);
    const snapshot = snapshotOf(reply?.result, this.taskId);
    this.#ttlMs = snapshot.ttlMs;
    this.#pollIntervalMs = snapshot.pollIntervalMs;
    if (isLive(snapshot)) this.#mindExpiry();
    return snapshot;
  }

  /** A server that never ends a task, though its time is over, does not keep us. */
  #mindExpiry(): void {
    if (this.#ttlMs === undefined) return;
    if (performance.now() - this.#since < this.#ttlMs + expiryGraceMs) return;
    throw new TaskFault(
      "task_expired",
      `The task's time (${Math.round(this.#ttlMs / 1000)} s) is over, and the server has not ended it.`,
    );
  }

  #ask(method: string, params: Members, signal: AbortSignal): Promise<Reply> {
    const { taskId } = this;
    const request = { method, params: { taskId, ...params, _meta: { ...this.#meta } } };
    return this.#requests.ask(request, signal);
  }

  /**
   * Asking again does no harm; so an outage is sat out. `isDone` is asked before every other try: before each, the
   * one thing would always go to the same of two replicas, and that may be the dead one.
   */
  async #withPatience(
    ask: () => Promise<Reply>,
    signal: AbortSignal,
    isDone?: () => Promise<boolean>,
  ): Promise<Reply | undefined> {
    const since = performance.now();
    for (let tries = 1; ; tries += 1) {
      let trouble: string;
      try {
        if (tries % 2 === 0 && (await isDone?.()) === true) return undefined;
        const reply = await ask();
        if (reply.error?.code !== internalError) return reply;
        trouble = reply.error.message;
      } catch (error) {
        signal.throwIfAborted();
        trouble = error instanceof Error ? error.message : String(error);
        if (error instanceof TaskFault || isFinal(error)) throw unreachable(error, trouble);
      }
      const pauseMs = jittered(Math.min(250 * 2 ** tries, slowestPollMs));
      const outageMs = performance.now() - since + pauseMs;
      if (outageMs > this.#options.outageMs) throw unreachable(undefined, trouble);
      await new Bell().wait(pauseMs, signal);
    }
  }

  #pauseMs(polls: number): number {
    const said = this.#pollIntervalMs;
    if (said !== undefined) return Math.min(Math.max(said, shortestPollMs), longestPollMs);
    return jittered(Math.min(firstPollMs * 1.5 ** polls, slowestPollMs));
  }
}

/** Waits, and is woken: but not so often that a server's hints become a load on it. */
class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const atLeastMs = Math.min(ms, shortestPollMs);
    await pause(atLeastMs, signal, () => {});
    if (!this.#isRung && ms > atLeastMs) {
      await pause(ms - atLeastMs, signal, (wake) => {
        this.#wake = wake;
      });
    }
    this.#isRung = false;
    this.#wake = undefined;
  }
}

function pause(ms: number, signal: AbortSignal, onWake: (wake: () => void) => void): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", stop, { once: true });
    onWake(wake);
  });
}

const isLive = ({ status }: Snapshot) => status === "working" || status === "input_required";

/** A refusal of the HTTP server's, or of whoever guards it: no patience changes that. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "UnauthorizedError") return true;
  const status: unknown = "status" in error ? error.status : undefined;
  if (typeof status !== "number" || status < 400 || status >= 500) return false;
  return status !== 408 && status !== 429;
}

function unreachable(error: unknown, trouble: string): TaskFault {
  if (error instanceof TaskFault) return error;
  return new TaskFault(
    "task_unreachable",
    `The server cannot be asked for the task any more (${trouble}). The task itself may well go on.`,
  );
}

/**
 * To the official client -32020 means that its headers were wrong: it would send the whole call again, which is
 * not what the end of a task may cause.
 */
function harmless(error: WireError): WireError {
  if (error.code !== -32020) return error;
  const { code, data } = error;
  return { code: internalError, message: error.message, data: { code, data } };
}

/** So that those who started together do not poll together. */
const jittered = (ms: number) => ms * (0.75 + Math.random() / 2);
