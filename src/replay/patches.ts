// `ctx.patched` (R17): whether a call takes the new path of a handler that was changed while calls were under way.
//
// A call that reaches the place for the first time notes this in its log and takes the new path, in this run and in
// every later one. A call that had gone past it before has no note, and keeps to the path it took. A note is not an
// entry in the order of the log: nothing is delivered for it, and its keys are separate from other keys.

import * as authorErrors from "./author-errors.ts";
import type { Carrier } from "./carrier.ts";
import { patchedKeys, patchPaths } from "./journal.ts";
import type { Entry } from "./journal.ts";
import type { Log } from "./log.ts";
import type { RunEnds, TurnLoop } from "./turn-loop.ts";

/** One question for a note. Its promise resolves with the decision. */
export interface PatchOperation extends authorErrors.NamedOperation {
  readonly kind: "patched";
  readonly resolve: (isPatched: boolean) => void;
}

/** What the patches need from the playback that they belong to. */
export interface PatchedPlayback {
  readonly carrier: Carrier;
  readonly run: RunEnds;
  readonly loop: TurnLoop;
  readonly log: Log;
  /** All entries are delivered, and every question that was open is asked again. */
  readonly isAtEnd: () => boolean;
  /** Appends an entry and then continues. */
  readonly record: (entry: Entry, then: () => void) => void;
  /** Asks for the turn that lets the handler act on what was settled. */
  readonly onSettled: () => void;
}

/** The decisions of one run. A playback makes one of these if its handler asks for a note, or its log has one. */
export class Patches {
  readonly #playback: PatchedPlayback;
  /** By key. Asking again gives the same value. */
  readonly #decided = new Map<string, boolean>();
  #pending: PatchOperation[] = [];

  constructor(playback: PatchedPlayback) {
    this.#playback = playback;
  }

  request(operation: PatchOperation): void {
    const decided = this.#decided.get(operation.key);
    if (decided !== undefined) {
      operation.resolve(decided);
      // This request has ended the watch over the other operations, which may have stalled.
      return this.#playback.onSettled();
    }
    this.#pending.push(operation);
    // Every branch of the handler gets a chance to request what the log has, which shows where the handler is.
    this.#playback.loop.next("full");
  }

  /** Decides what was asked. True if something was, and then nothing else may happen in this turn. */
  decide(isQuiet: boolean): boolean {
    if (this.#pending.length === 0) return false;
    if (isQuiet) this.#decideAll();
    else this.#playback.loop.next("full");
    return true;
  }

  #decideAll(): void {
    const { log, record, onSettled } = this.#playback;
    const operation = this.#pending.shift();
    if (operation === undefined) return onSettled();
    const { key, resolve } = operation;
    const settle = (isPatched: boolean) => {
      this.#decided.set(key, isPatched);
      resolve(isPatched);
      this.#decideAll();
    };
    const decided = this.#decided.get(key);
    const path = patchPaths(log.entries).get(key);
    if (decided !== undefined || path === "new") return settle(decided ?? true);
    if (!this.#isNew(path === "open")) return settle(false);
    record({ kind: "patched", key, path: "new" }, () => settle(true));
  }

  /**
   * Whether no earlier run can have gone past this place. At the end of the log that is so only if the last run is known to
   * have ended there: after a crash, a body past this place may have run.
   */
  #isNew(isOpen: boolean): boolean {
    const { carrier, log, isAtEnd } = this.#playback;
    if (!isAtEnd()) return false;
    return isOpen || log.hasGrown || (log.endsOpen && carrier.isInterrupted !== true);
  }

  // ---------------------------------------------------------------- notes that this code does not know

  /** A note that this run has not asked for. Its code is older than the note, or has dropped it since. */
  get unasked(): string | undefined {
    return patchedKeys(this.#playback.log.entries).find((key) => !this.#decided.has(key));
  }

  /**
   * The handler goes on without asking for a note. From here on it does not take the path that the note stands for, so the
   * note no longer holds. If other code can take that path, the carrier may leave the call to it.
   */
  forget(): void {
    const { carrier, run, loop, record } = this.#playback;
    const key = this.unasked;
    if (key === undefined) return loop.next("brief");
    if (carrier.mayForget === false) return run.fail(authorErrors.unaskedPatch(carrier.name, key));
    record({ kind: "patched", key, path: "old" }, () => this.forget());
  }
}
