// Brings the tables of a SQLite file up to date. migration-policy.ts decides which versions may use which tables.

import { ParleyError } from "../../../errors.ts";
import { pendingMigrations, refusalText, requiredBy } from "../migration-policy.ts";
import type { AppliedMigration, Migration } from "../migration-policy.ts";
import type { SqliteDatabase } from "./driver.ts";
import { inTransaction } from "./transaction.ts";
import { sqliteTables } from "./migrations/001-sqlite-tables.ts";
import { sqliteShares } from "./migrations/002-sqlite-shares.ts";
import { sqliteUndo } from "./migrations/003-sqlite-undo.ts";
import { sqliteStreams } from "./migrations/004-sqlite-streams.ts";
import { sqliteMailbox } from "./migrations/005-sqlite-mailbox.ts";
import { sqliteAccountTable } from "./migrations/006-sqlite-accounts.ts";
import { sqliteAudit } from "./migrations/007-sqlite-audit.ts";
import { sqliteHistory } from "./migrations/008-sqlite-history.ts";
import { sqliteLighterWrites } from "./migrations/009-sqlite-lighter-writes.ts";
import { sqliteOneWait } from "./migrations/010-sqlite-one-wait.ts";

const migrations: readonly Migration<string>[] = [
  sqliteTables,
  sqliteShares,
  sqliteUndo,
  sqliteStreams,
  sqliteMailbox,
  sqliteAccountTable,
  sqliteAudit,
  sqliteHistory,
  sqliteLighterWrites,
  sqliteOneWait,
];

/**
 * The SQL of all migrations, for operators who apply it themselves to a new file. It notes what it did, so that the store
 * finds it done.
 */
export function migrationSql(): string {
  return sqlOf(migrations);
}

/** The SQL of the migrations that a database lacks. */
export function missingSql(database: SqliteDatabase): string {
  return sqlOf(missing(database, migrations));
}

function sqlOf(steps: readonly Migration<string>[]): string {
  if (steps.length === 0) return "-- The tables are up to date.\n";
  const texts = steps.map(
    (migration) =>
      `-- step ${migration.number}\n${migration.sql}\n${noteOf(migration.number, requiredBy(migration))}`,
  );
  return ["begin immediate;", `${noteTable};`, ...texts, "commit;", ""].join("\n");
}

const noteOf = (number: number, requires: number): string =>
  `insert into parley_schema (step, compatible) values (${number}, ${requires});`;

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
  inTransaction(database, () => {
    database.exec(noteTable);
    for (const migration of missing(database, known)) {
      database.exec(migration.sql);
      database.exec(noteOf(migration.number, requiredBy(migration)));
    }
  });
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
