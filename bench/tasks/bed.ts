// A store to measure and, in the same database with the same settings, what it is measured against.

import type { TaskStore } from "../../src/tasks/store.ts";
import type { Count } from "./count.ts";
import type { Missing, Rival } from "./rival.ts";

export interface Bed {
  readonly name: string;
  /** Version, driver and durability of the database. */
  readonly about: string;
  readonly count: Count;
  /** A store with tables of its own. */
  readonly store: () => Promise<TaskStore>;
  readonly bare: () => Promise<readonly Bare[]>;
  /** Other engines on the same database. */
  readonly rivals: () => Promise<readonly (Rival | Missing)[]>;
  /** The number of transactions that have written to the database so far. */
  readonly commits: () => Promise<number>;
  /** What the database server has used so far: processor time, and bytes of write-ahead log. A file has no server. */
  readonly server?: () => Promise<ServerUse>;
  /** The size of the tables of the store that was opened last. */
  readonly diskBytes: () => Promise<number>;
  readonly close: () => Promise<void>;
}

interface ServerUse {
  readonly cpuMs: number;
  readonly walBytes: number;
}

/** One-row transactions, each committed before it resolves. */
export interface Bare {
  readonly name: string;
  readonly insert: (id: string, state: string) => Promise<void> | void;
  readonly update: (id: string, state: string) => Promise<void> | void;
  /** The rows of the table, and the updates made to them. */
  readonly counted: () => Promise<{ readonly rows: number; readonly updates: number }>;
}
