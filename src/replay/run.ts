// Runs a handler against what it has already been told.
//
// A handler is an ordinary async function. It suspends by awaiting a promise that is never settled, and
// resumes by being run again from its top, with every operation it did before answered from the journal.
// The rules, R1 to R15, are in ARCHITECTURE.md; comments here name the rule they keep.
//
// This file holds a run's two ends. What happens between them, from the first operation on, is in
// playback.ts; a handler that uses no operation never gets there (R15).

import * as faults from "./author-errors.ts";
import { Handed, Question } from "./promises.ts";
import type { Carrier } from "./carrier.ts";
import type { Asking, BackgroundOptions, Body, Operations, StepOptions } from "./operations.ts";
import type { Outcome } from "./outcome.ts";
import type { Inbox } from "./inbox.ts";
import { isEffect } from "./journal.ts";
import type { Journal } from "./journal.ts";
import type { Operation, QuestionOperation, StepOperation } from "./operation.ts";
import { Playback } from "./playback.ts";
import { Stopped } from "./stop.ts";
import type { Stoppable, StopReason } from "./stop.ts";

export type Handler<I, T> = (input: I, operations: Operations) => T | PromiseLike<T>;

/** What a run begins with. Looked at when the handler uses an operation, so a carrier may make it then (R15). */
export interface Told {
  readonly journal: Journal;
  readonly inbox: Inbox;
}

/** One execution of the handler. Always resolves: a handler that throws, fails. */
export function run<I, T>(
  handler: Handler<I, T>,
  input: I,
  told: Told,
  hooks: Carrier,
): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    new Run<T>(told, hooks, resolve).start(handler, input);
  });
}

class Run<T> implements Operations, Stoppable {
  readonly #told: Told;
  readonly #hooks: Carrier;
  /** Undefined once the run has ended (R1). */
  #resolve: ((outcome: Outcome<T>) => void) | undefined;
  #playback: Playback | undefined;
  #controller: AbortController | undefined;
  #stoppedFor: StopReason | undefined;
  #releases: (() => void)[] | undefined;
  #checkpoints = 0;
  #backgrounds = 0;

  constructor(told: Told, hooks: Carrier, resolve: (outcome: Outcome<T>) => void) {
    this.#told = told;
    this.#hooks = hooks;
    this.#resolve = resolve;
  }

  start<I>(handler: Handler<I, T>, input: I): void {
    const { stop } = this.#hooks;
    if (stop !== undefined) {
      if (stop.reason !== undefined) return this.stop(stop.reason);
      stop.add(this);
    }
    let result: T | PromiseLike<T>;
    try {
      result = handler(input, this);
    } catch (error) {
      return this.#fail(error);
    }
    Promise.resolve(result).then(
      (value) => this.#returned(value),
      (error: unknown) => this.#fail(error),
    );
  }

  // ---------------------------------------------------------------- what the handler calls

  ask(key: string, asking: Asking): Question<unknown> {
    const { promise, resolve, reject } = pending();
    const place = this.#hooks.place?.();
    const operation: QuestionOperation = {
      kind: "question",
      key,
      place,
      resolve,
      reject,
      state: "outstanding",
      asking,
      isAwaited: false,
      reason: undefined,
    };
    this.#request(operation);
    return new Question(key, promise, () => {
      operation.isAwaited = true;
    });
  }

  step(key: string, body: Body, options?: StepOptions): Promise<unknown> {
    return this.#step(key, body, options, false);
  }

  aside(key: string, body: Body): Promise<unknown> {
    return this.#step(`${key}${asideMark}`, body, undefined, true);
  }

