// One call, from its first request to its result, as the caller has it.

import type { InputResponse } from "@modelcontextprotocol/client";
import { CallError, textOf } from "./errors.ts";
import { Events } from "./events.ts";
import type { CallEvent } from "./events.ts";
import type { ClientJournal } from "./journal.ts";
import type { Members } from "../util/objects.ts";
import { goLegacy } from "./legacy.ts";
import type { LegacySession } from "./legacy-session.ts";
import type { TaskHints } from "./listen.ts";
import type { Limits } from "./limits.ts";
import { ServerTime } from "./pace.ts";
import type { ParamHeaders } from "./param-headers.ts";
import type { Pending } from "./pending.ts";
import type { People } from "./people.ts";
import { Questions } from "./questions.ts";
import { referenceTo } from "./reference.ts";
import type { CallState } from "./reference.ts";
import { callResult, finalResult } from "./result.ts";
import type { CallResult } from "./result.ts";
import { goRounds } from "./rounds.ts";
import type { Run, TaskWish } from "./run.ts";
import { createdTask } from "./snapshot.ts";
import { cancelTask, followTask } from "./task.ts";
import type { Requests } from "./wire.ts";

/** Not a promise, on purpose: it may be returned from an async function. */
export interface Call extends AsyncIterable<CallEvent> {
  /** Resolves when the answer cannot get lost any more. */
  readonly answer: (key: string, answer: InputResponse) => Promise<void>;
  readonly result: () => Promise<CallResult>;
  /** Resolves when the server knows. Rejects where it could not be told that its task is to end; the journal keeps that. */
  readonly cancel: () => Promise<void>;
}

/** What a call has of its connection. */
export interface Host {
  readonly wire: Requests;
  readonly hints: TaskHints;
  readonly limits: Limits;
  readonly headers: ParamHeaders;
  readonly listTools: () => Promise<void>;
  readonly people: People;
  readonly journal: ClientJournal | undefined;
  /** Set in a session of 2025-11-25. */
  readonly legacy: LegacySession | undefined;
  readonly ended: (call: OngoingCall) => void;
}

interface Pushed {
  readonly resolve: (answer: InputResponse) => void;
  readonly reject: (reason: unknown) => void;
}

export interface OngoingOptions {
  /** Nobody reads the events. */
  readonly isCalled: boolean;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly wantsTask?: TaskWish | undefined;
  /** It was begun elsewhere. */
  readonly isResumed: boolean;
}

export class OngoingCall implements Call {
  readonly #host: Host;
  readonly #options: OngoingOptions;
  readonly #events = new Events<CallEvent>();
  readonly #stop = new AbortController();
  readonly #time: ServerTime;
  readonly #questions: Questions;
  readonly #outcome: Promise<Members>;
  /** 2025-11-25: by key, the request that put the question. */
  readonly #pushed = new Map<string, Pushed>();
  #pushes = 0;
  #state: CallState;
  #kept: Promise<void> = Promise.resolve();
  /** The server is being told that its task is not wanted any more. */
  #cancelled: Promise<void> | undefined;
  #isOver = false;

