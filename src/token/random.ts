// Random bytes from the system, fetched some hundred at a time: asking for a dozen costs as much as for thousands.

import { randomFillSync } from "node:crypto";
import { startupSnapshot } from "node:v8";

const pool = Buffer.alloc(4_096);
let used = pool.length;

// What is left in it must not be in every process that starts from one snapshot: they would seal with the same nonces.
if (startupSnapshot.isBuildingSnapshot()) {
  startupSnapshot.addSerializeCallback(() => {
    used = pool.length;
  });
}

/** As `randomBytes`, for small sizes. None is given out twice, and none is kept. */
export function randomBytes(size: number): Buffer {
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = Buffer.from(pool.subarray(used, used + size));
  pool.fill(0, used, used + size);
  used += size;
  return taken;
}
