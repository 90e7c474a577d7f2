// A task whose history this code cannot follow, because another version of the app wrote it (R17). During a deployment,
// workers of both versions claim tasks, so the task is given back for the other version to claim. It fails only if no worker
// of another version is alive, or if none of them has taken it further for `divergedMs`.

import type { Carrier } from "../../replay/carrier.ts";
import { cannotFollow } from "../../replay/author-errors.ts";
import type { Outcome } from "../../replay/outcome.ts";
import { errorText } from "../../util/error-text.ts";
import { isObject } from "../../util/objects.ts";
import { backOff } from "../../util/timers.ts";
import { places } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";
import type { ClaimRef, Release, TaskRecord } from "../task.ts";
import { versionOf } from "../worker-name.ts";
import type { ExecutionDeps } from "./dependencies.ts";
import type { TaskJournal } from "./task-journal.ts";

/** A worker that has been silent for longer than this, or than its lease, counts as gone. */
const silenceMs = 30_000;
/**
 * The pause before the next attempt, which doubles. It is long enough for every worker to see when the task is due, and short
 * enough for many attempts, because the next worker may be of this version again.
 */
const pauses = { firstMs: 2_000, mostMs: 5_000 };

type Freedom = Pick<Carrier, "mayForget" | "mayAskAgain">;

/** What one run knows about other versions of its app. */
export class OtherVersions {
  readonly #task: TaskRecord;
  readonly #deps: ExecutionDeps;
  readonly #now: number;

  constructor(task: TaskRecord, deps: ExecutionDeps) {
    this.#task = task;
    this.#deps = deps;
    this.#now = deps.clock.now();
  }

  /** Since when no version has taken the task further. Another replica may have sealed the cause with a key of its own. */
  get #since(): number {
    try {
      return readCause(this.#task, this.#deps.sealer).since ?? this.#now;
    } catch {
      return this.#now;
    }
  }

  /** Whether this code may leave the path that another version took: only if no other version can go on. */
  async may({ entries, version }: TaskJournal): Promise<Freedom> {
    const { version: own } = this.#deps;
    if (own === undefined || version === own || entries.length === 0) return { mayForget: true };
    const isLast = this.#isTooLong || !(await this.#isAlive());
    return { mayForget: isLast, mayAskAgain: () => isLast };
  }

  /** Gives the task back if this code cannot follow its history, and another version may. */
  async take(
    outcome: Outcome<unknown>,
    version: string | undefined,
    ref: ClaimRef,
  ): Promise<boolean> {
    if (outcome.kind !== "failed") return false;
    const why = await this.#release(outcome, version);
    if (why === undefined) return false;
    const { store, observer, standBack } = this.#deps;
    standBack?.();
    observer.diverged?.(this.#task, outcome.error, version);
    await store.release(ref, why);
    return true;
  }

  /** How to give the task back. Undefined if its run has failed for good. */
  async #release(
    { error, isOlder }: Extract<Outcome<unknown>, { kind: "failed" }>,
    version: string | undefined,
  ): Promise<Release | undefined> {
    const { sealer, clock } = this.#deps;
    if (!cannotFollow(error) || this.#isTooLong) return undefined;
    // A note that this code does not know shows that newer code wrote it, even if the two have the same version.
    if (isOlder !== true) {
      if (version === this.#deps.version || !(await this.#isAlive())) return undefined;
    }
    const tries = 1 + Math.log2(1 + (clock.now() - this.#since) / pauses.firstMs);
    return {
      afterMs: backOff(tries, pauses),
      isFruitless: false,
      cause: writeCause(this.#task, sealer, this.#since, errorText(error)),
    };
  }

  get #isTooLong(): boolean {
    const { clock, limits } = this.#deps;
    return clock.now() - this.#since >= limits.divergedMs;
  }

  /** Whether a worker of another version is alive. */
  async #isAlive(): Promise<boolean> {
    const { store, version } = this.#deps;
    if (version === undefined) return false;
    const { now, workers } = await store.workers();
    const patience = Math.max(silenceMs, store.leaseMs);
    return workers.some(
      ({ name, seenAt }) => versionOf(name) !== version && now - seenAt <= patience,
    );
  }
}

// ---------------------------------------------------------------- the cause in the record

/** Why the last claim made no progress, and since when the task waits for another version, if it does. */
export function readCause(
  { callId, cause }: Pick<TaskRecord, "callId" | "cause">,
  sealer: Sealer,
): { readonly why: string | undefined; readonly since: number | undefined } {
  if (cause === undefined) return { why: undefined, since: undefined };
  const why = sealer.open(cause, places.cause(callId));
  if (!why.startsWith("{")) return { why, since: undefined };
  try {
    const kept: unknown = JSON.parse(why);
    if (isObject(kept) && typeof kept["since"] === "number" && typeof kept["why"] === "string") {
      return { why: kept["why"], since: kept["since"] };
    }
  } catch {}
  return { why, since: undefined };
}

const writeCause = ({ callId }: TaskRecord, sealer: Sealer, since: number, why: string) =>
  sealer.seal(JSON.stringify({ since, why }), places.cause(callId));
