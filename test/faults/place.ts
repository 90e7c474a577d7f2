// Where a process of these tests finds its store, and what else it is to do: handed over in its environment.

import process from "node:process";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import type { TaskStore } from "../../src/tasks/store.ts";

export interface Place {
  readonly kind: "sqlite" | "postgres";
  /** A file, or a connection string. */
  readonly at: string;
  readonly leaseMs: number;
}

export function openStore({ kind, at, leaseMs }: Place): TaskStore {
  return kind === "sqlite"
    ? new SqliteStore({ path: at, leaseMs })
    : new PostgresStore(at, { leaseMs });
}

const variable = "PARLEY_FAULTS";

export const orders = (what: object): Record<string, string> => ({
  [variable]: JSON.stringify(what),
});

/** What `orders` was given. */
export const ordersHere = (): unknown => JSON.parse(process.env[variable] ?? "{}");
