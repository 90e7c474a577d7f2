// How costs grow: entries of a task, workers, parked tasks. The curve of rounds comes from rounds.ts.

import type { Bench } from "../bench.ts";
import { short } from "../figures.ts";
import { keep } from "../growth/curve.ts";
import type { Curve } from "../growth/curve.ts";
import { entriesCurve, parkedCurve, withPostgres, workersCurve } from "../growth/tasks.ts";

const sizes = [1_000, 10_000, 100_000];

export async function measureGrowth({ figures, pace, curves }: Bench): Promise<void> {
  const { isQuick } = pace;
  const add = (curve: Curve) => {
    keep(figures, curve);
    curves.push(curve);
  };
  add(await entriesCurve(isQuick ? 1 : 4));
  await withPostgres(async (postgres) => {
    add(await workersCurve(postgres, isQuick ? 100 : 1_000));
    const all = isQuick ? sizes : [...sizes, 1_000_000];
    const { curve, diskBytes } = await parkedCurve(postgres, all, isQuick ? 30 : 200);
    add(curve);
    figures.add("growth/parked, disk bytes a task", diskBytes);
    console.log(`  on disk: ${short(diskBytes)} bytes a parked task, indexes included`);
  });
}
