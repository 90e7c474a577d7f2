import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { nodeTurns } from "../../../replay/turns.ts";
import { Lockstep } from "./lockstep.ts";

/** A round that takes this many turns and then ends. */
async function round(lockstep: Lockstep, turns: number): Promise<void> {
  const room = lockstep.room();
  if (room !== undefined) await room;
  for (let taken = 0; taken < turns; taken += 1) {
    await new Promise<void>((resolve) => void lockstep.full(resolve));
  }
}

test("a round that comes while others are between two turns waits until they need no more", async () => {
  const lockstep = new Lockstep(nodeTurns);
  const ended: string[] = [];
  const first = round(lockstep, 3).then(() => ended.push("first"));
  expect(lockstep.room()).toBeUndefined();
  await setImmediate();
  expect(lockstep.room()).toBeInstanceOf(Promise);
  const second = round(lockstep, 0).then(() => ended.push("second"));
  await Promise.all([first, second]);
  expect(ended).toEqual(["first", "second"]);
});

test("rounds that come before the first turn is over go together", async () => {
  const lockstep = new Lockstep(nodeTurns);
  const turns: string[] = [];
  const take = (name: string) => lockstep.full(() => void turns.push(name));
  take("a");
  expect(lockstep.room()).toBeUndefined();
  take("b");
  await setImmediate();
  expect(turns).toEqual(["a", "b"]);
});

test("all rounds that have waited begin in the same turn, in order", async () => {
  const lockstep = new Lockstep(nodeTurns);
  const first = round(lockstep, 2);
  await setImmediate();
  let turn = 0;
  const nextTurn = () => {
    turn += 1;
    if (turn < 10) nodeTurns.full(nextTurn);
  };
  nodeTurns.full(nextTurn);
  const begun: (readonly [number, number])[] = [];
  const waiting = [1, 2, 3].map((number) =>
    lockstep.room()?.then(() => begun.push([number, turn])),
  );
  await first;
  expect(begun).toEqual([]);
  await Promise.all(waiting);
  const [[, same] = [0, 0]] = begun;
  expect(begun).toEqual([
    [1, same],
    [2, same],
    [3, same],
  ]);
});

test("a round that waits for something else does not hold up others", async () => {
  const lockstep = new Lockstep(nodeTurns);
  lockstep.full(() => {});
  await setImmediate();
  await setImmediate();
  expect(lockstep.room()).toBeUndefined();
});

test("a round that goes on taking turns holds up others for a few of them, once", async () => {
  const lockstep = new Lockstep(nodeTurns);
  let turns = 0;
  const again = () => {
    turns += 1;
    if (turns < 100) lockstep.full(again);
  };
  lockstep.full(again);
  await setImmediate();
  const before = turns;
  const room = lockstep.room();
  expect(room).toBeInstanceOf(Promise);
  await room;
  expect(turns - before).toBeLessThanOrEqual(8);
  while (turns < 100) {
    expect(lockstep.room()).toBeUndefined();
    await setImmediate();
  }
  // The turns are counted until nothing is between two of them.
  await setImmediate();
  await setImmediate();
  lockstep.full(() => {});
  await setImmediate();
  expect(lockstep.room()).toBeInstanceOf(Promise);
});

test("each round keeps its async context, and none is kept by the counting", async () => {
  const contexts = new AsyncLocalStorage<string>();
  const counted: (string | undefined)[] = [];
  const lockstep = new Lockstep({
    ...nodeTurns,
    full: (callback) => {
      counted.push(contexts.getStore());
      nodeTurns.full(callback);
    },
  });
  const seen: (string | undefined)[] = [];
  for (const name of ["a", "b"]) {
    contexts.run(name, () => void lockstep.full(() => void seen.push(contexts.getStore())));
  }
  await setImmediate();
  expect(seen).toEqual(["a", "b"]);
  expect(counted.slice(0, 3)).toEqual([undefined, "a", "b"]);
});
