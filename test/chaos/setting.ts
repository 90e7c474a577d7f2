// What the parent and its replicas have in common: the store, the sealer, the programs, the limits.

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
  /** A path, or a connection string. */
  readonly place: string;
  readonly leaseMs: number;
  readonly sabotage: Sabotage | undefined;
  /** Where handlers and bodies leave their notes. */
  readonly evidence: string;
  readonly concurrency: number;
}

export function openStore({ store, place, leaseMs }: Setting): TaskStore {
  return store === "sqlite"
    ? new SqliteStore({ path: place, leaseMs })
    : new PostgresStore(place, { leaseMs });
}

/** In the clear, but a record in another's place is noticed, as with the real one. */
const strictVault: Sealer = {
  seal: (text, place) => `${place}\n${text}`,
  open: (sealed, place) => {
    const end = sealed.indexOf("\n");
    if (sealed.slice(0, end) !== place) throw new Error(`a record of another place than ${place}`);
    return sealed.slice(end + 1);
  },
};

/** Without a fence two runs write to one log, and it has to be seen what comes of that. */
const looseVault: Sealer = {
  seal: strictVault.seal,
  open: (sealed) => sealed.slice(sealed.indexOf("\n") + 1),
};

export const sealerFor = ({ sabotage }: Setting): Sealer =>
  sabotage === "fence" ? looseVault : strictVault;

export const silentObserver: TaskObserver = {
  created: () => {},
  finished: () => {},
  leaseLost: () => {},
  couldNotRun: () => {},
  gaveUp: () => {},
  storeFailed: () => {},
  storeBack: () => {},
};

export const limits: TaskLimits = {
  ...defaultTaskLimits,
  tasksPerPrincipal: 1_000_000,
  // A task may well be unlucky often when its workers die every other second.
  fruitlessClaims: 100,
  drainMs: 1_000,
};
