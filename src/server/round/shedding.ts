// Ending a round early, between two steps. The client gets the state alone and comes back at once, and the instance
// that gets its next request goes on with the next step. An app does this while it closes, because finished steps would
// be lost with the connection, and in rounds that take longer than `limits.roundMs`.

import { legacyVersion } from "../../protocol/versions.ts";
import type { Outcome } from "../../replay/outcome.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { Call } from "./call.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";
import { stateOnly } from "./state-only.ts";
import { openWait } from "./suspend.ts";

/** The official client gives up a call that takes more rounds than this. */
const clientRounds = 10;
/** How many of these rounds are left for the questions of a long call. */
const keptRounds = 3;

/** Decides before each step of a round whether the round ends there. */
export class Shedding {
  readonly #core: Core;
  readonly #call: Call;
  readonly #request: RoundRequest;
  readonly #elapsedMs: () => number;
  /** The first step that started in this round. Every round has to run one, or the call would never make progress. */
  #first: string | undefined;
  #hasShed = false;

  constructor(core: Core, call: Call, request: RoundRequest, elapsedMs: () => number) {
    this.#core = core;
    this.#call = call;
    this.#request = request;
    this.#elapsedMs = elapsedMs;
  }

  /** Whether the round has ended, or is about to end, before a step. */
  get hasShed(): boolean {
    return this.#hasShed;
  }

  /** Whether the round ends before this step. */
  isBefore(step: string): boolean {
    if (this.#hasShed) return true;
    this.#first ??= step;
    this.#hasShed = this.#first !== step && this.#isWanted();
    return this.#hasShed;
  }

  #isWanted(): boolean {
    const { round, roundsLeft } = this.#call;
    // The rounds of a 2025-11-25 session take place in this process, so another instance cannot go on.
    if (roundsLeft <= 0 || this.#request.era === legacyVersion) return false;
    if (this.#core.isClosing()) return round <= clientRounds;
    const isLong = this.#elapsedMs() >= this.#core.limits.roundMs;
    return isLong && round <= clientRounds - keptRounds;
  }
}

/**
 * The response of a round that has ended before a step. It asks nothing, even if a question was asked in parallel with
 * the steps, because the next round should begin at once. The question goes out when the steps are done.
 */
export function shedResponse(
  core: Core,
  definition: Definition,
  call: Call,
  { entries, open, unused }: Extract<Outcome<unknown>, { kind: "yielded" }>,
): RoundResponse | Promise<RoundResponse> {
  const now = core.environment.now();
  const { out: before } = call.journal;
  // The time limit of a question begins when it is asked, so one that was never asked is left out.
  const kept = open.filter(
    ({ kind, key }) => kind === "timer" || before.some((one) => one.key === key),
  );
  const out = kept.map((wait) => openWait(wait, before, now));
  return stateOnly(core, definition, call, { entries, out, unused });
}
