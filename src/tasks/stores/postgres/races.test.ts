// Makes two statements meet on purpose. The suite for all stores has the rest.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  answer,
  claimAll,
  create,
  hold,
  leaseMs,
  newTask,
  question,
  waiting,
} from "../../../testing/store/opened.ts";
import { TestServer } from "./server.fixture.ts";
import type { TestSchema } from "./server.fixture.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
beforeAll(async () => void (server = await TestServer.start()));
afterAll(() => server.stop());

let opened: TestSchema;
beforeEach(async () => void (opened = await server.open()));
afterEach(() => opened.close());

const ask = waiting([question("k")]);

/** Resolves when this many statements wait for a lock. It polls, because Postgres does not announce that. */
async function waitingForLocks(count: number): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    const { rows } = await server.admin.query(
      "select from pg_stat_activity where datname = current_database() and application_name = 'parley' and wait_event_type = 'Lock'",
    );
    if (rows.length === count) return;
  }
  throw new Error(`${count} statements were to wait, and do not`);
}

/** Starts everything in `work` while the row is locked, and lets it continue in that order. */
async function meet<T>(id: string, work: readonly (() => Promise<T>)[]): Promise<T[]> {
  const client = await server.admin.connect();
  try {
    await client.query("begin");
    await client.query(`select from "${opened.schema}".tasks where id = $1 for update`, [id]);
    const running: Promise<T>[] = [];
    for (const each of work) {
      running.push(each());
      await waitingForLocks(running.length);
    }
    await client.query("commit");
    return await Promise.all(running);
  } finally {
    client.release(true);
  }
}

test("when 200 answers race with park, none is lost and every task is due", async () => {
  const { store } = opened;
  const other = opened.another();
  for (let n = 0; n < 200; n++) {
    const ref = await hold(store, `${n}`);
    await store.publish(ref, ask);
    const [isParked, given] = await Promise.all(
      n % 2 === 0
        ? [store.park(ref, ask), other.answer(ref.id, [answer("k")])]
        : [other.park(ref, ask), store.answer(ref.id, [answer("k")])],
    );
    expect([isParked, given?.accepted]).toEqual([true, ["k"]]);
  }
  const { claimed } = await claimAll(store, "next");
  expect(claimed.map(({ task }) => task.inbox.map(({ id }) => id))).toEqual(
    Array.from({ length: 200 }, () => ["k"]),
  );
});

describe.each([true, false])("both begin while a lock is held, park first: %s", (isParkFirst) => {
  test("park and answer notice each other", async () => {
    const { store } = opened;
    const other = opened.another();
    const ref = await hold(store, "a");
    await store.publish(ref, ask);
    const park = () => store.park(ref, ask);
    const give = async () => (await other.answer(ref.id, [answer("k")]))?.accepted.length === 1;
    expect(await meet(ref.id, isParkFirst ? [park, give] : [give, park])).toEqual([true, true]);
    const { claimed } = await claimAll(store, "next");
    expect(claimed.map(({ task }) => task.inbox.map(({ id }) => id))).toEqual([["k"]]);
    expect((await store.read(ref.id))?.waits).toEqual([]);
  });
});

test("of two answers that begin while a lock is held, the first wins", async () => {
  const { store } = opened;
  const other = opened.another();
  const ref = await hold(store, "a");
  await store.park(ref, ask);
  const [first, second] = await meet(ref.id, [
    () => store.answer(ref.id, [answer("k", "one")]),
    () => other.answer(ref.id, [answer("k", "two")]),
  ]);
  expect([first?.accepted, second?.accepted]).toEqual([["k"], []]);
  expect((await store.read(ref.id))?.inbox.map(({ value }) => value)).toEqual(["one"]);
});

test("an append that is tried again while the first try is still under way is one append", async () => {
  const { store } = opened;
  const ref = await hold(store, "a");
  const more = { at: 0, records: ["one", "two"], taken: [], returned: [] };
  const twice = await meet(ref.id, [() => store.append(ref, more), () => store.append(ref, more)]);
  expect(twice).toEqual([true, true]);
  expect(await store.readLog(ref.id)).toEqual(["one", "two"]);
});

