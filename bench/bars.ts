// The limits that must hold. A missed limit is reported; it changes no figure and does not end the run.

import type { Figures } from "./figures.ts";

type Bar = readonly [name: string, limit: number];

const atLeast: readonly Bar[] = [
  ["plain/fast÷bare", 0.6],
  ["plain/fast÷sdk", 6],
  ["plain/fast÷tmcp", 3],
  ["plain/fast÷batched", 0.85],
  ["plain/fast÷batched@64", 0.85],
  ["tworound/fast÷bare", 0.65],
  ["tworound/fast÷batched", 0.5],
  ["fiverounds/fast÷bare", 0.6],
  ["resource/fast÷bare", 0.55],
  ["wrapped÷unwrapped", 0.95],
  ["streaming/ten a turn, fast÷bare", 0.8],
  ["streaming/one a turn, fast÷bare", 0.5],
  ["streaming/other tasks, beside÷alone", 0.7],
  ["tasks/postgres×6÷bare@16", 0.55],
  ["tasks/postgres×6÷bare@64", 0.55],
  ["tasks/postgres÷dbos@16", 5],
  ["tasks/postgres÷openworkflow@64", 4],
  ["tasks/sqlite÷openworkflow@64", 12],
];

const atMost: readonly Bar[] = [
  ["token/share", 0.15],
  ["latency/p99@50÷bare", 1.5],
  ["growth/rounds exponent", 1.1],
  ["growth/entries exponent", 1.1],
  ["growth/workers exponent", 1.1],
  ["growth/parked exponent", 1.1],
  ["memory/fast 100k÷25k", 1.1],
  ["engine/run÷await, 100 rows to JSON", 1.05],
  ["engine/an entry, 200÷50 entries", 1.5],
  ["engine/100 runs, at once÷in turn", 2],
  ["token/cpu µs, 1 KiB", 100],
  ["streaming/first part, fast÷bare", 1.5],
  ["streaming/tasks, p95÷allowed", 1],
];

/** Reports every limit, including those of parts that were not measured in this run. */
export function checkBars(figures: Figures): void {
  const measured = new Map(figures.all.map(({ name, value }) => [name, value]));
  const missing: string[] = [];
  for (const [bars, judge] of [
    [atLeast, figures.atLeast],
    [atMost, figures.atMost],
  ] as const) {
    for (const [name, limit] of bars) {
      const value = measured.get(name);
      if (value === undefined) missing.push(`${name} (limit ${limit})`);
      else judge(name, value, limit);
    }
  }
  for (const one of missing) console.log(`  -      ${one}: not measured`);
}
