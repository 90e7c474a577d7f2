// SQLite in the storage of a Durable Object, as the SQLite store uses it.

import type { SqliteDatabase } from "../tasks/stores/sqlite/driver.ts";
import { isText } from "../tasks/stores/sqlite/driver.ts";
import { ParleyError } from "../errors.ts";
import { recordTooLarge } from "../tasks/limits.ts";
import type { ObjectStorage } from "./platform.ts";

/** What the platform keeps in one row, at most. */
export const rowBytes: number = 2 * 1024 * 1024;

type Value = Parameters<ObjectStorage["sql"]["exec"]>[1];

type Row = ReturnType<ReturnType<ObjectStorage["sql"]["exec"]>["toArray"]>[number];

/** Runs SQL in the storage of an object. */
export function rowsOf({ sql }: ObjectStorage, text: string, values: readonly Value[] = []): Row[] {
  try {
    return sql.exec(text, ...values).toArray();
  } catch (error) {
    if (error instanceof Error && /SQL is not enabled/.test(error.message)) throw noSql();
    throw error;
  }
}

/** It is a mistake in the configuration and not an outage, so the client is not told to try again. */
const noSql = () =>
  new ParleyError(
    "no_store",
    "The Durable Object has no SQLite storage. Name its class under new_sqlite_classes in the migrations of wrangler.jsonc.",
  );

/** The database of an object. `changed` is called at the end of each transaction, and belongs to it. */
export function objectDatabase(storage: ObjectStorage, changed: () => void): SqliteDatabase {
  const run = (sql: string, values: readonly Value[]) => {
    values.forEach(check);
    try {
      return rowsOf(storage, sql, values);
    } catch (error) {
      throw isTooBig(error) ? recordTooLarge("A row", bytesOf(values), rowBytes) : error;
    }
  };
  return {
    exec: (sql) => void rowsOf(storage, sql),
    // The platform prepares a statement when it first runs, and keeps it.
    prepare: (sql) => ({
      run: (...values) => void run(sql, values),
      all: (...values) => run(sql, values),
    }),
    close: () => {},
    transaction: (operation) =>
      storage.transactionSync(() => {
        const value = operation();
        changed();
        return value;
      }),
  };
}

const bytesOf = (values: readonly Value[]): number =>
  values.reduce((sum: number, value) => sum + Buffer.byteLength(String(value)), 0);

function check(value: Value): void {
  if (typeof value !== "string") return;
  if (!isText(value)) {
    throw new TypeError(
      "SQLite cannot keep text with a NUL character or half of a surrogate pair.",
    );
  }
  // A character takes up to three bytes, so most texts need not be measured.
  if (value.length * 3 <= rowBytes) return;
  const bytes = Buffer.byteLength(value);
  if (bytes > rowBytes) throw recordTooLarge("A value", bytes, rowBytes);
}

const isTooBig = (error: unknown): boolean =>
  error instanceof Error && /SQLITE_TOOBIG/.test(error.message);
