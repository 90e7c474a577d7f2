// Random bytes from the system, fetched some hundred at a time: asking for a dozen costs as much as for thousands.

import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4_096);
let used = pool.length;

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
