// Operations that are called at the same moment share one transaction, and with it one fsync, which is most of what a
// write costs. No operation resolves before its commit.

import type { SqliteDatabase } from "./driver.ts";
import { isBusy } from "./driver.ts";
import { patiently } from "./retry-when-busy.ts";
import { inTransaction } from "./transaction.ts";

interface Job {
  /** Does the work, and returns what to do after the commit. It may be called again, because a rollback undoes it. */
  readonly operation: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** How many operations share a transaction. The event loop is blocked while it runs. */
const most = 256;

/** Runs operations in shared transactions. */
export class GroupCommit {
  readonly #database: SqliteDatabase;
  readonly #patienceMs: number | undefined;
  #jobs: Job[] = [];
  #working: Promise<void> | undefined;

  constructor(database: SqliteDatabase, patienceMs?: number) {
    this.#database = database;
    this.#patienceMs = patienceMs;
  }

  readonly run = <T>(operation: () => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const job = () => {
        const value = operation();
        return () => resolve(value);
      };
      this.#jobs.push({ operation: job, reject });
      this.#working ??= this.#work();
    });

  /** Resolves when nothing is under way. Undefined if nothing is. */
  get settled(): Promise<void> | undefined {
    return this.#working;
  }

  async #work(): Promise<void> {
    while (this.#jobs.length > 0) {
      await new Promise(setImmediate);
      const jobs = this.#jobs.splice(0, most);
      await this.#commit(jobs);
    }
    this.#working = undefined;
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    try {
      const operations = jobs.map(({ operation }) => operation);
      const resolves = await patiently(
        () => inTransaction(this.#database, () => operations.map((operation) => operation())),
        this.#patienceMs,
      );
      for (const resolve of resolves) resolve();
    } catch (error) {
      const [alone] = jobs;
      if (jobs.length === 1) return alone?.reject(error);
      // If one operation fails, the others must not fail with it, so each runs alone. A lock fails all of them.
      if (isLocked(error)) for (const { reject } of jobs) reject(error);
      else for (const job of jobs) await this.#commit([job]);
    }
  }
}

const isLocked = (error: unknown) => error instanceof Error && isBusy(error.cause);
