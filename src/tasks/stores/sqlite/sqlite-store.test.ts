// The suite for all stores, on SQLite, and what is left in the file after a sweep.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { create, hold, keepMs, leaseMs, ttlMs } from "../../../testing/store/opened.ts";
import { describeTaskStore } from "../../../testing/store/contract.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

describeTaskStore("SqliteStore", async ({ startsAt }) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-sqlite-"));
  let time = startsAt;
  const stores: SqliteStore[] = [];
  const open = () => {
    const store = new SqliteStore({ path: join(folder, "parley.db"), now: () => time });
    stores.push(store);
    return store;
  };
  return {
    store: open(),
    another: async () => open(),
    advance: async (ms) => void (time += ms),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await rm(folder, { recursive: true });
    },
  };
});

test("a sweep deletes rows from all tables of the file, including logs", async () => {
  const path = newPath();
  let time = 1_000;
  const store = new SqliteStore({ path, now: () => time });
  onTestFinished(() => store.close());
  await hold(store, "a", { log: ["one", "two"] });
  await create(store, "b", { log: ["one"] });
  await store.spill("s", "state", ttlMs);
  await store.claimRound({ callId: "c", round: 1, answers: "", leaseMs, ttlMs });
  await store.appendToRound({ id: "c", epoch: 1 }, 0, "one");
  await store.renew("w", [], leaseMs);

  const database = (await loadDriver())(path);
  onTestFinished(() => database.close());
  const rows = (table: string) => database.prepare(`select * from ${table}`).all().length;
  const tables = ["tasks", "task_log", "spills", "rounds", "round_log", "workers"];
  expect(tables.map(rows)).toEqual([2, 3, 1, 1, 1, 1]);
  time += ttlMs;
  await store.sweep(10, keepMs);
  expect(tables.map(rows)).toEqual([2, 0, 0, 0, 0, 1]);
  time += 24 * 3_600_000;
  await store.sweep(10, keepMs);
  expect(tables.map(rows)).toEqual([0, 0, 0, 0, 0, 0]);
});
