// Lets the console see the rounds of this process. Without a console nobody watches, and a round costs one comparison more.

import type { Entry } from "../../replay/journal.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";

/** A round that has ended. */
export interface WatchedRound {
  readonly callId: string;
  readonly round: number;
  readonly definition: Pick<Definition, "name" | "method">;
  readonly request: RoundRequest;
  readonly response: RoundResponse;
  /** How many of the entries the round began with. */
  readonly replayed: number;
  /** The entries at its end. Undefined if the round did not get that far. */
  readonly entries: readonly Entry[] | undefined;
  /** In development: the line of code that asked for each key. */
  readonly lines: ReadonlyMap<string, string> | undefined;
  readonly beganAt: number;
  readonly endedAt: number;
}

/** Someone who watches. */
export interface RoundWatcher {
  readonly served: (round: WatchedRound) => void;
  readonly refused: (reason: string) => void;
}

/** Where an app keeps its watcher. */
export interface Watching {
  watcher: RoundWatcher | undefined;
}
