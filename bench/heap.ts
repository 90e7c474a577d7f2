// The size of the heap.

import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The smallest of several samples, because memory that is only waiting to be collected does not count. */
export async function heapAfterCollection(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  let least = Infinity;
  for (let times = 0; times < 6; times += 1) {
    gc();
    await wait(50);
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}
