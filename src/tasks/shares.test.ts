// What a caller may keep in the store, how rarely the store is asked, and what happens at the limit.

import { expect, test } from "vitest";
import { ParleyError } from "../errors.ts";
import { defaultTaskLimits } from "./limits.ts";
import type { TaskLimits } from "./limits.ts";
import { StorageShares } from "./shares.ts";
import { MemoryStore } from "./stores/memory.ts";
import type { NewTask } from "./task.ts";

const kib = 1024;

function sharesOn(store: MemoryStore, limits: Partial<TaskLimits> = {}) {
  const asked: string[] = [];
  const refused: string[] = [];
  const counting = Object.assign(Object.create(store), {
    usage: (principal: string) => (asked.push(principal), store.usage(principal)),
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
  return { shares, asked, refused, keep };
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
