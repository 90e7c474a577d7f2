// The Postgres store behind PgBouncer in transaction mode: the contract, and replicas that are killed and paused.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../src/tasks/stores/postgres/server.fixture.ts";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { storeContract } from "../../src/testing/store/contract.ts";
import { chaos } from "../chaos/run.ts";
import { startPooler } from "./pooler.ts";
import type { Pooler } from "./pooler.ts";

let server: TestServer;
let pooler: Pooler;
beforeAll(async () => {
  server = await TestServer.startAlone({ settings: { fsync: "off" } });
  pooler = await startPooler(server.postgres);
});
afterAll(async () => {
  await pooler?.stop();
  await server?.stop();
});

test("statements of one store run on several connections of the server", async () => {
  const { store, close } = await server.open({ prepare: false, through: pooler.url });
  try {
    // Operations of one kind share a statement, except those that only count.
    await Promise.all(Array.from({ length: 40 }, () => store.figures()));
    const { rows } = await server.admin.query(
      "select count(*)::int as count from pg_stat_activity where application_name = 'parley'",
    );
    expect(rows[0].count).toBeGreaterThan(1);
  } finally {
    await close();
  }
});

test("if PgBouncer cannot keep prepared statements, the error names the option", async () => {
  const stores = [1, 2, 3].map(() => new PostgresStore(pooler.url, { schema: "prepared" }));
  try {
    await stores[0]?.migrate();
    const all = stores.flatMap((store) => Array.from({ length: 20 }, () => store.figures()));
    const settled = await Promise.allSettled(all);
    const reasons = settled.flatMap((one) =>
      one.status === "rejected" ? [String(one.reason)] : [],
    );
    // Versions from 1.21 on can keep them, so there may be none.
    expect(reasons.filter((reason) => !reason.includes("{ prepare: false }"))).toEqual([]);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
});

describe("contract", () => {
  const options = () => ({ prepare: false, listen: false, through: pooler.url });
  for (const { name, run } of storeContract(({ startsAt }) => server.openAt(startsAt, options()))) {
    test(name, run);
  }
});

test("nothing is lost, repeated or changed while replicas are killed and paused", async () => {
  const { violations, deeds } = await chaos({
    store: "postgres",
    pooled: true,
    tasks: 60,
    atOnce: 60,
    replicas: 3,
    seed: "pooled",
    leaseMs: 1_500,
    gapMs: 900,
    kills: 0.4,
    pauses: 0.5,
    mostMs: 300_000,
    sabotage: undefined,
    tools: undefined,
    cancels: 0.2,
    log: () => {},
    evidence: undefined,
  });
  expect(violations).toEqual([]);
  expect(deeds.kills + deeds.pauses).toBeGreaterThan(0);
});
