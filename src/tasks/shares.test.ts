// What a caller may keep in the store, how rarely the store is asked, and what happens at the limit.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ParleyError } from "../errors.ts";
import { defaultTaskLimits } from "./limits.ts";
import type { TaskLimits } from "./limits.ts";
import { StorageShares } from "./shares.ts";
import { MemoryStore } from "./stores/memory.ts";
import type { NewTask } from "./task.ts";

const kib = 1024;

function sharesOn(store: MemoryStore, limits: Partial<TaskLimits> = {}) {
  const asked: string[] = [];
  const counted: string[] = [];
  const refused: string[] = [];
  const counting = Object.assign(Object.create(store), {
    usage: (principal: string) => (asked.push(principal), store.usage(principal)),
    countEnded: (principal: string) => (counted.push(principal), store.countEnded(principal)),
    removeEnded: store.removeEnded,
  });
  const shares = new StorageShares(
    counting,
    { ...defaultTaskLimits, storedBytes: 64 * kib, ...limits },
    { limitReached: (principal, limit) => void refused.push(`${principal} ${limit}`) },
  );
  /** Admits this much and keeps it. */
  const keep = async (principal: string, id: string, bytes: number) => {
    await shares.admit(principal, bytes, "The state");
    await store.spill(id, "x".repeat(bytes), 1e9, principal);
  };
  return { shares, asked, counted, refused, keep };
}

const task = (name: string, more: Partial<NewTask> = {}): NewTask => ({
  id: name,
  callId: `call of ${name}`,
  tool: "tool",
  principal: "ann",
  input: "",
  log: [],
  inbox: [],
  ttlMs: 1e9,
  claimedBy: { worker: "w", leaseMs: 1e9 },
  ...more,
});

async function ended(store: MemoryStore, name: string, bytes: number): Promise<void> {
  await store.create(task(name, { input: "x".repeat(bytes) }), 1e9);
  const end = { status: "completed", result: "r", statusMessage: undefined, keepMs: 1e9 } as const;
  await store.finish({ id: name, epoch: 1 }, end);
}

test("a caller with little in the store is never counted", async () => {
  const { asked, keep } = sharesOn(new MemoryStore(), { storedBytes: 1024 * kib });
  for (let n = 0; n < 10; n += 1) await keep("ann", `s${n}`, kib);
  expect(asked).toEqual([]);
});

test("at the limit a caller gets nothing new, other callers do, and the error says what to do", async () => {
  const { asked, refused, keep } = sharesOn(new MemoryStore());
  let kept = 0;
  const filling = async () => {
    for (; kept < 1_000; kept += 1) await keep("ann", `s${kept}`, kib);
  };
  const error = await filling().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ParleyError);
  expect(error).toMatchObject({ code: "too_much_stored" });
  expect(String(error)).toContain("raise parley({ limits: { storedBytesPerPrincipal } })");
  // 64 KiB hold 42 of 1.5 KiB. The store is asked after a sixty-fourth.
  expect(kept).toBe(42);
  expect(refused).toEqual(["ann storedBytesPerPrincipal"]);
  const before = asked.length;
  for (let n = 0; n < 20; n += 1)
    await expect(keep("ann", "more", kib)).rejects.toThrow("cannot be stored");
  expect(asked.length).toBe(before);
  await keep("bob", "b", kib);
});

test("many at once do not exceed the limit, and ask the store once", async () => {
  const store = new MemoryStore();
  const { asked, keep } = sharesOn(store);
  await store.spill("first", "x".repeat(60 * kib), 1e9, "ann");
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => keep("ann", `s${n}`, 5 * kib)),
  );
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  expect(asked).toEqual(["ann"]);
});

test("what is being written counts until it is in the store", async () => {
  const store = new MemoryStore();
  const { shares } = sharesOn(store);
  const written: (() => void)[] = [];
  const write = (id: number) =>
    shares.write("ann", 20 * kib, "The state", async () => {
      await new Promise<void>((resolve) => void written.push(resolve));
      await store.spill(`${id}`, "x".repeat(20 * kib), 1e9, "ann");
    });
  const first = [write(1), write(2), write(3)];
  await expect.poll(() => written.length).toBe(3);
  // The store has nothing yet, and is asked again.
  await expect(write(4)).rejects.toThrow(ParleyError);
  for (const go of written) go();
  await Promise.all(first);
  expect((await store.usage("ann")).bytes).toBeLessThanOrEqual(64 * kib);
});

