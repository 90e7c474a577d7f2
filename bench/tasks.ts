// What tasks cost, on a real store:
//   1. parked ones: heap, statements and processor time while idle, and an answer among them
//   2. create, park, answer, complete: against bare committed transactions, and against openworkflow
//
// Usage: npm run bench:tasks -- [--store sqlite|postgres] [--tasks N] [--parked N] [--json FILE]
// `--tasks 0` or `--parked 0` leaves that part out. See bench/README.md for how to read it.

import { loadavg } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Bed } from "./tasks/bed.ts";
import { measureCycles } from "./tasks/cycles.ts";
import { leasesLost } from "./tasks/engine.ts";
import { Figures } from "./tasks/figures.ts";
import { measureParked } from "./tasks/parked.ts";
import { postgresBed } from "./tasks/postgres-bed.ts";
import { sqliteBed } from "./tasks/sqlite-bed.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string" },
    tasks: { type: "string", default: "2000" },
    parked: { type: "string", default: "100000" },
    json: { type: "string" },
  },
});
const { store = "both", json } = values;
const [tasks, parked] = [Number(values.tasks), Number(values.parked)];
const beds: ReadonlyMap<string, readonly (() => Promise<Bed>)[]> = new Map([
  ["sqlite", [sqliteBed]],
  ["postgres", [postgresBed]],
  ["both", [sqliteBed, postgresBed]],
]);
if (!beds.has(store) || !(tasks >= 0) || !(parked >= 0)) {
  console.error("--store is sqlite or postgres; --tasks and --parked are numbers");
  process.exit(2);
}

const figures = new Figures();
const load = () => (loadavg()[0] ?? 0).toFixed(1);
console.log(`Node ${process.version}, load ${load()} before`);
for (const open of beds.get(store) ?? []) {
  const bed = await open();
  try {
    if (parked > 0) await measureParked(bed, figures, parked);
    if (tasks > 0) await measureCycles(bed, figures, tasks);
  } finally {
    await bed.close();
  }
}
console.log(`\nload ${load()} after; leases lost, as the engine tells it: ${leasesLost}`);
if (json !== undefined) figures.write(json);
