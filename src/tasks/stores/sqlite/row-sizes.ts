// Reading the sizes of rows.

import { recordBytes } from "../../store.ts";
import type { SqliteRow } from "./driver.ts";

/** A row that can go, and its size. */
export interface Removable {
  readonly id: string;
  readonly bytes: number;
}

/** A row with an id and its size. */
export const removableOf = (row: SqliteRow): Removable => ({
  id: String(row["id"]),
  bytes: Number(row["bytes"]),
});

/** The size of all rows that were counted, as `StoreUsage` counts it. */
export const bytesIn = ([row]: readonly SqliteRow[]): number =>
  Number(row?.["bytes"] ?? 0) + Number(row?.["rows"] ?? 0) * recordBytes;
