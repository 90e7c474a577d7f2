// The statements on workers: when each of them was last alive.

import type { SqliteDatabase } from "./driver.ts";

const dayMs = 24 * 3_600_000;

/** The table of workers. */
export class WorkerTable {
  readonly #seen;
  readonly #leave;
  readonly #sweep;
  readonly #all;

  constructor({ prepare }: SqliteDatabase) {
    this.#seen = prepare(`insert into workers (worker, seen_at) values (?, ?)
      on conflict (worker) do update set seen_at = excluded.seen_at`);
    this.#leave = prepare("delete from workers where worker = ?");
    this.#all = prepare("select worker as name, seen_at from workers");
    this.#sweep = prepare("delete from workers where seen_at <= ?");
  }

  readonly seen = (worker: string, now: number): void => this.#seen.run(worker, now);
  readonly leave = (worker: string): void => this.#leave.run(worker);
  readonly all = (): readonly { readonly name: string; readonly seenAt: number }[] =>
    this.#all.all().map(({ name, seen_at }) => ({ name: String(name), seenAt: Number(seen_at) }));
  readonly sweep = (now: number): void => this.#sweep.run(now - dayMs);
}
