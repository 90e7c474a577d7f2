import { expect, onTestFinished, test } from "vitest";
import type { Database } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { migrate } from "./sqlite-migrations.ts";
import type { Migration } from "./sqlite-migrations.ts";

const open = await loadDriver();

function databases(count: number): readonly Database[] {
  const path = newPath();
  const opened = Array.from({ length: count }, () => open(path));
  onTestFinished(() => {
    for (const database of opened) database.close();
  });
  return opened;
}

const first: Migration = { compatible: 1, sql: "create table one (a text)" };
const harmless: Migration = { compatible: 1, sql: "create index one_a on one (a)" };
const breaking: Migration = { compatible: 3, sql: "alter table one rename to won" };
const later: Migration = { compatible: 1, sql: "create table two (b text)" };

const tables = (database: Database) =>
  database
    .prepare("select name from sqlite_master order by name")
    .all()
    .map(({ name }) => name);

test("each step is done once, in order, by whoever comes first", () => {
  const [one, other] = databases(2);
  migrate(one!, [first, harmless]);
  migrate(other!, [first, harmless]);
  expect(tables(other!)).toEqual(["one", "one_a", "parley_schema"]);
  migrate(other!, [first, harmless, breaking]);
  expect(tables(one!)).toEqual(["one_a", "parley_schema", "won"]);
});

test("an older version goes on with tables that it can work with", () => {
  const [database] = databases(1);
  migrate(database!, [first, harmless]);
  migrate(database!, [first]);
  expect(tables(database!)).toContain("one_a");
});

test("and refuses the others, whatever came after them", () => {
  const [database] = databases(1);
  migrate(database!, [first, harmless, breaking, later]);
  expect(() => migrate(database!, [first, harmless])).toThrow(
    "The SQLite database is from a newer version of mcp-parley (its schema is at 4, readable from 3 on; " +
      "this version knows 2). Update mcp-parley, or use another file.",
  );
  migrate(database!, [first, harmless, breaking]);
});

test("a step that fails leaves nothing behind", () => {
  const [database] = databases(1);
  const wrong = { compatible: 1, sql: "create table two (b text); create table one (c text)" };
  expect(() => migrate(database!, [first, wrong])).toThrow("one");
  expect(tables(database!)).toEqual([]);
  migrate(database!, [first, later]);
});

test("nothing to do needs no lock", () => {
  const [one, other] = databases(2);
  one!.exec("pragma journal_mode = wal");
  migrate(one!);
  one!.exec("begin immediate");
  migrate(other!);
  one!.exec("rollback");
});
