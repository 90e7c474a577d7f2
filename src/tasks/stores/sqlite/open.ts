// Opens the database file at a path, and brings its tables up to date.

import { dirname } from "node:path";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { migrate } from "./sqlite-migrations.ts";
import { busyTimeoutMs, patiently } from "./retry-when-busy.ts";

/** Opens a database. The file and its folder are created if they are missing, for this user alone. */
export async function openDatabase(path: string): Promise<SqliteDatabase> {
  const open = await loadDriver();
  const { closeSync, mkdirSync, openSync } = process.getBuiltinModule("node:fs");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite would make the file readable for every user. The files that it makes beside it get the mode of this one.
  closeSync(openSync(path, "a", 0o600));
  const database = open(path);
  try {
    // The switch to WAL and the migrations take locks, and other processes may be starting at the same moment.
    await patiently(() => {
      setUp(database, path);
      migrate(database);
    });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function setUp(database: SqliteDatabase, path: string): void {
  database.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
  const [mode] = database.prepare("pragma journal_mode = wal").all();
  if (mode?.["journal_mode"] !== "wal")
    throw new Error(
      `SQLite cannot share ${path} between processes, because its write-ahead log is not available there. Use a file on a local disk, not on a network drive.`,
    );
  // With FULL, a commit is on the disk when it returns.
  database.exec("pragma synchronous = full");
  database.exec("pragma foreign_keys = on");
}
