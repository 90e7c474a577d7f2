// The open questions of one call, and how they are answered. Each key is answered once.

import type { InputResponse } from "@modelcontextprotocol/client";
import { unhandledQuestion } from "./answerers.ts";
import type { Answerers } from "./answerers.ts";
import { CallError } from "./errors.ts";
import { answerTo } from "./check-answer.ts";
import type { OpenQuestion } from "./question.ts";

/** What the questions need from their call. */
export interface QuestionHooks {
  /** Stores the answer. Resolves when it is durable. */
  readonly record: (key: string, answer: InputResponse) => Promise<void>;
  /** Stops the clock of the call until the returned function is called. */
  readonly hold: () => () => void;
  /** Ends the call with an error. */
  readonly fail: (error: unknown) => void;
}

interface PendingAnswer {
  readonly question: OpenQuestion;
  readonly release: () => void;
  /** Aborts when the answer is no longer needed. */
  readonly unwanted: AbortController;
  /** True while the answer is being stored. */
  isTaken: boolean;
}

export class CallQuestions {
  readonly #answerers: Answerers;
  readonly #hooks: QuestionHooks;
  readonly #isCalled: boolean;
  readonly #open = new Map<string, PendingAnswer>();
  #handled: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<() => void>();

  /** `isCalled`: the application does not read the events. */
  constructor(answerers: Answerers, hooks: QuestionHooks, isCalled: boolean) {
    this.#answerers = answerers;
    this.#hooks = hooks;
    this.#isCalled = isCalled;
  }

  /** Throws if one of the questions cannot be answered, before the person sees any of them. */
  check(questions: readonly OpenQuestion[]): void {
    for (const question of questions) {
      const answerer = this.#answerers.for(question.kind);
      if (answerer === undefined) throw unhandledQuestion(question, false);
      if (answerer === "events" && this.#isCalled) throw unhandledQuestion(question, true);
    }
  }

  ask(questions: readonly OpenQuestion[]): void {
    for (const question of questions) {
      const unwanted = new AbortController();
      const open = { question, release: this.#hooks.hold(), unwanted, isTaken: false };
      this.#open.set(question.key, open);
      if (this.#answerers.for(question.kind) === "handler") this.#handle(open);
    }
  }

  /** Handlers run one after another, because there is one person at one screen. */
  #handle(open: PendingAnswer): void {
    const { question, unwanted } = open;
    const isOpen = () => this.#open.get(question.key) === open;
    this.#handled = this.#handled.then(async () => {
      if (!isOpen()) return;
      try {
        const answer = await this.#answerers.answer(question, unwanted.signal);
        if (isOpen()) await this.#take(question.key, answer);
      } catch (error) {
        if (isOpen()) this.#hooks.fail(error);
      }
    });
  }

  /** Takes an answer from the application. Rejects if it does not fit, and the question stays open. */
  readonly answer = async (key: string, given: unknown): Promise<void> => {
    const open = this.#open.get(key);
    if (open === undefined) throw notOpen(key);
    await this.#take(key, answerTo(open.question, given));
  };

  async #take(key: string, answer: InputResponse): Promise<void> {
    const open = this.#open.get(key);
    if (open === undefined || open.isTaken) throw notOpen(key);
    open.isTaken = true;
    try {
      await this.#hooks.record(key, answer);
    } catch (error) {
      // The call must not continue with an answer that could not be stored.
      this.#hooks.fail(error);
      throw error;
    }
    this.#close(key);
  }

  /** Undefined if the question is not open. */
  get = (key: string): OpenQuestion | undefined => this.#open.get(key)?.question;

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  get keys(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Closes a question that the server no longer asks. False if it was not open, or is being answered. */
  withdraw(key: string): boolean {
    const open = this.#open.get(key);
    if (open === undefined || open.isTaken) return false;
    open.unwanted.abort();
    this.#close(key);
    return true;
  }

  #close(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    open.release();
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after every answer and withdrawal, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the next answer or withdrawal, or at once if no question is open. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        stop();
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const onChange = () => {
        end();
        resolve();
      };
      const stop = this.listen(onChange);
      if (signal.aborted) return onAbort();
      if (!this.isOpen) return onChange();
      signal.addEventListener("abort", onAbort);
    });
  }

  /** The call is over, so no answer is needed any more. */
  end(): void {
    const left = [...this.#open.values()];
    this.#open.clear();
    for (const { release, unwanted } of left) {
      unwanted.abort();
      release();
    }
  }
}

const notOpen = (key: string) =>
  new CallError(
    "bad_answer",
    `Question "${key}" is not open. It was not asked, or it is already answered.`,
  );
