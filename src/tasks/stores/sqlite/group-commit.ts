// Operations called in the same moment share one transaction, and so one fsync, which is what a write costs.
// Nothing resolves before its commit.

import type { Database } from "./driver.ts";
import { isBusy } from "./driver.ts";
import { patiently } from "./patience.ts";

interface Job {
  /** May be called again: after a rollback nothing of it is left. Returns what to do after the commit. */
  readonly operation: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** How many share a transaction: the event loop stands still for as long as it takes. */
const most = 256;

export class GroupCommit {
  readonly #database: Database;
  readonly #patienceMs: number | undefined;
  #jobs: Job[] = [];
  #isWorking = false;

  constructor(database: Database, patienceMs?: number) {
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
      if (!this.#isWorking) void this.#work();
    });

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#jobs.length > 0) {
      await new Promise(setImmediate);
      const jobs = this.#jobs.splice(0, most);
      await this.#commit(jobs);
    }
    this.#isWorking = false;
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    try {
      const operations = jobs.map(({ operation }) => operation);
      const resolves = await patiently(() => this.#transaction(operations), this.#patienceMs);
      for (const resolve of resolves) resolve();
    } catch (error) {
      const [alone] = jobs;
      if (jobs.length === 1) return alone?.reject(error);
      // One of them is at fault, and the others are not to suffer for it. A lock is nobody's fault.
      if (isLocked(error)) for (const { reject } of jobs) reject(error);
      else for (const job of jobs) await this.#commit([job]);
    }
  }

  #transaction(operations: readonly Job["operation"][]): readonly (() => void)[] {
    this.#database.exec("begin immediate");
    try {
      const resolves = operations.map((operation) => operation());
      this.#database.exec("commit");
      return resolves;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec("rollback");
    } catch {
      // SQLite has done so itself: after a full disk, for example.
    }
  }
}

const isLocked = (error: unknown) => error instanceof Error && isBusy(error.cause);
