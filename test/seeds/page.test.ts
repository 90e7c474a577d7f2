// test/seeds/README.md has a test or a reason for every row, every cited test exists, and the page is up to date.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { page, problems, problemsOf, titlesIn } from "./page.ts";
import { by, chosen, later, ours, superseded, under } from "./rows/row.ts";
import type { Fate } from "./rows/row.ts";

test("every statement has an existing test or a reason", () => {
  expect(problems()).toEqual([]);
});

test("test/seeds/README.md is up to date (npm run seeds writes it)", () => {
  expect(readFileSync("test/seeds/README.md", "utf8")).toBe(page());
});

describe("a row is reported as wrong", () => {
  const problemWith = (fate: Fate) => problemsOf(under("Here", ["It happens.", fate])[0]!).join();
  const here = "test/seeds/page.test.ts";

  test.each<[string, Fate, RegExp]>([
    ["without a test and a reason", { shown: [] }, /has no test, and no reason/],
    ["with an empty reason", superseded(""), /has no test, and no reason/],
    [
      "with a choice of ours that is called superseded",
      superseded("replayed (F28)"),
      /is our choice/,
    ],
    ["with a choice of ours without a reason", chosen("replayed (F28)"), /does not say why/],
    ["with a choice of ours without a reference", chosen("so, because"), /without saying by what/],
    ["with an empty promise", later(""), /has no test, and no reason/],
    ["with a reason without a reference", superseded("it is so"), /without saying by what/],
    ["with a reference to nothing", superseded("it is so (F99)"), /without saying by what/],
    [
      "with one unknown reference of two",
      superseded("it is so (F1, S999)"),
      /without saying by what/,
    ],
    ["that cites another title", by(here, "nothing of the kind"), /cites a test that/],
    ["that cites another file", by("test/gone.test.ts", "every"), /cites a test that/],
  ])("%s", (_, fate, what) => {
    expect(problemWith(fate)).toMatch(what);
  });

  test("that is ours, without a test", () => {
    const [row] = under("Here", ours("It is so.", superseded("no discriminator there (F1)")));
    expect(problemsOf(row!).join()).toMatch(/is ours, and no test shows it/);
  });

  test("and is right otherwise", () => {
    expect(problemWith(by(here, "and is right otherwise"))).toBe("");
    expect(problemWith(superseded("no discriminator there (F1)"))).toBe("");
    expect(problemWith(later("streaming"))).toBe("");
    expect(problemWith(chosen("it is replayed, because that scales (F28)"))).toBe("");
  });
});

test("titles are found, without their tags, however a test is written", () => {
  const source = [
    'test("plain", () => {});',
    "test('says \\'so\\' [S1] [D2]', () => {});",
    "test.each([1])(\n  `each`, () => {});",
    'describe("no test", () => {});',
  ].join("\n");
  expect(titlesIn(source)).toEqual(["plain", "says 'so'", "each"]);
});
