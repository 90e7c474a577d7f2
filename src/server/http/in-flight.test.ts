import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { InFlight } from "./in-flight.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { type: "minor" }) => void;

test("holds what was added, without what was removed", () => {
  const inFlight = new InFlight<{ readonly name: string }>();
  const [one, two] = [inFlight.add({ name: "one" }), inFlight.add({ name: "two" })];
  inFlight.remove(one);
  inFlight.add({ name: "three" });
  expect(inFlight.all().map(({ name }) => name)).toEqual(["three", "two"]);
  inFlight.remove(two);
  expect(inFlight.all()).toHaveLength(1);
});

/** A Set fails this. The comment at the top of in-flight.ts says why. */
test("keeps nothing that has left, even before the next full collection", () => {
  const inFlight = new InFlight<readonly number[]>();
  const taken: number[] = [];
  const change = (at: number) => {
    const slot = taken[at % 16];
    if (slot !== undefined) inFlight.remove(slot);
    taken[at % 16] = inFlight.add(Array.from({ length: 1_000 }, () => at));
  };
  for (let at = 0; at < 16; at += 1) change(at);
  collect();
  const before = getHeapStatistics().used_heap_size;
  // About 8 MB, which is too little to cause a full collection.
  for (let at = 0; at < 1_000; at += 1) change(at);
  collect({ type: "minor" });
  collect({ type: "minor" });
  expect(getHeapStatistics().used_heap_size - before).toBeLessThan(2_000_000);
});
