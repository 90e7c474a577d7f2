// What the handler has requested in this run.

import type { Named } from "./author-errors.ts";
import type { Asking, BackgroundOptions, Body, StepOptions } from "./operations.ts";
import type { Open } from "./outcome.ts";
import type { Entry } from "./journal.ts";

export type Operation =
  | QuestionOperation
  | StepOperation
  | TimerOperation
  | BackgroundOperation
  | CheckpointOperation;

interface Settleable extends Named {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Outstanding until its entry is delivered; under way while that entry is in the making. */
  state: "outstanding" | "under way" | "settled";
}

export interface QuestionOperation extends Settleable {
  readonly kind: "question";
  readonly asking: Asking;
  /** Somebody waits for it (R10). */
  isAwaited: boolean;
  /** Why the last answer did not do (R7). */
  reason: string | undefined;
}

export interface StepOperation extends Settleable {
  readonly kind: "step";
  readonly body: Body;
  readonly options: StepOptions | undefined;
  /** Where the step was requested: its body runs in that branch's asynchronous context, not in that of a turn. */
  readonly within: (<T>(call: () => T) => T) | undefined;
  /** The engine made its key. */
  readonly isAside: boolean;
  /** Somebody waits for it (R10). */
  isAwaited: boolean;
}

export interface TimerOperation extends Settleable {
  readonly kind: "timer";
  readonly ms: number;
}

export interface BackgroundOperation extends Settleable {
  readonly kind: "background";
  readonly options: BackgroundOptions;
}

export interface CheckpointOperation extends Settleable {
  readonly kind: "checkpoint";
  readonly afterMs: number | undefined;
}

type OfKind<K> = Extract<Operation, { kind: K }>;

/** By key. Keys live in a Map, so that `__proto__` is one like any other (R10). */
export class Requested {
  readonly #byKey = new Map<string, Operation>();
  /** In the order of request. */
  readonly #outstanding = new Set<Operation>();
  /** Questions that were not awaited when last looked at. */
  #unawaited: QuestionOperation[] = [];

  get outstanding(): number {
    return this.#outstanding.size;
  }

  add(operation: Operation): void {
    this.#byKey.set(operation.key, operation);
    this.#outstanding.add(operation);
    if (operation.kind === "question") this.#unawaited.push(operation);
  }

  get(key: string): Operation | undefined {
    return this.#byKey.get(key);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Those of these kinds for which nothing has been begun. */
  waiting<K extends Operation["kind"]>(...kinds: readonly K[]): OfKind<K>[] {
    const isWaiting = (operation: Operation): operation is OfKind<K> =>
      operation.state === "outstanding" && kinds.some((kind) => kind === operation.kind);
    const found: OfKind<K>[] = [];
    for (const operation of this.#outstanding) if (isWaiting(operation)) found.push(operation);
    return found;
  }

  settled(operation: Operation): void {
    operation.state = "settled";
    this.#outstanding.delete(operation);
  }

  /** A step that nobody waits for and that has not come to an end. */
  forgottenStep(): StepOperation | undefined {
    for (const operation of this.#outstanding) {
      if (operation.kind === "step" && !operation.isAwaited) return operation;
    }
    return undefined;
  }

  /** The un-awaited questions of this moment. */
  unawaited(): readonly QuestionOperation[] {
    if (this.#unawaited.length === 0) return none;
    this.#unawaited = this.#unawaited.filter(({ isAwaited }) => !isAwaited);
    return [...this.#unawaited];
  }
}

const none: readonly never[] = [];

/** A question or timer, as the carrier shows it. */
export function asOpen(operation: QuestionOperation | TimerOperation): Open {
  const { kind, key } = operation;
  if (operation.kind === "timer") {
    return { kind, key, digest: undefined, ms: operation.ms, reason: undefined, shown: undefined };
  }
  const { digest, timeoutMs, shown } = operation.asking;
  return { kind, key, digest, ms: timeoutMs, reason: operation.reason, shown };
}

/** Whether an entry can be an outcome of this operation. */
export function fits(operation: Operation, entry: Entry): boolean {
  switch (entry.kind) {
    case "answer":
    case "expired":
      return operation.kind === "question";
    case "step":
    case "threw":
      return operation.kind === "step";
    case "timer":
    case "background":
    case "checkpoint":
      return operation.kind === entry.kind;
    case "changed":
      return false;
  }
}
