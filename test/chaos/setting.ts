// What the parent and its replicas share: the store, the sealer, the programs and the limits.

import { defaultTaskLimits } from "../../src/tasks/limits.ts";
import type { TaskLimits } from "../../src/tasks/limits.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import type { Sealer } from "../../src/tasks/sealing.ts";
import type { TaskObserver } from "../../src/tasks/observer.ts";
import type { Sabotage } from "./sabotage.ts";

export type StoreKind = "sqlite" | "postgres";

export interface Setting {
  readonly store: StoreKind;
  /** The path of a file, or a connection string. */
  readonly place: string;
  /** Whether the connections lead to a pooler in transaction mode. */
  readonly isPooled: boolean;
  readonly leaseMs: number;
  readonly sabotage: Sabotage | undefined;
  /** The file for the notes of handlers and bodies. */
  readonly evidence: string;
  readonly concurrency: number;
  /** Whether steps have undos, and some handlers throw at their end. */
  readonly undoes: boolean;
  /** Whether each replica runs what is due in short runs, one after the other, instead of having a worker. */
  readonly runDue: boolean;
}

export function openStore({ store, place, leaseMs, isPooled }: Setting): TaskStore {
  return store === "sqlite"
    ? new SqliteStore({ path: place, leaseMs })
    : new PostgresStore(place, { leaseMs, prepare: !isPooled, listen: !isPooled });
}

/** Does not encrypt, but notices a record in the wrong place, as the real one does. */
const strictVault: Sealer = {
  seal: (text, place) => `${place}\n${text}`,
  open: (sealed, place) => {
    const end = sealed.indexOf("\n");
    if (sealed.slice(0, end) !== place) throw new Error(`This record does not belong to ${place}.`);
    return sealed.slice(end + 1);
  },
};

/** Allows two runs to write to one log, so that the effect of a missing fence can be seen. */
const looseVault: Sealer = {
  seal: strictVault.seal,
  open: (sealed) => sealed.slice(sealed.indexOf("\n") + 1),
};

export const sealerFor = ({ sabotage }: Setting): Sealer =>
  sabotage === "fence" || sabotage === "stream-epoch" ? looseVault : strictVault;

export const silentObserver: TaskObserver = {
  created: () => {},
  finished: () => {},
  leaseLost: () => {},
  couldNotRun: () => {},
  moved: () => {},
  cancelled: () => {},
  expired: () => {},
  blocked: () => {},
  limitReached: () => {},
  gaveUp: () => {},
  storeFailed: () => {},
  storeBack: () => {},
};

export const limits: TaskLimits = {
  ...defaultTaskLimits,
  tasksPerPrincipal: 1_000_000,
  // A task may be unlucky many times in a row when its workers die every other second.
  fruitlessClaims: 100,
  drainMs: 1_000,
};
