// Checks that the mutants still fit the source. To run them, use `npm run mutants`.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ruleMutants } from "./rules.ts";
import { undoMutants } from "./undo.ts";

const root = new URL("../../", import.meta.url);

const mutants = [...ruleMutants, ...undoMutants];

test.each(mutants.map((mutant) => [`${mutant.rule}, ${mutant.what}`, mutant] as const))(
  "%s: the source contains its place exactly once",
  (_, { file, find, put }) => {
    const source = readFileSync(new URL(file, root), "utf8");
    expect(source.split(find)).toHaveLength(2);
    expect(put).not.toBe(find);
  },
);

test("every rule of the engine has a mutant", () => {
  const rules = new Set(mutants.map(({ rule }) => rule));
  expect(rules).toEqual(new Set(Array.from({ length: 17 }, (_, index) => `R${index + 1}`)));
});