test("what is admitted in the same turn counts before it is being written", async () => {
  const store = new MemoryStore();
  await store.spill("first", "x".repeat(60 * kib), 1e9, "ann");
  const { shares } = sharesOn(store);
  const write = (id: string, bytes: number) =>
    shares.write("ann", bytes, "The state", () => store.spill(id, "x".repeat(bytes), 1e9, "ann"));
  // The second one needs no question, and the first one has room only without it.
  const outcomes = await Promise.allSettled([write("a", 2.5 * kib), write("b", 400)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("many at once share what is left, and ended tasks make room for all of them together", async () => {
  const store = new MemoryStore();
  await store.spill("first", "x".repeat(30 * kib), 1e9, "ann");
  await ended(store, "old", 15 * kib);
  const { asked, keep } = sharesOn(store);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => keep("ann", `s${n}`, 5 * kib)),
  );
  // 64 KiB hold the first one and six of 5.5 KiB.
  expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBe(6);
  expect(new Set(asked)).toEqual(new Set(["ann"]));
  expect((await store.usage("ann")).bytes).toBeLessThanOrEqual(64 * kib);
  expect((await store.read("old"))?.rest).toBe("removed");
});

test("ended tasks make room, the oldest first", async () => {
  let now = 1_000;
  const store = new MemoryStore({ now: () => now });
  for (const name of ["a", "b", "c", "d"]) {
    now += 1;
    await ended(store, name, 15 * kib);
  }
  const { refused, keep } = sharesOn(store);
  await keep("ann", "new", 20 * kib);
  const rests = await Promise.all(["a", "b", "c", "d"].map((name) => store.read(name)));
  expect(rests.map((one) => one?.rest)).toEqual(["removed", "removed", undefined, undefined]);
  expect(refused).toEqual([]);
});

test("a caller's ended tasks are counted as well as measured", async () => {
  const store = new MemoryStore();
  for (let n = 0; n < 30; n += 1) await ended(store, `t${n}`, 1);
  const { shares } = sharesOn(store, { endedTasks: 10 });
  await shares.admit("ann", 1, "The task");
  expect(await store.usage("ann")).toMatchObject({ ended: 10 });
});

test("a running task may record until its caller has twice as much", async () => {
  const store = new MemoryStore();
  const { shares } = sharesOn(store);
  await store.spill("first", "x".repeat(63 * kib), 1e9, "ann");
  await expect(shares.admit("ann", 10 * kib, "The task")).rejects.toThrow(
    "The task cannot be stored",
  );
  await shares.grow("ann", 10 * kib, "The record");
  await store.spill("second", "x".repeat(62 * kib), 1e9, "ann");
  const { shares: elsewhere } = sharesOn(store);
  await expect(elsewhere.grow("ann", 10 * kib, "The record")).rejects.toThrow(
    "The record cannot be stored, because this caller already has",
  );
});

test("if the store cannot be asked, new tasks are refused, and running ones go on", async () => {
  const store = new MemoryStore();
  const away = Object.assign(Object.create(store) as MemoryStore, {
    usage: () => Promise.reject(new Error("away")),
  });
  const { shares } = sharesOn(away);
  await expect(shares.admit("ann", 10 * kib, "The task")).rejects.toThrow("away");
  await shares.grow("ann", 10 * kib, "The record");
});

test("to remove many ended tasks, the caller is counted once", async () => {
  const store = new MemoryStore();
  for (let n = 0; n < 250; n += 1) await ended(store, `t${n}`, 10);
  const { asked, shares } = sharesOn(store, { storedBytes: 1024 * kib, endedTasks: 20 });
  await shares.admit("ann", 10, "A task");
  expect(asked).toEqual(["ann"]);
  expect((await store.usage("ann")).ended).toBe(20);
});

describe("a caller of many small tasks", () => {
  /** The store is asked after 10 records or 64 KiB. */
  const limits = { storedBytes: 4096 * kib, endedTasks: 640 };

  async function withTasks(count: number, bytes = 1, more: Partial<TaskLimits> = {}) {
    let now = 1_000;
    const store = new MemoryStore({ now: () => now });
    for (let n = 0; n < count; n += 1) await ended(store, `old ${n}`, bytes);
    const opened = sharesOn(store, { ...limits, ...more });
    const admit = async (times: number, size = 1) => {
      for (let n = 0; n < times; n += 1) await opened.shares.admit("ann", size, "The task");
    };
    const wait = (ms: number) => void (now += ms);
    return { ...opened, store, admit, wait };
  }

  /** One whose bytes are known, and whose ended tasks are counted with the next record. */
  async function beforeCount(...given: Parameters<typeof withTasks>) {
    const opened = await withTasks(...given);
    await opened.admit(20);
    expect(opened.asked).toHaveLength(1);
    expect(opened.counted).toEqual([]);
    return opened;
  }

  test("has its ended tasks counted, and its bytes added up only now and then", async () => {
    const { store, shares, asked, counted } = await withTasks(640);
    for (let n = 0; n < 800; n += 1) {
      await shares.admit("ann", 1, "The task");
      await ended(store, `new ${n}`, 1);
      expect(await store.countEnded("ann")).toBeLessThanOrEqual(651);
    }
    // After every ten tasks, and the bytes after an eighth of 640.
    expect(asked.length + counted.length).toBe(79);
    expect(asked).toHaveLength(9);
  });

  test("has its bytes added up each time by a store that cannot count", async () => {
    const { store, asked } = await withTasks(0);
    const small = Object.assign(Object.create(store) as MemoryStore, {
      countEnded: undefined,
      usage: (principal: string) => (asked.push(principal), store.usage(principal)),
    });
    const shares = new StorageShares(
      small,
      { ...defaultTaskLimits, ...limits },
      { limitReached: () => {} },
    );
    for (let n = 0; n < 100; n += 1) await shares.admit("ann", 1, "The task");
    expect(asked).toHaveLength(9);
  });

  test("has its bytes counted while only its tasks are", async () => {
    const { admit, asked, counted } = await beforeCount(100);
    // With what is admitted, 24 of 2.5 KiB are more than a sixty-fourth.
    await admit(23, 2 * kib);
    expect(asked).toHaveLength(1);
    expect(counted.length).toBeGreaterThan(1);
    await admit(1, 2 * kib);
    expect(asked).toHaveLength(2);
  });

  test("does not exceed its bytes", async () => {
    const { store, keep, counted } = await withTasks(600);
    const filling = async () => {
      for (let n = 0; n < 10_000; n += 1) await keep("ann", `s${n}`, 2 * kib);
    };
    await expect(filling()).rejects.toThrow("cannot be stored");
    expect(counted).not.toEqual([]);
    expect((await store.usage("ann")).bytes).toBeLessThanOrEqual(limits.storedBytes);
  });

  test("is asked about again when there is no room by what is known", async () => {
    const { store, shares, admit, asked } = await withTasks(600, 6.3 * kib);
    const { bytes } = await store.usage("ann");
    await admit(11);
    // There is room for this in the store, but not together with what has just been admitted.
    await shares.admit("ann", limits.storedBytes - bytes - 513, "The task");
    expect(asked.length).toBeGreaterThan(1);
  });

  test("has its bytes added up each time if its tasks are large", async () => {
    const { admit, asked, counted } = await withTasks(100, 20 * kib);
    await admit(100);
    expect(asked).toHaveLength(9);
    expect(counted).toEqual([]);
  });

  test("has its bytes added up after an eighth of its tasks if its results become large", async () => {
    const { store, shares, asked } = await beforeCount(100);
    const sizes: number[] = [];
    for (let n = 0; n < 200 && asked.length < 3; n += 1) {
      await shares.admit("ann", 1, "The task");
      await ended(store, `large ${n}`, 20 * kib);
      if (asked.length === 2) sizes.push(n);
    }
    // Until then it is taken for a caller of small tasks, and afterwards it is asked about after every ten of them.
    expect([sizes[0], sizes.length]).toEqual([80, 10]);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("away"))],
    [
      "fails at once",
      () => {
        throw new Error("away");
      },
    ],
  ])("has its bytes added up if counting %s, and is counted the next time", async (_, fails) => {
    const { store, asked } = await withTasks(100);
    let counts = 0;
    const unsteady = Object.assign(Object.create(store) as MemoryStore, {
      usage: (principal: string) => (asked.push(principal), store.usage(principal)),
      countEnded: (principal: string) => {
        counts += 1;
        return counts === 1 ? fails() : store.countEnded(principal);
      },
    });
    const all = { ...defaultTaskLimits, ...limits };
    const shares = new StorageShares(unsteady, all, { limitReached: () => {} });
    for (let n = 0; n < 40; n += 1) await shares.admit("ann", 1, "The task");
    expect([asked.length, counts]).toEqual([2, 2]);
  });

  test("is asked about again when it needs much, although its tasks were just counted", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { store, shares, admit, asked, counted, wait } = await withTasks(300);
    await store.spill("large", "x".repeat(1500 * kib), 100, "ann");
    await admit(20);
    wait(100);
    await store.sweep(10, 1e9);
    vi.advanceTimersByTime(2_000);
    await admit(1);
    expect([asked.length, counted.length]).toEqual([1, 1]);
    await shares.admit("ann", 3000 * kib, "The task");
    expect(asked).toHaveLength(2);
  });

  test("is counted once for many at once, which are then measured like others", async () => {
    const { shares, asked, counted } = await beforeCount(300);
    const atOnce = (count: number, bytes: number) =>
      Promise.all(Array.from({ length: count }, () => shares.admit("ann", bytes, "The task")));
    await atOnce(50, 1);
    expect([asked.length, counted.length]).toEqual([1, 1]);
    await atOnce(10, 10 * kib);
    expect([asked.length, counted.length]).toEqual([2, 2]);
  });

  test.each([
    ["counted and then measured", [1, 100 * kib], 1],
    ["measured", [100 * kib, 1], 0],
  ])(
    "loses no more ended tasks than are too many when it is %s at once",
    async (_how, sizes, counts) => {
      const { store, shares, asked, counted } = await beforeCount(639);
      for (let n = 0; n < 5; n += 1) await ended(store, `new ${n}`, 1);
      await Promise.all(sizes.map((bytes) => shares.admit("ann", bytes, "The task")));
      expect([asked.length, counted.length]).toEqual([2, counts]);
      expect(await store.countEnded("ann")).toBe(640);
    },
  );
});
