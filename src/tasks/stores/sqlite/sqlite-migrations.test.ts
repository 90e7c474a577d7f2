// The tables in SQLite: how they are made, and which versions may use them.

import { expect, onTestFinished, test } from "vitest";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { migrate } from "./sqlite-migrations.ts";
import type { Migration } from "../migration-policy.ts";
import { sqliteTables } from "./migrations/001-sqlite-tables.ts";

const open = await loadDriver();

function databases(count: number): readonly SqliteDatabase[] {
  const path = newPath();
  const opened = Array.from({ length: count }, () => open(path));
  onTestFinished(() => {
    for (const database of opened) database.close();
  });
  return opened;
}

type SqliteMigration = Migration<string>;
const first: SqliteMigration = { number: 1, isBreaking: false, sql: "create table one (a text)" };
const harmless: SqliteMigration = {
  number: 2,
  isBreaking: false,
  sql: "create index one_a on one (a)",
};
const breaking: SqliteMigration = {
  number: 3,
  isBreaking: true,
  sql: "alter table one rename to won",
};
const later: SqliteMigration = { number: 4, isBreaking: false, sql: "create table two (b text)" };

const tables = (database: SqliteDatabase) =>
  database
    .prepare("select name from sqlite_master order by name")
    .all()
    .map(({ name }) => name);

test("the first process applies each migration once, in order", () => {
  const [one, other] = databases(2);
  migrate(one!, [first, harmless]);
  migrate(other!, [first, harmless]);
  expect(tables(other!)).toEqual(["one", "one_a", "parley_schema"]);
  migrate(other!, [first, harmless, breaking]);
  expect(tables(one!)).toEqual(["one_a", "parley_schema", "won"]);
});

test("an older version keeps working on tables that it can use", () => {
  const [database] = databases(1);
  migrate(database!, [first, harmless]);
  migrate(database!, [first]);
  expect(tables(database!)).toContain("one_a");
});

test("an older version refuses tables after a breaking migration, even if later ones are not breaking", () => {
  const [database] = databases(1);
  migrate(database!, [first, harmless, breaking, later]);
  expect(() => migrate(database!, [first, harmless])).toThrow(
    "A newer version of mcp-parley has changed this SQLite database (migration 3), and this version, which knows " +
      "migrations up to 2, cannot use it. Update mcp-parley, or use another file.",
  );
  migrate(database!, [first, harmless, breaking]);
});

test("a migration that fails leaves nothing behind", () => {
  const [database] = databases(1);
  const wrong = {
    number: 2,
    isBreaking: false,
    sql: "create table two (b text); create table one (c text)",
  };
  expect(() => migrate(database!, [first, wrong])).toThrow("one");
  expect(tables(database!)).toEqual([]);
  migrate(database!, [first, { ...later, number: 2 }]);
});

test("an up-to-date database needs no lock", () => {
  const [one, other] = databases(2);
  one!.exec("pragma journal_mode = wal");
  migrate(one!);
  one!.exec("begin immediate");
  migrate(other!);
  one!.exec("rollback");
});

/** What version 0.1.0 wrote down about its migrations. */
const notedBy010 = `create table parley_schema (
    step integer primary key, compatible integer not null) strict;
  insert into parley_schema (step, compatible) values (1, 1);`;

const notesOf = (database: SqliteDatabase) => ({
  table: database.prepare("select sql from sqlite_master where name = 'parley_schema'").all()[0]?.[
    "sql"
  ],
  notes: database.prepare("select step, compatible from parley_schema order by step").all(),
});

test("a database that version 0.1.0 made is up to date, and is recorded in the same form", () => {
  const [old] = databases(1);
  old!.exec(sqliteTables.sql);
  old!.exec(notedBy010);
  const before = tables(old!);
  migrate(old!);
  expect(tables(old!)).toEqual(before);
  const [fresh] = databases(1);
  migrate(fresh!);
  expect(tables(fresh!)).toEqual(before);
  expect(JSON.stringify(notesOf(fresh!))).toBe(JSON.stringify(notesOf(old!)));
});

test("the records say which versions may still use the tables, as version 0.1.0 reads them", () => {
  const [database] = databases(1);
  migrate(database!, [first, harmless, breaking, later]);
  expect(JSON.parse(JSON.stringify(notesOf(database!).notes))).toEqual([
    { step: 1, compatible: 1 },
    { step: 2, compatible: 1 },
    { step: 3, compatible: 3 },
    { step: 4, compatible: 1 },
  ]);
});
