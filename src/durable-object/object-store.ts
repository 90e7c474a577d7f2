// The store inside a Durable Object: the SQLite store on the object's own storage, and the alarm that goes with it.

import { migrate } from "../tasks/stores/sqlite/sqlite-migrations.ts";
import { SqliteStore } from "../tasks/stores/sqlite/sqlite-store.ts";
import { ObjectAlarm } from "./object-alarm.ts";
import { objectDatabase, rowBytes } from "./object-database.ts";
import type { ObjectState } from "./platform.ts";

/** Opens the storage of an object, whose app has these tools. */
export function objectStore(
  { storage }: ObjectState,
  tools: () => readonly string[],
  now: () => number = Date.now,
): { readonly store: SqliteStore; readonly alarm: ObjectAlarm } {
  let isOpen = false;
  const database = objectDatabase(storage, () => {
    if (isOpen) alarm.bringForward();
  });
  const alarm = new ObjectAlarm(storage, database, tools, now);
  const path = async () => {
    migrate(database);
    isOpen = true;
    return database;
  };
  return { store: new SqliteStore({ path, mostBytes: rowBytes, now }), alarm };
}
