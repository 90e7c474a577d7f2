// What parked tasks cost while they wait, and how fast one among many is answered.

import process from "node:process";
import { heapAfterCollection } from "../heap.ts";
import type { Bed } from "./bed.ts";
import { Engine } from "./engine.ts";
import type { Parked } from "./engine.ts";
import { quantile, short, table } from "../figures.ts";
import type { Figures } from "../figures.ts";
import { loop } from "./loop.ts";
import type { Scale } from "./scale.ts";

const enough = 50_000;
const leastBytes = 16;

interface Look {
  readonly parked: number;
  readonly heapBytes: number;
  readonly statements: number;
  readonly cpu: number;
}

export async function measureParked(bed: Bed, figures: Figures, scale: Scale): Promise<void> {
  const { few, many, answers, idleMs } = scale;
  console.log(`\n  Parked tasks on ${bed.about}`);
  const store = await bed.store();
  const engine = new Engine(store);
  await engine.start(64);
  // Code takes memory of its own when it runs for the first time.
  await loop(64, { count: Math.min(1_500, many), ms: 60_000 }, engine.cycle);

  const looks: Look[] = [await look(bed, 0, idleMs)];
  const latencies = new Map<number, readonly number[]>();
  let parked = 0;
  for (const count of [few, many]) {
    const chosen = await park(engine, parked, count - parked, answers);
    parked = count;
    looks.push(await look(bed, parked, idleMs));
    const diskBytes = await bed.diskBytes();
    if (count === many) report(bed, figures, looks, diskBytes);
    latencies.set(count, await answerSome(engine, chosen));
    parked -= chosen.length;
    await settle(engine, parked);
  }
  const rows = [...latencies].map(([count, ms]) => [
    `among ${count}`,
    short(
      figures.add(
        `tasks/${bed.name}: answer to completion among ${count}, p50 ms`,
        quantile(ms, 0.5),
      ).value,
    ),
    short(
      figures.add(
        `tasks/${bed.name}: answer to completion among ${count}, p95 ms`,
        quantile(ms, 0.95),
      ).value,
    ),
    String(ms.length),
  ]);
  console.log("\n  answer to completion, one after the other, every result checked");
  table([["", "p50 ms", "p95 ms", "n"], ...rows]);
  await engine.stop();
}

/** Keeps only the ids of the tasks that will be answered, because the others must leave nothing behind. */
async function park(
  engine: Engine,
  before: number,
  count: number,
  answers: number,
): Promise<readonly Parked[]> {
  const chosen: Parked[] = [];
  const every = Math.max(1, Math.floor(count / answers));
  let made = 0;
  const start = performance.now();
  await loop(64, { count, ms: Infinity }, async () => {
    const task = await engine.park();
    made += 1;
    if (made % every === 0 && chosen.length < answers) chosen.push(task);
  });
  await settle(engine, before + count);
  const seconds = (performance.now() - start) / 1_000;
  console.log(`  parked ${count} more through the engine in ${short(seconds)} s`);
  return chosen;
}

/** Waits until the store's own figures say that this many tasks are parked. */
async function settle(engine: Engine, parked: number): Promise<void> {
  let least = Infinity;
  for (let seconds = 0; seconds < 30; seconds += 1) {
    const figures = await engine.runtime.figures();
    const { live, held, due, inputRequired } = figures;
    if (live !== parked)
      throw new Error(`${parked} tasks should be live: ${JSON.stringify(figures)}`);
    if (figures.parked === parked && inputRequired === parked && held + due === 0) return;
    // As long as the number falls, the worker is slow but not stuck.
    if (held + due < least) [least, seconds] = [held + due, 0];
    await wait(1_000);
  }
  throw new Error(`${least} tasks are due, and the worker has not taken up any of them for 30 s.`);
}

async function answerSome(engine: Engine, chosen: readonly Parked[]): Promise<readonly number[]> {
  const latencies: number[] = [];
  for (const task of chosen) latencies.push(await engine.complete(task));
  return latencies;
}

async function look(bed: Bed, parked: number, idleMs: number): Promise<Look> {
  const heapBytes = await heapAfterCollection();
  bed.count.reset();
  const before = process.cpuUsage();
  const start = performance.now();
  await wait(idleMs);
  const { user, system } = process.cpuUsage(before);
  const ms = performance.now() - start;
  return {
    parked,
    heapBytes,
    statements: (bed.count.total() * 1_000) / ms,
    cpu: (user + system) / 1_000 / ms,
  };
}

function report(bed: Bed, figures: Figures, looks: readonly Look[], diskBytes: number): void {
  const [none] = looks;
  const rows = looks.map(({ parked, heapBytes, statements, cpu }) => {
    const perTask = parked === 0 ? Number.NaN : (heapBytes - (none?.heapBytes ?? 0)) / parked;
    figures.add(`tasks/${bed.name}: heap MiB, ${parked} parked`, heapBytes / 2 ** 20);
    if (parked > 0) figures.add(`tasks/${bed.name}: heap bytes a task, ${parked} parked`, perTask);
    figures.add(`tasks/${bed.name}: idle statements/s, ${parked} parked`, statements);
    figures.add(`tasks/${bed.name}: idle CPU, share of a core, ${parked} parked`, cpu);
    return [
      String(parked),
      (heapBytes / 2 ** 20).toFixed(2),
      short(perTask),
      short(statements),
      `${(cpu * 100).toFixed(2)} %`,
    ];
  });
  table([["parked", "heap MiB", "bytes a task", "statements/s", "CPU"], ...rows]);
  const last = looks.at(-1) ?? none;
  const most = last?.parked ?? 1;
  const [fewer] = looks.filter(({ parked }) => parked > 0);
  // This is too little to keep anything for a task. With few tasks the noise is larger.
  const heapPerTask = ((last?.heapBytes ?? 0) - (none?.heapBytes ?? 0)) / most;
  if (most >= enough) figures.atMost("heap bytes a parked task", heapPerTask, leastBytes);
  figures.atMost(
    `idle statements a second, ${most} parked, beyond those with ${fewer?.parked}`,
    (last?.statements ?? 0) - (fewer?.statements ?? 0),
    // Allows for what happens at the edges of the window. One poll for each task, once a minute, would be hundreds.
    2,
  );
  figures.add(`tasks/${bed.name}: disk bytes a task`, diskBytes / most);
  console.log(
    `  on disk: ${short(diskBytes / 2 ** 20)} MiB, ${short(diskBytes / most)} bytes a task, indexes included`,
  );
}

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
