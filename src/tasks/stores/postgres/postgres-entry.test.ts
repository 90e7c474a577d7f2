// What a user of postgresStore meets: pools, options, and what Postgres cannot keep.

import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import {
  answer,
  claimAll,
  create,
  hold,
  keepMs,
  newTask,
  question,
  waiting,
} from "../../../testing/store/opened.ts";
import { UnstorableTextError } from "./errors.ts";
import { postgresStore } from "./index.ts";
import type { PostgresPool } from "./index.ts";
import { TestServer } from "./server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
beforeAll(async () => void (server = await TestServer.start()));
afterAll(() => server.stop());
afterEach(() => {
  vi.doUnmock("pg");
  vi.resetModules();
});

test("a pool that the caller passes in stays open", async () => {
  const { schema, close } = await server.open();
  const pool = new pg.Pool({ connectionString: server.postgres.url });
  const store = new PostgresStore(pool, { schema });
  await create(store, "a");
  await store.close();
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  expect(pool.listenerCount("error")).toBe(0);
  await pool.end();
  await close();
});

test("any object that works like a pool is accepted", async () => {
  const { schema, close } = await server.open();
  const real = new pg.Pool({ connectionString: server.postgres.url });
  const pool: PostgresPool = {
    query: (statement, values) => real.query(statement, values),
    connect: () => real.connect(),
    end: () => real.end(),
  };
  const store = new PostgresStore(pool, { schema });
  await store.migrate();
  await create(store, "a");
  await store.close();
  await real.end();
  await close();
});

test("two schemas in one pool do not mix", async () => {
  const [one, other] = [await server.open(), await server.open()];
  const pool = new pg.Pool({ connectionString: server.postgres.url, max: 1 });
  const first = new PostgresStore(pool, { schema: one.schema });
  const second = new PostgresStore(pool, { schema: other.schema });
  await create(first, "a");
  expect(await second.read("task-a")).toBeUndefined();
  await create(second, "b");
  expect(await first.read("task-b")).toBeUndefined();
  await pool.end();
  await Promise.all([one.close(), other.close()]);
});

test.each([true, false])("prepared statements work: %s", async (prepare) => {
  const { schema, close } = await server.open();
  const pool = new pg.Pool({ connectionString: server.postgres.url, max: 1 });
  const store = new PostgresStore(pool, { schema, prepare });
  const ref = await hold(store, "a");
  await store.park(ref, waiting([question("k")]));
  await store.answer(ref.id, [answer("k")]);
  expect((await claimAll(store)).claimed.length).toBe(1);
  const { rows } = await pool.query(
    "select from pg_prepared_statements where name like 'parley_%'",
  );
  expect(rows.length).toBe(prepare ? 4 : 0);
  await store.close();
  await pool.end();
  await close();
});

test("a pool with its own type parsers changes nothing", async () => {
  const { schema, close } = await server.open();
  // It reads wide integers as BigInt and JSON as text.
  const getTypeParser = (oid: number) => (text: string) =>
    oid === 20 ? BigInt(text) : oid === 16 ? text === "t" : oid === 23 ? Number(text) : text;
  const pool = new pg.Pool({
    connectionString: server.postgres.url,
    types: { getTypeParser },
  });
  const [plain, odd] = [
    new PostgresStore(server.postgres.url, { schema }),
    new PostgresStore(pool, { schema }),
  ];
  const ref = await hold(plain, "a", { log: ["one"] });
  await odd.park(ref, waiting([question("k")]));
  const given = await odd.answer(ref.id, [answer("k")]);
  expect(given).toEqual({ task: await plain.read(ref.id), accepted: ["k"] });
  const { claimed } = await claimAll(odd);
  expect(claimed.map(({ log }) => log)).toEqual([["one"]]);
  expect((await odd.renew("w", [claimed[0]!.task], 1_000)).held[0]?.inbox.length).toBe(1);
  expect(await odd.figures()).toEqual({ ...(await plain.figures()), now: expect.any(Number) });
  await Promise.all([plain.close(), odd.close()]);
  await pool.end();
  await close();
});

test("with a stricter isolation level, statements are tried again", async () => {
  const { schema, close } = await server.open();
  const pool = new pg.Pool({
    connectionString: server.postgres.url,
    options: "-c default_transaction_isolation=serializable",
  });
  const store = new PostgresStore(pool, { schema });
  const keys = Array.from({ length: 8 }, (_, n) => `k${n}`);
  const ref = await hold(store, "a");
  await store.park(ref, waiting(keys.map((key) => question(key))));
  const given = await Promise.all(keys.map((key) => store.answer(ref.id, [answer(key)])));
  expect(given.map((one) => one?.accepted)).toEqual(keys.map((key) => [key]));
  expect((await store.read(ref.id))?.inbox.length).toBe(8);
  await store.close();
  await pool.end();
  await close();
});

test("a value that Postgres cannot store is refused with one error, and leaves nothing", async () => {
  const { store, close } = await server.open();
  for (const text of ["a\0", "\ud800", "\udc00b"]) {
    for (const member of ["id", "callId", "tool", "principal"]) {
      await expect(create(store, "a", { [member]: text })).rejects.toThrow(UnstorableTextError);
    }
  }
  const ref = await hold(store, "a");
  for (const text of ["a\0", "\ud800", "\udc00b"]) {
    await expect(store.park(ref, waiting([question(text)]))).rejects.toThrow(UnstorableTextError);
    await expect(store.park(ref, { waits: [], asked: { [text]: 1 }, taken: [] })).rejects.toThrow(
      UnstorableTextError,
    );
    const early = { key: text, digest: "d" };
    await expect(store.answer(ref.id, [{ wire: "w", value: "v", early }])).rejects.toThrow(
      UnstorableTextError,
    );
    // A wire key that a client has made up is just unknown.
    expect((await store.answer(ref.id, [answer(text)]))?.accepted).toEqual([]);
  }
  expect((await store.read(ref.id))?.revision).toBe(1);
  await close();
});

test("fractions of a millisecond and infinite times are accepted", async () => {
  const { store, close } = await server.open();
  const ref = await hold(store, "a", { ttlMs: Infinity, claimedBy: { worker: "w", leaseMs: 0.5 } });
  expect(await store.release(ref, { afterMs: 0.25, isFruitless: true, cause: undefined })).toBe(
    true,
  );
  const next = await hold(store, "b");
  const dueAt = 1.5;
  await store.park(next, waiting([{ kind: "timer", key: "t", wire: "t", dueAt }]));
  expect((await store.read(next.id))?.dueAt).toBe(2);
  expect(await store.cancel(next.id, keepMs + 0.1)).toBeDefined();
  expect((await store.create(newTask("c"), Infinity)).kind).toBe("created");
  await close();
});

test("without pg, one message says what to do", async () => {
  vi.resetModules();
  vi.doMock("pg", () => {
    throw new Error("Cannot find package 'pg'");
  });
  const { PostgresStore: Store } = await import("./postgres-store.ts");
  const store = new Store("postgres://localhost");
  await expect(store.migrate()).rejects.toThrow(
    /^postgresStore\(\) needs the package pg\. Run: npm install pg$/,
  );
  await store.close();
});

test("a store says which kind it is, and after close it says that it is closed", async () => {
  const store = postgresStore(server.postgres.url) as PostgresStore;
  expect(store["~store"]).toBe("postgres");
  expect(store.leaseMs).toBe(10_000);
  await store.close();
  await store.close();
  await expect(store.read("t")).rejects.toThrow("This store is closed.");
});
