// The tables in SQLite: how they are made, and which versions may use them.

import { copyFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { migrate, migrationSql, missingSql } from "./sqlite-migrations.ts";
import { SqliteStore } from "./sqlite-store.ts";
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

const notesOf = (database: SqliteDatabase) => ({
  table: database.prepare("select sql from sqlite_master where name = 'parley_schema'").all()[0]?.[
    "sql"
  ],
  notes: database.prepare("select step, compatible from parley_schema order by step").all(),
});

const columnsOf = (database: SqliteDatabase) =>
  tables(database).map((table) => database.prepare(`pragma table_info(${String(table)})`).all());

/** A database that version 0.1.0 wrote. */
function golden(): { readonly path: string; readonly old: SqliteDatabase } {
  const path = newPath();
  copyFileSync(new URL("../../../../test/golden/0.1.0/tasks.db", import.meta.url), path);
  const old = open(path);
  onTestFinished(() => old.close());
  return { path, old };
}

test("a database that version 0.1.0 wrote gets the same tables and notes as a new one", () => {
  const { old } = golden();
  expect(notesOf(old).notes).toMatchObject([{ step: 1, compatible: 1 }]);
  const tasks = () => old.prepare("select id, status, input from tasks order by id").all();
  const before = tasks();
  expect(before).toHaveLength(5);
  migrate(old);
  expect(tasks()).toEqual(before);
  const [fresh] = databases(1);
  migrate(fresh!);
  expect(tables(fresh!)).toEqual(tables(old));
  expect(columnsOf(fresh!)).toEqual(columnsOf(old));
  expect(JSON.stringify(notesOf(fresh!))).toBe(JSON.stringify(notesOf(old)));
});

test("version 0.1.0 still works on the tables, side by side with this version", () => {
  const { old } = golden();
  migrate(old);
  // How version 0.1.0 decides, and how it writes.
  migrate(old, [sqliteTables]);
  const names = `id, call_id, tool, principal, status, revision, epoch, worker, due_at, waits, inbox, asked, log_length,
    log_bytes, fruitless, cause, input, status_message, result, rest, created_at, updated_at, expires_at`;
  old.exec(`insert into tasks (${names}) select
    'new', 'new', tool, principal, status, revision, epoch, worker, due_at, waits, inbox, asked, log_length,
    log_bytes, fruitless, cause, input, status_message, result, rest, created_at, updated_at, expires_at
    from tasks limit 1`);
  old.exec("insert into spills (id, state, expires_at) values ('s', 'state', 1)");
  old.exec(`insert into rounds (call_id, round, answers, epoch, lease_until, log_length, response, expires_at)
    values ('c', 1, '', 1, 0, 0, null, 1)`);
  // Such a task counts as read, so it is never ended early. Its states and rounds count for no caller.
  expect(old.prepare("select unread from tasks where id = 'new'").all()).toMatchObject([
    { unread: 0 },
  ]);
  expect(old.prepare("select principal from spills where id = 's'").all()).toMatchObject([
    { principal: null },
  ]);
});

test.each(["a new file", "a file of version 0.1.0"])(
  "the printed SQL can be applied by hand to %s, and migrating afterwards finds it done",
  async (kind) => {
    const path = kind === "a new file" ? newPath() : golden().path;
    const byHand = open(path);
    if (kind === "a new file") expect(missingSql(byHand)).toBe(migrationSql());
    byHand.exec(missingSql(byHand));
    const after = notesOf(byHand).notes;
    byHand.close();
    const store = new SqliteStore({ path });
    onTestFinished(() => store.close());
    await store.migrate();
    expect((await store.figures()).live).toBe(kind === "a new file" ? 0 : 3);
    const again = open(path);
    expect(notesOf(again).notes).toEqual(after);
    expect(missingSql(again)).toBe("-- The tables are up to date.\n");
    again.exec(missingSql(again));
    again.close();
  },
);

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

test("parts that were there before migration 9, and parts that an earlier version adds, go with their claim", () => {
  const [database] = databases(1);
  const [before = ""] = migrationSql().split("-- step 9");
  database!.exec(`${before}commit;`);
  const held = (id: string) =>
    database!
      .exec(`insert into tasks (id, call_id, tool, principal, status, revision, epoch, worker, waits, inbox, asked,
      log_length, log_bytes, fruitless, created_at, updated_at, expires_at, input)
      values ('${id}', '${id}', 't', '', 'working', 1, 1, 'w', '[]', '[]', '{}', 0, 0, 0, 1, 1, 9, '')`);
  const part = (id: string) =>
    database!.exec(`insert into task_parts values ('${id}', 1, 'key', 0, 'text')`);
  held("a");
  part("a");
  migrate(database!);
  held("b");
  part("b");
  held("c");
  const left = () => database!.prepare("select task_id from task_parts").all();
  expect(left()).toHaveLength(2);
  database!.exec("update tasks set fruitless = 1");
  expect(left()).toHaveLength(2);
  database!.exec("update tasks set worker = null");
  expect(left()).toEqual([]);
});
