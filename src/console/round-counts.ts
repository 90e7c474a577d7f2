// How many rounds calls take, why tokens are refused, and how often the console itself could not reach the store, in this
// process since its console was made.

import type { RoundWatcher, WatchedRound } from "../server/round/round-watch.ts";
import type { HealthFacts } from "./wire.ts";

/** Counts rounds. */
export class RoundCounts implements RoundWatcher {
  readonly #refused = new Map<string, number>();
  readonly #rounds = new Map<string, number>();
  #storeErrors = 0;

  readonly served = ({ response, round }: Pick<WatchedRound, "response" | "round">): void => {
    if (response.kind === "complete") add(this.#rounds, String(round));
  };

  readonly refused = (reason: string): void => add(this.#refused, reason);

  storeFailed(): void {
    this.#storeErrors += 1;
  }

  facts(): Pick<HealthFacts, "refusedTokens" | "roundsPerCall" | "storeErrors"> {
    return {
      storeErrors: this.#storeErrors,
      refusedTokens: Object.fromEntries(this.#refused),
      roundsPerCall: Object.fromEntries(this.#rounds),
    };
  }
}

const add = (counts: Map<string, number>, name: string): void =>
  void counts.set(name, (counts.get(name) ?? 0) + 1);
