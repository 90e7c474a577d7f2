// What a store keeps for one caller: how much it is, what is deleted early, and tasks that no client has read.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import { recordBytes } from "../../tasks/store.ts";
import {
  answer,
  create,
  external,
  hold,
  keepMs,
  leaseMs,
  nowOf,
  park,
  question,
  read,
  timer,
  ttlMs,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const completed = { status: "completed", result: "r", statusMessage: "m", keepMs } as const;
const kib = 1024;
/** How much more a store may count, such as the keys of waits. */
const slack = 512;

/** Text that does not compress, like sealed text. */
function incompressible(length: number): string {
  let state = 1;
  const digits = Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state % 36).toString(36);
  });
  return digits.join("");
}

/** Registers these tests. */
export function describeShares(opened: () => OpenedStore): void {
  describe("usage", () => {
    test("is nothing for a caller that the store does not know", async () => {
      const { store } = opened();
      await create(store, "a", { principal: "bob" });
      expect(await store.usage("ann")).toEqual({ live: 0, ended: 0, bytes: 0 });
    });

    test("counts what is sealed in tasks, live and ended, in states and in rounds", async () => {
      const { store } = opened();
      const large = incompressible(10 * kib);
      let bytes = 0;
      const grewBy = async (more: number) => {
        const usage = await store.usage("ann");
        const grown = usage.bytes - bytes;
        expect(grown).toBeGreaterThanOrEqual(more - slack);
        expect(grown).toBeLessThanOrEqual(more + slack);
        ({ bytes } = usage);
        return usage;
      };
      const ref = await hold(store, "a", { input: large, log: [large] });
      await grewBy(2 * large.length + recordBytes);
      await store.append(ref, { at: 1, records: [large], taken: [], returned: [] });
      await grewBy(large.length);
      await store.park(ref, { waits: [question("k", { request: large })], asked: {}, taken: [] });
      await grewBy(large.length);
      await store.answer(ref.id, [answer("k", large + large)]);
      expect(await grewBy(large.length)).toMatchObject({ live: 1, ended: 0 });
      const over = await hold(store, "b", { input: "" });
      await store.finish(over, { ...completed, result: large });
      expect(await grewBy(large.length + recordBytes)).toMatchObject({ live: 1, ended: 1 });
      await store.spill("s", large, ttlMs, "ann");
      await grewBy(large.length + recordBytes);
      await store.spill("s", large + large, ttlMs, "ann");
      await grewBy(large.length);
      await store.fill("s", large);
      await grewBy(large.length);
      const round = { principal: "ann", callId: "c", round: 1, answers: "x", leaseMs, ttlMs };
      await store.claimRound(round);
      await store.appendToRound({ id: "c", epoch: 1 }, 0, large);
      await store.endRound({ id: "c", epoch: 1 }, large);
      await grewBy(2 * large.length + recordBytes);
      expect(await store.usage("bob")).toEqual({ live: 0, ended: 0, bytes: 0 });
    });

    test("is nothing again when everything has expired", async () => {
      const { store, advance } = opened();
      await hold(store, "a", { log: ["one"] });
      await store.spill("s", "state", ttlMs, "ann");
      await store.claimRound({
        principal: "ann",
        callId: "c",
        round: 1,
        answers: "",
        leaseMs,
        ttlMs,
      });
      expect((await store.usage("ann")).bytes).toBeGreaterThan(3 * recordBytes);
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      expect(await store.usage("ann")).toEqual({ live: 0, ended: 0, bytes: 0 });
    });
  });

  describe("countEnded", () => {
    test("counts the ended tasks of one caller that still have their contents", async ({
      skip,
    }) => {
      const { store } = opened();
      if (store.countEnded === undefined) skip("This store has only usage.");
      const isCounted = async (ended: number) => {
        expect(await store.countEnded?.("ann")).toBe(ended);
        expect(await store.usage("ann")).toMatchObject({ ended });
      };
      await isCounted(0);
      await store.finish(await hold(store, "a"), completed);
      await store.finish(await hold(store, "b"), { ...completed, status: "failed" });
      await store.cancel((await create(store, "c")).id, keepMs);
      await create(store, "live");
      await hold(store, "held");
      await park(store, "parked", [question("k")]);
      await store.finish(await hold(store, "foreign", { principal: "bob" }), completed);
      await store.spill("s", "state", ttlMs, "ann");
      await isCounted(3);
      await store.removeEnded("ann", 2, keepMs);
      await isCounted(1);
    });

    test("does not count a task whose time is up, once a sweep has passed", async ({ skip }) => {
      const { store, advance } = opened();
      if (store.countEnded === undefined) skip("This store has only usage.");
      await store.finish(await hold(store, "a"), completed);
      await create(store, "b");
      await advance(ttlMs);
      await store.sweep(10, keepMs);
      expect(await store.countEnded?.("ann")).toBe(0);
    });
  });

  describe("removeEnded", () => {
    test("deletes the contents of the oldest ended tasks of a caller, and nothing else", async () => {
      const { store, advance } = opened();
      const ended: string[] = [];
      for (const name of ["a", "b", "c"]) {
        const ref = await hold(store, name, { log: ["one"] });
        await store.finish(ref, completed);
        ended.push(ref.id);
        await advance(1);
      }
      const live = await create(store, "live");
      const foreign = await hold(store, "foreign", { principal: "bob" });
      await store.finish(foreign, completed);
      expect(await store.removeEnded("ann", 2, keepMs)).toBe(2);
      const now = await nowOf(store);
      const rests = await Promise.all(ended.map((id) => store.read(id)));
      expect(rests.map((task) => task?.rest)).toEqual(["removed", "removed", undefined]);
      expect(rests[0]).toMatchObject({ status: "completed", input: "", expiresAt: now + keepMs });
      expect(await store.readLog(ended[0]!)).toEqual([]);
      expect(await store.usage("ann")).toMatchObject({ live: 1, ended: 1 });
      expect(await store.removeEnded("ann", 2, keepMs)).toBe(1);
      expect(await store.removeEnded("ann", 2, keepMs)).toBe(0);
      expect(await read(store, live)).toMatchObject({ rest: undefined });
      expect(await read(store, foreign)).toMatchObject({ rest: undefined });
      expect(
        await store.create({ ...live, log: [], ttlMs, claimedBy: undefined }, 10),
      ).toMatchObject({ kind: "exists" });
    });
  });

  describe("a task that no client has read", () => {
    const unreadMs = 1_000;

    test("ends when it has waited for its client for long enough", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k")]);
      await advance(unreadMs - 1);
      expect(await store.sweep(10, keepMs, unreadMs)).toMatchObject({ expired: 0 });
      await advance(1);
      expect(await store.sweep(10, keepMs)).toMatchObject({ expired: 0 });
      expect(await store.sweep(10, keepMs, unreadMs)).toMatchObject({ expired: 1 });
      expect(await read(store, ref)).toMatchObject({ status: "failed", rest: "expired" });
    });

    test("waits on once a client has read it, and the note changes nothing else", async () => {
      const { store, advance } = opened();
      const ref = await park(store, "a", [question("k")]);
      const before = await read(store, ref);
      expect(before.isUnread).toBe(true);
      await store.noteRead([ref.id, "unknown"]);
      expect(await read(store, ref)).toEqual({ ...before, isUnread: false });
      await advance(unreadMs);
      expect(await store.sweep(10, keepMs, unreadMs)).toMatchObject({ expired: 0 });
    });

    test("waits on if it was asked later, or can go on without its client", async () => {
      const { store, advance } = opened();
      const now = await nowOf(store);
      await create(store, "due");
      await hold(store, "held");
      await park(store, "napping", [question("k"), timer("t", now + ttlMs)]);
      await park(store, "delivered", [question("k"), external("l")]);
      await park(store, "timed", [question("k", { dueAt: now + ttlMs })]);
      const late = await hold(store, "late");
      await advance(unreadMs - 1);
      await store.park(late, { waits: [question("k")], asked: {}, taken: [] });
      await advance(1);
      expect(await store.sweep(10, keepMs, unreadMs)).toMatchObject({ expired: 0 });
      await advance(unreadMs);
      expect(await store.sweep(10, keepMs, unreadMs)).toMatchObject({ expired: 1 });
      expect(await read(store, late)).toMatchObject({ rest: "expired" });
    });
  });
}
