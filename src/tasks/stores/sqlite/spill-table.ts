// The statements on states that are too large for their tokens, and on questions of pages with their answers.

import type { Sealed } from "../../task.ts";
import type { SqliteDatabase } from "./driver.ts";
import { bytesIn, removableOf } from "./row-sizes.ts";
import type { Removable } from "./row-sizes.ts";

/** The table of spilled states. */
export class SpillTable {
  readonly #put;
  readonly #read;
  readonly #fill;
  readonly #expired;
  readonly #delete;
  readonly #usage;
  readonly #count;

  constructor({ prepare }: SqliteDatabase) {
    this.#put = prepare(`insert into spills (id, state, expires_at, principal) values (?, ?, ?, ?)
      on conflict (id) do update set
        state = excluded.state, expires_at = excluded.expires_at, principal = excluded.principal`);
    this.#read = prepare("select state, answer from spills where id = ? and expires_at > ?");
    this.#fill = prepare("update spills set answer = ? where id = ?");
    this.#expired =
      prepare(`select id, octet_length(state) + coalesce(octet_length(answer), 0) as bytes from spills
      where expires_at <= ? order by expires_at limit ?`);
    this.#delete = prepare("delete from spills where id in (select value from json_each(?))");
    this.#usage = prepare(`select count(*) as rows,
      coalesce(sum(octet_length(state) + coalesce(octet_length(answer), 0)), 0) as bytes
      from spills where principal = ?`);
    this.#count = prepare(`select count(*) as count from spills
      where principal = ? and substr(id, 1, length(?)) = ? and expires_at > ?`);
  }

  readonly put = (id: string, state: Sealed, expiresAt: number, principal: string): void =>
    this.#put.run(id, state, expiresAt, principal);

  readonly read = (
    id: string,
    now: number,
  ): { readonly state: Sealed; readonly answer: Sealed | undefined } | undefined => {
    const [row] = this.#read.all(id, now);
    if (row === undefined) return undefined;
    const { state, answer } = row;
    return { state: String(state), answer: typeof answer === "string" ? answer : undefined };
  };

  readonly fill = (id: string, answer: Sealed): void => this.#fill.run(answer, id);

  readonly count = (principal: string, prefix: string, now: number): number => {
    const [row] = this.#count.all(principal, prefix, prefix, now);
    return Number(row?.["count"] ?? 0);
  };

  readonly expired = (now: number, limit: number): readonly Removable[] =>
    this.#expired.all(now, limit).map(removableOf);

  readonly delete = (ids: readonly string[]): void => {
    if (ids.length > 0) this.#delete.run(JSON.stringify(ids));
  };

  readonly bytes = (principal: string): number => bytesIn(this.#usage.all(principal));
}
