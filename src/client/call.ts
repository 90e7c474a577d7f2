// One call, from its first request to its result, as the application sees it.

import { UnauthorizedError } from "@modelcontextprotocol/client";
import type { InputResponse } from "@modelcontextprotocol/client";
import type { Era } from "../protocol/versions.ts";
import { errorText } from "../util/error-text.ts";
import type { Members } from "../util/objects.ts";
import type { ActiveCall, CallServices } from "./active-call.ts";
import { callTrace } from "./call-trace.ts";
import type { CallTrace } from "./call-trace.ts";
import { CallQuestions } from "./call-questions.ts";
import { CallStream } from "./call-stream.ts";
import { CallError, withPlace } from "./errors.ts";
import { EventQueue } from "./events.ts";
import type { CallEvent } from "./events.ts";
import { cancelTask, followTask } from "./follow-task.ts";
import { runLegacyCall } from "./legacy-call.ts";
import type { AskableCall, TaskParams } from "./legacy-session.ts";
import { partEvent } from "./part.ts";
import type { Part } from "./part.ts";
import { QuestionNames } from "./question-names.ts";
import type { OpenQuestion } from "./question.ts";
import { eraOf, referenceTo } from "./reference.ts";
import type { CallState } from "./reference.ts";
import { callResult, finalResult } from "./result.ts";
import type { CallResult } from "./result.ts";
import { runRounds } from "./rounds.ts";
import { ServerTime } from "./server-time.ts";
import { createdTask, expiryOf } from "./task-snapshot.ts";
import { verdictOf } from "./verdict.ts";

/**
 * A call that was started with `connection.start` or `connection.resume`. Iterate over it to read its events. It is
 * not a promise, so you can return it from an async function.
 */
export interface Call extends AsyncIterable<CallEvent> {
  /**
   * Answers a question. Resolves when the answer is in the journal. Rejects with `bad_answer` if the answer does not
   * fit, and the question stays open. In a 2025-11-25 session the answer is sent at once and not kept: if it is lost with
   * the connection, the task asks again.
   */
  readonly answer: (key: string, answer: InputResponse) => Promise<void>;
  /** Resolves to the result of the call, or rejects with a `CallError`. Works whether or not you read the events. */
  readonly result: () => Promise<CallResult>;
  /**
   * Cancels the call, and its task if it has become one. Resolves when the server has confirmed it. Rejects if the
   * server cannot be reached, in which case the journal keeps the call so that you can cancel it again.
   */
  readonly cancel: () => Promise<void>;
}

/** 2025-11-25: the request that waits for the answer to a pushed question. */
interface PushedQuestion {
  readonly resolve: (answer: InputResponse) => void;
  readonly reject: (reason: unknown) => void;
}

export interface OngoingOptions {
  /** True for `connection.call`, where the application does not read the events. */
  readonly isCalled: boolean;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly taskParams?: TaskParams | undefined;
  /** True if another process or an earlier connection started the call. */
  readonly isResumed: boolean;
  readonly onEnd: () => void;
}

export class OngoingCall implements Call, AskableCall {
  readonly #services: CallServices;
  readonly #trace: CallTrace | undefined;
  readonly #options: OngoingOptions;
  readonly #events = new EventQueue<CallEvent>();
  readonly #stop = new AbortController();
  readonly #time: ServerTime;
  readonly #questions: CallQuestions;
  readonly #stream: CallStream | undefined;
  readonly #outcome: Promise<Members>;
  /** 2025-11-25: the questions that the server pushed, by key. */
  readonly #pushed = new Map<string, PushedQuestion>();
  #pushes = 0;
  readonly #names = new QuestionNames();
  #state: CallState;
  #kept: Promise<void> = Promise.resolve();
  /** Settles when the server has confirmed that it cancels the task, or could not. */
  #cancelled: Promise<void> | undefined;
  #isOver = false;
  /** True if nothing can come after the server's last response, whatever it says. */
  #isFinal = false;

