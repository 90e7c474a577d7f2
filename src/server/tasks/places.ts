// How many long requests of one kind may be open at once: in this process, and for one caller.

/** The most of one kind at a time: as many as the SDK allows. */
const mostAtOnce = 1_024;

/** The places for one kind of request. */
export class Places {
  readonly #mostOfOne: number;
  readonly #refusal: (taken: number) => string;
  readonly #full: string;
  readonly #taken = new Map<string, number>();
  #open = 0;

  /** `refusal` is for a caller that has as many as it may, and `full` is for anyone when there are too many in all. */
  constructor(mostOfOne: number, refusal: (taken: number) => string, full: string) {
    this.#mostOfOne = mostOfOne;
    this.#refusal = refusal;
    this.#full = full;
  }

  /**
   * Takes a place and returns the function that gives it back. If no place is free, it returns the reason. Anonymous
   * callers cannot be told apart, so only the limit of the process applies to them.
   */
  take(principal: string | undefined): (() => void) | string {
    const taken = principal === undefined ? 0 : (this.#taken.get(principal) ?? 0);
    if (taken >= this.#mostOfOne) return this.#refusal(taken);
    if (this.#open >= mostAtOnce) return this.#full;
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
