// Hints between replicas over NOTIFY.

import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { create, hold, newTask, question, waiting } from "../../../testing/store/opened.ts";
import type { ChangeHint, TaskStore } from "../../store.ts";
import { TestServer } from "./server.fixture.ts";
import type { TestSchema } from "./server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
beforeAll(async () => void (server = await TestServer.start()));
afterAll(() => server.stop());

let opened: TestSchema;
beforeEach(async () => void (opened = await server.open()));
afterEach(() => opened.close());

/** The hints that a store has received, and a way to wait for more. */
class Ear {
  readonly heard: (string | undefined)[] = [];
  readonly end: () => void;
  #look = () => {};

  constructor(store: TaskStore) {
    this.end = store.subscribe(({ id }: ChangeHint) => {
      this.heard.push(id);
      this.#look();
    });
  }

  /** The first hint is about any task, and shows that the store listens. */
  readonly until = (isEnough: (heard: readonly (string | undefined)[]) => boolean): Promise<void> =>
    new Promise((resolve) => {
      this.#look = () => {
        if (isEnough(this.heard)) resolve();
      };
      this.#look();
    });
}

const listening = (heard: readonly unknown[]) => heard.length > 0;

const notify = (payload: string) =>
  server.admin.query("select pg_notify($1, $2)", [opened.schema, payload]);

async function endListener(): Promise<void> {
  const { rows } = await server.admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
  );
  expect(rows.length).toBe(1);
}

test("a listener gets the record of a task that it wants with the hint of each write, and of no other", async () => {
  const { store } = opened;
  const [a, b, c] = [await hold(store, "a"), await hold(store, "b"), await hold(store, "c")];
  const told: string[] = [];
  const end = store.subscribe(
    ({ id, task }) => void (task !== undefined && told.push(`${id} ${task.status}`)),
    (id) => id !== b.id,
  );
  const ask = waiting([question("k")]);
  const done = { status: "completed", result: "r", statusMessage: undefined, keepMs: 1 } as const;
  for (const ref of [a, b]) {
    await store.publish(ref, ask);
    await store.finish(ref, done);
  }
  await store.park(c, ask);
  end();
  expect(told).toEqual(["task-a input_required", "task-a completed", "task-c input_required"]);
});

test("many changes go out as few notifications", async () => {
  const listener = new pg.Client(server.postgres.url);
  await listener.connect();
  const payloads: string[] = [];
  let heard = new Set<string>();
  const all = new Promise<void>((resolve) => {
    listener.on("notification", ({ payload = "" }) => {
      payloads.push(payload);
      // No worker has claimed these tasks, so all of them are due.
      const { due } = JSON.parse(payload) as { due: string[] };
      heard = new Set([...heard, ...due]);
      if (heard.size === 40) resolve();
    });
  });
  await listener.query(`listen "${opened.schema}"`);
  const names = Array.from({ length: 40 }, (_, n) => `${n}`);
  await Promise.all(names.map((name) => create(opened.store, name)));
  await all;
  expect(payloads.length).toBeLessThan(20);
  await listener.end();
});

test("more ids than fit into a notification become a hint about any task", async () => {
  const ear = new Ear(opened.another());
  await ear.until(listening);
  const long = "x".repeat(200);
  const names = Array.from({ length: 60 }, (_, n) => `${long}${n}`);
  // One after the other, so that each hint about a new task names it.
  for (const name of names) await opened.store.create(newTask(name, { ttlMs: 0 }), 1_000);
  await ear.until((heard) => new Set(heard).size > 60);
  // All of them change at the same moment, because they expire together.
  ear.heard.length = 0;
  expect((await opened.store.sweep(100, 1_000)).expired).toBe(60);
  await ear.until((heard) => heard.includes(undefined));
  ear.end();
});

test("a lost connection is opened again, and then there is a hint about any task", async () => {
  const ear = new Ear(opened.another());
  await ear.until(listening);
  ear.heard.length = 0;
  await endListener();
  await ear.until(listening);
  expect(ear.heard).toEqual([undefined]);
  const { id } = await create(opened.store, "a");
  await ear.until((heard) => heard.includes(id));
  ear.end();
});

test.each(["", "{", "null", "7", '{"ids":[7]}', '{"ids":"x"}', "[]"])(
  "a notification of another program is a hint about any task (%j)",
  async (payload) => {
    const ear = new Ear(opened.store);
    await ear.until(listening);
    ear.heard.length = 0;
    await notify(payload);
    await ear.until(listening);
    expect(ear.heard).toEqual([undefined]);
    ear.end();
  },
);

test("a store's own changes are announced once", async () => {
  const ear = new Ear(opened.store);
  await ear.until(listening);
  ear.heard.length = 0;
  await create(opened.store, "a");
  const other = opened.another();
  await create(other, "b");
  await ear.until((heard) => heard.includes("task-b"));
  expect(ear.heard).toEqual(["task-a", "task-b"]);
  ear.end();
});

test("a pool with a single connection does not use it for listening", async () => {
  const pool = new pg.Pool({ connectionString: server.postgres.url, max: 1 });
  const store = new PostgresStore(pool, { schema: opened.schema });
  const ear = new Ear(store);
  const { id } = await create(store, "a");
  await ear.until((heard) => heard.includes(id));
  await store.close();
  await pool.end();
});

test("without listeners, no connection is kept for listening", async () => {
  const store = opened.another();
  const ears = [new Ear(store), new Ear(store)];
  await ears[0]!.until(listening);
  for (const ear of ears) ear.end();
  const count = async () =>
    (
      await server.admin.query(
        "select from pg_stat_activity where datname = current_database() and query like 'listen%'",
      )
    ).rows.length;
  let left = await count();
  for (let tries = 0; tries < 2_000 && left > 0; tries++) left = await count();
  expect(left).toBe(0);
});
