import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sameText } from "./exact-text.ts";

test("distinguishes texts exactly as === does", () => {
  const text = fc
    .array(fc.constantFrom(0x61, 0xe9, 0xd800, 0xd801, 0xdfff, 0xfffd, 0), { maxLength: 3 })
    .map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(sameText(left, right)).toBe(left === right);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["\ud800", "\ufffd"],
  ["\ud800", "\udfff"],
  ["é", "e\u0301"],
  ["", "\0"],
])("does not confuse %j with %j", (left, right) => {
  expect(sameText(left, right)).toBe(false);
});
