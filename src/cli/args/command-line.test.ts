import { expect, test } from "vitest";
import { didYouMean } from "./command-line.ts";

test("a suggestion for a misspelt word", () => {
  expect(didYouMean("resovle", ["resolve", "remove"])).toBe(`. Did you mean "resolve"?`);
  expect(didYouMean("x", ["resolve"])).toBe(".");
});
