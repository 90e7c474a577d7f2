// The events of a call, and the queue that takes them to the code that iterates over the call.

import type { LoggingLevel } from "@modelcontextprotocol/client";
import type { Part } from "./part.ts";
import type { OpenQuestion } from "./question.ts";
import type { CallResult } from "./result.ts";

/** Something that happened in a call. Events come in order, and `type` tells them apart. */
export type CallEvent =
  | {
      /** The server asked one or more questions. Answer each with `call.answer`, unless a handler does. */
      readonly type: "asked";
      /** The questions that are new with this event. */
      readonly questions: readonly OpenQuestion[];
      /** A reference to the call at this point. Save it before you wait for a person. */
      readonly ref: string;
    }
  | {
      /** A question was answered, and the answer is stored. */
      readonly type: "answered";
      /** The question that was answered. */
      readonly key: string;
    }
  | {
      /** The server no longer needs the answer to a question. Close its dialog. */
      readonly type: "withdrawn";
      /** The question that was withdrawn. */
      readonly key: string;
    }
  | {
      /** The call became a task, which continues on the server even if this process ends. */
      readonly type: "task";
      /** The id of the task on the server. */
      readonly taskId: string;
      /** A reference to the call at this point. */
      readonly ref: string;
    }
  | {
      /** The server reported progress. If events wait to be read, only the newest progress of a series is kept. */
      readonly type: "progress";
      /** How much is done, in a unit of the server's choice. */
      readonly done?: number | undefined;
      /** How much there is to do, in the same unit. */
      readonly total?: number | undefined;
      /** What the server is doing, in words. */
      readonly message?: string | undefined;
    }
  | {
      /**
       * The server logged something, and `connect` asked for it with `logLevel`. At most 1000 wait to be read; after
       * that, the oldest is dropped.
       */
      readonly type: "log";
      /** How severe it is. */
      readonly level: LoggingLevel;
      /** What was logged: any JSON value, often a text. */
      readonly data: unknown;
      /** The part of the server that logged it. */
      readonly logger?: string | undefined;
    }
  | ({
      /**
       * The server sent a part of what the call streams. You need not read parts: those of one block that wait are joined
       * into one event. With "reset" the server takes back what it sent of the block.
       */
      readonly type: "part";
    } & Part)
  | {
      /** The call has a result. This is the last event. */
      readonly type: "done";
      /** The result, the same as `call.result()` resolves to. */
      readonly result: CallResult;
    };

const mostLogs = 1_000;

/** Holds events until they are read. */
export class EventQueue<E extends { readonly type: string; readonly ref?: string }> {
  /** A function makes its event when it is read. */
  readonly #queue: (E | (() => E | undefined))[] = [];
  readonly #takers: (() => void)[] = [];
  /** How many log messages wait. */
  #logs = 0;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #onDrained: (() => Promise<void>) | undefined;

  push(event: E): void {
    if (this.#isOver) return;
    // Keeps only the newest of a series, because a server can send progress without end.
    if (event.type === "progress" && typeOf(this.#queue.at(-1)) === "progress") this.#queue.pop();
    if (event.type === "log") this.#countLog();
    if (event.ref !== undefined) this.#refresh(event.ref);
    this.#queue.push(event);
    this.#takers.shift()?.();
  }

  /** Adds an event that is made when it is read. Undefined: there is nothing to read any more. */
  pushLater(make: () => E | undefined): void {
    if (this.#isOver) return;
    this.#queue.push(make);
    this.#takers.shift()?.();
  }

  /** A server can also log without end, so only the newest messages are kept. */
  #countLog(): void {
    this.#logs += 1;
    if (this.#logs <= mostLogs) return;
    this.#logs -= 1;
    const oldest = this.#queue.findIndex((one) => typeOf(one) === "log");
    this.#queue.splice(oldest, 1);
  }

  /** A reference can be megabytes long, so events that are still unread share the newest one. It continues them all. */
  #refresh(ref: string): void {
    for (const [index, event] of this.#queue.entries()) {
      if (typeof event === "object" && event.ref !== undefined) {
        this.#queue[index] = { ...event, ref };
      }
    }
  }

  /** `onDrained` runs when the reader comes back after the last event, which shows that it has processed it. */
  end(onDrained?: () => Promise<void>): void {
    this.#isOver = true;
    this.#onDrained = onDrained;
    for (const taker of this.#takers.splice(0)) taker();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async next(): Promise<IteratorResult<E, undefined>> {
    for (;;) {
      const queued = this.#queue.shift();
      if (queued !== undefined) {
        const event = typeof queued === "function" ? queued() : queued;
        if (event === undefined) continue;
        if (event.type === "log") this.#logs -= 1;
        return { done: false, value: event };
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#isOver) {
        await this.#onDrained?.();
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => void this.#takers.push(resolve));
    }
  }

  /** Leaving a loop early stops the reading, not the call. */
  iterator(): AsyncIterator<E, undefined> {
    return { next: () => this.next(), return: async () => ({ done: true, value: undefined }) };
  }
}

const typeOf = (queued: { readonly type: string } | (() => unknown) | undefined) =>
  typeof queued === "object" ? queued.type : undefined;
