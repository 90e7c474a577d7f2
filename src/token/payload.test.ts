import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { pack, unpack } from "./payload.ts";

/** What is encrypted. */
const packed = (text: string, deflate: boolean): Buffer => Buffer.from(pack(text, deflate));

const long = "all work and no play ".repeat(100);

test("writes text unchanged after a 0", () => {
  expect(packed("äöü", false)).toEqual(Buffer.from("\0äöü"));
  expect(unpack(Buffer.from("\0äöü"), 100)).toBe("äöü");
});

test("deflates after a 1 on request", () => {
  const payload = packed(long, true);
  expect(payload).toEqual(Buffer.concat([Buffer.of(1), deflateRawSync(long)]));
  expect(payload.length).toBeLessThan(100);
  expect(unpack(payload, long.length)).toBe(long);
});

test("does not deflate a text that would become longer", () => {
  expect(packed("short", true)).toEqual(Buffer.from("\0short"));
});

test("inflates up to the limit and not a byte further", () => {
  const payload = packed(long, true);
  expect(unpack(payload, long.length)).toBe(long);
  expect(unpack(payload, long.length - 1)).toBeUndefined();
});

test.each([
  ["nothing at all", Buffer.alloc(0)],
  ["an unknown first byte", Buffer.from("\u0002{}")],
  [
    "a deflate stream behind an unknown first byte",
    Buffer.concat([Buffer.of(2), deflateRawSync(long)]),
  ],
  ["bytes that are not a deflate stream", Buffer.from("\u0001\u00ff\u00ff")],
  ["a deflate stream that is cut off", packed(long, true).subarray(0, 20)],
  ["an empty deflate stream", Buffer.of(1)],
])("does not unpack %s", (_what, payload) => {
  expect(unpack(payload, 10_000)).toBeUndefined();
});
