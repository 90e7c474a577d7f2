// How the chunks of a body are kept: in few pieces, without copying everything again for each of them.

import { expect, test } from "vitest";
import { CollectedBytes } from "./collected-bytes.ts";

const chunk = (n: number) => Buffer.from(String(n).padStart(64, "."));

test("a body of many chunks is copied a few times, and holds at most twice its length", () => {
  const collected = new CollectedBytes();
  const held = new Set<number>();
  for (let n = 0; n < 10_000; n += 1) {
    collected.add(chunk(n));
    held.add(collected.held);
    expect(collected.held).toBeLessThanOrEqual(Math.max(4_096, collected.length * 2));
  }
  // The first chunk is kept as it came. After that, the buffer doubles: 4 KiB, 8 KiB, and so on up to 1 MiB.
  expect(held.size).toBeLessThan(12);
  expect(collected.length).toBe(640_000);
  expect(collected.text()).toBe(Array.from({ length: 10_000 }, (_, n) => chunk(n)).join(""));
});

test("the first chunk stays as it came, and later ones do not write to it", () => {
  const collected = new CollectedBytes();
  const room = Buffer.from("first, and what comes after it");
  collected.add(room.subarray(0, 5));
  expect([collected.held, collected.text()]).toEqual([5, "first"]);
  collected.add(Buffer.from("SECOND"));
  expect(collected.text()).toBe("firstSECOND");
  expect(room.toString()).toBe("first, and what comes after it");
});

test("chunks are too small if there are more than 1,024 with fewer than 256 bytes on average", () => {
  const collected = new CollectedBytes();
  for (let n = 0; n < 1_024; n += 1) collected.add(Buffer.from("x"));
  expect(collected.isCrumbled).toBe(false);
  for (let n = 0; n < 32; n += 1) collected.add(Buffer.from("x"));
  expect(collected.isCrumbled).toBe(true);
  collected.add(Buffer.alloc(16_384));
  expect(collected.isCrumbled).toBe(false);
});
