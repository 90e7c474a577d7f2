// The statements on workers: when each of them was last alive.

import type { SqliteDatabase } from "./driver.ts";

const dayMs = 24 * 3_600_000;

/** The table of workers. */
export class WorkerTable {
  readonly #seen;
  readonly #leave;
  readonly #sweep;

  constructor({ prepare }: SqliteDatabase) {
    this.#seen = prepare(`insert into workers (worker, seen_at) values (?, ?)
      on conflict (worker) do update set seen_at = excluded.seen_at`);
    this.#leave = prepare("delete from workers where worker = ?");
    this.#sweep = prepare("delete from workers where seen_at <= ?");
  }

  readonly seen = (worker: string, now: number): void => this.#seen.run(worker, now);
  readonly leave = (worker: string): void => this.#leave.run(worker);
  readonly sweep = (now: number): void => this.#sweep.run(now - dayMs);
}
