// The statements on states that are too large for their tokens.

import type { Sealed } from "../../task.ts";
import type { SqliteDatabase } from "./driver.ts";

/** The table of spilled states. */
export class SpillTable {
  readonly #put;
  readonly #read;
  readonly #sweep;

  constructor({ prepare }: SqliteDatabase) {
    this.#put = prepare(`insert into spills (id, state, expires_at) values (?, ?, ?)
      on conflict (id) do update set state = excluded.state, expires_at = excluded.expires_at`);
    this.#read = prepare("select state from spills where id = ? and expires_at > ?");
    this.#sweep = prepare(`delete from spills where id in (
      select id from spills where expires_at <= ? order by expires_at limit ?)`);
  }

  readonly put = (id: string, state: Sealed, expiresAt: number): void =>
    this.#put.run(id, state, expiresAt);

  readonly read = (id: string, now: number): Sealed | undefined => {
    const [row] = this.#read.all(id, now);
    return row === undefined ? undefined : String(row["state"]);
  };

  readonly sweep = (now: number, limit: number): void => this.#sweep.run(now, limit);
}
