// Runs a handler once.
//
// A handler is an ordinary async function. It suspends by awaiting a promise that is never settled. It resumes by being
// called again from its top, where each operation that it did before gets its outcome from the journal. ARCHITECTURE.md
// has the rules, R1 to R17; comments here name the rule that they keep.
//
// This file has the start and the end of a run. Everything between, from the first operation on, is in playback.ts; a
// handler that uses no operation never gets there (R15).

import * as authorErrors from "./author-errors.ts";
import { HandlerPromise, OperationPromise, pending } from "./promises.ts";
import type { Question } from "./promises.ts";
import type { Carrier } from "./carrier.ts";
import type {
  BackgroundOptions,
  Body,
  Operations,
  QuestionSpec,
  StepSettings,
} from "./operations.ts";
import type { Outcome } from "./outcome.ts";
import type { Inbox } from "./inbox.ts";
import { isEffect, patchedKeys } from "./journal.ts";
import { awaitedAfterEnd, endWatch, endWatchSoon, watchStart } from "./kept-promises.ts";
import type { StartingRun } from "./kept-promises.ts";
import type { Journal } from "./journal.ts";
import type { Operation, QuestionOperation, StepOperation } from "./requested.ts";
import type { PatchOperation } from "./patches.ts";
import { Playback } from "./playback.ts";
import { Stopped } from "./stop.ts";
import type { Stoppable, StopReason } from "./stop.ts";

/** A handler, as the engine calls it. */
export type Handler<I, T> = (input: I, operations: Operations) => T | PromiseLike<T>;

/**
 * What a run starts with. The engine reads it when the handler uses its first operation, so a carrier may compute it then
 * (R15).
 */
export interface History {
  readonly journal: Journal;
  readonly inbox: Inbox;
}

/** Executes the handler once. The promise always resolves; if the handler throws, the outcome is `failed`. */
export function run<I, T>(
  handler: Handler<I, T>,
  input: I,
  history: History,
  carrier: Carrier,
): Promise<Outcome<T>> {
  return runTo(handler, input, history, carrier, (outcome) => outcome);
}

/** The same, and resolves to what `finish` makes of the outcome. One promise less is a measurable share of a short call. */
export function runTo<I, T, R>(
  handler: Handler<I, T>,
  input: I,
  history: History,
  carrier: Carrier,
  finish: (outcome: Outcome<T>) => R | Promise<R>,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const end = (outcome: Outcome<T>) => {
      try {
        resolve(finish(outcome));
      } catch (error) {
        reject(error);
      }
    };
    new Run<T>(history, carrier, end).start(handler, input);
  });
}

class Run<T> implements Operations, Stoppable {
  readonly #history: History;
  readonly #carrier: Carrier;
  /** Undefined once the run has ended (R1). */
  #resolve: ((outcome: Outcome<T>) => void) | undefined;
  #playback: Playback | undefined;
  #controller: AbortController | undefined;
  #stoppedFor: StopReason | undefined;
  #releases: (() => void)[] | undefined;
  #checkpoints = 0;
  #backgrounds = 0;

  constructor(history: History, carrier: Carrier, resolve: (outcome: Outcome<T>) => void) {
    this.#history = history;
    this.#carrier = carrier;
    this.#resolve = resolve;
  }

