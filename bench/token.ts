// npm run bench:token
//
// What sealing and opening one round's token costs: against the bar of 100 µs for a journal of 1 KiB, and
// as the journal grows. Processor time, not only elapsed time, because other work on the machine is
// not ours. Exits with 1 when the bar is missed.

import { parseKeys, newKey } from "../src/token/keyring.ts";
import { digest } from "../src/token/canonical.ts";
import type { Claims } from "../src/token/claims.ts";
import { open } from "../src/token/open.ts";
import { seal } from "../src/token/seal.ts";

interface Cost {
  readonly cpuMicros: number;
  readonly elapsedMicros: number;
}

interface Case {
  readonly entries: number;
  readonly jsonBytes: number;
  readonly tokenBytes: number;
  readonly once: () => void;
}

const barMicros = 100;
const batches = 15;
const now = 1_800_000_000_000;
const keyring = parseKeys([newKey("2026-11"), newKey("2026-05")]);

const journal1KiB = journalOf(1024);
const counts = [1, 10, 25, 50, 75, 100, 125, 150, 175, 200];
const shown = [1, 10, 50, 100, 200];
const plainCases = counts.map((count) => caseOf(entriesOf(count), false));
const deflateCases = shown.map((count) => caseOf(entriesOf(count), true));
const oneKiB = { plain: caseOf(journal1KiB, false), deflated: caseOf(journal1KiB, true) };

const cases = [oneKiB.plain, oneKiB.deflated, ...plainCases, ...deflateCases];
const costs = measure(cases);

const bar = costOf(oneKiB.plain);
console.log(
  `Seal and open, journal of ${oneKiB.plain.jsonBytes} bytes, median of ${batches} batches\n`,
);
row("", "token bytes", "cpu µs", "elapsed µs");
for (const [name, one] of Object.entries(oneKiB)) {
  const { cpuMicros, elapsedMicros } = costOf(one);
  row(name, one.tokenBytes, cpuMicros.toFixed(1), elapsedMicros.toFixed(1));
}
const met = bar.cpuMicros <= barMicros;
console.log(`\nbar ${barMicros} µs cpu: ${met ? "met" : "MISSED"}, ${bar.cpuMicros.toFixed(1)} µs`);

console.log("\nAs the journal grows, entries of about 100 bytes\n");
row(
  "entries",
  "token bytes",
  "cpu µs",
  "µs an entry",
  "elapsed µs",
  "deflated bytes",
  "deflated cpu µs",
);
for (const one of plainCases.filter(({ entries }) => shown.includes(entries))) {
  const { cpuMicros, elapsedMicros } = costOf(one);
  const deflated = deflateCases.find(({ entries }) => entries === one.entries) ?? one;
  row(
    String(one.entries),
    one.tokenBytes,
    cpuMicros.toFixed(1),
    (cpuMicros / one.entries).toFixed(2),
    elapsedMicros.toFixed(1),
    deflated.tokenBytes,
    costOf(deflated).cpuMicros.toFixed(1),
  );
}

const line = fitted(plainCases.map((one) => [one.entries, costOf(one).cpuMicros]));
console.log(
  `\nfitted over ${counts.length} sizes: ${line.base.toFixed(1)} µs + ${line.slope.toFixed(3)} µs an entry, R² ${line.r2.toFixed(4)}`,
);
if (!met) process.exitCode = 1;

function costOf(one: Case): Cost {
  const cost = costs.get(one);
  if (cost === undefined) throw new Error(`the case of ${one.entries} entries was not measured`);
  return cost;
}

function caseOf(state: readonly unknown[], deflate: boolean): Case {
  const claims: Claims<readonly unknown[]> = {
    method: "tools/call",
    target: "resolve_bug",
    argumentsDigest: digest({ id: 4711 }),
    principal: "https://id.example|alice",
    audience: "tracker",
    callId: "7Yc0zY0kS8q1m2n3o4p5qg",
    round: 3,
    roundsLeft: 7,
    expiresAt: now + 660_000,
    state: { kind: "inline", value: state },
  };
  const expected = { ...claims, now };
  const sealed = () => seal(claims, keyring, { deflate });
  return {
    entries: state.length,
    jsonBytes: JSON.stringify(state).length,
    tokenBytes: sealed().length,
    once: () => {
      open(sealed(), keyring, expected);
    },
  };
}

// Of unlike texts, because like ones would flatter deflate.
function entriesOf(count: number): unknown[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `step-${at}`,
    kind: "ok",
    value: { id: at * 7919, title: digest(at) },
  }));
}

function journalOf(bytes: number): unknown[] {
  const journal = entriesOf(Math.floor(bytes / 105));
  const filler = bytes - JSON.stringify([...journal, ""]).length;
  return [...journal, "x".repeat(filler)];
}

// Batch by batch over all cases, so that a machine that slows down does so for all of them.
function measure(all: readonly Case[]): Map<Case, Cost> {
  const found = new Map(all.map((one) => [one, { cpu: [] as number[], elapsed: [] as number[] }]));
  for (const { once } of all) repeat(once, 500);
  for (let batch = 0; batch < batches; batch++) {
    for (const [{ once, entries }, { cpu, elapsed }] of found) {
      const runs = entries > 50 ? 300 : 1000;
      const cpuBefore = process.cpuUsage();
      const before = process.hrtime.bigint();
      repeat(once, runs);
      elapsed.push(Number(process.hrtime.bigint() - before) / 1000 / runs);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpu.push((user + system) / runs);
    }
  }
  return new Map(
    Array.from(found, ([one, { cpu, elapsed }]) => [
      one,
      { cpuMicros: median(cpu), elapsedMicros: median(elapsed) },
    ]),
  );
}

function repeat(run: () => void, times: number): void {
  for (let time = 0; time < times; time++) run();
}

function median(of: readonly number[]): number {
  return of.toSorted((left, right) => left - right)[Math.floor(of.length / 2)] ?? Number.NaN;
}

/** Least squares. R² is the share of the spread that the line explains: 1 is a straight line. */
function fitted(points: readonly (readonly [number, number])[]): {
  base: number;
  slope: number;
  r2: number;
} {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const xy = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  const xx = mean(points.map(([x]) => (x - meanX) ** 2));
  const yy = mean(points.map(([, y]) => (y - meanY) ** 2));
  const slope = xy / xx;
  return { slope, base: meanY - slope * meanX, r2: xy ** 2 / (xx * yy) };
}

function mean(of: readonly number[]): number {
  return of.reduce((sum, each) => sum + each, 0) / of.length;
}

function row(name: string, ...cells: readonly unknown[]): void {
  console.log(name.padEnd(10) + cells.map((cell) => String(cell).padStart(17)).join(""));
}