  #step(
    key: string,
    body: Body,
    options: StepOptions | undefined,
    isAside: boolean,
  ): Promise<unknown> {
    const { promise, resolve, reject } = pending();
    const place = this.#hooks.place?.();
    const state = "outstanding";
    const fault = faults.badStep(key, body, options);
    if (fault !== undefined) {
      this.#fail(fault);
      return new Handed(promise);
    }
    const operation: StepOperation = {
      kind: "step",
      key,
      place,
      resolve,
      reject,
      state,
      body,
      options,
      within: this.#hooks.capture?.(),
      isAside,
      isAwaited: false,
    };
    this.#request(operation);
    return new Question(key, promise, () => {
      operation.isAwaited = true;
    });
  }

  sleep(key: string, ms: number): Promise<unknown> {
    const { promise, resolve, reject } = pending();
    const place = this.#hooks.place?.();
    this.#request({ kind: "timer", key, place, resolve, reject, state: "outstanding", ms });
    return new Handed(promise);
  }

  background(options: BackgroundOptions = {}): Promise<unknown> {
    this.#backgrounds += 1;
    const key = `~background-${this.#backgrounds}`;
    const { promise, resolve, reject } = pending();
    const place = this.#hooks.place?.();
    const state = "outstanding";
    this.#request({ kind: "background", key, place, resolve, reject, state, options });
    return new Handed(promise);
  }

  checkpoint(afterMs?: number): Promise<unknown> {
    this.#checkpoints += 1;
    const key = `~checkpoint-${this.#checkpoints}`;
    const { promise, resolve, reject } = pending();
    const place = this.#hooks.place?.();
    const state = "outstanding";
    this.#request({ kind: "checkpoint", key, place, resolve, reject, state, afterMs });
    return new Handed(promise);
  }

  refuse(key: string, mistake: Error): Question<unknown> {
    this.#fail(mistake);
    return new Question(key, pending().promise, () => {});
  }

  isLive(): boolean {
    if (this.#playback !== undefined) return this.#playback.isLive();
    const { entries, out } = this.#told.journal;
    return entries.length === 0 && out.length === 0;
  }

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stoppedFor !== undefined) this.#controller.abort(new Stopped(this.#stoppedFor));
    }
    return this.#controller.signal;
  }

  onRunEnd(release: () => void): void {
    if (this.#resolve === undefined) this.#release(release);
    else (this.#releases ??= []).push(release);
  }

  /** Where the run has ended, or ends by this request, nobody settles its promise (R1, R10). */
  #request(operation: Operation): void {
    if (this.#resolve === undefined) {
      this.#report(faults.usedAfterEnd(this.#hooks.name, operation));
      return;
    }
    const fault = this.#faultOf(operation);
    if (fault === undefined) this.#play().request(operation);
    else this.#fail(fault);
  }

  #faultOf(operation: Operation): Error | undefined {
    const { nesting, name } = this.#hooks;
    const inside = this.#playback?.calling ?? nesting?.current();
    if (inside !== undefined) return faults.nested(operation, inside);
    return isGoodKey(operation) ? undefined : faults.badKey(name, operation.key);
  }

  #play(): Playback {
    this.#playback ??= new Playback(this.#told.journal, this.#told.inbox, this.#hooks, {
      isOver: () => this.#resolve === undefined,
      fail: (error) => this.#fail(error),
      stop: (reason) => this.stop(reason),
      suspend: (outcome) => this.#end(outcome),
    });
    return this.#playback;
  }

  // ---------------------------------------------------------------- ends

  #returned(value: T, hops = 3): void {
    if (hops > 0 && this.#playback?.hasForgotten === true) {
      // A question asked in this very moment: `await` calls its `then` a microtask later, and a combinator
      // around it up to three.
      queueMicrotask(() => this.#returned(value, hops - 1));
      return;
    }
    const objection = this.#playback === undefined ? this.#missed() : this.#playback.objection();
    if (objection !== undefined) return this.#fail(objection);
    this.#end({ kind: "done", value, entries: this.#entries() });
  }

  #missed(): Error | undefined {
    const missed = this.#told.journal.entries.find(isEffect);
    return missed && faults.diverged(this.#hooks.name, missed, "returned");
  }

  #fail(error: unknown): void {
    this.#end({ kind: "failed", error, entries: this.#entries() });
  }

  stop(reason: StopReason): void {
    this.#end({ kind: "stopped", reason });
  }

  /** Exactly once, whatever comes after it (R1). */
  #end(outcome: Outcome<T>): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#hooks.stop?.remove(this);
    if (outcome.kind === "stopped") {
      // Suspending is no reason to abort (R12): what the handler's own signal guards may go on.
      this.#stoppedFor = outcome.reason;
      this.#controller?.abort(new Stopped(outcome.reason));
    }
    try {
      this.#playback?.close(this.#stoppedFor ?? "RunEnded");
      for (const release of this.#releases ?? []) this.#release(release);
    } finally {
      resolve(outcome);
    }
  }

  #entries(): Journal["entries"] {
    return this.#playback?.entries ?? this.#told.journal.entries;
  }

  #release(release: () => unknown): void {
    try {
      const released = release();
      if (released instanceof Promise) released.catch((error: unknown) => this.#report(error));
    } catch (error) {
      this.#report(error);
    }
  }

  /** A mistake the outcome cannot tell. That telling it goes wrong is nothing the run could still mend. */
  #report(mistake: unknown): void {
    try {
      this.#hooks.report?.(mistake);
    } catch {}
  }
}

const asideMark = "~aside";

interface Pending {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function pending(): Pending {
  let resolve: Pending["resolve"] | undefined;
  let reject: Pending["reject"] | undefined;
  const promise = new Promise<unknown>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  if (resolve === undefined || reject === undefined) throw new Error("executors run at once");
  return { promise, resolve, reject };
}

// "~" is kept for the engine's own keys, and for the wire keys of questions that are asked again.
function isGoodKey(operation: Operation): boolean {
  const { kind } = operation;
  if (kind === "background" || kind === "checkpoint") return true;
  const key =
    kind === "step" && operation.isAside
      ? operation.key.slice(0, -asideMark.length)
      : operation.key;
  return typeof key === "string" && key.length > 0 && key.length <= 200 && !key.includes("~");
}
