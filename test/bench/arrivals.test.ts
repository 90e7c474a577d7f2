// The benchmark's open loop, on a clock of the test's own.

import { expect, test } from "vitest";
import { openLoop, schedule } from "../../bench/http/arrivals.ts";
import { Chance } from "../chaos/chance.ts";

/** Each turn takes a millisecond. A server answers after one, except while it stalls. */
async function latenciesWith(stall: { from: number; until: number }, lanes: number) {
  let clock = 0;
  const underWay: { readonly ready: number; readonly done: () => void }[] = [];
  const latencies = await openLoop({
    times: Float64Array.from({ length: 100 }, (_, at) => at),
    lanes: Array.from({ length: lanes }, (_, at) => at),
    now: () => clock,
    soon: (next) =>
      queueMicrotask(() => {
        clock += 1;
        for (const one of underWay.splice(0)) {
          if (one.ready <= clock) one.done();
          else underWay.push(one);
        }
        next();
      }),
    send: (_lane, _index, done) => {
      const isStalled = clock >= stall.from && clock < stall.until;
      underWay.push({ ready: isStalled ? stall.until : clock + 1, done });
    },
  });
  return [...latencies];
}

test("a request that has to wait for a connection counts from when it should have been sent", async () => {
  const latencies = await latenciesWith({ from: 10, until: 60 }, 2);
  // A closed loop would have seen two slow requests. All that should have been sent during the stall are late.
  expect(latencies.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 1));
  expect(latencies[10]).toBe(50);
  expect(latencies[12]).toBeGreaterThanOrEqual(48);
  expect(latencies.filter((ms) => ms > 1).length).toBeGreaterThan(45);
});

test("the schedule has the asked rate, and is the same for the same seed", () => {
  const times = schedule(2_000, 5_000, new Chance("seed").next);
  expect(times).toEqual(schedule(2_000, 5_000, new Chance("seed").next));
  expect(times).not.toEqual(schedule(2_000, 5_000, new Chance("another").next));
  expect(Math.abs(times.length / 10_000 - 1)).toBeLessThan(0.05);
  expect([...times]).toEqual([...times].toSorted((one, other) => one - other));
  // Gaps of a Poisson process vary as much as they are long.
  const gaps = Array.from(times.slice(1), (at, index) => at - (times[index] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  expect(Math.abs(Math.sqrt(variance) / mean - 1)).toBeLessThan(0.1);
});
