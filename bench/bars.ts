// The limits that must hold. A missed limit is reported; it changes no figure and does not end the run.

import type { Figures } from "./figures.ts";

type Bar = readonly [name: string, limit: number];

const atLeast: readonly Bar[] = [
  ["plain/fast÷bare", 0.6],
  ["plain/fast÷sdk", 6],
  ["plain/fast÷tmcp", 3],
  ["tworound/fast÷bare", 0.45],
  ["wrapped÷unwrapped", 0.95],
  ["streaming/ten a turn, fast÷bare", 0.8],
  ["streaming/one a turn, fast÷bare", 0.5],
  ["streaming/other tasks, beside÷alone", 0.7],
];

const atMost: readonly Bar[] = [
  ["token/share", 0.15],
  ["memory/fast 100k÷25k", 1.1],
  ["engine/run÷await, 100 rows to JSON", 1.05],
  ["engine/an entry, 200÷50 entries", 1.5],
  ["engine/100 runs, at once÷in turn", 2],
  ["token/cpu µs, 1 KiB", 100],
  ["streaming/first part, fast÷bare", 1.5],
  ["streaming/tasks, p95÷allowed", 1],
];

export function checkBars(figures: Figures): void {
  const measured = new Map(figures.all.map(({ name, value }) => [name, value]));
  for (const [bars, judge] of [
    [atLeast, figures.atLeast],
    [atMost, figures.atMost],
  ] as const) {
    for (const [name, limit] of bars) {
      const value = measured.get(name);
      if (value !== undefined) judge(name, value, limit);
    }
  }
}
