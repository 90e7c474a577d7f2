// The operations that the handler has requested in this run, and what can settle each of them.

import { StepError, UnansweredError } from "../errors.ts";
import { copyJson } from "../util/json.ts";
import { markUnintended } from "../util/unintended.ts";
import * as authorErrors from "./author-errors.ts";
import type { NamedOperation } from "./author-errors.ts";
import type { InboxEvent } from "./inbox.ts";
import type { BackgroundOptions, Body, QuestionSpec, StepSettings } from "./operations.ts";
import type { Open } from "./outcome.ts";
import type { Entry, Thrown } from "./journal.ts";

/** An operation of one run, from its request until its entry is delivered. */
export type Operation =
  | QuestionOperation
  | StepOperation
  | TimerOperation
  | BackgroundOperation
  | CheckpointOperation;

interface Settleable extends NamedOperation {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** In progress from the start of what leads to its entry; settled when the entry is delivered. */
  state: "outstanding" | "in_progress" | "settled";
}

/** `ctx.ask` and every other question. */
export interface QuestionOperation extends Settleable {
  readonly kind: "question";
  readonly spec: QuestionSpec;
  /** The handler has called `then` on its promise (R10). */
  isAwaited: boolean;
  /** Why the last answer was refused (R7). */
  reason: string | undefined;
}

/** `ctx.step`. */
export interface StepOperation extends Settleable {
  readonly kind: "step";
  readonly body: Body;
  readonly options: StepSettings | undefined;
  /** Runs a function in the asynchronous context of the request for the step. The body is called through it. */
  readonly within: (<T>(call: () => T) => T) | undefined;
  /** The step belongs to a question, and the engine made its key. */
  readonly isAside: boolean;
  /** The handler has called `then` on its promise (R10). */
  isAwaited: boolean;
}

/** `ctx.sleep`. */
export interface TimerOperation extends Settleable {
  readonly kind: "timer";
  readonly ms: number;
}

/** `ctx.background`. */
export interface BackgroundOperation extends Settleable {
  readonly kind: "background";
  readonly options: BackgroundOptions;
}

/** `ctx.checkpoint`. */
export interface CheckpointOperation extends Settleable {
  readonly kind: "checkpoint";
  readonly afterMs: number | undefined;
}

type OfKind<K> = Extract<Operation, { kind: K }>;

/** The operations of a run by key. They are in a Map, so that `__proto__` is a key like any other (R10). */
export class Requested {
  /** Those that are not settled, in the order of their requests. */
  readonly #outstanding = new Map<string, Operation>();
  /**
   * The names of those that are settled. Nothing else of them is kept, because in a long call all that it has asked would
   * outlive one garbage collection after another.
   */
  readonly #settled = new Map<string, NamedOperation>();
  /** Questions that had not been awaited when this list was last updated. */
  #unawaited: QuestionOperation[] = [];
  /** How long that list may be before it is updated. */
  #mostUnawaited = fewUnawaited;
  /** Operations that were requested after questions that had not been awaited (R10). */
  #suspects: { readonly operation: Operation; readonly past: readonly QuestionOperation[] }[] = [];

  /** How many operations have not been settled. */
  get outstanding(): number {
    return this.#outstanding.size;
  }

  add(operation: Operation): void {
    if (operation.kind !== "question" && operation.kind !== "timer") {
      const past = this.unawaited();
      // `Promise.all` calls `then` a few microtasks later, so this is decided when the turn is over.
      if (past.length > 0) this.#suspects.push({ operation, past });
    }
    this.#outstanding.set(operation.key, operation);
    if (operation.kind === "question") this.#addUnawaited(operation);
  }

