// What is known of the texts that came by a moment ago. Memory is limited, and what is used again stays.

/** How much is kept, in characters. */
interface Bounds {
  /** Of one generation. There are two: when the younger one is full, it replaces the older one. */
  readonly mostLength: number;
  /** Of a text together with what is known of it. Longer ones are not kept. */
  readonly longest: number;
}

interface Known<V> {
  readonly text: string;
  readonly value: V;
}

/**
 * Values by text. Each may be forgotten at any time. It is for texts with different ends, such as sealed ones: of two with
 * the same end, only the later one is known.
 */
export class RecentTexts<V> {
  readonly #bounds: Bounds;
  #young = new Map<string, Known<V>>();
  #old = new Map<string, Known<V>>();
  #length = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** What is known of a text. */
  get(text: string): V | undefined {
    const end = endOf(text);
    const known = this.#young.get(end) ?? this.#old.get(end);
    return known?.text === text ? known.value : undefined;
  }

  /** What is known of a text that does not come by again. */
  take(text: string): V | undefined {
    const value = this.get(text);
    if (value === undefined) return undefined;
    const end = endOf(text);
    if (!this.#young.delete(end)) this.#old.delete(end);
    return value;
  }

  /** Keeps a value for a while, and longer each time it is kept again. The length is that of the text and of the value. */
  keep(text: string, value: V, length: number): void {
    const end = endOf(text);
    if (length > this.#bounds.longest || this.#young.get(end)?.text === text) return;
    if (this.#length + length > this.#bounds.mostLength) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#length = 0;
    }
    this.#length += length;
    this.#young.set(end, { text, value });
  }
}

/** V8 hashes every character of a key, which takes a microsecond for a thousand of them. */
const endOf = (text: string): string => text.slice(-24);
