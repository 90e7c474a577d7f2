// Random bytes from the system, fetched in bulk, because a dozen bytes cost as much as thousands.

import { randomFillSync } from "node:crypto";

/** A source of random bytes. Tests replace it. */
export type RandomBytes = (size: number) => Uint8Array;

const poolBytes = 4_096;
let pool = Buffer.alloc(0);
let used = 0;

// Processes that start from one snapshot must not share the rest of the pool, or they would seal with the same nonces.
const { startupSnapshot } = process.getBuiltinModule?.("node:v8") ?? {};
if (startupSnapshot?.isBuildingSnapshot?.()) {
  startupSnapshot.addSerializeCallback(() => {
    pool = Buffer.alloc(0);
    used = 0;
  });
}

/**
 * Like `randomBytes` of node:crypto, for small sizes. No byte is returned twice. The buffer is a view into the pool, so use
 * it at once and do not keep it.
 */
export function randomBytes(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(poolBytes, bytes)));
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

/** A text of 256 random bits that nobody can guess. */
export const nonce = (): string => randomBytes(32).toString("base64url");