  #addUnawaited(question: QuestionOperation): void {
    if (this.#unawaited.length >= this.#mostUnawaited) {
      this.#unawaited = this.#unawaited.filter(({ isAwaited }) => !isAwaited);
      this.#mostUnawaited = Math.max(fewUnawaited, 2 * this.#unawaited.length);
    }
    this.#unawaited.push(question);
  }

  /** The operation with this key, if it is not settled. */
  get(key: string): Operation | undefined {
    return this.#outstanding.get(key);
  }

  /** The operation with this key, settled or not. */
  named(key: string): NamedOperation | undefined {
    return this.#outstanding.get(key) ?? this.#settled.get(key);
  }

  isSettled(key: string): boolean {
    return this.#settled.has(key);
  }

  has(key: string): boolean {
    return this.#outstanding.has(key) || this.#settled.has(key);
  }

  /** The operations of these kinds that nothing has been started for. */
  waiting<K extends Operation["kind"]>(...kinds: readonly K[]): OfKind<K>[] {
    const found: OfKind<K>[] = [];
    for (const operation of this.#outstanding.values()) {
      if (operation.state === "outstanding" && isOf(operation, kinds)) found.push(operation);
    }
    return found;
  }

  /** Marks an operation as settled. */
  settled(operation: Operation): void {
    operation.state = "settled";
    const { kind, key, place } = operation;
    this.#outstanding.delete(key);
    this.#settled.set(key, { kind, key, place });
  }

  /** A step that is not awaited and has not finished, if there is one. */
  forgottenStep(): StepOperation | undefined {
    for (const operation of this.#outstanding.values()) {
      if (operation.kind === "step" && !operation.isAwaited) return operation;
    }
    return undefined;
  }

  /** The mistake of an operation that went past a question without awaiting it (R10). Call it when a turn is over. */
  notAwaited(): Error | undefined {
    for (const { operation, past } of this.#suspects) {
      const question = past.find(({ isAwaited }) => !isAwaited);
      if (question !== undefined) return authorErrors.notAwaited(question, operation);
    }
    this.#suspects = [];
    return undefined;
  }

  /** The questions that are not awaited at this moment. */
  unawaited(): readonly QuestionOperation[] {
    if (this.#unawaited.length === 0) return none;
    this.#unawaited = this.#unawaited.filter(({ isAwaited }) => !isAwaited);
    return [...this.#unawaited];
  }
}

const none: readonly never[] = [];

const isOf = <K extends Operation["kind"]>(
  operation: Operation,
  kinds: readonly K[],
): operation is OfKind<K> => {
  const all: readonly Operation["kind"][] = kinds;
  return all.includes(operation.kind);
};

const fewUnawaited = 16;

/** What a question gives the carrier to show. */
export const shownBy = (operation: Operation | undefined): unknown =>
  operation?.kind === "question" ? operation.spec.shown : undefined;

/** A question or timer, as the carrier sees it. */
export function asOpen(operation: QuestionOperation | TimerOperation): Open {
  const { kind, key } = operation;
  if (operation.kind === "timer") {
    return { kind, key, digest: undefined, ms: operation.ms, reason: undefined, shown: undefined };
  }
  const { digest, timeoutMs, shown } = operation.spec;
  return { kind, key, digest, ms: timeoutMs, reason: operation.reason, shown };
}

/** Whether an entry can be the outcome of this operation. */
export function fits(operation: Operation, entry: Entry): boolean {
  switch (entry.kind) {
    case "answer":
    case "expired":
      return operation.kind === "question";
    case "begun":
    case "step":
    case "threw":
      return operation.kind === "step";
    case "timer":
    case "background":
    case "checkpoint":
      return operation.kind === entry.kind;
    case "changed":
    case "patched":
      return false;
  }
}

/** Whether this operation can use the event. */
export function accepts(operation: Operation | undefined, event: InboxEvent): boolean {
  if (operation?.state !== "outstanding") return false;
  const { kind, digest } = event;
  if (operation.kind === "timer") return kind === "due";
  if (operation.kind !== "question") return false;
  const { spec } = operation;
  // A time limit with another digest belongs to a question that was asked under this key before.
  if (kind === "due") return spec.timeoutMs !== undefined && digest === spec.digest;
  // Without a digest it is unknown which question was answered (R7), so the answer stays unused in the inbox.
  return digest !== undefined || spec.unsolicited === true;
}

/** Settles the promise of an operation with its entry. Answers are not among them, because a question reads its own. */
export function settleWith({ key, resolve, reject }: Operation, entry: Entry): void {
  switch (entry.kind) {
    case "expired":
      return reject(new UnansweredError(key, "timed_out"));
    case "step":
      return resolve(entry.value === undefined ? undefined : copyJson(entry.value));
    case "threw":
      return reject(stepError(key, entry.error));
    case "timer":
    case "background":
    case "checkpoint":
      return resolve(undefined);
    case "answer":
    case "begun":
    case "changed":
    case "patched":
      throw new Error(`Entry "${key}" (${entry.kind}) does not settle an operation.`);
  }
}

function stepError(key: string, thrown: Thrown): StepError {
  const { data } = thrown;
  const error = new StepError(key, { ...thrown, data: data === undefined ? data : copyJson(data) });
  return thrown.isUnintended === true ? markUnintended(error) : error;
}