  constructor(host: Host, state: CallState, options: OngoingOptions) {
    this.#host = host;
    this.#state = state;
    this.#options = options;
    this.#time = new ServerTime(options.timeoutMs, (error) => this.fail(error));
    const hooks = { record: this.#record, hold: this.#time.hold, fail: this.fail };
    this.#questions = new Questions(host.people, hooks, options.isCalled);
    const { signal } = options;
    signal?.addEventListener("abort", this.#onAbort);
    if (signal?.aborted === true) this.#onAbort();
    this.#outcome = this.#go();
    this.#outcome.catch(() => {});
  }

  get id(): string {
    return this.#state.id;
  }

  get taskId(): string | undefined {
    return this.#state.taskId;
  }

  [Symbol.asyncIterator](): AsyncIterator<CallEvent, undefined> {
    return this.#events.iterator();
  }

  readonly answer = (key: string, answer: InputResponse): Promise<void> =>
    this.#questions.answer(key, answer);

  /** As the server has given it, for prompts and resources. */
  readonly raw = async (): Promise<Members> => {
    const result = await this.#outcome;
    await this.#forget();
    return result;
  };

  readonly result = async (): Promise<CallResult> => callResult(await this.raw());

  readonly cancel = async (): Promise<void> => {
    if (!this.#isOver) {
      const { taskId } = this.#state;
      if (taskId !== undefined) this.#cancelled ??= cancelTask(this.#run(), taskId);
      this.fail(new CallError("cancelled", "The call was cancelled.", { taskId }));
    }
    try {
      await this.#cancelled;
    } catch (error) {
      throw this.#notCancelled(error);
    }
  };

  readonly #onAbort = (): void => void this.cancel().catch(() => {});

  /** Ends it from outside. */
  readonly fail = (error: unknown): void => this.#stop.abort(error);

  readonly hold = (): (() => void) => this.#time.hold();

  /** 2025-11-25: a question that came as a request. `unwanted`: the server has called that off. */
  readonly push = (question: Pending, unwanted: AbortSignal): Promise<InputResponse> =>
    new Promise((resolve, reject) => {
      const { key } = question;
      this.#pushes += 1;
      try {
        if (this.#pushes > this.#host.limits.taskQuestions) throw tooMany(this.#pushes - 1);
        this.#questions.check([question]);
      } catch (error) {
        this.fail(error);
        return reject(error);
      }
      this.#pushed.set(key, { resolve, reject });
      unwanted.addEventListener("abort", () => {
        if (!this.#questions.withdraw(key)) return;
        this.#pushed.delete(key);
        this.#events.push({ type: "withdrawn", key });
        reject(unwanted.reason);
      });
      this.#questions.put([question]);
      this.#events.push({ type: "asked", questions: [question], ref: referenceTo(this.#state) });
    });

  async #go(): Promise<Members> {
    try {
      const result = await this.#finish();
      this.#end();
      this.#events.push({ type: "done", result: callResult(result) });
      this.#events.end(() => this.#forget());
      return result;
    } catch (error) {
      this.#end();
      const told = await this.#told(error);
      this.#events.fail(told);
      throw told;
    }
  }

  async #finish(): Promise<Members> {
    const { result, method } = this.#state;
    if (result !== undefined) return result;
    await this.#move({});
    const final = finalResult(method, await this.#drive());
    // Kept until it is taken, so that nothing has to be done again for it.
    await this.#move({ result: final, questions: new Map(), answers: new Map() });
    return final;
  }

  #drive(): Promise<Members> {
    const run = this.#run();
    const { legacy } = this.#host;
    const { name, taskId, isLegacy } = this.#state;
    if (this.#options.isResumed) {
      if ((legacy !== undefined) !== isLegacy) throw otherEra();
      if (isLegacy && taskId === undefined) throw sessionOver();
    }
    if (legacy === undefined) return this.#goModern(run);
    return legacy.turn(() => goLegacy(run, () => legacy.toolOf(name)));
  }

  async #goModern(run: Run): Promise<Members> {
    const { taskId: resumed } = this.#state;
    if (resumed !== undefined) return followTask(run, { taskId: resumed, isDue: true });
    const outcome = await goRounds(run);
    if (outcome.kind === "complete") return outcome.result;
    const task = createdTask(outcome.task);
    const { taskId } = task;
    await run.move({
      taskId,
      requestState: undefined,
      questions: new Map(),
      answers: new Map(),
    });
    run.tell({ type: "task", taskId, ref: run.ref() });
    return followTask(run, task);
  }

  #run(): Run {
    const { wire, hints, limits, headers, listTools, legacy } = this.#host;
    return {
      wire,
      hints,
      limits,
      headers,
      listTools,
      questions: this.#questions,
      signal: this.#stop.signal,
      state: () => this.#state,
      move: this.#move,
      ref: () => referenceTo(this.#state),
      tell: (event) => this.#events.push(event),
      isPaused: () => this.#questions.isOpen || legacy?.isThinking === true,
      wantsTask: this.#options.wantsTask,
    };
  }

  readonly #move = async (change: Partial<CallState>): Promise<void> => {
    this.#state = { ...this.#state, ...change };
    const { journal } = this.#host;
    if (journal === undefined) return;
    const ref = referenceTo(this.#state);
    this.#kept = this.#kept.then(() => journal.put(this.id, ref));
    await this.#kept;
  };

  readonly #record = async (key: string, answer: InputResponse): Promise<void> => {
    const pushed = this.#pushed.get(key);
    if (pushed === undefined) {
      await this.#move({ answers: new Map([...this.#state.answers, [key, answer]]) });
    }
    this.#pushed.delete(key);
    this.#events.push({ type: "answered", key });
    pushed?.resolve(answer);
  };

  /** With where the call stands, where it can be gone on with; else it is forgotten. */
  async #told(thrown: unknown): Promise<unknown> {
    const { taskId } = this.#state;
    if (!(thrown instanceof CallError)) return thrown;
    if (canGoOn(thrown)) return thrown.at({ ref: referenceTo(this.#state), taskId });
    try {
      await this.#cancelled;
    } catch (error) {
      return this.#notCancelled(error);
    }
    await this.#forget().catch(() => {});
    return thrown.at({ taskId });
  }

  /** It stays in the journal, because the task may still do what nobody wants any more. */
  #notCancelled(cause: unknown): CallError {
    const { taskId } = this.#state;
    const code = cause instanceof CallError ? cause.code : "server_down";
    const message =
      `The call was given up here, but its task could not be cancelled and may go on: ${textOf(cause)} ` +
      "Go on with the reference and cancel again.";
    return new CallError(code, message, { ref: referenceTo(this.#state), taskId, cause });
  }

  async #forget(): Promise<void> {
    await this.#kept.catch(() => {});
    await this.#host.journal?.delete(this.id);
  }

  #end(): void {
    this.#isOver = true;
    this.#time.stop();
    this.#questions.end();
    for (const { reject } of this.#pushed.values()) reject(this.#stop.signal.reason);
    this.#pushed.clear();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#host.ended(this);
  }
}

function canGoOn({ code, taskId }: CallError): boolean {
  if (code === "unhandled_question") return taskId === undefined;
  return ["server_down", "timed_out", "closed", "handler_failed"].includes(code);
}

const tooMany = (questions: number) =>
  new CallError("too_many_rounds", `The server has put more than ${questions} questions.`);

const otherEra = () =>
  new CallError(
    "bad_reference",
    "The server now speaks another era than the one in which that call began, and cannot go on with it.",
  );

const sessionOver = () =>
  new CallError(
    "bad_reference",
    "That call was one of a 2025-11-25 session, which has ended with its connection. Call again if that is safe.",
  );