  start<I>(handler: Handler<I, T>, input: I): void {
    const { stop, drain } = this.#carrier;
    if (stop !== undefined) {
      if (stop.reason !== undefined) return this.stop(stop.reason);
      stop.add(this);
    }
    if (drain !== undefined) {
      if (drain.reason !== undefined) return this.stop(drain.reason);
      const listener = { stop: (reason: StopReason) => this.#drain(reason) };
      drain.add(listener);
      this.onRunEnd(() => drain.remove(listener));
    }
    const watched = this.#isLater() ? this.#watchForKept() : undefined;
    let result: T | PromiseLike<T>;
    try {
      result = handler(input, this);
    } catch (error) {
      if (watched !== undefined) endWatch(watched);
      return this.#fail(error);
    }
    if (watched !== undefined) {
      if (this.#playback === undefined) void endWatchSoon(watched);
      else endWatch(watched);
    }
    Promise.resolve(result).then(
      (value) => this.#returned(value),
      (error: unknown) => this.#fail(error),
    );
  }

  // ---------------------------------------------------------------- what the handler calls

  ask(key: string, spec: QuestionSpec): Question<unknown> {
    const { promise, resolve, reject } = pending();
    const place = this.#carrier.place?.(key);
    const operation: QuestionOperation = {
      kind: "question",
      key,
      place,
      resolve,
      reject,
      state: "outstanding",
      spec,
      isAwaited: false,
      reason: undefined,
    };
    this.#request(operation);
    return new OperationPromise(key, promise, () => this.#awaited(operation));
  }

  step(key: string, body: Body, options?: StepSettings): Promise<unknown> {
    return this.#step(key, body, options, false);
  }

  aside(key: string, body: Body, options?: StepSettings): Promise<unknown> {
    return this.#step(`${key}${asideMark}`, body, options, true);
  }

  #step(
    key: string,
    body: Body,
    options: StepSettings | undefined,
    isAside: boolean,
  ): Promise<unknown> {
    const { promise, resolve, reject } = pending();
    const place = this.#carrier.place?.(key);
    const state = "outstanding";
    const mistake = authorErrors.badStep(key, body, options);
    if (mistake !== undefined) {
      this.#fail(mistake);
      return new HandlerPromise(promise);
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
      within: this.#carrier.capture?.(),
      isAside,
      isAwaited: false,
    };
    this.#request(operation);
    return new OperationPromise(key, promise, () => this.#awaited(operation));
  }

  sleep(key: string, ms: number): Promise<unknown> {
    const { promise, resolve, reject } = pending();
    const place = this.#carrier.place?.(key);
    this.#request({ kind: "timer", key, place, resolve, reject, state: "outstanding", ms });
    return new HandlerPromise(promise);
  }

  background(options: BackgroundOptions = {}): Promise<unknown> {
    this.#backgrounds += 1;
    const key = `~background-${this.#backgrounds}`;
    const { promise, resolve, reject } = pending();
    const place = this.#carrier.place?.(key);
    const state = "outstanding";
    this.#request({ kind: "background", key, place, resolve, reject, state, options });
    return new HandlerPromise(promise);
  }

  checkpoint(afterMs?: number): Promise<unknown> {
    this.#checkpoints += 1;
    const key = `~checkpoint-${this.#checkpoints}`;
    const { promise, resolve, reject } = pending();
    const place = this.#carrier.place?.(key);
    const state = "outstanding";
    this.#request({ kind: "checkpoint", key, place, resolve, reject, state, afterMs });
    return new HandlerPromise(promise);
  }

  patched(key: string): Promise<boolean> {
    const place = this.#carrier.place?.(key);
    return new HandlerPromise(
      new Promise((resolve) => {
        this.#request({ kind: "patched", key, place, resolve });
      }),
    );
  }

  refuse(key: string, mistake: Error): Question<unknown> {
    this.#fail(mistake);
    return new OperationPromise(key, pending().promise, () => {});
  }

  isLive(): boolean {
    return this.#playback === undefined ? !this.#isLater() : this.#playback.isLive();
  }

  journal(): Journal {
    return this.#history.journal;
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

  /** Whether an earlier run of this call has done something. */
  #isLater(): boolean {
    const { entries, out } = this.#history.journal;
    return entries.length > 0 || out.length > 0;
  }

  #watchForKept(): StartingRun {
    const { name } = this.#carrier;
    const onKept = (operation: authorErrors.NamedOperation) => {
      if (this.#playback === undefined) this.#fail(authorErrors.keptPromise(name, operation));
    };
    const starting = { name, onKept };
    watchStart(starting);
    return starting;
  }

  #awaited(operation: QuestionOperation | StepOperation): void {
    operation.isAwaited = true;
    const isLost = this.#resolve === undefined && operation.state !== "settled";
    if (isLost) awaitedAfterEnd(this.#carrier.name, operation);
  }

  /** If the run has ended, or this request ends it, the promise of the operation never settles (R1, R10). */
  #request(operation: Operation | PatchOperation): void {
    if (this.#resolve === undefined) {
      this.#report(authorErrors.usedAfterEnd(this.#carrier.name, operation));
      return;
    }
    const mistake = this.#mistakeIn(operation);
    if (mistake !== undefined) return this.#fail(mistake);
    if (operation.kind === "patched") this.#play().patched(operation);
    else this.#play().request(operation);
  }

  #mistakeIn(operation: Operation | PatchOperation): Error | undefined {
    const { nesting, name } = this.#carrier;
    const inside = this.#playback?.calling ?? nesting?.current();
    if (inside !== undefined) return authorErrors.nested(operation, inside);
    return isGoodKey(operation) ? undefined : authorErrors.badKey(name, operation.key);
  }

  #play(): Playback {
    this.#playback ??= new Playback(this.#history.journal, this.#history.inbox, this.#carrier, {
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
      // The question may have been asked at this very moment: `await` calls `then` one microtask later, and a combinator
      // such as `Promise.all` up to three.
      queueMicrotask(() => this.#returned(value, hops - 1));
      return;
    }
    const objection = this.#playback === undefined ? this.#missed() : this.#playback.objection();
    if (objection !== undefined) return this.#fail(objection);
    this.#end({ kind: "done", value, entries: this.#entries() });
  }

