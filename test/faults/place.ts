// Where a process of these tests finds its store, and its orders. Both are passed in its environment.

import process from "node:process";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import type { TaskStore } from "../../src/tasks/store.ts";

export interface Place {
  readonly kind: "sqlite" | "postgres";
  /** The path of a file, or a connection string. */
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

/** Reads what `orders` wrote. */
export const ordersHere = (): unknown => JSON.parse(process.env[variable] ?? "{}");
