// What rounds leave in the memory of this process, each with the answer beside it: states, paused calls and questions.

import { recordBytes } from "../store.ts";
import type { Sealed } from "../task.ts";
import { deleteExpired } from "./memory-rows.ts";

interface MemorySpill {
  readonly principal: string;
  readonly state: Sealed;
  readonly answer?: Sealed | undefined;
  readonly expiresAt: number;
}

/** The spilled states of a memory store. */
export class MemorySpills {
  readonly #now: () => number;
  readonly #spills = new Map<string, MemorySpill>();

  constructor(now: () => number) {
    this.#now = now;
  }

  put(id: string, state: Sealed, ttlMs: number, principal: string): void {
    const expiresAt = this.#now() + ttlMs;
    this.#spills.set(id, { ...this.#spills.get(id), principal, state, expiresAt });
  }

  /** Undefined if its time is up. */
  get(id: string): MemorySpill | undefined {
    const spill = this.#spills.get(id);
    return spill === undefined || spill.expiresAt <= this.#now() ? undefined : spill;
  }

  fill(id: string, answer: Sealed): "filled" | "full" | "gone" {
    const spill = this.get(id);
    if (spill === undefined) return "gone";
    if (spill.answer !== undefined) return "full";
    this.#spills.set(id, { ...spill, answer });
    return "filled";
  }

  count(principal: string, prefix: string): number {
    const now = this.#now();
    return [...this.#spills].filter(
      ([id, spill]) =>
        spill.principal === principal && id.startsWith(prefix) && spill.expiresAt > now,
    ).length;
  }

  /** Deletes what has expired, and returns how many that were. */
  sweep(): number {
    return deleteExpired(this.#spills, this.#now());
  }

  /** The size of the states of a caller. */
  bytes(principal: string): number {
    return [...this.#spills.values()]
      .filter((spill) => spill.principal === principal)
      .reduce((sum, { state, answer = "" }) => sum + state.length + answer.length + recordBytes, 0);
  }
}
