// What the engine costs, as ratios taken side by side:
//   1. a handler that uses no operation, against the same function called through one `await`
//   2. replaying a log of 1 to 200 entries: time an entry, and a straight line through it
//   3. a hundred runs at once, against one after the other
//
// Usage: npm run bench:engine. Exits with 1 when a bar is missed.

import process from "node:process";
import { Inbox } from "../src/replay/inbox.ts";
import { emptyJournal } from "../src/replay/journal.ts";
import type { Entry, Journal } from "../src/replay/journal.ts";
import type { Hooks, Operations } from "../src/replay/hooks.ts";
import { run } from "../src/replay/run.ts";
import { nodeTurns } from "../src/replay/turns.ts";

const hooks: Hooks = {
  name: "bench",
  callId: "bench",
  turns: nodeTurns,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  stallMs: 5_000,
  canDetach: false,
};

let isMissed = false;
function bar(name: string, value: number, limit: number, unit = ""): void {
  const ok = value <= limit;
  if (!ok) isMissed = true;
  console.log(
    `${ok ? "ok    " : "MISSED"} ${name}: ${value.toFixed(3)}${unit} (bar ${limit}${unit})`,
  );
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function timeUs(work: () => Promise<unknown>, times: number): Promise<number> {
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i += 1) await work();
  return Number(process.hrtime.bigint() - start) / 1_000 / times;
}

// ---------------------------------------------------------------- 1. nothing asked

/** What a plain tool does: looks something up and writes it out. */
function listing(count: number): (input: { done: boolean }) => Promise<string> {
  const rows = Array.from({ length: count }, (_, id) => ({ id, title: `Row ${id}`, done: true }));
  return async ({ done }) => JSON.stringify(rows.filter((row) => row.done === done));
}

async function overhead(handler: (input: { done: boolean }) => Promise<string>) {
  const input = { done: true };
  const direct = () => handler(input);
  const played = () => run(handler, input, emptyJournal, new Inbox(), hooks);
  const ratios: number[] = [];
  const extraNs: number[] = [];
  for (let batch = 0; batch < 41; batch += 1) {
    // Alternating which comes first, so that neither has the warmer half.
    const first = batch % 2 === 0 ? direct : played;
    const second = batch % 2 === 0 ? played : direct;
    const [a, b] = [await timeUs(first, 10_000), await timeUs(second, 10_000)];
    const [bare, ours] = batch % 2 === 0 ? [a, b] : [b, a];
    ratios.push(ours / bare);
    extraNs.push((ours - bare) * 1_000);
  }
  return { ratio: median(ratios.slice(5)), extraNs: median(extraNs.slice(5)) };
}

console.log("1. A handler that neither asks nor steps, through run() ÷ through one await");
for (const count of [0, 20]) {
  const { ratio, extraNs } = await overhead(listing(count));
  console.log(
    `       ${count} rows to JSON: ratio ${ratio.toFixed(3)}, +${extraNs.toFixed(0)} ns a call`,
  );
}
bar("100 rows to JSON (4 KiB)", (await overhead(listing(100))).ratio, 1.05);

// ---------------------------------------------------------------- 2. replay

function journalOf(entries: number): Journal {
  const made = Array.from({ length: entries }, (_, index): Entry => {
    const key = `k${index}`;
    return index % 2 === 0
      ? { kind: "step", key, value: { id: index, text: "x".repeat(60) } }
      : { kind: "answer", key, value: { text: "x".repeat(60) }, digest: key };
  });
  return { entries: made, out: [] };
}

const sequential = (entries: number) => async (_: unknown, ops: Operations) => {
  for (let index = 0; index < entries; index += 1) {
    const key = `k${index}`;
    if (index % 2 === 0) await ops.step(key, () => {});
    else
      await ops.ask(key, { digest: key, shown: key, read: (value) => ({ kind: "value", value }) });
  }
  return "end";
};

async function replay(entries: number, journal: Journal): Promise<void> {
  const outcome = await run(sequential(entries), undefined, journal, new Inbox(), hooks);
  if (outcome.kind !== "done" || outcome.value !== "end")
    throw new Error(`ended as ${outcome.kind}`);
}

console.log("\n2. Replaying a log, one entry after the other");
const sizes = [1, 10, 50, 100, 200];
const samples = new Map(sizes.map((size) => [size, [] as number[]]));
for (let batch = 0; batch < 25; batch += 1) {
  for (const size of sizes) {
    const journal = journalOf(size);
    samples.get(size)?.push(await timeUs(() => replay(size, journal), Math.ceil(400 / size)));
  }
}
const times = sizes.map((size) => median(samples.get(size)?.slice(5) ?? []));
for (const [index, size] of sizes.entries()) {
  const time = times[index] ?? 0;
  console.log(
    `       ${String(size).padStart(3)} entries: ${time.toFixed(1).padStart(7)} µs, ${(time / size).toFixed(2)} µs an entry`,
  );
}
const line = fit(sizes, times);
console.log(
  `       a straight line: ${line.offset.toFixed(1)} + ${line.slope.toFixed(2)} µs an entry, R² ${line.r2.toFixed(4)}`,
);
bar(
  "200 entries, an entry ÷ 50 entries, an entry",
  (times[4] ?? 0) / 200 / ((times[2] ?? 1) / 50),
  1.5,
);

// ---------------------------------------------------------------- 3. at once

console.log("\n3. A hundred runs at once over 200 entries each ÷ one after the other");
const journal = journalOf(200);
const ratios: number[] = [];
for (let batch = 0; batch < 9; batch += 1) {
  const inTurn = (await timeUs(() => replay(200, journal), 100)) * 100;
  const atOnce = await timeUs(
    () => Promise.all(Array.from({ length: 100 }, () => replay(200, journal))),
    1,
  );
  ratios.push(atOnce / inTurn);
}
bar("at once ÷ in turn", median(ratios.slice(2)), 2);

process.exitCode = isMissed ? 1 : 0;

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

function fit(xs: readonly number[], ys: readonly number[]) {
  const [mx, my] = [mean(xs), mean(ys)];
  const covariance = xs.reduce((sum, x, i) => sum + (x - mx) * ((ys[i] ?? 0) - my), 0);
  const slope = covariance / xs.reduce((sum, x) => sum + (x - mx) ** 2, 0);
  const offset = my - slope * mx;
  const residual = xs.reduce((sum, x, i) => sum + ((ys[i] ?? 0) - offset - slope * x) ** 2, 0);
  return { slope, offset, r2: 1 - residual / ys.reduce((sum, y) => sum + (y - my) ** 2, 0) };
}
