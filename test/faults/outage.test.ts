// Postgres is killed while tasks are created, answered and run. Nothing that was acknowledged is lost, and everything
// continues by itself.

import { expect, onTestFinished, test, vi } from "vitest";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { startPostgres } from "../postgres/start.ts";
import { journalOf } from "./client.fixture.ts";
import { Customer, Hold, isWithin, Ledger, order, Progress } from "./outage.fixture.ts";

const leaseMs = 4_000;
/** How much a loaded machine may add to a promised time. */
const marginMs = 1_500;
const patience = { timeout: 15_000 };
const customers = 6;
const ordersEach = 16;

test("kill -9 of Postgres under load, once briefly and once for longer than a lease, loses nothing", async () => {
  const postgres = await startPostgres();
  const engines: Engine[] = [];
  onTestFinished(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await Promise.all(engines.map(({ store }) => store.close()));
    await postgres.stop();
  });
  const ledger = new Ledger();
  const hold = new Hold();
  const replica = () => {
    const store = new PostgresStore(postgres.url, { leaseMs });
    const engine = new Engine(store, { order: order(ledger), hold: hold.handler });
    engines.push(engine);
    return engine;
  };
  const front = replica();
  const workers = [replica(), replica()];
  await Promise.all(workers.map((worker) => worker.start({ concurrency: 8 })));

  const progress = new Progress();
  const people = Array.from(
    { length: customers },
    (_, index) => new Customer(front, `customer-${index}`, () => progress.step()),
  );
  const trade = Promise.all(
    people.map(async (customer) => {
      for (let number = 0; number < ordersEach; number += 1) await customer.order(number);
    }),
  );

  // Both outages come in the middle, because every order makes two steps of progress.
  await progress.reaches(customers * ordersEach * 0.5);
  postgres.kill();
  await postgres.restart();
  // It may share a read with a customer that began before the server was ready, and then fails with it.
  const begin = () => front.create("hold", null, { callId: "hold" });
  const { id: held } = await vi.waitFor(begin, patience);
  await hold.started;
  await progress.reaches(customers * ordersEach);
  postgres.kill();
  const killedAt = performance.now();
  const isInTime = isWithin(leaseMs + marginMs, hold.aborted);
  await refusesClearly(front, held);
  const { at, reason } = await hold.aborted;
  expect(reason).toBe("LostLease");
  // A run is not given up at the first failure, and not later than another worker could have it.
  expect(at - killedAt).toBeGreaterThan(leaseMs / 2);
  expect(await isInTime).toBe(true);
  await refusesClearly(front, held);
  await postgres.restart();

  await trade;
  expect(await front.over(held)).toMatchObject({ status: "completed", result: "held again" });
  expect(hold.keys).toHaveLength(2);
  expect(new Set(hold.keys).size).toBe(1);
  for (const { id, callId, size } of people.flatMap((customer) => customer.acknowledged)) {
    const { status, result } = await front.over(id);
    const journal = await journalOf(front.store, id, callId);
    expect({ status, result, journal }).toEqual({
      status: "completed",
      // If no answer was acknowledged, the result has one of them.
      result: [expect.any(Number), size ?? expect.stringContaining(callId), expect.any(Number)],
      journal: ["step make", "answer size", "step send"],
    });
  }
  expect(people.flatMap(({ acknowledged }) => acknowledged)).toHaveLength(customers * ordersEach);
  expect(ledger.contradictions).toEqual([]);
  expect((await front.runtime.figures()).live).toBe(0);
  for (const { told } of workers) {
    const events = told.map(({ event }) => event);
    expect(events).toContain("storeFailed");
    expect(events.lastIndexOf("storeBack")).toBeGreaterThan(events.lastIndexOf("storeFailed"));
    expect(events).not.toContain("gaveUp");
  }
  for (const error of people.flatMap(({ refusals }) => refusals))
    expect(error).toEqual(unreachable);
});

test("the outcome of a body that ends while Postgres is away is kept until it is back", async () => {
  const postgres = await startPostgres();
  const store = new PostgresStore(postgres.url, { leaseMs: 20_000 });
  let start = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let bodies = 0;
  const engine = new Engine(store, {
    tool: (_input, ops) =>
      ops.step("slow", async () => {
        bodies += 1;
        start();
        await finished;
        return "kept";
      }),
  });
  onTestFinished(async () => {
    await engine.close();
    await store.close();
    await postgres.stop();
  });
  await engine.start();
  const { id } = await engine.create("tool");
  await started;
  postgres.kill();
  finish();
  const failures = () => engine.told.filter(({ event }) => event === "storeFailed").length;
  await expect.poll(failures).toBeGreaterThan(1);
  await postgres.restart();
  expect(await engine.over(id)).toMatchObject({ status: "completed", result: "kept" });
  expect(bodies).toBe(1);
});

const unreachable = expect.objectContaining({
  name: "StoreUnavailableError",
  message: expect.stringMatching(/^The task store \(Postgres\) cannot be reached: ./),
}) as unknown;

/** Nothing is acknowledged, and every caller gets the reason. */
async function refusesClearly(engine: Engine, id: string): Promise<void> {
  const { runtime } = engine;
  const attempts = [
    engine.create("order"),
    runtime.get(id),
    runtime.update(id, new Map([["size", "L"]])),
    runtime.cancel(id),
    runtime.deliver("call", "boss", "digest", "word"),
    runtime.list(undefined, undefined, 10),
    runtime.figures(),
  ];
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes).toEqual(attempts.map(() => ({ status: "rejected", reason: unreachable })));
}
