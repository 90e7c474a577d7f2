// What a user of sqliteStore meets: the file, its options, opening and closing.

import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newTask } from "../../../testing/store/opened.ts";
import type { TaskStore } from "../../store.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { sqliteStore } from "./index.ts";
import { openDatabase } from "./open.ts";
import { SqliteStore } from "./sqlite-store.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

function storeAt(path: string): TaskStore {
  const store = sqliteStore(path) as SqliteStore;
  onTestFinished(() => store.close());
  return store;
}

test("makes a store with a lease that can be set", () => {
  expect(sqliteStore()).toBeInstanceOf(SqliteStore);
  expect(sqliteStore()).toMatchObject({ "~store": "sqlite", leaseMs: 10_000 });
  expect(sqliteStore("some.db", { leaseMs: 5 })).toMatchObject({ leaseMs: 5 });
});

test("creates the file and its folder when they are first needed, readable only by this user", async () => {
  const folder = join(dirname(newPath()), "deep", "deeper");
  const path = join(folder, "parley.db");
  const store = storeAt(path);
  expect(existsSync(folder)).toBe(false);
  await store.migrate();
  expect(modeOf(path)).toBe(0o600);
  expect(modeOf(folder)).toBe(0o700);
  expect(modeOf(dirname(folder))).toBe(0o700);
  await store.create(newTask("a"), 10);
  expect(modeOf(`${path}-wal`)).toBe(0o600);
  expect(modeOf(`${path}-shm`)).toBe(0o600);
});

test("the first operation also opens the file, and keeps its contents", async () => {
  const path = newPath();
  const first = storeAt(path);
  await first.create(newTask("a"), 10);
  await first.close();
  expect(await storeAt(path).read("task-a")).toMatchObject({ input: "input of a" });
});

test("a commit is on the disk when it returns, and no lock blocks for long", async () => {
  const database = await openDatabase(newPath());
  onTestFinished(() => database.close());
  const pragma = (name: string) => Object.values(database.prepare(`pragma ${name}`).all()[0] ?? {});
  expect(pragma("journal_mode")).toEqual(["wal"]);
  expect(pragma("synchronous")).toEqual([2]);
  expect(pragma("foreign_keys")).toEqual([1]);
  expect(pragma("busy_timeout")).toEqual([100]);
});

test("opening waits for a process that has an exclusive lock", async () => {
  const path = newPath();
  const other = (await loadDriver())(path);
  onTestFinished(() => other.close());
  other.exec("begin exclusive; create table theirs (a text)");
  // This is the wait before the second attempt.
  const waits = vi.spyOn(globalThis, "setTimeout").mockImplementationOnce((callback) => {
    other.exec("commit");
    return setTimeout(callback, 0);
  });
  onTestFinished(() => waits.mockRestore());
  await storeAt(path).migrate();
  expect(waits).toHaveBeenCalled();
});

test.each(["", ":memory:"])("a path that is not a file is refused: %j", (path) => {
  expect(() => sqliteStore(path)).toThrow(
    "sqliteStore() keeps tasks in a file. Pass it a path, or use memoryStore() in tests.",
  );
});

test("a file that is not a database is an error, and can be replaced", async () => {
  const path = newPath();
  writeFileSync(path, "This is not a database, but a text of some length.".repeat(40));
  const store = storeAt(path);
  await expect(store.read("a")).rejects.toThrow("not a database");
  writeFileSync(path, "");
  expect(await store.read("a")).toBeUndefined();
});

test("closing waits for operations under way, and refuses later ones", async () => {
  const path = newPath();
  const store = storeAt(path);
  const creating = store.create(newTask("a"), 10);
  await store.close();
  expect(await creating).toMatchObject({ kind: "created" });
  await expect(store.read("task-a")).rejects.toThrow("The SQLite store is closed.");
  await store.close();
  expect(await storeAt(path).read("task-a")).toBeDefined();
});

test("closing a store that was never opened opens nothing", async () => {
  const path = newPath();
  await storeAt(path).close();
  expect(existsSync(path)).toBe(false);
});

test("text that SQLite cannot store is refused, and nothing is half done", async () => {
  const store = storeAt(newPath());
  const [good, bad] = await Promise.allSettled([
    store.create(newTask("a"), 10),
    store.create(newTask("b", { log: ["one", "two\0"] }), 10),
  ]);
  expect(good).toMatchObject({ value: { kind: "created" } });
  expect(bad).toMatchObject({ status: "rejected" });
  expect(await store.read("task-b")).toBeUndefined();
  expect(await store.readLog("task-b")).toEqual([]);
});
