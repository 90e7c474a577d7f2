// What every part of a run needs from its process.

import type { Clock } from "../clock.ts";
import type { TaskLimits } from "../limits.ts";
import type { TaskObserver } from "../observer.ts";
import type { Sealer } from "../sealing.ts";
import type { TaskStore } from "../store.ts";

/** The services that a run works with. */
export interface ExecutionDeps {
  readonly store: TaskStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly limits: TaskLimits;
  readonly observer: TaskObserver;
  /** In development, clients see the whole cause of an engine failure. */
  readonly isDevelopment?: boolean | undefined;
}
