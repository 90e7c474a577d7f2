// What counts as a result.

import { expect, test } from "vitest";
import { finalResult } from "./result.ts";

test.each([[0], [false], [""], [null], [[]], [{}]])(
  "structured content %j needs no other content",
  (structuredContent) => {
    expect(finalResult("tools/call", { structuredContent })).toEqual({
      structuredContent,
      content: [],
    });
  },
);

test("without structured content, there must be other content", () => {
  expect(() => finalResult("tools/call", {})).toThrow("its content is not a list");
});
