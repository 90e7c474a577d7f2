// The undo of a round of a tool with `once: true` (R16, U6). A call that ends in its rounds has no task. So the round records
// how the call ended, creates a task that has ended already, and then stores its response: a worker undoes the steps. If its
// process dies in between, the next attempt at the round finds the record and goes on from there, without running the handler.

import { internalError, invalidParams } from "../../protocol/error-codes.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Stop } from "../../replay/stop.ts";
import { endingIn, endingRecord } from "../../tasks/execution/log-records.ts";
import { defaultTaskLimits } from "../../tasks/limits.ts";
import type { Json } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import type { Call } from "./call.ts";
import type { RoundResponse } from "./request.ts";

/** The round, as its undo sees it. */
interface RecordedRound {
  readonly append: (entry: Entry) => Promise<void>;
  /** Adds a record to the log. False if another request has the round by now. */
  readonly write: (record: (seq: number) => string) => Promise<boolean>;
  /** Resolves when no body of this run is running any more. */
  readonly bodiesEnd: () => Promise<void>;
}

/** What one round knows about the steps that it may have to undo. */
export class RoundUndo {
  /** The journal of the call, with what this round has recorded. */
  entries: Entry[] = [];
  /** What bodies that have an undo returned after the end of the run. */
  readonly left: Entry[] = [];
  readonly #core: Core;
  readonly #call: Call;
  readonly #place: string;
  readonly #round: RecordedRound;
  #hasThrown = false;

  constructor(core: Core, call: Call, place: string, round: RecordedRound) {
    this.#core = core;
    this.#call = call;
    this.#place = place;
    this.#round = round;
  }

  onThrow(): void {
    this.#hasThrown = true;
  }

  /** The last response of the call, if the call has ended and has steps to undo. Otherwise undefined. */
  lastOf(response: RoundResponse, { reason }: Stop): RoundResponse | undefined {
    const isCancelled = reason === "Cancelled";
    const hasBegun = this.entries.some(({ kind }) => kind === "begun");
    // A round that leaves the call to another version of the app has not ended it (R17).
    const hasThrown = this.#hasThrown && response.kind !== "input_required";
    if (!hasBegun || !(isCancelled || hasThrown)) return undefined;
    return isCancelled ? cancelledCall : response;
  }

  /**
   * Records how the bodies and the call ended, so that the round never runs again. False if another request has the
   * round by now.
   */
  async end(response: RoundResponse): Promise<boolean> {
    const { environment } = this.#core;
    await new Promise<void>((resolve) => {
      const callOff = environment.eventually(defaultTaskLimits.drainMs, resolve);
      void this.#round.bodiesEnd().then(() => {
        callOff();
        resolve();
      });
    });
    for (const entry of this.left) await this.#round.append(entry);
    const { cause: _cause, ...kept } = { cause: undefined, ...response };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
    const ending = kept as unknown as Json;
    const sealer = sealerOf(this.#core);
    return this.#round.write((seq) => endingRecord(sealer, this.#place, seq, ending));
  }

  /** Hands the steps over to a worker. The same call always gets the same task. */
  async hand(response: RoundResponse): Promise<void> {
    const { target: tool, principal } = this.#call.binding();
    const callId = this.#call.id();
    if (isCancelled(response)) {
      await this.#core.audit({ action: "call_cancelled", tool, callId, principal });
    }
    await this.#core.tasks?.undo({
      callId,
      tool,
      principal,
      entries: this.entries,
      error: isCancelled(response) ? undefined : failedCall,
    });
  }
}

/**
 * The response of an earlier attempt at this round, if that attempt ended the call and its process died before it
 * stored the response.
 */
export function endedBefore(
  core: Core,
  log: readonly string[],
  place: string,
): RoundResponse | undefined {
  const ended = endingIn(sealerOf(core), place, log);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `end` wrote it
  return ended as unknown as RoundResponse | undefined;
}

const failedCall = { code: internalError, message: "The call failed, so its steps are undone." };

/** What a copy of a cancelled round gets. */
const cancelledCall: RoundResponse = {
  kind: "error",
  code: invalidParams,
  message: "This call was cancelled, and what it did is undone. Start a new call.",
  data: { reason: "cancelled" },
};

/** A response that is read from a record is another object. */
const isCancelled = (response: RoundResponse): boolean =>
  response.kind === "error" && isObject(response.data) && response.data["reason"] === "cancelled";
