// One transaction, which begins with the write lock.

import type { SqliteDatabase } from "./driver.ts";

/** Runs an operation in a transaction. If it throws, nothing of it stays. */
export function inTransaction<T>(database: SqliteDatabase, operation: () => T): T {
  if (database.transaction !== undefined) return database.transaction(operation);
  database.exec("begin immediate");
  try {
    const value = operation();
    database.exec("commit");
    return value;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("rollback");
  } catch {
    // SQLite has already rolled back by itself, as it does when the disk is full.
  }
}
