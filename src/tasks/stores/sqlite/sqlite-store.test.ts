// The suite for all stores, on SQLite, and what is left in the file after a sweep.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { create, hold, keepMs, leaseMs, ttlMs } from "../../../testing/store/opened.ts";
import { storeContract } from "../../../testing/store/contract.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

// #region contract
const contract = storeContract(async ({ startsAt }) => {
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
for (const { name, run } of contract) test(name, run, 300_000);
// #endregion contract

test("a sweep deletes rows from all tables of the file, including logs", async () => {
  const path = newPath();
  let time = 1_000;
  const store = new SqliteStore({ path, now: () => time });
  onTestFinished(() => store.close());
  await hold(store, "a", { log: ["one", "two"] });
  await create(store, "b", { log: ["one"] });
  await store.spill("s", "state", ttlMs, "ann");
  await store.claimRound({
    principal: "ann",
    callId: "c",
    round: 1,
    answers: "",
    leaseMs,
    ttlMs,
  });
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

test("a sweep that has deleted as many states as it may says that there are more", async () => {
  let time = 1_000;
  const store = new SqliteStore({ path: newPath(), now: () => time });
  onTestFinished(() => store.close());
  for (let n = 0; n < 21; n += 1) await store.spill(`s${n}`, "state", ttlMs, "ann");
  time += ttlMs;
  expect(await store.sweep(1, keepMs)).toMatchObject({ spills: 20, isMore: true });
  expect(await store.sweep(1, keepMs)).toMatchObject({ spills: 1, isMore: false });
});

test("a sweep deletes a few megabytes at a time, so that it blocks for milliseconds, and says that there is more", async () => {
  let time = 1_000;
  const store = new SqliteStore({ path: newPath(), now: () => time });
  onTestFinished(() => store.close());
  const large = "x".repeat(3 * 1024 * 1024);
  for (const name of ["a", "b", "c"]) await create(store, name, { log: [large] });
  for (const id of ["s", "t", "u"]) await store.spill(id, large, ttlMs, "ann");
  time += ttlMs;
  const sweeps = [];
  do sweeps.push(await store.sweep(500, 1e9));
  while (sweeps.at(-1)?.isMore === true && sweeps.length < 10);
  // Two of these fit into eight megabytes.
  expect(sweeps.map(({ expired }) => expired)).toEqual([2, 1, 0]);
  expect(sweeps.map(({ spills }) => spills)).toEqual([0, 1, 2]);
  expect(await store.usage("ann")).toEqual({ live: 0, ended: 0, bytes: 0 });
});
