// What tasks cost on a real store, in a process of its own: apart.ts <store> <file> [--quick].
//   1. parked tasks: heap, statements and processor time while idle, and the time to answer one of them
//   2. create, complete; and create, park, answer, complete: against bare committed transactions and other engines
//
// It is compiled, as the servers are. Under `tsx`, every function that a task creates is given a name, which other engines
// do not pay for, because `tsx` leaves packages as they are.

import { writeFileSync } from "node:fs";
import process from "node:process";
import { Figures } from "../figures.ts";
import { measureCycles } from "./cycles.ts";
import { leasesLost } from "./engine.ts";
import { measureParked } from "./parked.ts";
import { postgresBed } from "./postgres-bed.ts";
import { full, quick } from "./scale.ts";
import { sqliteBed } from "./sqlite-bed.ts";

const [store, file = "", size] = process.argv.slice(2);
const figures = new Figures();
const scale = size === "--quick" ? quick : full;
const bed = await (store === "sqlite" ? sqliteBed() : postgresBed());
try {
  await measureParked(bed, figures, scale);
  await measureCycles(bed, figures, scale);
} finally {
  await bed.close();
}
console.log(`\n  leases lost, as reported by the engine: ${leasesLost}`);
writeFileSync(file, JSON.stringify({ all: figures.all, bars: figures.bars }));