test("a finish that is tried again while the first try is still under way is one finish", async () => {
  const { store } = opened;
  const ref = await hold(store, "a");
  const done = { status: "completed", result: "r", statusMessage: undefined, keepMs: 1 } as const;
  const twice = await meet(ref.id, [() => store.finish(ref, done), () => store.finish(ref, done)]);
  expect(twice).toEqual([true, true]);
  expect((await store.read(ref.id))?.revision).toBe(2);
});

test("of a cancel and a finish that begin while a lock is held, exactly one wins", async () => {
  const { store } = opened;
  const ref = await hold(store, "a");
  const done = { status: "completed", result: "r", statusMessage: undefined, keepMs: 1 } as const;
  const [cancelled, finished] = await meet<unknown>(ref.id, [
    async () => (await store.cancel(ref.id, 1))?.status,
    () => store.finish(ref, done),
  ]);
  expect([cancelled, finished]).toEqual(["cancelled", false]);
});

describe("what the previous worker does between the start of a claim and its lock", () => {
  /**
   * Makes every claim and every sweep wait after it has begun. Other statements get the real time. The function is
   * volatile, because the planner would call a stable one before the statement has its view of the tables.
   */
  async function stopClock(): Promise<() => Promise<void>> {
    const client = await server.admin.connect();
    await client.query("select pg_advisory_lock(7)");
    await client.query(`
      create or replace function "${opened.schema}".parley_now() returns bigint
        language plpgsql volatile as $$
        begin
          if current_query() not like '%skip locked%' then return ${Date.now()}; end if;
          perform pg_advisory_lock_shared(7);
          perform pg_advisory_unlock_shared(7);
          return ${Date.now() + 2 * leaseMs};
        end $$`);
    return async () => {
      await client.query("select pg_advisory_unlock(7)");
      client.release();
    };
  }

  test("an append is in the log that comes with the claim", async () => {
    const { store } = opened;
    const ref = await hold(store, "a", { log: ["one"] });
    const goOn = await stopClock();
    const claiming = opened.another().claim({ worker: "x", tools: ["tool"], most: 1, leaseMs });
    await waitingForLocks(1);
    const more = { at: 1, records: ["two"], taken: [], returned: [] };
    expect(await store.append(ref, more)).toBe(true);
    await goOn();
    const { claimed } = await claiming;
    expect(claimed.map(({ task, log }) => [task.logLength, log])).toEqual([[2, ["one", "two"]]]);
  });

  test("an append is gone when the contents of the task were deleted", async () => {
    const { store } = opened;
    const ref = await hold(store, "a", { log: ["one"], ttlMs: leaseMs });
    const goOn = await stopClock();
    const sweeping = opened.another().sweep(10, 60_000);
    await waitingForLocks(1);
    const more = { at: 1, records: ["two"], taken: [], returned: [] };
    expect(await store.append(ref, more)).toBe(true);
    await goOn();
    expect(await sweeping).toMatchObject({ expired: 1, removed: 0, forgotten: 0 });
    expect(await store.readLog(ref.id)).toEqual([]);
  });
});

test("simultaneous claims never give a task to two workers", async () => {
  const handles = [opened.store, opened.another(), opened.another(), opened.another()];
  for (let n = 0; n < 100; n++) await create(opened.store, `${n}`);
  const got: string[] = [];
  await Promise.all(
    handles.map(async (store, index) => {
      for (let tries = 0; tries < 100; tries++) {
        const wanted = { worker: `w${index}`, tools: ["tool"], most: 3, leaseMs };
        const { claimed, nextDueAt = Infinity, now } = await store.claim(wanted);
        got.push(...claimed.map(({ task }) => task.id));
        if (nextDueAt > now) return;
      }
    }),
  );
  expect(got.length).toBe(100);
  expect(new Set(got).size).toBe(100);
});

test("of several simultaneous creates of one call, one makes the task", async () => {
  const handles = [opened.store, opened.another(), opened.another()];
  for (let n = 0; n < 20; n++) {
    const made = await Promise.all(
      handles.map((store, index) =>
        store.create(
          newTask(`${n}`, { id: `${n}-${index === 2 ? 0 : index}`, log: ["one"] }),
          1_000,
        ),
      ),
    );
    expect(made.map(({ kind }) => kind).toSorted()).toEqual(["created", "exists", "exists"]);
    expect(await opened.store.readLog((await opened.store.readByCall(`call-${n}`))!.id)).toEqual([
      "one",
    ]);
  }
});
