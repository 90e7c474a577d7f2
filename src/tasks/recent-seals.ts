// What this process has sealed or opened a moment ago, so that it does not decrypt the same text again. A worker, its
// followers and the requests about a task open the same few texts within milliseconds.
//
// A text is opened again only for the place that it was sealed for, and only if it is the same to the last character. So
// this never opens what the keys would not open.

import type { Sealer } from "./sealing.ts";
import type { Sealed } from "./task.ts";

/** How many characters one generation keeps, and how long a text is at most that it keeps. */
const mostLength = 512 * 1024;
const longest = 16 * 1024;

interface Known {
  readonly place: string;
  readonly text: string;
}

/** A sealer that remembers. */
export class RecentSeals implements Sealer {
  readonly #sealer: Sealer;
  /** Two generations: when the younger one is full, it replaces the older one. */
  #young = new Map<Sealed, Known>();
  #old = new Map<Sealed, Known>();
  #length = 0;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  readonly seal = (text: string, place: string): Sealed => {
    const sealed = this.#sealer.seal(text, place);
    this.#keep(sealed, { place, text });
    return sealed;
  };

  readonly open = (sealed: Sealed, place: string): string => {
    const young = this.#young.get(sealed);
    const known = young ?? this.#old.get(sealed);
    if (known?.place === place) {
      if (young === undefined) this.#keep(sealed, known);
      return known.text;
    }
    const text = this.#sealer.open(sealed, place);
    this.#keep(sealed, { place, text });
    return text;
  };

  #keep(sealed: Sealed, known: Known): void {
    const length = sealed.length + known.text.length;
    if (length > longest) return;
    if (this.#length + length > mostLength) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#length = 0;
    }
    this.#length += length;
    this.#young.set(sealed, known);
  }
}
