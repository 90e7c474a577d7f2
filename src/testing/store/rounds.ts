// What rounds keep in the store: states that are too large for a token, and which replica runs which round.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { RoundClaimRequest, RoundClaimResult, TaskStore } from "../../tasks/store.ts";
import type { ClaimRef } from "../../tasks/task.ts";
import { leaseMs, ttlMs } from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const round: RoundClaimRequest = {
  principal: "ann",
  callId: "c",
  round: 1,
  answers: "x",
  leaseMs,
  ttlMs,
};

async function run(store: TaskStore, claim = round): Promise<ClaimRef> {
  const claimed: RoundClaimResult = await store.claimRound(claim);
  if (claimed.kind !== "run") throw new Error(`The round was not claimed: ${claimed.kind}.`);
  return claimed.ref;
}

/** Registers these tests. */
export function describeRounds(opened: () => OpenedStore): void {
  describe("spill", () => {
    test("keeps a state until its time is up", async () => {
      const { store, advance } = opened();
      expect(await store.spilled("s")).toBeUndefined();
      await store.spill("s", "state", 100, "ann");
      await store.spill("t", "other", 300, "ann");
      await advance(99);
      expect(await store.spilled("s")).toBe("state");
      await advance(1);
      expect(await store.spilled("s")).toBeUndefined();
      expect(await store.spilled("t")).toBe("other");
    });

    test("replaces a state with the same id", async () => {
      const { store, advance } = opened();
      await store.spill("s", "state", 100, "ann");
      await advance(50);
      await store.spill("s", "later", 100, "ann");
      await advance(99);
      expect(await store.spilled("s")).toBe("later");
    });
  });

  test("countSpilled counts the states of one caller by the beginning of their ids", async () => {
    const { store, advance } = opened();
    await store.spill("a.1", "state", 100, "ann");
    await store.spill("a.2", "state", 300, "ann");
    await store.spill("a.3", "state", 300, "bo");
    await store.spill("ab", "state", 300, "ann");
    expect(await store.countSpilled("ann", "a.")).toBe(2);
    await advance(100);
    expect(await store.countSpilled("ann", "a.")).toBe(1);
    expect(await store.countSpilled("ann", "%")).toBe(0);
  });

  describe("fill", () => {
    test("keeps the first answer beside its question, until the time of the question is up", async () => {
      const { store, advance } = opened();
      expect(await store.fill("q", "yes")).toBe("gone");
      await store.spill("q", "question", 100, "ann");
      expect(await store.filled("q")).toBeUndefined();
      expect(await store.fill("q", "yes")).toBe("filled");
      expect(await store.fill("q", "no")).toBe("full");
      await store.spill("q", "asked again", 100, "ann");
      expect(await store.fill("q", "no")).toBe("full");
      expect([await store.spilled("q"), await store.filled("q")]).toEqual(["asked again", "yes"]);
      await advance(100);
      expect(await store.filled("q")).toBeUndefined();
      expect(await store.fill("q", "late")).toBe("gone");
    });

    test("takes one of several answers that come at once", async () => {
      const { store } = opened();
      await store.spill("q", "question", ttlMs, "ann");
      const fills = await Promise.all(["a", "b", "c"].map((one) => store.fill("q", one)));
      expect(fills.toSorted()).toEqual(["filled", "full", "full"]);
      expect(await store.filled("q")).toBe(["a", "b", "c"][fills.indexOf("filled")]);
    });
  });

  describe("a round", () => {
    test("is run by the first to claim it", async () => {
      const { store } = opened();
      expect(await store.claimRound(round)).toEqual({
        kind: "run",
        ref: { id: "c", epoch: 1 },
        log: [],
      });
      expect(await store.claimRound(round)).toEqual({ kind: "running" });
      expect(await store.claimRound({ ...round, callId: "d" })).toMatchObject({ kind: "run" });
    });

    test("gives its response to a repeated request with the same answers", async () => {
      const { store, advance } = opened();
      const ref = await run(store);
      expect(await store.endRound(ref, "response")).toBe(true);
      expect(await store.claimRound(round)).toEqual({ kind: "ended", response: "response" });
      await advance(leaseMs);
      expect(await store.claimRound(round)).toEqual({ kind: "ended", response: "response" });
    });

    test("is superseded by other answers, and by a later round", async () => {
      const { store, advance } = opened();
      const ref = await run(store);
      expect(await store.claimRound({ ...round, answers: "y" })).toEqual({ kind: "superseded" });
      await store.endRound(ref, "response");
      expect(await store.claimRound({ ...round, answers: "y" })).toEqual({ kind: "superseded" });
      await run(store, { ...round, round: 2 });
      expect(await store.claimRound(round)).toEqual({ kind: "superseded" });
      await advance(leaseMs);
      expect(await store.claimRound(round)).toEqual({ kind: "superseded" });
    });

    test("may begin while an earlier one runs, and takes its place", async () => {
      const { store } = opened();
      const earlier = await run(store);
      await store.appendToRound(earlier, 0, "one");
      const claimed = await store.claimRound({ ...round, round: 2, answers: "y" });
      expect(claimed).toEqual({ kind: "run", ref: { id: "c", epoch: 2 }, log: [] });
      expect(await store.appendToRound(earlier, 1, "two")).toBe(false);
      expect(await store.appendToRound({ id: "c", epoch: 2 }, 0, "first")).toBe(true);
    });

    test("is taken over when its lease has expired, with its recorded entries", async () => {
      const { store, advance } = opened();
      const ref = await run(store);
      await store.appendToRound(ref, 0, "one");
      await store.appendToRound(ref, 1, "two");
      await advance(leaseMs - 1);
      expect(await store.claimRound(round)).toEqual({ kind: "running" });
      await advance(1);
      const next = { id: "c", epoch: 2 };
      expect(await store.claimRound(round)).toEqual({
        kind: "run",
        ref: next,
        log: ["one", "two"],
      });
      expect(await store.appendToRound(next, 2, "three")).toBe(true);
      await advance(leaseMs);
      expect(await store.claimRound(round)).toMatchObject({ log: ["one", "two", "three"] });
    });

    test("stays with a worker that renews it", async () => {
      const { store, advance } = opened();
      const ref = await run(store);
      await advance(leaseMs - 1);
      expect(await store.renewRound(ref, leaseMs)).toBe(true);
      await advance(leaseMs - 1);
      expect(await store.claimRound(round)).toEqual({ kind: "running" });
      await advance(1);
      expect(await store.claimRound(round)).toMatchObject({ kind: "run" });
    });

    test("can be written under an expired lease until the next claim", async () => {
      const { store, advance } = opened();
      const ref = await run(store);
      await advance(leaseMs);
      expect(await store.appendToRound(ref, 0, "one")).toBe(true);
      expect(await store.endRound(ref, "response")).toBe(true);
    });

    test("can be claimed at once when it is given up, and keeps its recorded entries", async () => {
      const { store } = opened();
      const ref = await run(store);
      await store.appendToRound(ref, 0, "one");
      expect(await store.releaseRound(ref)).toBe(true);
      expect(await store.claimRound(round)).toMatchObject({ kind: "run", log: ["one"] });
    });

    test("counts records, so that a second writer is noticed and a repeated write is not", async () => {
      const { store } = opened();
      const ref = await run(store);
      expect(await store.appendToRound(ref, 1, "x")).toBe(false);
      expect(await store.appendToRound(ref, 0, "one")).toBe(true);
      expect(await store.appendToRound(ref, 0, "one")).toBe(true);
      expect(await store.appendToRound(ref, 1, "two")).toBe(true);
      expect(await store.appendToRound(ref, 0, "one")).toBe(false);
      await store.releaseRound(ref);
      expect(await store.claimRound(round)).toMatchObject({ log: ["one", "two"] });
    });

    const writes: Record<string, (store: TaskStore, ref: ClaimRef) => Promise<boolean>> = {
      renewRound: (store, ref) => store.renewRound(ref, leaseMs),
      appendToRound: (store, ref) => store.appendToRound(ref, 0, "late"),
      endRound: (store, ref) => store.endRound(ref, "late"),
      releaseRound: (store, ref) => store.releaseRound(ref),
    };
    describe.each(Object.entries(writes))("%s", (_name, write) => {
      test("is refused after another worker's claim", async () => {
        const { store, advance } = opened();
        const ref = await run(store);
        await advance(leaseMs);
        await run(store);
        expect(await write(store, ref)).toBe(false);
        expect(await store.claimRound(round)).toEqual({ kind: "running" });
        await advance(leaseMs);
        expect(await store.claimRound(round)).toMatchObject({ kind: "run", log: [] });
      });

      test("is refused when the round has ended", async () => {
        const { store } = opened();
        const ref = await run(store);
        await store.endRound(ref, "response");
        expect(await write(store, ref)).toBe(false);
        expect(await store.claimRound(round)).toEqual({ kind: "ended", response: "response" });
      });

      test("is refused if there is no such round", async () => {
        const { store } = opened();
        expect(await write(store, { id: "c", epoch: 1 })).toBe(false);
        const ref = await run(store);
        expect(await write(store, { ...ref, epoch: ref.epoch + 1 })).toBe(false);
      });
    });
  });
}