  constructor(services: CallServices, state: CallState, options: OngoingOptions) {
    const trace = callTrace(state, () => this.#state);
    this.#trace = trace;
    this.#services = trace === undefined ? services : trace.traced(services);
    this.#state = trace === undefined ? state : withTrace(state, trace);
    this.#options = options;
    this.#time = new ServerTime(options.timeoutMs, (error) => this.fail(error));
    const hooks = { record: this.#record, hold: this.#time.hold, fail: this.fail };
    this.#questions = new CallQuestions(services.answerers, hooks, options.isCalled);
    if (services.streams && !options.isCalled) {
      const onPart = (read: () => Part | undefined) => this.#events.pushLater(partEvent(read));
      this.#stream = new CallStream(services.limits.streamBytes, onPart, state.streamed);
    }
    const { signal } = options;
    signal?.addEventListener("abort", this.#onAbort);
    if (signal?.aborted === true) this.#onAbort();
    this.#outcome = this.#run();
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

  /** The result as the server sent it, for prompts and resources. */
  readonly raw = async (): Promise<Members> => {
    const result = await this.#outcome;
    // The result matters more than a tidy journal. At worst, a call that is done stays in it.
    await this.#forget().catch(() => {});
    return result;
  };

  readonly result = async (): Promise<CallResult> => callResult(await this.raw());

  readonly cancel = async (): Promise<void> => {
    if (!this.#isOver) {
      const { taskId } = this.#state;
      if (taskId !== undefined) this.#cancelled ??= this.#cancelTask(taskId);
      this.fail(new CallError("cancelled", "The call was cancelled.", { taskId }));
    }
    try {
      await this.#cancelled;
    } catch (error) {
      throw this.#notCancelled(error);
    }
  };

  /** A task of another process may belong to another user. The server shows it only to that user. */
  #cancelTask(taskId: string): Promise<void> {
    const mayBeHidden = this.#options.isResumed && this.#isRecent();
    return cancelTask(this.#services, taskId, mayBeHidden);
  }

  readonly #onAbort = (): void => void this.cancel().catch(() => {});

  /** Ends the call from outside. */
  readonly fail = (error: unknown): void => this.#stop.abort(error);

  readonly hold = (): (() => void) => this.#time.hold();

  /** 2025-11-25: asks a question that came as a request. `unwanted` aborts if the server cancels that request. */
  readonly push = (asked: OpenQuestion, unwanted: AbortSignal): Promise<InputResponse> =>
    new Promise((resolve, reject) => {
      this.#pushes += 1;
      const key = this.#names.unique(asked.key);
      const question = { ...asked, key };
      try {
        if (this.#pushes > this.#services.limits.taskQuestions) throw tooMany(this.#pushes - 1);
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
      this.#questions.ask([question]);
      this.#events.push({ type: "asked", questions: [question], ref: referenceTo(this.#state) });
    });

  async #run(): Promise<Members> {
    try {
      const result = await this.#finish();
      this.#end();
      this.#trace?.end(this.#state, result);
      this.#events.push({ type: "done", result: callResult(result) });
      this.#events.end(() => this.#forget().catch(() => {}));
      return result;
    } catch (error) {
      this.#end();
      const reported = await this.#reported(error);
      this.#trace?.fail(this.#state, reported);
      this.#events.fail(reported);
      throw reported;
    }
  }

  async #finish(): Promise<Members> {
    const { result, method } = this.#state;
    if (result !== undefined) return result;
    await this.#move({});
    const response = await this.#drive();
    this.#isFinal = true;
    const final = finalResult(method, response);
    // The journal keeps the result until the application takes it, so that a crash does not cost the work. If that
    // fails, the application still gets the result.
    await this.#move({ result: final, questions: new Map(), answers: new Map() }).catch(() => {});
    return final;
  }

  #drive(): Promise<Members> {
    const call = this.#active();
    const { legacy } = this.#services;
    const { name, taskId, isLegacy } = this.#state;
    if (this.#options.isResumed) {
      if ((legacy !== undefined) !== isLegacy) throw otherEra(this.#state, this.#services.era);
      if (isLegacy && taskId === undefined) {
        this.#isFinal = true;
        throw sessionOver();
      }
    }
    if (legacy === undefined) return this.#driveModern(call);
    return legacy.turn(() => runLegacyCall(call, () => legacy.toolOf(name)));
  }

  async #driveModern(call: ActiveCall): Promise<Members> {
    const { taskId: resumed } = this.#state;
    if (resumed !== undefined) return followTask(call, { taskId: resumed, isDue: true });
    const outcome = await runRounds(call);
    if (outcome.kind === "complete") return outcome.result;
    const task = createdTask(outcome.task);
    const { taskId } = task;
    await call.move({
      taskId,
      expiresAt: expiryOf(task),
      requestState: undefined,
      questions: new Map(),
      answers: new Map(),
    });
    call.emit({ type: "task", taskId, ref: call.ref() });
    return followTask(call, task);
  }

  #active(): ActiveCall {
    const services = this.#services;
    return {
      services,
      questions: this.#questions,
      signal: this.#stop.signal,
      state: () => this.#state,
      move: this.#move,
      ref: () => referenceTo(this.#state),
      emit: (event) => this.#events.push(event),
      logLevel: this.#options.isCalled ? undefined : services.logLevel,
      stream: this.#stream,
      isPaused: () => this.#questions.isOpen || services.legacy?.isAsking === true,
      names: this.#names,
      isResumed: this.#options.isResumed,
      taskParams: this.#options.taskParams,
    };
  }

  readonly #move = async (change: Partial<CallState>): Promise<void> => {
    const changedAt = Object.keys(change).length === 0 ? this.#state.changedAt : Date.now();
    this.#state = { ...this.#state, ...change, changedAt };
    if (this.#stream !== undefined) {
      const streamed = this.#state.result === undefined ? this.#stream.kept : undefined;
      this.#state = { ...this.#state, streamed };
    }
    const { journal } = this.#services;
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

  /** Adds a reference to the error, unless the error proves that the call has ended. Then the journal forgets it. */
  async #reported(thrown: unknown): Promise<unknown> {
    const { taskId } = this.#state;
    if (this.#canContinue(thrown)) {
      const ref = referenceTo(this.#state);
      // An error of the application's own, such as one of its auth provider, stays what it is.
      if (!(thrown instanceof CallError)) return withReference(thrown, ref);
      return withPlace(thrown, { ref, taskId });
    }
    try {
      await this.#cancelled;
    } catch (error) {
      return this.#notCancelled(error);
    }
    await this.#forget().catch(() => {});
    return thrown instanceof CallError ? withPlace(thrown, { taskId }) : thrown;
  }

  #canContinue(error: unknown): boolean {
    const { taskId, isLegacy } = this.#state;
    if (this.#isFinal || (isLegacy && taskId === undefined)) return false;
    const isFirst = this.#isFirst();
    if (!(error instanceof CallError)) return !isFirst || !(error instanceof UnauthorizedError);
    const verdict = verdictOf(error, isFirst);
    return verdict === "open" || (verdict === "refused" && this.#isRecent());
  }

  /** True until the server has responded to the first request of the call. */
  #isFirst(): boolean {
    const { rounds, stateRounds, taskId } = this.#state;
    return !this.#options.isResumed && rounds + stateRounds === 0 && taskId === undefined;
  }

  /** False if the call is so old that a refusal means its end. */
  #isRecent(): boolean {
    const { since, changedAt = since, expiresAt = 0 } = this.#state;
    const { refusedMs } = this.#services.limits;
    return Date.now() <= Math.max(changedAt + refusedMs, expiresAt);
  }

  /** The call stays in the journal, because its task may still have effects that are no longer wanted. */
  #notCancelled(cause: unknown): CallError {
    const { taskId } = this.#state;
    const code = cause instanceof CallError ? cause.code : "server_down";
    const message =
      `The call ended here, but its task could not be cancelled and may still be running: ${errorText(cause)} ` +
      "Resume the call with error.ref and cancel it again, or remove it from the journal with forget(error.ref).";
    return new CallError(code, message, { ref: referenceTo(this.#state), taskId, cause });
  }

  async #forget(): Promise<void> {
    await this.#kept.catch(() => {});
    await this.#services.journal?.delete(this.id);
  }

  #end(): void {
    this.#isOver = true;
    this.#time.stop();
    this.#questions.end();
    for (const { reject } of this.#pushed.values()) reject(this.#stop.signal.reason);
    this.#pushed.clear();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#options.onEnd();
  }
}

/** A resumed call keeps the span that it began with. */
const withTrace = (state: CallState, { traceparent }: CallTrace): CallState =>
  state.traceparent === undefined ? { ...state, traceparent } : state;

/** The same error, with the reference of its call as `ref`. */
function withReference(error: unknown, ref: string): unknown {
  return error instanceof Error && Object.isExtensible(error)
    ? Object.assign(error, { ref })
    : error;
}

const tooMany = (questions: number) =>
  new CallError(
    "too_many_rounds",
    `The server asked more than ${questions} questions in one call. If you expect that many, raise limits.taskQuestions.`,
  );

const otherEra = (state: CallState, era: Era) =>
  new CallError(
    "bad_reference",
    `That call began in protocol version ${eraOf(state)}, and this connection speaks ${era}. ` +
      `Connect with era: "${eraOf(state)}" and resume the call there.`,
  );

const sessionOver = () =>
  new CallError(
    "bad_reference",
    "That call was part of a 2025-11-25 session, which ended with its connection. Call again if that is safe.",
  );