  #missed(): Error | undefined {
    const missed = this.#history.journal.entries.find(isEffect);
    return missed && authorErrors.diverged(this.#carrier.name, missed, "returned");
  }

  #fail(error: unknown): void {
    const isOlder = this.#playback === undefined ? this.#hasNote() : this.#playback.isOlder;
    const entries = this.#entries();
    this.#end({ kind: "failed", error, entries, ...(isOlder ? { isOlder } : {}) });
  }

  /** Without an operation, the handler has asked for no note. */
  #hasNote(): boolean {
    return patchedKeys(this.#history.journal.entries).length > 0;
  }

  stop(reason: StopReason): void {
    this.#end({ kind: "stopped", reason });
  }

  /** Ends the run at once if nothing is under way that will be recorded, and otherwise when that is recorded (R12). */
  #drain(reason: StopReason): void {
    if (this.#playback?.drain(reason) !== true) this.stop(reason);
  }

  /** Ends the run. Only the first call has an effect (R1). */
  #end(outcome: Outcome<T>): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#carrier.stop?.remove(this);
    if (outcome.kind === "stopped") {
      // A run that suspends does not abort the signal (R12), so work that depends on it may continue.
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
    return this.#playback?.entries ?? this.#history.journal.entries;
  }

  #release(release: () => unknown): void {
    try {
      const released = release();
      if (released instanceof Promise) released.catch((error: unknown) => this.#report(error));
    } catch (error) {
      this.#report(error);
    }
  }

  /** Reports a mistake that cannot be part of the outcome. If that fails as well, the run can do nothing about it. */
  #report(mistake: unknown): void {
    try {
      this.#carrier.report?.(mistake);
    } catch {}
  }
}

// Stored journals contain this mark.
const asideMark = "~aside";

// "~" is reserved for the engine's own keys and for the wire keys of questions that are asked again. A question under
// "__proto__" could never be answered, because guards against prototype pollution drop such a member on its way.
function isGoodKey(operation: Operation | PatchOperation): boolean {
  const { kind } = operation;
  if (kind === "background" || kind === "checkpoint") return true;
  if (kind === "question" && operation.spec.isOwn === true) return true;
  const isAside = kind === "step" && operation.isAside;
  const key = isAside ? operation.key.slice(0, -asideMark.length) : operation.key;
  return (
    typeof key === "string" &&
    key.length > 0 &&
    key.length <= 200 &&
    // The question of an aside is requested before it, and is refused if its key is not good.
    !key.slice(isAside ? 1 : 0).includes("~") &&
    key !== "__proto__"
  );
}
