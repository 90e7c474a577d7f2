// The simulations behind docs/scale.md. `npm run docs:check` compares the page with what they print.

import { expect, test } from "vitest";
import { enough, fullest, queued } from "../../bench/scale/simulation.ts";

test("a queue is as busy as its load says, and waits grow with it", () => {
  const quiet = queued({ perSecond: 1_000, costMs: 1, processes: 10 });
  const busy = queued({ perSecond: 1_000, costMs: 1, processes: 2 });
  expect(quiet.busy).toBeCloseTo(0.1);
  expect(busy.busy).toBeCloseTo(0.5);
  // Without a queue, a request takes between half and twice of the mean.
  expect(quiet.p50).toBeGreaterThan(0.5);
  expect(quiet.p50).toBeLessThan(1.2);
  expect(busy.p99).toBeGreaterThan(quiet.p99 * 1.5);
  expect(queued({ perSecond: 1_000, costMs: 1, processes: 2 })).toEqual(busy);
});

test("enough processes keep the promise, and fewer do not", () => {
  const found = enough(10_000, 0.5, 8);
  expect(found.processes).toBeGreaterThan(5);
  expect(found.p99).toBeLessThanOrEqual(4);
  const fewer = { perSecond: 10_000, costMs: 0.5, processes: found.processes - 1 };
  expect(queued(fewer).p99).toBeGreaterThan(4);
});

test("the limit of a principal keeps shards even", () => {
  expect(fullest(1, 1_000, 10)).toBeCloseTo(1);
  const limited = fullest(64, 100_000, 1_000);
  expect(limited).toBeLessThan(fullest(64, 100_000, Infinity));
  expect(limited).toBeGreaterThan(1);
});
