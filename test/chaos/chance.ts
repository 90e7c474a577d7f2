// Repeatable chance: everything that is random in a run comes from its seed.

export class Chance {
  readonly #seed: string;
  #state: number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#state = hashed(seed);
  }

  /** A number from 0 to 1, without 1 itself (mulberry32). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  readonly between = (low: number, high: number): number => low + (high - low) * this.next();

  readonly isIt = (probability: number): boolean => this.next() < probability;

  readonly pick = <T>(list: readonly T[]): T | undefined =>
    list[Math.floor(this.next() * list.length)];

  /** A source of its own, which does not depend on what others draw meanwhile. */
  readonly of = (name: string): Chance => new Chance(`${this.#seed}/${name}`);
}

/** FNV-1a with a final mix. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
}
