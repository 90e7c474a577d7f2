// The tables in Postgres: how they are made, and which versions may use them.

import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { claimAll, create } from "../../../testing/store/opened.ts";
import { migrationSql, postgresStore } from "./index.ts";
import { postgresTables } from "./migrations/001-postgres-tables.ts";
import { TestServer } from "./server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
beforeAll(async () => void (server = await TestServer.startAlone()));
afterAll(() => server.stop());

/** Everything in a schema, without its name. */
async function shapeOf(schema: string): Promise<unknown> {
  const ask = async (text: string) => (await server.admin.query(text, [schema])).rows;
  const shape = {
    columns: await ask(
      `select table_name, column_name, data_type, is_nullable, collation_name
      from information_schema.columns where table_schema = $1 order by 1, ordinal_position`,
    ),
    indexes: await ask(
      `select indexname, indexdef from pg_indexes where schemaname = $1 order by 1`,
    ),
    routines: await ask(
      `select routine_name from information_schema.routines where routine_schema = $1 order by 1`,
    ),
    done: (await server.admin.query(`select number, is_breaking from "${schema}".migrations`)).rows,
  };
  return JSON.parse(JSON.stringify(shape).replaceAll(schema, "it"));
}

test("many stores may migrate at once", async () => {
  const url = server.postgres.url;
  const stores = Array.from({ length: 5 }, () => new PostgresStore(url, { schema: "at_once" }));
  await Promise.all(stores.map((store) => store.migrate()));
  await Promise.all(stores.map((store, n) => create(store, `${n}`)));
  await Promise.all(stores.map((store) => store.close()));
});

test("migrating again changes nothing", async () => {
  const { store, schema, close } = await server.open();
  await create(store, "a");
  const before = await shapeOf(schema);
  await store.migrate();
  expect(await shapeOf(schema)).toEqual(before);
  expect(await store.read("task-a")).toBeDefined();
  await close();
});

test("the SQL for operators makes the same tables, even if it is run twice", async () => {
  const { schema, close } = await server.open();
  await server.admin.query(migrationSql("by_hand"));
  await server.admin.query(migrationSql("by_hand"));
  expect(await shapeOf("by_hand")).toEqual(await shapeOf(schema));
  await close();
});

test("a role that may only read and write can start once the tables exist", async () => {
  await server.admin.query(migrationSql("granted"));
  await server.admin.query(`
    create role clerk login;
    grant usage on schema granted to clerk;
    grant select, insert, update, delete on all tables in schema granted to clerk;`);
  const url = server.postgres.url.replace("postgres@", "clerk@");
  const store = new PostgresStore(url, { schema: "granted" });
  await store.migrate();
  expect((await create(store, "a")).id).toBe("task-a");
  await store.close();
});

test("a newer migration does not lock out this version", async () => {
  const { store, schema, close } = await server.open();
  await server.admin.query(`insert into "${schema}".migrations values (999, false)`);
  await store.migrate();
  await create(store, "a");
  await close();
});

test("a newer migration that is breaking locks this version out", async () => {
  const { store, schema, close } = await server.open();
  await server.admin.query(`insert into "${schema}".migrations values (999, true)`);
  await expect(store.migrate()).rejects.toThrow(
    /^A newer version of mcp-parley has changed the Postgres schema \(migration 999\), and this version, which knows migrations up to \d+, cannot use it\. Update mcp-parley here, too\.$/,
  );
  await close();
});

test("tables that version 0.1.0 made become the same as new ones, and 0.1.0 still works on them", async () => {
  // Word for word what version 0.1.0 recorded about its migrations.
  await server.admin.query(`
    create schema "by_010";
    create table if not exists "by_010".migrations (
      number      integer primary key,
      is_breaking boolean not null,
      applied_at  timestamptz not null default now()
    );
    ${postgresTables.sql('"by_010"')}
    insert into "by_010".migrations (number, is_breaking) values (1, false)
      on conflict do nothing;`);
  const store = new PostgresStore(server.postgres.url, { schema: "by_010" });
  await store.migrate();
  expect((await create(store, "a")).id).toBe("task-a");
  const fresh = await server.open();
  expect(await shapeOf("by_010")).toEqual(await shapeOf(fresh.schema));
  // Written as version 0.1.0 writes. Such a task counts as read, and such a state counts for no caller.
  const names = `id, call_id, tool, principal, status, revision, epoch, waits, inbox, asked, log_length, log_bytes,
    fruitless, input, created_at, updated_at, expires_at`;
  await server.admin.query(`
    insert into "by_010".tasks (${names})
    select 'old', 'old', ${names.slice(names.indexOf("tool"))} from "by_010".tasks;
    insert into "by_010".spills (id, state, expires_at) values ('s', 'state', 9e15);`);
  expect(await store.read("old")).toMatchObject({ isUnread: false });
  const before = await store.usage("");
  expect(before.bytes).toBe(0);
  await Promise.all([store.close(), fresh.close()]);
});

test("the history is complete even if a replica of an earlier version, which does not write it, holds a task", async () => {
  const { store, schema, close } = await server.open();
  const set = (text: string) =>
    server.admin.query(`update "${schema}".tasks set ${text} where id = 'task-a'`);
  await create(store, "a");
  await claimAll(store);
  const wait = { wire: "k", key: "k", kind: "external" };
  const waits = (...all: object[]) => `waits = '${JSON.stringify(all)}', revision = revision + 1`;
  await set(`${waits(wait)}, worker = null, due_at = null, updated_at = 7`);
  const waited = () => store.reader.waiting({ limit: 9 });
  expect(await waited()).toMatchObject([{ wire: "k", since: 7 }]);
  expect(await store.reader.runs("task-a")).toMatchObject([{ worker: "w", how: "parked" }]);
  await set(`${waits({ ...wait, wire: "l", key: "l" })}, updated_at = 8`);
  expect(await waited()).toMatchObject([{ wire: "l", since: 8 }]);
  await set(`${waits({ ...wait, wire: "l", key: "l" }, wait)}, updated_at = 9`);
  expect(await waited()).toMatchObject([
    { wire: "l", since: 8 },
    { wire: "k", since: 9 },
  ]);
  await set(waits());
  expect(await waited()).toEqual([]);
  await close();
});

test("a migration that fails leaves nothing half done", async () => {
  await server.admin.query(
    `create schema "in_the_way"; create view "in_the_way".rounds as select 1`,
  );
  const store = new PostgresStore(server.postgres.url, { schema: "in_the_way" });
  await expect(store.migrate()).rejects.toThrow(pg.DatabaseError);
  const { rows } = await server.admin.query(
    `select to_regclass('in_the_way.tasks') as tasks, (select count(*)::int from "in_the_way".migrations) as done`,
  );
  expect(rows).toEqual([{ tasks: null, done: 0 }]);
  await store.close();
});

test.each(["", "Parley", 'a"b', "a-b", "1a", "a b", "a.b", "a".repeat(64), "ä", "a\n"])(
  "%j is not a valid name of a schema",
  (schema) => {
    expect(() => postgresStore("postgres://localhost", { schema })).toThrow(/is not a valid name/);
    expect(() => migrationSql(schema)).toThrow(/is not a valid name/);
  },
);
