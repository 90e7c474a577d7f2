// An undo: how to take back what a step did. It is registered next to the tools, and the journal holds its name. So
// undoing needs no replay, and works after a deployment that changed the handler.

import type { UndoInfo } from "../../tasks/program.ts";
import type { Stored } from "../forms/schema.ts";
import { checkHandler } from "./check-handler.ts";

/** A registered undo. Pass it to `ctx.step` as `undo`. `V` is what the step returns. */
export interface Undo<in V = unknown> {
  /** Tells an undo from a tool. */
  readonly kind: "undo";
  /** The name it is registered under. Steps are recorded with it. */
  readonly name: string;
  /** Undoes a step. */
  readonly run: (undone: UndoInfo<V>) => unknown;
}

/**
 * The undos that fit a step whose body returns `T`. `T` comes from the body alone: while TypeScript has not looked at the body
 * yet, `T` is `unknown` and every undo passes.
 */
export type UndoFor<T> = unknown extends T ? Undo<never> : Undo<Stored<T>>;

/** The undos of an app, by name. */
export class UndoRegistry {
  readonly #byName = new Map<string, Undo<never>>();

  add<V>(name: string, run: Undo<V>["run"]): Undo<V> {
    checkHandler(`app.undo("${name}")`, run);
    if (this.#byName.has(name)) {
      throw new TypeError(
        `app.undo("${name}") was called twice. Recorded steps refer to an undo by its name, so each needs its own.`,
      );
    }
    const undo = { kind: "undo", name, run } as const;
    this.#byName.set(name, undo);
    return undo;
  }

  /** Whether this very undo is registered here. */
  has(undo: unknown): boolean {
    for (const one of this.#byName.values()) if (one === undo) return true;
    return false;
  }

  /** What undoes a step that was recorded with this name. */
  get(name: string): ((undone: UndoInfo) => unknown) | undefined {
    const undo = this.#byName.get(name);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the step that recorded the name returned this type
    return undo && ((undone) => undo.run(undone as UndoInfo<never>));
  }
}
