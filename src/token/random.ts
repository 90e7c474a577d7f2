// Random bytes from the system, fetched some hundred at a time: asking for a dozen costs as much as for thousands.

import { randomFillSync } from "node:crypto";
import { startupSnapshot } from "node:v8";

const size = 4_096;
let pool = Buffer.alloc(0);
let used = 0;

// What is left in it must not be in every process that starts from one snapshot: they would seal with the same nonces.
if (startupSnapshot.isBuildingSnapshot()) {
  startupSnapshot.addSerializeCallback(() => {
    pool = Buffer.alloc(0);
    used = 0;
  });
}

/** As `randomBytes`, for small sizes. None is given out twice. A view into the pool: to be used, not to be kept or handed out. */
export function randomBytes(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(size, bytes)));
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
