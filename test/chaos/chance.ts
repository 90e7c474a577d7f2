// Chance that can be had again: whatever is random in a run is drawn from its seed.

export class Chance {
  readonly #seed: string;
  #state: number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#state = hashed(seed);
  }

  /** From 0 up to, but not, 1 (mulberry32). */
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

  /** Chance of its own, whatever is drawn elsewhere meanwhile. */
  readonly of = (name: string): Chance => new Chance(`${this.#seed}/${name}`);
}

/** FNV-1a, stirred. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
}
