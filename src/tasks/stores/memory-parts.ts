// The parts of running streams in the store in memory.

import { partsAtOnce } from "../stored-parts.ts";
import type { StoredPart } from "../stored-parts.ts";

/** The parts of all tasks. */
export class MemoryParts {
  readonly #parts = new Map<string, readonly StoredPart[]>();

  /** A part that has the number of an earlier one is left out. */
  add(id: string, added: readonly StoredPart[]): void {
    const kept = this.#of(id);
    const isNew = (part: StoredPart) => kept.every(({ n }) => n !== part.n);
    const all = [...kept, ...added.filter(isNew)];
    this.#parts.set(
      id,
      all.toSorted((one, other) => one.n - other.n),
    );
  }

  after(id: string, place: number): readonly StoredPart[] {
    return this.#of(id)
      .filter(({ n }) => n > place)
      .slice(0, partsAtOnce);
  }

  recorded(id: string, stream: string): void {
    this.#parts.set(
      id,
      this.#of(id).filter(({ key }) => key !== stream),
    );
  }

  delete(id: string): void {
    this.#parts.delete(id);
  }

  bytes(id: string): number {
    return this.#of(id).reduce((sum, { record }) => sum + record.length, 0);
  }

  #of(id: string): readonly StoredPart[] {
    return this.#parts.get(id) ?? [];
  }
}
