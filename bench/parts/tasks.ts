// What tasks cost on a real store:
//   1. parked tasks: heap, statements and processor time while idle, and the time to answer one of them
//   2. create, complete; and create, park, answer, complete: against bare committed transactions and openworkflow

import type { Bench } from "../bench.ts";
import type { Bed } from "../tasks/bed.ts";
import { measureCycles } from "../tasks/cycles.ts";
import { leasesLost } from "../tasks/engine.ts";
import { measureParked } from "../tasks/parked.ts";
import { full, quick } from "../tasks/scale.ts";

export async function measureTasks(
  { figures, pace }: Bench,
  open: () => Promise<Bed>,
): Promise<void> {
  const scale = pace.isQuick ? quick : full;
  const bed = await open();
  try {
    await measureParked(bed, figures, scale);
    await measureCycles(bed, figures, scale);
  } finally {
    await bed.close();
  }
  console.log(`\n  leases lost, as reported by the engine: ${leasesLost}`);
}
