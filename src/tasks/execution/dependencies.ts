// What every part of a run needs from its process.

import type { Clock } from "../clock.ts";
import type { TaskLimits } from "../limits.ts";
import type { TaskObserver } from "../observer.ts";
import type { Sealer } from "../sealing.ts";
import type { StorageShares } from "../shares.ts";
import type { TaskStore } from "../store.ts";
import type { BlockedLoop } from "./blocked-loop.ts";
import type { RunningStreams } from "../streams/running-streams.ts";
import type { LateOutcomes } from "./late-outcomes.ts";

/** The services that a run works with. */
export interface ExecutionDeps {
  readonly store: TaskStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly limits: TaskLimits;
  readonly observer: TaskObserver;
  /** What bodies returned too late for their own run. */
  readonly late?: LateOutcomes | undefined;
  readonly blockedLoop?: BlockedLoop | undefined;
  /** Asks the store whether the claims of this process still count. It answers with a renewal, or by losing them. */
  readonly confirm?: (() => void) | undefined;
  /**
   * Lets other workers claim first for a while, because a worker of another version can follow a task that this one
   * cannot.
   */
  readonly standBack?: (() => void) | undefined;
  readonly shares: StorageShares;
  /** What streams produce, for readers in this process. */
  readonly streams?: RunningStreams | undefined;
  /** The version of the app. If undefined, runs do not note it, and no task is left to another version. */
  readonly version?: string | undefined;
  /** How long this process runs tasks, if it does so for a limited time: `budgetMs` of `app.runDue`. */
  readonly budgetMs?: number | undefined;
  /** In development, clients see the whole cause of an engine failure. */
  readonly isDevelopment?: boolean | undefined;
}
