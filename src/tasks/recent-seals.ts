// What this process has sealed or opened a moment ago, so that it does not decrypt the same text again. A worker, its
// followers and the requests about a task open the same few texts within milliseconds.
//
// A text is opened again only for the place that it was sealed for, and only if it is the same to the last character. So
// this never opens what the keys would not open.

import { RecentTexts } from "../util/recent-texts.ts";
import type { Sealer } from "./sealing.ts";
import type { Sealed } from "./task.ts";

const bounds = { mostLength: 512 * 1024, longest: 16 * 1024 };

interface Known {
  readonly place: string;
  readonly text: string;
}

/** A sealer that remembers. */
export class RecentSeals implements Sealer {
  readonly #sealer: Sealer;
  readonly #recent = new RecentTexts<Known>(bounds);

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  readonly seal = (text: string, place: string): Sealed => {
    const sealed = this.#sealer.seal(text, place);
    this.#keep(sealed, { place, text });
    return sealed;
  };

  readonly open = (sealed: Sealed, place: string): string => {
    const recent = this.#recent.get(sealed);
    const known =
      recent?.place === place ? recent : { place, text: this.#sealer.open(sealed, place) };
    this.#keep(sealed, known);
    return known.text;
  };

  #keep(sealed: Sealed, known: Known): void {
    this.#recent.keep(sealed, known, sealed.length + known.text.length);
  }
}
