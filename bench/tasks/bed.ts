// A store to measure on, and beside it, in the same database with the same settings, what it is measured against.

import type { TaskStore } from "../../src/tasks/store.ts";
import type { Count } from "./count.ts";
import type { OpenWorkflowEngine } from "./openworkflow.ts";

export interface Bed {
  readonly name: string;
  /** What is under it: version, driver, durability. */
  readonly about: string;
  readonly count: Count;
  /** Tables of its own. */
  readonly store: () => Promise<TaskStore>;
  readonly bare: () => Promise<readonly Bare[]>;
  /** A text: why it cannot be had here. */
  readonly openWorkflow: () => Promise<OpenWorkflowEngine | string>;
  /** How many writing transactions the database has had so far. */
  readonly commits: () => Promise<number>;
  /** Of the store's tables that were opened last. */
  readonly diskBytes: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** One-row transactions, each committed before it resolves. */
export interface Bare {
  readonly name: string;
  readonly insert: (id: string, state: string) => Promise<void> | void;
  readonly update: (id: string, state: string) => Promise<void> | void;
  /** Rows, and updates made on them, as the table has it. */
  readonly counted: () => Promise<{ readonly rows: number; readonly updates: number }>;
}
