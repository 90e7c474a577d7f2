// Every requirement has a test that shows it, or a line that says why not; and what is cited exists.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { requirements } from "./requirements.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Titles with tags at their end, without them, and the ids that were in them. */
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

test("none is missing, and none is there twice", () => {
  expect(requirements.map(({ id }) => id)).toEqual([
    ...span("S", 1, 44),
    ...span("S", 50, 61),
    ...span("S", 65, 67),
    ...span("S", 70, 72),
    ...span("D", 1, 6),
    ...span("D", 10, 20),
    "D25",
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
    // What has a test needs no excuse.
    expect(tagged).toEqual([]);
  }
});

test("no tag names what is not in the list", () => {
  // Subscriptions and the legacy era have tests already; their lists come later.
  const elsewhere = /^(E\d\.\d|S7[3-7])$/;
  const known = new Set(requirements.map(({ id }) => id));
  const unknown = titles
    .flatMap(({ ids }) => ids)
    .filter((id) => !known.has(id) && !elsewhere.test(id));
  expect(unknown).toEqual([]);
});
