// A server that dies and comes back.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { claimAll, create, hold, leaseMs, newTask } from "../../../testing/store/opened.ts";
import { StoreUnavailableError } from "./errors.ts";
import type { Postgres } from "../../../../test/postgres/start.ts";
import { patience } from "../../../../test/patience.ts";
import { TestServer } from "./server.fixture.ts";
import type { TestSchema } from "./server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer<Postgres>;
let opened: TestSchema;
beforeEach(async () => {
  server = await TestServer.startAlone();
  opened = await server.open();
});
afterEach(() => server.stop());

test("kill -9 of the server under load loses no task whose creation was acknowledged", async () => {
  const { store } = opened;
  const acknowledged: string[] = [];
  const enough = 300;
  const load = Array.from({ length: 16 }, async (_, lane) => {
    for (let n = 0; n < 5_000; n++) {
      try {
        acknowledged.push((await create(store, `${lane}-${n}`)).id);
      } catch (error) {
        return error;
      }
      if (acknowledged.length === enough) server.postgres.kill();
    }
    return undefined;
  });
  const ends = await Promise.all(load);
  expect(ends.every((end) => end instanceof StoreUnavailableError)).toBe(true);
  expect(acknowledged.length).toBeGreaterThanOrEqual(enough);
  await server.postgres.restart();
  const found = await store.revisions(acknowledged);
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
  await store.close();
});

test("while the server is away, every operation says so, and idle connections do no harm", async () => {
  const { store } = opened;
  // These are several idle connections, and each of them will emit an error.
  await Promise.all(Array.from({ length: 5 }, () => store.figures()));
  server.postgres.kill();
  const ref = { id: "t", epoch: 1 };
  const waits = { waits: [], asked: {}, taken: [] };
  const outcomes = await Promise.allSettled([
    store.create(newTask("a"), 10),
    store.read("t"),
    store.claim({ worker: "w", tools: ["tool"], most: 1, leaseMs }),
    store.renew("w", [ref], leaseMs),
    store.park(ref, waits),
    store.sweep(10, 1),
    store.migrate(),
  ]);
  for (const outcome of outcomes) {
    expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(StoreUnavailableError);
  }
  await server.postgres.restart();
  await create(store, "a");
  expect((await claimAll(store)).claimed.length).toBe(1);
  await store.close();
});

test("a store whose server has not started yet says so, and works once it has", async () => {
  server.postgres.kill();
  const store = new PostgresStore(server.postgres.url, { schema: "later" });
  store.subscribe(() => {});
  await expect(store.migrate()).rejects.toThrow(
    // A process that is being killed may still accept the connection and then drop it.
    /^The task store \(Postgres\) cannot be reached: (connect (?:ECONNREFUSED|ECONNRESET) 127\.0\.0\.1:\d+|read ECONNRESET|Connection terminated unexpectedly)$/,
  );
  await server.postgres.restart();
  await store.migrate();
  expect((await create(store, "a")).id).toBe("task-a");
  await store.close();
});

test("the error for an unknown user names the user", async () => {
  const { port } = server.postgres;
  const store = new PostgresStore(`postgres://nobody@127.0.0.1:${port}/postgres`);
  await expect(store.read("t")).rejects.toThrow(
    'The task store (Postgres) cannot be reached: role "nobody" does not exist',
  );
  await store.close();
});

test("while commits wait for a standby that is away, the parts of streams are written and heard of", async () => {
  const { store } = opened;
  const ref = await hold(store, "a");
  const heard = vi.fn();
  const reader = opened.another();
  reader.subscribe(heard);
  await vi.waitFor(() => expect(reader.hearsOthers?.()).toBe(true), patience);
  await server.admin.query("alter system set synchronous_standby_names = 'away'");
  await server.admin.query("select pg_reload_conf()");
  const waiting = "select from pg_stat_activity where wait_event = 'SyncRep'";
  let begun = 0;
  let isWaiting = false;
  await vi.waitFor(async () => {
    // One that began before the setting applied does not wait.
    if (!isWaiting) {
      isWaiting = true;
      begun += 1;
      void create(store, `b${begun}`)
        .catch(() => {})
        .then(() => (isWaiting = false));
    }
    expect((await server.admin.query(waiting)).rowCount).toBe(1);
  }, patience);
  const added = store.addParts(ref, [{ n: 0, key: '"draft"', record: "text" }]);
  await vi.waitFor(
    () =>
      expect(heard).toHaveBeenCalledWith(expect.objectContaining({ id: ref.id, isParts: true })),
    patience,
  );
  expect(await added).toBe(true);
  await server.admin.query("alter system reset synchronous_standby_names");
  await server.admin.query("select pg_reload_conf()");
  await vi.waitFor(() => expect(isWaiting).toBe(false), patience);
  await store.close();
  await reader.close();
});
