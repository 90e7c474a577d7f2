// What the handler has requested in this run.

import type { Named } from "./faults.ts";
import type { Asking, BackgroundOptions, Body, Open, StepOptions } from "./hooks.ts";
import type { Entry } from "./journal.ts";

/** Outstanding until its entry is delivered. */
export interface Operation extends Named {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly asking?: Asking | undefined;
  readonly body?: Body | undefined;
  readonly stepOptions?: StepOptions | undefined;
  readonly background?: BackgroundOptions | undefined;
  /** A timer's length, or the `afterMs` of a checkpoint. */
  readonly ms?: number | undefined;
  /** Under way: a body runs, or the entry is on its way to the log. */
  state: "outstanding" | "under way" | "settled";
  /** Questions: somebody waits for it. */
  isAwaited: boolean;
  /** Questions: why the last answer did not do (R7). */
  reason: string | undefined;
}

/** By key. Keys live in a Map, so that `__proto__` is one like any other (R10). */
export class Operations {
  readonly #byKey = new Map<string, Operation>();
  /** In the order of request. */
  readonly #outstanding = new Set<Operation>();
  /** Questions that were not awaited when last looked at. */
  #unawaited: Operation[] = [];

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

  /** Those nothing has been begun for. */
  waiting(...kinds: readonly Operation["kind"][]): Operation[] {
    const waiting: Operation[] = [];
    for (const operation of this.#outstanding) {
      if (operation.state === "outstanding" && kinds.includes(operation.kind)) {
        waiting.push(operation);
      }
    }
    return waiting;
  }

  settled(operation: Operation): void {
    operation.state = "settled";
    this.#outstanding.delete(operation);
  }

  unawaited(): readonly Operation[] {
    if (this.#unawaited.length > 0) {
      this.#unawaited = this.#unawaited.filter(({ isAwaited }) => !isAwaited);
    }
    return this.#unawaited;
  }
}

/** A question or timer, as the carrier shows it. */
export function asOpen({ kind, key, asking, ms, reason }: Operation): Open {
  return {
    kind: kind === "timer" ? "timer" : "question",
    key,
    digest: asking?.digest,
    ms: ms ?? asking?.timeoutMs,
    reason,
    shown: asking?.shown,
  };
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
