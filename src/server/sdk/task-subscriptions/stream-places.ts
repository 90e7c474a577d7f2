// How many subscriptions may be open at once: in this process, and for one caller.

/** The most streams at a time: the same limit as the SDK's. */
const mostStreams = 1_024;

/** The places for the streams of one app. */
export class StreamPlaces {
  readonly #mostOfOne: number;
  readonly #taken = new Map<string, number>();
  #open = 0;

  constructor(mostOfOne: number) {
    this.#mostOfOne = mostOfOne;
  }

  /**
   * Takes a place and returns the function that gives it back. If no place is free, it returns the reason. Anonymous
   * callers cannot be told apart, so only the limit of the process applies to them.
   */
  take(principal: string | undefined): (() => void) | string {
    const taken = principal === undefined ? 0 : (this.#taken.get(principal) ?? 0);
    if (taken >= this.#mostOfOne) {
      return `Subscription limit reached: this caller already has ${taken} open, the most it may have at a time. Close one, or poll the tasks with tasks/get.`;
    }
    if (this.#open >= mostStreams) return "Subscription limit reached";
    this.#open += 1;
    if (principal !== undefined) this.#taken.set(principal, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#open -= 1;
      if (principal === undefined) return;
      const left = (this.#taken.get(principal) ?? 1) - 1;
      if (left === 0) this.#taken.delete(principal);
      else this.#taken.set(principal, left);
    };
  }
}
