// Brings the tables of a SQLite file up to date. What may run on which tables is decided in migration-policy.ts.

import { ParleyError } from "../../../errors.ts";
import { pendingMigrations, refusalText, requiredBy } from "../migration-policy.ts";
import type { AppliedMigration, Migration } from "../migration-policy.ts";
import type { SqliteDatabase } from "./driver.ts";
import { sqliteTables } from "./migrations/001-sqlite-tables.ts";

const migrations: readonly Migration<string>[] = [sqliteTables];

/**
 * The SQL of all migrations, for operators who want to read it. It does not note what it did, so it is only safe to
 * run on an empty database.
 */
export function migrationSql(): string {
  return migrations.map(({ number, sql }) => `-- step ${number}\n${sql}`).join("\n");
}

/**
 * Applies what is missing, under the write lock: if several processes start at once, one of them does it and the others
 * find it done.
 */
export function migrate(
  database: SqliteDatabase,
  known: readonly Migration<string>[] = migrations,
): void {
  // A look needs no lock, and most of the time there is nothing to do.
  if (missing(database, known).length === 0) return;
  database.exec("begin immediate");
  try {
    database.exec(noteTable);
    const note = database.prepare("insert into parley_schema (step, compatible) values (?, ?)");
    for (const migration of missing(database, known)) {
      database.exec(migration.sql);
      note.run(migration.number, requiredBy(migration));
    }
    database.exec("commit");
  } catch (error) {
    database.exec("rollback");
    throw error;
  }
}

/** Every version reads this table, so its form never changes. */
const noteTable = `create table if not exists parley_schema (
    step integer primary key, compatible integer not null) strict`;

function missing(
  database: SqliteDatabase,
  known: readonly Migration<string>[],
): readonly Migration<string>[] {
  return pendingMigrations(
    known,
    applied(database),
    (refusal) =>
      new ParleyError(
        "no_store",
        `${refusalText("this SQLite database", refusal)} Update mcp-parley, or use another file.`,
      ),
  );
}

function applied(database: SqliteDatabase): readonly AppliedMigration[] {
  const tables = database.prepare("select 1 from sqlite_master where name = 'parley_schema'").all();
  if (tables.length === 0) return [];
  return database
    .prepare("select step, compatible from parley_schema")
    .all()
    .map((row) => ({ number: Number(row["step"]), requires: Number(row["compatible"]) }));
}
