// What is known of the texts that came by a moment ago. Memory is limited, and what is used again stays.

/** How much is kept, in characters. */
interface Bounds {
  /** Of one generation. There are two: when the younger one is full, it replaces the older one. */
  readonly mostLength: number;
  /** Of a text together with what is known of it. Longer ones are not kept. */
  readonly longest: number;
}

/** Values by text. Each may be forgotten at any time. */
export class RecentTexts<V> {
  readonly #bounds: Bounds;
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  #length = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** What is known of a text. */
  get(text: string): V | undefined {
    return this.#young.get(text) ?? this.#old.get(text);
  }

  /** What is known of a text that does not come by again. */
  take(text: string): V | undefined {
    const value = this.get(text);
    if (value !== undefined && !this.#young.delete(text)) this.#old.delete(text);
    return value;
  }

  /** Keeps a value for a while, and longer each time it is kept again. The length is that of the text and of the value. */
  keep(text: string, value: V, length: number): void {
    if (length > this.#bounds.longest || this.#young.has(text)) return;
    if (this.#length + length > this.#bounds.mostLength) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#length = 0;
    }
    this.#length += length;
    this.#young.set(text, value);
  }
}
