// The bodies that have begun to arrive and have not ended. A client may send a body as slowly as it likes, so what all of
// them hold together is limited. If it is too much, the oldest one is given up: an ordinary body ends within moments, so
// the oldest is the one that is not ordinary.

/** A body that has not ended. */
export interface UnfinishedBody {
  /** How many bytes are held for it. */
  readonly held: number;
  /** Refuses it. */
  readonly giveUp: () => void;
}

/** Where a body is in the list of unfinished ones. */
interface Place {
  readonly body: UnfinishedBody;
  counted: number;
  older: Place | undefined;
  newer: Place | undefined;
}

/** The unfinished bodies of one app, from the oldest to the newest. A linked list, for the reason given in in-flight.ts. */
export class UnfinishedBodies {
  readonly #mostHeld: number;
  #held = 0;
  #oldest: Place | undefined;
  #newest: Place | undefined;

  /** `mostHeld` is in bytes, and each body counts as a kilobyte more than it holds. */
  constructor(mostHeld: number) {
    this.#mostHeld = mostHeld;
  }

  /** Adds a body that has begun to arrive. */
  add(body: UnfinishedBody): Place {
    const place: Place = { body, counted: 0, older: this.#newest, newer: undefined };
    if (this.#newest === undefined) this.#oldest = place;
    else this.#newest.newer = place;
    this.#newest = place;
    return place;
  }

  /** Counts what a body holds now. Gives up the oldest bodies if all of them hold too much. */
  count(place: Place): void {
    const held = place.body.held + 1_024;
    this.#held += held - place.counted;
    place.counted = held;
    while (this.#held > this.#mostHeld) {
      const oldest = this.#oldest;
      if (oldest === undefined) return;
      this.remove(oldest);
      oldest.body.giveUp();
    }
  }

  /** Removes a body that has ended. Does nothing if it was given up. */
  remove(place: Place): void {
    if (place !== this.#oldest && place.older === undefined) return;
    if (place.older === undefined) this.#oldest = place.newer;
    else place.older.newer = place.newer;
    if (place.newer === undefined) this.#newest = place.older;
    else place.newer.older = place.older;
    place.older = undefined;
    place.newer = undefined;
    this.#held -= place.counted;
    place.counted = 0;
  }
}

export type { Place };
