// Every requirement has a test that shows it, or a reason why not, and every cited test exists.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { clientRequirements } from "./client.ts";
import { requirements as serverRequirements } from "./requirements.ts";

const requirements = [...serverRequirements, ...clientRequirements];

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The titles that end in tags, without these tags, and the ids in the tags. */
const titles = ["src", "test", "examples"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => readFileSync(join(root, folder, file), "utf8")),
  )
  .flatMap((source) => [...source.matchAll(/(["'`])((?:(?!\1).)*?)((?: \[[A-Z][\d.]+\])+)\1/g)])
  .map(([, , title = "", tags = ""]) => ({
    title,
    ids: [...tags.matchAll(/\[([A-Z][\d.]+)\]/g)].map(([, id = ""]) => id),
  }));

const span = (letter: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${letter}${from + index}`);

test("no requirement is missing or listed twice", () => {
  expect(requirements.map(({ id }) => id)).toEqual([
    ...span("S", 1, 44),
    ...span("S", 50, 61),
    ...span("S", 65, 67),
    ...span("S", 70, 77),
    ...span("S", 80, 114),
    ...span("A", 10, 15),
    ...span("D", 1, 20),
    ...span("D", 23, 25),
    "D29",
    "G1",
    ...span("G", 8, 18),
    ...span("G", 27, 29),
    ...span("G", 38, 40),
    "G42",
    ...span("C", 1, 13),
    ...span("C", 20, 32),
    ...span("C", 40, 49),
    ...span("C", 60, 68),
    ...span("C", 70, 72),
    ...span("C", 80, 95),
    "D26",
    ...span("G", 19, 22),
    "G26",
    "G36",
  ]);
});

test.each(requirements)("$id: $says", (requirement) => {
  const { id } = requirement;
  const tagged = titles.filter(({ ids }) => ids.includes(id)).map(({ title }) => title);
  if ("test" in requirement) {
    expect(tagged).toContain(requirement.test);
  } else {
    const reason = "later" in requirement ? requirement.later : requirement.notOurs;
    expect(reason).not.toBe("");
    // A requirement with a test needs no reason.
    expect(tagged).toEqual([]);
  }
});

test("every tag names a requirement", () => {
  // The 2025-11-25 era has tests, but no list yet.
  const elsewhere = /^E\d\.\d$/;
  const known = new Set(requirements.map(({ id }) => id));
  const unknown = titles
    .flatMap(({ ids }) => ids)
    .filter((id) => !known.has(id) && !elsewhere.test(id));
  expect(unknown).toEqual([]);
});
