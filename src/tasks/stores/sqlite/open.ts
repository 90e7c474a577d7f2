// From a path to an open database with its tables up to date.

import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { migrate } from "./sqlite-migrations.ts";
import { busyTimeoutMs, patiently } from "./patience.ts";

export async function openDatabase(path: string): Promise<Database> {
  const open = await loadDriver();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite would make it readable for everybody. What it makes beside it gets the mode of this one.
  closeSync(openSync(path, "a", 0o600));
  const database = open(path);
  try {
    // Switching to WAL and migrating take locks that others who start now want as well.
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

function setUp(database: Database, path: string): void {
  database.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
  const [mode] = database.prepare("pragma journal_mode = wal").all();
  if (mode?.["journal_mode"] !== "wal")
    throw new Error(
      `SQLite cannot share ${path} between processes (no write-ahead log). Is it on a network drive?`,
    );
  // FULL: a commit is on the disk when it returns.
  database.exec("pragma synchronous = full");
  database.exec("pragma foreign_keys = on");
}
