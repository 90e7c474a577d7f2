// The open questions of one call, and the answers on their way in. One key is answered once.

import type { InputResponse } from "@modelcontextprotocol/client";
import { CallError } from "./errors.ts";
import { answerTo } from "./form-answer.ts";
import type { Pending } from "./pending.ts";
import { unhandled } from "./people.ts";
import type { People } from "./people.ts";

export interface QuestionHooks {
  /** Keeps the answer; resolves when it cannot get lost any more. */
  readonly record: (key: string, answer: InputResponse) => Promise<void>;
  /** Somebody is thinking from here on, until the function returned is called. */
  readonly hold: () => () => void;
  readonly fail: (error: unknown) => void;
}

interface Open {
  readonly question: Pending;
  readonly goOn: () => void;
  /** Aborts when nobody wants the answer any more. */
  readonly unwanted: AbortController;
  /** Its answer is being kept. */
  isTaken: boolean;
}

export class Questions {
  readonly #people: People;
  readonly #hooks: QuestionHooks;
  readonly #isCalled: boolean;
  readonly #open = new Map<string, Open>();
  #handled: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<() => void>();

  /** `isCalled`: nobody reads the events. */
  constructor(people: People, hooks: QuestionHooks, isCalled: boolean) {
    this.#people = people;
    this.#hooks = hooks;
    this.#isCalled = isCalled;
  }

  /** Fails closed, before anybody is asked anything. */
  check(questions: readonly Pending[]): void {
    for (const question of questions) {
      const who = this.#people.who(question.kind);
      if (who === undefined) throw unhandled(question, false);
      if (who === "events" && this.#isCalled) throw unhandled(question, true);
    }
  }

  put(questions: readonly Pending[]): void {
    for (const question of questions) {
      const unwanted = new AbortController();
      const open = { question, goOn: this.#hooks.hold(), unwanted, isTaken: false };
      this.#open.set(question.key, open);
      if (this.#people.who(question.kind) === "handler") this.#handle(open);
    }
  }

  /** One after the other: there is one person, and one terminal. */
  #handle(open: Open): void {
    const { question, unwanted } = open;
    const isOpen = () => this.#open.get(question.key) === open;
    this.#handled = this.#handled.then(async () => {
      if (!isOpen()) return;
      try {
        const answer = await this.#people.answer(question, unwanted.signal);
        if (isOpen()) await this.#take(question.key, answer);
      } catch (error) {
        if (isOpen()) this.#hooks.fail(error);
      }
    });
  }

  /** From outside. Rejects where it does not fit, and the question stays open. */
  readonly answer = async (key: string, given: unknown): Promise<void> => {
    const open = this.#open.get(key);
    if (open === undefined) throw notAsked(key);
    await this.#take(key, answerTo(open.question, given));
  };

  async #take(key: string, answer: InputResponse): Promise<void> {
    const open = this.#open.get(key);
    if (open === undefined || open.isTaken) throw notAsked(key);
    open.isTaken = true;
    try {
      await this.#hooks.record(key, answer);
    } catch (error) {
      // What cannot be kept must not be gone on with.
      this.#hooks.fail(error);
      throw error;
    }
    this.#close(key);
  }

  /** Undefined of one that is not open. */
  get = (key: string): Pending | undefined => this.#open.get(key)?.question;

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  get keys(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** The server no longer wants it. False: it was not open, or is being answered. */
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
    open.goOn();
    for (const listener of this.#listeners) listener();
  }

  /** To every answer and withdrawal; returns how to stop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the next answer or withdrawal, or when there is nothing to wait for. */
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

  /** The call is over; whoever is still thinking may stop. */
  end(): void {
    const left = [...this.#open.values()];
    this.#open.clear();
    for (const { goOn, unwanted } of left) {
      unwanted.abort();
      goOn();
    }
  }
}

const notAsked = (key: string) =>
  new CallError(
    "bad_answer",
    `Question "${key}" is not open: it was not asked, or is answered already.`,
  );
