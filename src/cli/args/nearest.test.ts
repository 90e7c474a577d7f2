import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test("nearest", () => {
  expect(nearest("resovle", ["resolve", "remove"])).toBe(`. Did you mean "resolve"?`);
  expect(nearest("x", ["resolve"])).toBe(".");
});
