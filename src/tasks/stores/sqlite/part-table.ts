// The statements on the parts of running streams.

import { partsAtOnce } from "../../stored-parts.ts";
import type { PartPage, PartPlace, StoredPart } from "../../stored-parts.ts";
import type { ClaimRef } from "../../task.ts";
import { isText } from "./driver.ts";
import type { SqliteDatabase, SqliteRow } from "./driver.ts";
import { shownRevision } from "./task-table.ts";

/** The table of parts. */
export class PartTable {
  readonly #add;
  readonly #read;
  readonly #delete;
  readonly #usage;

  constructor({ prepare }: SqliteDatabase) {
    this.#add = prepare(`insert into task_parts (task_id, epoch, key, n, record)
      values (?, ?, ?, ?, ?) on conflict do nothing`);
    // One statement reads one snapshot.
    this.#read = prepare(`select tasks.epoch, log_length, ${shownRevision}, n, key, record
      from tasks left join task_parts on task_id = id and task_parts.epoch = tasks.epoch
        and n > case when tasks.epoch = ?2 then ?3 else -1 end
      where id = ?4 order by n limit ${partsAtOnce}`);
    this.#delete = prepare("delete from task_parts where task_id = ? and key = ?");
    this.#usage = prepare(`select coalesce(sum(octet_length(record)), 0) as bytes
      from task_parts join tasks on id = task_id where rest is null and principal = ?`);
  }

  readonly add = ({ id, epoch }: ClaimRef, parts: readonly StoredPart[]): void => {
    for (const { key, n, record } of parts) this.#add.run(id, epoch, key, n, record);
  };

  readonly read = (id: string, { epoch, n }: PartPlace, now: number): PartPage | undefined => {
    const rows = isText(id) ? this.#read.all(now, epoch, n, id) : [];
    const [row] = rows;
    if (row === undefined) return undefined;
    return {
      epoch: Number(row["epoch"]),
      logLength: Number(row["log_length"]),
      revision: Number(row["revision"]),
      parts: rows.flatMap((one) => (one["n"] === null ? [] : [partOf(one)])),
    };
  };

  readonly delete = (id: string, key: string): void => this.#delete.run(id, key);

  readonly bytes = (principal: string): number =>
    Number(this.#usage.all(principal)[0]?.["bytes"] ?? 0);
}

const partOf = (row: SqliteRow): StoredPart => ({
  n: Number(row["n"]),
  key: String(row["key"]),
  record: String(row["record"]),
});
